"""What a run has graded survives the run."""

import resource
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest

from kafkalearn.grading.grades import Grade
from kafkalearn.grading.handed_in.collect import Submission
from kafkalearn.grading.report.journal import FILE, Journal, JournalBusyError, key

ANN = [Grade("ann", "41", "by-name", 2.0, 2.0, "passed", "all right", 0.5, '{"table": 1}')]
BOB = [Grade("böb\n", "41", "by-name", 0.0, 2.0, "failed", "wrong", 0.25)]


def journal(folder, *, resume=True):
    """The journal of a folder."""
    return Journal(folder, resume=resume)


def test_a_later_run_finds_what_an_earlier_one_added(tmp_path):
    """Rows come back as they were; what was not graded is not found."""
    with journal(tmp_path) as first:
        places = first.add("a", ANN), first.add("b", BOB)
        assert [first.grades(place) for place in places] == [ANN, BOB]
    with journal(tmp_path) as second:
        assert second.grades(second.find("b")) == BOB
        assert second.grades(second.find("a")) == ANN
        assert second.find("c") is None


def test_a_line_is_on_the_disk_as_soon_as_it_is_added(tmp_path):
    """A run that is killed in the next instant keeps it."""
    with journal(tmp_path) as first:
        first.add("a", ANN)
        assert (tmp_path / FILE).read_bytes().count(b"\n") == 1


@pytest.mark.parametrize("torn", [b'{"key": "b", "gra', b'{"key": "b", "grades": []}', b"\xff\0"])
def test_a_torn_last_line_is_dropped_and_spoils_nothing(tmp_path, torn):
    """What was being written at the kill is graded again; the next line stands by itself."""
    with journal(tmp_path) as first:
        first.add("a", ANN)
    with (tmp_path / FILE).open("ab") as file:
        file.write(torn)
    with journal(tmp_path) as second:
        assert second.find("b") is None
        second.add("c", BOB)
    with journal(tmp_path) as third:
        assert third.grades(third.find("a")) == ANN
        assert third.grades(third.find("c")) == BOB


@pytest.mark.parametrize("damaged", [b"", b"nonsense", b"[]", b'{"key": "a", "grades": [[1, 2]]}'])
def test_a_damaged_line_is_passed_over(tmp_path, damaged):
    """Whatever stands in it, the others are used."""
    (tmp_path / FILE).write_bytes(damaged + b"\n")
    with journal(tmp_path) as first:
        assert first.find("a") is None
        first.add("a", ANN)
    with journal(tmp_path) as second:
        assert second.grades(second.find("a")) == ANN


def test_a_run_that_does_not_resume_begins_anew_and_knows_what_it_dropped(tmp_path):
    """Nothing to say when there was nothing."""
    with journal(tmp_path, resume=False) as first:
        assert first.dropped == 0
        first.add("a", ANN)
    with journal(tmp_path, resume=False) as second:
        assert (second.dropped, second.find("a")) == (1, None)
    assert (tmp_path / FILE).read_bytes() == b""


def test_two_runs_never_write_into_one_folder(tmp_path):
    """The second is refused and changes nothing, while the first lives, and however that ends."""
    holds = (
        "import sys, time\nfrom pathlib import Path\n"
        "from kafkalearn.grading.report.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]), resume=False)\njournal.add('a', [])\n"
        "print(flush=True)\ntime.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", holds, tmp_path], stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        with pytest.raises(JournalBusyError):
            journal(tmp_path, resume=False)
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
    with journal(tmp_path) as mine:
        assert mine.find("a") is not None


def test_a_key_names_all_that_grades_depend_on():
    """Another student, content, exercise file or setting: another key."""
    base = (Submission("ann", "41", b"{}"), {"judge.py": "1"}, 7, "fork")
    others = [
        (Submission("bob", "41", b"{}"), *base[1:]),
        (Submission("ann", "42", b"{}"), *base[1:]),
        (Submission("ann", "41", b"{ }"), *base[1:]),
        (base[0], {"judge.py": "2"}, 7, "fork"),
        (base[0], {"judge.py": "1"}, 8, "fork"),
        (base[0], {"judge.py": "1"}, 7, "kernel"),
    ]
    assert key(*base) == key(*base)
    assert len({key(*base), *(key(*other) for other in others)}) == 7


def test_a_name_that_is_no_text_has_a_key_too():
    """A file system may hold bytes that no encoding knows, which Python keeps as surrogates."""
    names = ("a\udc80", "a\udc81")
    assert len({key(Submission(name, "41", b""), {}) for name in names}) == 2


@contextmanager
def room_for(byte_count):
    """Let no file grow beyond this, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte_count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_once_and_what_was_kept_stays(tmp_path):
    """Whoever learnt of it in `add` is not interrupted a second time by the end of the journal."""

    def run():
        with journal(tmp_path) as first:
            first.add("a", ANN)
            with suppress(OSError):
                first.add("b", ANN * 9)
            raise LookupError("the run's own words")

    with room_for(200), pytest.raises(LookupError, match="the run's own words"):
        run()
    with journal(tmp_path) as second:
        assert second.find("b") is None
        assert second.grades(second.find("a")) == ANN
