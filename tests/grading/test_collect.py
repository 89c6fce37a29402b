"""What a class handed in is found, and nothing is passed over in silence."""

import os
import shutil
from pathlib import Path

import pytest

from kafkalearn.grading.handed_in.archives import LARGEST_BYTES, SubmissionError
from kafkalearn.grading.handed_in.collect import MOST_ATTEMPTS, NoSubmissionsError, find_submissions

EXERCISES = {"41_range_assignor", "42_round_robin"}


def put(folder, *paths, content=b"{}"):
    """Write a file at each path below the folder."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def zipped(folder):
    """The folder as a zip beside it."""
    return Path(shutil.make_archive(str(folder), "zip", folder))


def found_in(source, **how):
    """(student, exercise, what is said about it) of all that is found."""
    return [
        (each.student, each.exercise, each.entry.refusal or each.note)
        for each in find_submissions(source, EXERCISES, **how)
    ]


def test_plain_folders_and_nbgraders_are_read(tmp_path):
    """A notebook may lie anywhere below its student's folder; what tools write does not count."""
    put(tmp_path, "ann/41_range_assignor.ipynb", "bob/ps1/41_range_assignor.ipynb")
    put(tmp_path, "ann/.ipynb_checkpoints/41_range_assignor-checkpoint.ipynb")
    put(tmp_path, ".git/41_range_assignor.ipynb", "ann/._41_range_assignor.ipynb", "ann/notes.txt")
    put(tmp_path, "__MACOSX/ann/41_range_assignor.ipynb", "ann/.~41_range_assignor.ipynb")
    put(tmp_path, ".DS_Store", "ann/.DS_Store")
    assert found_in(tmp_path) == [
        ("ann", "41_range_assignor", ""),
        ("bob", "41_range_assignor", ""),
    ]
    assert found_in(Path(tmp_path, "ann", "..")) == found_in(tmp_path)


@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
def test_a_name_that_begins_with_a_dot_is_a_name(tmp_path, packed):
    """A student's, a folder's or a notebook's: it is read, or has a row that says why not."""
    put(tmp_path / "class", ".ann/41_range_assignor.ipynb", "bob/.hw/41_range_assignor.ipynb")
    put(tmp_path / "class", "bob/.hidden.ipynb", ".carl/notes.txt")
    source = zipped(tmp_path / "class") if packed else tmp_path / "class"
    known = "name the file 41_range_assignor, 42_round_robin.ipynb"
    assert found_in(source) == [
        (".ann", "41_range_assignor", ""),
        (".carl", "", "no notebook was handed in, but notes.txt"),
        ("bob", ".hidden", f"no exercise is called .hidden: {known}"),
        ("bob", "41_range_assignor", ""),
    ]


MOODLE = {
    "Ann Lee_101_assignsubmission_file_/41_range_assignor.ipynb": ("Ann Lee", ""),
    "Zoë O'Neil_102_assignsubmission_file/sub/41_range_assignor.ipynb": ("Zoë O'Neil", ""),
    "王 小明_103_assignsubmission_file_41_range_assignor.ipynb": ("王 小明", ""),
    "A_b_104_assignsubmission_file_/x_1_2_41_range_assignor.ipynb": (
        "A_b",
        "no exercise is called x_1_2_41_range_assignor: name the file 41_range_assignor, "
        "42_round_robin.ipynb",
    ),
    "Typed In_105_assignsubmission_onlinetext_/onlinetext.html": (
        "Typed In",
        "no notebook was handed in, but onlinetext.html",
    ),
}
CANVAS = {
    "leeann_11_900_41_range_assignor.ipynb": ("leeann", ""),
    "oneilzoe_LATE_12_901_41_range_assignor-1.ipynb": (
        "oneilzoe",
        "handed in late; 41_range_assignor-1.ipynb counts as 41_range_assignor.ipynb",
    ),
    "typedin_13_902_text.html": ("typedin", "no notebook was handed in, but text.html"),
}


@pytest.mark.parametrize("files", [MOODLE, CANVAS], ids=["moodle", "canvas"])
@pytest.mark.parametrize("packed", [True, False], ids=["zip", "folder"])
@pytest.mark.parametrize("wrapper", ["", "anything", "submissions"])
def test_what_platforms_export_is_read(tmp_path, files, packed, wrapper):
    """The zip as it comes, unpacked, or with one folder around; the platform names the student."""
    put(tmp_path / "class" / wrapper, *files)
    source = zipped(tmp_path / "class") if packed else tmp_path / "class"
    assert sorted((student, said) for student, _, said in found_in(source)) == sorted(
        files.values()
    )


def test_namesakes_stay_apart(tmp_path):
    """Two people of one name have two numbers; a file typed online belongs to its number."""
    put(
        tmp_path,
        "Ann Lee_1_assignsubmission_file_/41_range_assignor.ipynb",
        "Ann Lee_1_assignsubmission_onlinetext_/onlinetext.html",
        "Ann Lee_2_assignsubmission_file_/41_range_assignor.ipynb",
    )
    assert [student for student, *_ in found_in(tmp_path)] == ["Ann Lee (1)", "Ann Lee (2)"]


def test_a_student_names_nobody_else(tmp_path):
    """What a student calls a folder or file within a submission does not make it another's."""
    put(tmp_path / "ann", "41_range_assignor.ipynb")
    put(tmp_path / "bob", "x/annlee_1_2_41_range_assignor.ipynb")
    put(tmp_path / "eve", "ann_1_assignsubmission_file_/41_range_assignor.ipynb")
    assert [(student, bool(said)) for student, _, said in found_in(tmp_path)] == [
        ("ann", False),
        ("bob", True),
        ("eve", True),
    ]
    assert "grade it by itself" in found_in(tmp_path)[-1][2]


def test_students_may_hand_in_zips(tmp_path):
    """As their folder, or within it; a zip is read as a folder is."""
    put(tmp_path / "ann", "hw/41_range_assignor.ipynb", "notes.txt")
    zipped(tmp_path / "ann")
    shutil.rmtree(tmp_path / "ann")
    put(tmp_path / "bob" / "work", "42_round_robin.ipynb", content=b'{"a": 1}')
    zipped(tmp_path / "bob" / "work")
    shutil.rmtree(tmp_path / "bob" / "work")
    ann, bob = find_submissions(tmp_path, EXERCISES)
    assert ann.read() == ("ann", "41_range_assignor", b"{}")
    assert bob.read() == ("bob", "42_round_robin", b'{"a": 1}')
    ann, bob = find_submissions(zipped(tmp_path), EXERCISES)
    assert bob.read() == ("bob", "42_round_robin", b'{"a": 1}')


@pytest.mark.parametrize(
    "name",
    [
        "41_range_assignor (1)",
        "41_range_assignor-2",
        "41_range_assignor-Copy1",
        "41_range_assignor(3)",
        "41_range_assignor - Copy",
        "41_range_assignor copy 2",
        "41_range_assignor (1)-1",
    ],
)
def test_a_copys_name_counts_as_the_exercise(tmp_path, name):
    """What browsers, Jupyter and platforms append is seen through, and said."""
    put(tmp_path, f"ann/{name}.ipynb")
    assert found_in(tmp_path) == [
        ("ann", "41_range_assignor", f"{name}.ipynb counts as 41_range_assignor.ipynb")
    ]


def test_what_cannot_be_graded_is_listed_with_its_reason(tmp_path):
    """An empty folder, an unknown exercise and a notebook outside the students' folders."""
    put(tmp_path, "ann/41_range_assignor.ipynb", "ann/41_range_assignor_final.ipynb")
    put(tmp_path, "carl/readme.txt", "41_range_assignor.ipynb")
    (tmp_path / "dora").mkdir()
    assert found_in(tmp_path) == [
        ("ann", "41_range_assignor", ""),
        (
            "ann",
            "41_range_assignor_final",
            "no exercise is called 41_range_assignor_final: name the file 41_range_assignor, "
            "42_round_robin.ipynb",
        ),
        ("carl", "", "no notebook was handed in, but readme.txt"),
        ("dora", "", "the student's folder holds no notebook that can be read"),
        ("", "41_range_assignor", "the notebook lies in no student's folder"),
    ]


@pytest.mark.parametrize(
    ("files", "said"), [("abc", "a.txt, b.txt, c.txt"), ("abcd", "a.txt, b.txt, c.txt and 1 more")]
)
def test_of_many_other_files_three_are_named(tmp_path, files, said):
    """The rest is counted, if there is a rest."""
    put(tmp_path, "ann/41_range_assignor.ipynb", *(f"carl/{name}.txt" for name in files))
    assert found_in(tmp_path)[1:] == [("carl", "", f"no notebook was handed in, but {said}")]


def test_of_two_copies_the_last_by_name_is_graded_and_it_is_said(tmp_path):
    """The times of files change when they are copied, names do not; v10 comes after v2."""
    put(tmp_path, "ann/v1/41_range_assignor.ipynb", "ann/v2/41_range_assignor.ipynb")
    (found,) = find_submissions(tmp_path, EXERCISES)
    assert found.entry.path == ("ann", "v2", "41_range_assignor.ipynb")
    assert found.note == (
        "2 copies were handed in, and v2/41_range_assignor.ipynb, the last by name, is graded"
    )
    put(tmp_path, "ann/v10/41_range_assignor.ipynb", "ann/v/41_range_assignor.ipynb")
    (found,) = find_submissions(tmp_path, EXERCISES)
    assert found.entry.path == ("ann", "v10", "41_range_assignor.ipynb")
    put(tmp_path, "bob/41_range_assignor (1).ipynb", "bob/41_range_assignor.ipynb")
    put(tmp_path, "bob/41_range_assignor (10).ipynb", "bob/41_range_assignor (2).ipynb")
    _, found = find_submissions(tmp_path, EXERCISES)
    assert found.entry.path == ("bob", "41_range_assignor (10).ipynb")


def test_for_the_best_attempt_all_copies_are_found(tmp_path):
    """In their order, the later last; a late one is later; no more than can be graded in time."""
    put(
        tmp_path / "canvas",
        "leeann_LATE_1_3_41_range_assignor.ipynb",
        "leeann_1_2_41_range_assignor-2.ipynb",
        "leeann_1_2_41_range_assignor.ipynb",
    )
    found = find_submissions(tmp_path / "canvas", EXERCISES, attempts="best")
    assert [(each.copy, "late" in each.note) for each in found] == [
        ("41_range_assignor.ipynb", False),
        ("41_range_assignor-2.ipynb", False),
        ("41_range_assignor.ipynb", True),
    ]
    put(tmp_path / "many", *(f"ann/{number}/42_round_robin.ipynb" for number in range(30)))
    found = find_submissions(tmp_path / "many", EXERCISES, attempts="best")
    assert [each.copy for each in found] == [
        f"{number}/42_round_robin.ipynb" for number in range(30 - MOST_ATTEMPTS, 30)
    ]
    assert found[0].note == "30 copies were handed in: the last 20 count"


def test_a_copy_that_cannot_be_read_hides_none_that_can(tmp_path):
    """The link is left out, and it is said."""
    put(tmp_path, "ann/a/41_range_assignor.ipynb")
    (tmp_path / "ann/b").mkdir()
    (tmp_path / "ann/b/41_range_assignor.ipynb").symlink_to(tmp_path / "ann/a")
    (found,) = find_submissions(tmp_path, EXERCISES)
    assert found.read().content == b"{}"
    assert "b/41_range_assignor.ipynb was left out: it is a symbolic link" in found.note


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ((), "no submission in"),
        (("ann/readme.txt",), "no submission in"),
        (("41_range_assignor.ipynb",), "lies in no student's folder"),
    ],
)
def test_a_folder_with_nothing_to_grade_is_refused(tmp_path, paths, said):
    """The error names the folder and the layout that is expected."""
    put(tmp_path, *paths)
    with pytest.raises(NoSubmissionsError, match=said):
        find_submissions(tmp_path, EXERCISES)
    with pytest.raises(NoSubmissionsError, match="there is no folder or zip"):
        find_submissions(tmp_path / "nowhere", EXERCISES)
    put(tmp_path, "one.ipynb")
    with pytest.raises(NoSubmissionsError, match=r"put it .* as in submissions/ann/one.ipynb"):
        find_submissions(tmp_path / "one.ipynb", EXERCISES)
    put(tmp_path, "file.txt")
    with pytest.raises(NoSubmissionsError, match=r"file.txt: the zip cannot be read: File is not"):
        find_submissions(tmp_path / "file.txt", EXERCISES)


def test_a_file_that_cannot_be_read_says_why(tmp_path):
    """Too large, a symbolic link, or gone: a reason each, never an exception of another kind."""
    put(tmp_path, "ann/41_range_assignor.ipynb", content=b"x" * (LARGEST_BYTES + 1))
    put(tmp_path, "bob/41_range_assignor.ipynb", "dora/41_range_assignor.ipynb")
    (tmp_path / "carl").mkdir()
    (tmp_path / "carl/41_range_assignor.ipynb").symlink_to(tmp_path / "bob/41_range_assignor.ipynb")
    (tmp_path / "eve").symlink_to(tmp_path / "bob")
    ann, bob, carl, dora, eve = find_submissions(tmp_path, EXERCISES)
    assert bob.read() == ("bob", "41_range_assignor", b"{}")
    assert (eve.student, eve.exercise) == ("", "eve")
    (tmp_path / "dora/41_range_assignor.ipynb").unlink()
    links = [(carl, "symbolic link"), (eve, "symbolic link")]
    for found, said in [(ann, "larger than"), (dora, "cannot be read"), *links]:
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


@pytest.mark.parametrize(
    "student", ["Ann Marie O'Neil", 'a "quoted" one', "a\nb", "<b>bold", "王小明", "-n"]
)
def test_odd_names_are_names(tmp_path, student):
    """Spaces, quotes, line feeds, markup and Chinese, in a folder and in a zip."""
    put(tmp_path / "class", f"{student}/41_range_assignor.ipynb")
    for source in (tmp_path / "class", zipped(tmp_path / "class")):
        (found,) = find_submissions(source, EXERCISES)
        assert found.read() == (student, "41_range_assignor", b"{}")


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path):
    """A named pipe would block whoever reads it, and with that the whole class."""
    (tmp_path / "ann").mkdir()
    os.mkfifo(tmp_path / "ann" / "41_range_assignor.ipynb")
    os.mkfifo(tmp_path / "ann" / "work.zip")
    notebook, archive = find_submissions(tmp_path, EXERCISES)
    with pytest.raises(SubmissionError, match="no ordinary file"):
        notebook.read()
    assert "no ordinary file" in archive.entry.refusal
