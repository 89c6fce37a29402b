"""Lists what was handed in, below a folder or within a zip, and reads it where it lies.

Nothing is unpacked and no link is followed, so no name can lead anywhere. What cannot be read
safely is listed too, with the reason.
"""

import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import NamedTuple

LARGEST_BYTES = 10 * 2**20  # of a notebook
LARGEST_ZIP_BYTES = 20 * 2**20  # of a zip that lies in another, or that a student handed in
MOST_MEMBERS = 1000  # of such a zip
DEEPEST = 2  # a student's zip within a platform's
LINK = "it is a symbolic link: hand in the notebook itself"
_BROKEN = (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, zlib.error)
_OF_TOOLS = (
    *("__MACOSX", ".DS_Store", ".Trashes", ".Spotlight-V100", ".fseventsd", ".ipynb_checkpoints"),
    *(".virtual_documents", ".ipython", ".jupyter", ".git", ".gitignore", ".gitattributes"),
    *(".github", ".svn", ".hg", ".venv", ".cache", ".config", ".local", ".vscode", ".idea"),
    *(".pytest_cache", ".mypy_cache", ".ruff_cache", ".Rproj.user"),
)
_COPIES = ("._", ".~", ".#", ".nfs")  # how names of copies begin that systems and editors make
_UTF_8, _ENCRYPTED = 0x800, 0x1  # flags of a zip's member
_READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may grow without bound in one step


class SubmissionError(ValueError):
    """A file that cannot be graded; the message says what is wrong with it."""


def check_size(byte_count: int) -> None:
    """Raise SubmissionError for a notebook that is too large to be read."""
    if byte_count > LARGEST_BYTES:
        raise SubmissionError(
            f"the file is larger than {LARGEST_BYTES // 2**20} MB: clear its outputs"
        )


class Entry(NamedTuple):
    """A file, or a folder if the last part of its path is ''.

    path: below the source, as text; a zip is one of its parts. refusal: why it cannot be read.
    read: gives the content; SubmissionError says why it cannot be had.
    """

    path: tuple[str, ...]
    refusal: str = ""
    read: Callable[[], bytes] = bytes
    note: str = ""


def entries(source: Path) -> Iterator[Entry]:
    """Give all in a folder or a zip but what tools put there; a refused source has no path."""
    if source.is_dir():
        yield from _of_folder(source)
    else:
        yield from _of_zip(partial(_open_file, source, None), (), depth=0)


def shown_path(path: tuple[str, ...]) -> str:
    """The path as a reason shows it."""
    return "/".join(path)


def _of_folder(root: Path) -> Iterator[Entry]:
    todo: list[tuple[str, ...]] = [()]
    while todo:
        at = todo.pop()
        try:
            found = sorted(os.scandir(root.joinpath(*at)), key=lambda each: each.name)
        except OSError as error:
            yield Entry((*map(_text, at), ""), f"the folder cannot be read: {error.strerror}")
            continue
        for each in found:
            here = (*at, each.name)
            path = tuple(map(_text, here))
            if _is_of_tools(each.name):
                continue
            if each.is_symlink():
                yield Entry(path, LINK)
            elif each.is_dir():
                todo.append(here)
                yield Entry((*path, ""))
            elif is_zip(each.name):
                yield from _of_zip(
                    partial(_open_file, root.joinpath(*here), LARGEST_ZIP_BYTES), path, depth=1
                )
            else:
                yield Entry(path, "", partial(_read_file, root.joinpath(*here)))


def _read_file(path: Path) -> bytes:
    try:
        if path.is_symlink():
            raise SubmissionError(LINK)
        status = path.stat()
        if not S_ISREG(status.st_mode):
            raise SubmissionError("the file is no ordinary file: hand in the notebook itself")
        check_size(status.st_size)
        return path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"the file cannot be read: {error.strerror}") from None


def _open_file(path: Path, limit: int | None) -> zipfile.ZipFile:
    status = path.stat()
    if not S_ISREG(status.st_mode):
        raise SubmissionError("it is no ordinary file")
    _check_zip_size(status.st_size, limit)
    return zipfile.ZipFile(path)


def _open_inner(outer: Callable[[], zipfile.ZipFile], info: zipfile.ZipInfo) -> zipfile.ZipFile:
    _check_zip_size(info.file_size, LARGEST_ZIP_BYTES)
    return zipfile.ZipFile(BytesIO(_read_member(outer, info, LARGEST_ZIP_BYTES)))


def _check_zip_size(byte_count: int, limit: int | None) -> None:
    if limit is not None and byte_count > limit:
        raise SubmissionError(
            f"it is larger than {limit // 2**20} MB: hand in the notebooks without other files"
        )


@lru_cache(maxsize=2)  # The class's own zip and the student's that is being read.
def _opened(opener: Callable[[], zipfile.ZipFile]) -> zipfile.ZipFile:
    return opener()


def _of_zip(
    opener: Callable[[], zipfile.ZipFile], at: tuple[str, ...], *, depth: int
) -> Iterator[Entry]:
    if depth > DEEPEST:
        yield Entry(at, "it lies in a zip of a zip: hand in the notebook itself")
        return
    try:
        members = _opened(opener).infolist()
    except _BROKEN as error:  # SubmissionError is a ValueError
        yield Entry(at, f"the zip cannot be read: {_in_words(error)}")
        return
    if depth and len(members) > MOST_MEMBERS:
        yield Entry(at, f"the zip holds {len(members)} files: at most {MOST_MEMBERS} are read")
        return
    times = Counter(each.filename for each in members)
    for info in {each.filename: each for each in members}.values():
        name, note = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
        if refusal := _refused_path(name, parts):
            yield Entry((*at, name), refusal)
        elif any(map(_is_of_tools, parts)):
            continue
        elif times[info.filename] > 1:
            yield Entry((*at, *parts), f"the zip holds {times[info.filename]} files of this name")
        elif name.endswith(("/", "\\")):
            yield Entry((*at, *parts, ""))
        else:
            entry = Entry((*at, *parts), _refused_content(info), note=note)
            yield from _of_member(partial(_opened, opener), info, entry, depth=depth)


def _of_member(
    outer: Callable[[], zipfile.ZipFile], info: zipfile.ZipInfo, entry: Entry, *, depth: int
) -> Iterator[Entry]:
    if not entry.refusal and is_zip(entry.path[-1]):
        yield from _of_zip(partial(_open_inner, outer, info), entry.path, depth=depth + 1)
    else:
        yield entry._replace(read=partial(_read_member, outer, info, LARGEST_BYTES))


def _name(info: zipfile.ZipInfo) -> tuple[str, str]:
    """Give a member's name; many tools write UTF-8 and do not say so."""
    name = info.orig_filename
    if info.flag_bits & _UTF_8 or name.isascii():
        return name, ""
    try:
        return name.encode("cp437").decode("utf-8"), ""
    except UnicodeError:
        return (
            name,
            "the zip does not say how its names are written: they were read as code page 437",
        )


def _refused_path(name: str, parts: tuple[str, ...]) -> str:
    if not parts or "\0" in name:
        return "its path is empty or holds a NUL"
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "its path is absolute: a zip holds paths below itself"
    return "its path leaves the zip by `..`" if ".." in parts else ""


def _refused_content(info: zipfile.ZipInfo) -> str:
    if S_ISLNK(info.external_attr >> 16):
        return LINK
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted: hand it in without a password"
    if info.compress_type not in _READABLE:
        return "it is compressed in a way that is not read: use an ordinary zip"
    return ""


def _read_member(outer: Callable[[], zipfile.ZipFile], info: zipfile.ZipInfo, limit: int) -> bytes:
    """Read no more than the limit, whatever size the zip states."""
    if limit == LARGEST_BYTES:
        check_size(info.file_size)
    try:
        with outer().open(info) as member:
            return member.read(limit + 1)
    except (*_BROKEN, RuntimeError) as error:
        raise SubmissionError(f"it cannot be read from its zip: {_in_words(error)}") from None


def _in_words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "the names in it are not what they claim to be, UTF-8"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def is_zip(name: str) -> bool:
    """Whether a name is that of a zip."""
    return name.lower().endswith(".zip")


def _is_of_tools(name: str) -> bool:
    return name in _OF_TOOLS or name.startswith(_COPIES)


def _text(name: str) -> str:
    """A file's name as text that any table can hold, even if the name is not UTF-8."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
