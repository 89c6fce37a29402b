"""What a class handed in is found, and nothing is passed over in silence."""

import os

import pytest

from kafkalearn.grading.collect import (
    LARGEST_BYTES,
    NoSubmissionsError,
    SubmissionError,
    find_submissions,
)

EXERCISES = {"41_range_assignor"}


def put(folder, *paths, content=b"{}"):
    """Write a file at each path below the folder."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def found_in(folder):
    """(student, exercise, what is said about it) of all that is found."""
    return [
        (each.student, each.exercise, each.refusal or each.note)
        for each in find_submissions(folder, EXERCISES)
    ]


def test_plain_folders_and_nbgraders_are_read(tmp_path):
    """A notebook may lie anywhere below its student's folder; hidden ones do not count."""
    put(tmp_path, "ann/41_range_assignor.ipynb", "bob/ps1/41_range_assignor.ipynb")
    put(tmp_path, "ann/.ipynb_checkpoints/41_range_assignor-checkpoint.ipynb")
    put(tmp_path, ".git/41_range_assignor.ipynb", "ann/.hidden.ipynb", "ann/notes.txt")
    assert found_in(tmp_path) == [
        ("ann", "41_range_assignor", ""),
        ("bob", "41_range_assignor", ""),
    ]


def test_what_cannot_be_graded_is_listed_with_its_reason(tmp_path):
    """An empty folder, an unknown exercise and a notebook outside the students' folders."""
    put(tmp_path, "ann/41_range_assignor.ipynb", "ann/41_range_assignor (1).ipynb")
    put(tmp_path, "carl/readme.txt", "41_range_assignor.ipynb")
    assert found_in(tmp_path) == [
        ("ann", "41_range_assignor", ""),
        (
            "ann",
            "41_range_assignor (1)",
            "no exercise is called 41_range_assignor (1): name the file 41_range_assignor.ipynb",
        ),
        ("carl", "", "the student's folder holds no notebook that can be read"),
        ("", "41_range_assignor", "the notebook lies in no student's folder"),
    ]


def test_of_two_copies_the_last_by_name_is_graded_and_it_is_said(tmp_path):
    """The times of files change when they are copied, names do not; v10 comes after v2."""
    put(tmp_path, "ann/v1/41_range_assignor.ipynb", "ann/v2/41_range_assignor.ipynb")
    (found,) = find_submissions(tmp_path, EXERCISES)
    assert found.path == tmp_path / "ann/v2/41_range_assignor.ipynb"
    assert found.note == (
        "2 copies were handed in, and v2/41_range_assignor.ipynb, the last by name, is graded"
    )
    put(tmp_path, "ann/v10/41_range_assignor.ipynb", "ann/v/41_range_assignor.ipynb")
    (found,) = find_submissions(tmp_path, EXERCISES)
    assert found.path == tmp_path / "ann/v10/41_range_assignor.ipynb"


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ((), "no submission in"),
        (("ann/readme.txt",), "no submission in"),
        (("41_range_assignor.ipynb",), "each must lie in its student's folder"),
    ],
)
def test_a_folder_with_nothing_to_grade_is_refused(tmp_path, paths, said):
    """The error names the folder and the layout that is expected."""
    put(tmp_path, *paths)
    with pytest.raises(NoSubmissionsError, match=said):
        find_submissions(tmp_path, EXERCISES)
    with pytest.raises(NoSubmissionsError, match="there is no folder"):
        find_submissions(tmp_path / "nowhere", EXERCISES)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    """Too large, a symbolic link, or gone: a reason each, never an exception of another kind."""
    put(tmp_path, "ann/41_range_assignor.ipynb", content=b"x" * (LARGEST_BYTES + 1))
    put(tmp_path, "bob/41_range_assignor.ipynb", "dora/41_range_assignor.ipynb")
    (tmp_path / "carl").mkdir()
    (tmp_path / "carl/41_range_assignor.ipynb").symlink_to(tmp_path / "bob/41_range_assignor.ipynb")
    ann, bob, carl, dora = find_submissions(tmp_path, EXERCISES)
    assert bob.read() == ("bob", "41_range_assignor", b"{}")
    (tmp_path / "dora/41_range_assignor.ipynb").unlink()
    for found, said in [(ann, "larger than"), (carl, "symbolic link"), (dora, "cannot be read")]:
        with pytest.raises(SubmissionError, match=said):
            found.read()


def test_a_name_that_is_not_utf_8_becomes_text(tmp_path):
    """Any table can hold the student's name."""
    try:
        (tmp_path / os.fsdecode(b"ren\xe9")).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    put(tmp_path, "ann/41_range_assignor.ipynb")
    assert [name for name, *_ in found_in(tmp_path)] == ["ann", "ren\\xe9"]


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    """A named pipe would block whoever reads it, and with that the whole class."""
    (tmp_path / "ann").mkdir()
    os.mkfifo(tmp_path / "ann" / "41_range_assignor.ipynb")
    [found] = find_submissions(tmp_path, EXERCISES)
    with pytest.raises(SubmissionError, match="no ordinary file"):
        found.read()
