"""Finds what a class handed in: ``<student>/…/<exercise>.ipynb``, in a folder or a zip.

nbgrader's `submitted/` is such a folder; the zips of Moodle and Canvas are read as they come.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from kafkalearn.grading.handed_in.archives import (
    Entry,
    SubmissionError,
    entries,
    is_zip,
    shown_path,
)
from kafkalearn.grading.handed_in.layouts import Owner, exercise_of, order, platform_owner

MOST_ATTEMPTS = 20  # of one exercise that are graded for the best of them
_WRAPPERS = ("submitted", "submissions")
_EXPORT = "it looks like a whole class as a platform exports it: grade it by itself"


class Submission(NamedTuple):
    """A notebook that a student handed in, as it travels to where it is graded."""

    student: str
    exercise: str
    content: bytes


class NoSubmissionsError(ValueError):
    """A folder that holds nothing to grade; the message says what was expected in it."""


class Found(NamedTuple):
    """One notebook of one student, or one thing that cannot be graded, with the reason.

    exercise: what the file's name says. copy: its path, where several are to be graded.
    """

    student: str
    exercise: str
    entry: Entry
    note: str = ""
    copy: str = ""

    def read(self) -> Submission:
        """Read the file; SubmissionError says why it cannot be graded."""
        if self.entry.refusal:
            raise SubmissionError(self.entry.refusal)
        return Submission(self.student, self.exercise, self.entry.read())


class _File(NamedTuple):
    """A file of one student. path: below what is the student's; its first part may be a zip."""

    path: tuple[str, ...]
    entry: Entry
    late: bool

    @property
    def stem(self) -> str:
        """Its own name, without the folders and without the extension of a notebook."""
        name = self.path[-1].replace("\\", "/").rpartition("/")[2]
        return name[: -len(".ipynb")] if _is_notebook(name) else name


def find_submissions(
    source: Path, exercises: Collection[str], *, attempts: str = "last"
) -> list[Found]:
    """Everything that was handed in, by student and exercise; nothing is left out in silence.

    attempts: of several copies of one exercise, ``last`` finds the last by name, ``best`` all.
    Errors: NoSubmissionsError if the source holds no notebook of any student.
    """
    if not source.exists():
        raise NoSubmissionsError(f"there is no folder or zip {source}")
    if source.is_file() and _is_notebook(source.name):
        place = f"put it into its student's folder, as in submissions/ann/{source.name}"
        raise NoSubmissionsError(f"{source} is one notebook: {place}, and grade submissions")
    files, loose = _sorted_by_owner(_unwrapped(source))
    numbers: dict[str, set[str]] = defaultdict(set)
    for owner in files:
        numbers[owner.name].add(owner.number)
    students: dict[str, list[_File]] = {}
    for owner, theirs in files.items():
        apart = len(numbers[owner.name]) > 1
        name = f"{owner.name} ({owner.number or 'no number'})" if apart else owner.name
        students[name] = theirs
    found = [
        each
        for student, theirs in sorted(students.items())
        for each in _of_student(student, theirs, exercises=exercises, attempts=attempts)
    ]
    if not any(not each.entry.refusal for each in found):
        raise NoSubmissionsError(_nothing(source, found, loose))
    return found + loose


def _nothing(source: Path, found: Sequence[Found], loose: Sequence[Found]) -> str:
    expected = f"no submission in {source}: <student>/…/<exercise>.ipynb is looked for"
    refused = next((each for each in (*loose, *found) if each.entry.refusal), None)
    if refused is None:
        return expected
    what = shown_path(refused.entry.path) or source.name
    return f"{expected}; {what}: {refused.entry.refusal}"


def _unwrapped(source: Path) -> list[Entry]:
    """List all entries; the one folder that a zip is often packed with does not count."""
    found = list(entries(source))
    tops = {entry.path[0] for entry in found if entry.path}
    if len(tops) != 1 or (not source.is_dir() and [entry.path for entry in found] == [()]):
        return found
    inner = [entry._replace(path=entry.path[1:]) for entry in found if len(entry.path) > 1]
    inner = [entry for entry in inner if entry.path != ("",)]
    wraps = min(tops).lower() in (*_WRAPPERS, source.stem.lower())
    return inner if inner and (wraps or any(map(_of_platform, inner))) else found


def _of_platform(entry: Entry) -> bool:
    return platform_owner(entry.path[0]) is not None


def _sorted_by_owner(found: Iterable[Entry]) -> tuple[dict[Owner, list[_File]], list[Found]]:
    """Give each student's files, and what is in the way of grading and belongs to nobody."""
    files: dict[Owner, list[_File]] = defaultdict(list)
    loose: dict[str, Found] = {}
    exports: set[str] = set()
    for entry in found:
        top, inner = next(iter(entry.path), ""), entry.path[1:]
        of_platform = platform_owner(top)
        if of_platform is None and inner and platform_owner(inner[0]):
            exports.add(top)
        elif of_platform:
            owner, file = of_platform
            path = (file, *inner) if file else inner
            files[owner._replace(late=False)].append(_File(path or ("",), entry, owner.late))
        elif inner or is_zip(top):
            files[_plain_owner(top)].append(_File(inner or (top,), entry, False))
        elif _is_notebook(top) or entry.refusal:
            refusal = entry.refusal or "the notebook lies in no student's folder"
            name = _File((top,), entry, False).stem
            loose[shown_path(entry.path)] = Found("", name, entry._replace(refusal=refusal))
    for top in exports:
        files[_plain_owner(top)] = [_File(("",), Entry((top,), _EXPORT), False)]
    return files, sorted(loose.values(), key=attrgetter("exercise"))


def _plain_owner(top: str) -> Owner:
    return Owner(top[: -len(".zip")] if is_zip(top) else top)


def _of_student(
    student: str, files: Sequence[_File], *, exercises: Collection[str], attempts: str
) -> Iterator[Found]:
    copies: dict[str, list[_File]] = defaultdict(list)
    others: list[Found] = []
    for file in files:
        if _is_notebook(file.path[-1]):
            copies[exercise_of(file.stem, exercises) or file.stem].append(file)
        elif file.entry.refusal:
            others.append(Found(student, shown_path(file.path).rstrip("/"), file.entry))
    if not copies and not others:
        yield Found(student, "", Entry((), _no_notebook(files)))
    for exercise, theirs in sorted(copies.items()):
        theirs.sort(key=lambda file: (file.late, order(file.path)))
        if exercise in exercises:
            yield from _copies(student, exercise, theirs, attempts=attempts)
        else:
            known = ", ".join(sorted(exercises))
            refusal = f"no exercise is called {exercise}: name the file {known}.ipynb"
            entry = theirs[-1].entry
            yield Found(student, exercise, entry._replace(refusal=entry.refusal or refusal))
    yield from others


def _no_notebook(files: Sequence[_File]) -> str:
    names = sorted(shown_path(file.path) for file in files if file.path[-1])
    if not names:
        return "the student's folder holds no notebook that can be read"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"no notebook was handed in, but {', '.join(names[:3])}{more}"


def _copies(
    student: str, exercise: str, files: Sequence[_File], *, attempts: str
) -> Iterator[Found]:
    """Find the last copy that can be read, or the last few; what is left out is said."""
    readable = [file for file in files if not file.entry.refusal] or files[-1:]
    chosen = readable[-MOST_ATTEMPTS:] if attempts == "best" else readable[-1:]
    left_out = [
        f"{shown_path(file.path)} was left out: {file.entry.refusal}"
        for file in files
        if file.entry.refusal and file not in chosen
    ]
    if len(readable) > 1 and attempts == "last":
        name = shown_path(chosen[0].path)
        left_out.insert(
            0, f"{len(readable)} copies were handed in, and {name}, the last by name, is graded"
        )
    elif len(readable) > len(chosen):
        left_out.insert(0, f"{len(readable)} copies were handed in: the last {len(chosen)} count")
    for file in chosen:
        name = shown_path(file.path)
        notes = [file.entry.note, "handed in late" if file.late else ""]
        if file.stem != exercise:
            notes.append(f"{file.stem}.ipynb counts as {exercise}.ipynb")
        note = "; ".join(filter(None, [*notes, *left_out]))
        yield Found(student, exercise, file.entry, note, name if len(chosen) > 1 else "")


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")
