"""Hostile zips: each is refused by name with a reason, and harms nobody else."""

import io
import stat
import struct
import zipfile

import pytest

from kafkalearn.grading.handed_in import archives
from kafkalearn.grading.handed_in.archives import LARGEST_BYTES, SubmissionError
from kafkalearn.grading.handed_in.collect import NoSubmissionsError, find_submissions

NAME = "41_range_assignor.ipynb"
HONEST = {"bob/" + NAME: b"{}"}


def packed(files, **how):
    """A zip as bytes; names may be ZipInfo."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, **how) as archive:
        for name, each in files.items():
            archive.writestr(name, each)
    return content.getvalue()


def read_all(tmp_path, content):
    """(student, exercise) -> content, or the reason why there is none."""
    (tmp_path / "class.zip").write_bytes(content)
    result = {}
    for found in find_submissions(tmp_path / "class.zip", {"41_range_assignor"}):
        try:
            result[found.student, found.exercise] = found.read().content
        except SubmissionError as error:
            result[found.student, found.exercise] = str(error)
    return result


def symlink(name):
    """A member that unpacks as a symbolic link."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def flagged(content, name, bits):
    """The zip, with flags set in both headers of a member."""
    changed = bytearray(content)
    for mark, flags, at_name in ((b"PK\3\4", 6, 30), (b"PK\1\2", 8, 46)):
        place = -1
        while (place := content.find(mark, place + 1)) >= 0:
            if content[place + at_name :].startswith(name.encode()):
                changed[place + flags] |= bits & 255
                changed[place + flags + 1] |= bits >> 8
    return bytes(changed)


def lying(content, size):
    """The zip, with another uncompressed size stated for every member."""
    changed = bytearray(content)
    for mark, at in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        place = -1
        while (place := content.find(mark, place + 1)) >= 0:
            changed[place + at : place + at + 4] = struct.pack("<I", size)
    return bytes(changed)


ANN = ("ann", "41_range_assignor")
BOMB = b"0" * (LARGEST_BYTES + 1)
SMALL_BOMB = packed({"ann/" + NAME: BOMB})
DEEP = packed({"a.zip": packed({"b.zip": packed({NAME: b"{}"})})})
LINK = "it is a symbolic link: hand in the notebook itself"
TOO_LARGE = "the file is larger than 10 MB: clear its outputs"
ABSOLUTE = "its path is absolute: a zip holds paths below itself"
# name -> (the zip's bytes, whose entry, the reason)
HOSTILE = {
    "a bomb that says so": (packed(HONEST | {"ann/" + NAME: BOMB}), ANN, TOO_LARGE),
    "a link": (packed(HONEST | {symlink("ann/" + NAME): b"../bob/x"}), ANN, LINK),
    "a link to a folder": (
        packed(HONEST | {symlink("ann"): b"bob"}),
        ("", "ann"),
        LINK,
    ),
    "encrypted": (
        flagged(packed(HONEST | {"ann/" + NAME: b"{}"}), "ann", 1),
        ANN,
        "it is encrypted: hand it in without a password",
    ),
    "out of the zip": (
        packed(HONEST | {"ann/../../" + NAME: b"{}"}),
        ("", "41_range_assignor"),
        "its path leaves the zip by `..`",
    ),
    "into another's": (
        packed(HONEST | {"ann/../bob/" + NAME: b"evil"}),
        ("", "41_range_assignor"),
        "its path leaves the zip by `..`",
    ),
    "absolute": (packed(HONEST | {"/ann/" + NAME: b"{}"}), ("", "41_range_assignor"), ABSOLUTE),
    "a drive": (
        packed(HONEST | {"C:\\ann\\" + NAME: b"{}"}),
        ("", "41_range_assignor"),
        ABSOLUTE,
    ),
    "a broken zip": (
        packed(HONEST | {"ann/x.zip": b"PK\3\4"}),
        ("ann", "x.zip"),
        "the zip cannot be read: File is not a zip file",
    ),
    "zips in zips": (
        packed(HONEST | {"ann/x.zip": DEEP}),
        ("ann", "x.zip/a.zip/b.zip"),
        "it lies in a zip of a zip: hand in the notebook itself",
    ),
    "very many files": (
        packed(HONEST | {"ann/x.zip": packed({f"{i}.ipynb": b"" for i in range(1001)})}),
        ("ann", "x.zip"),
        "the zip holds 1001 files: at most 1000 are read",
    ),
    "a zip that is too large": (
        packed(HONEST | {"ann/x.zip": b"0" * (archives.LARGEST_ZIP_BYTES + 1)}),
        ("ann", "x.zip"),
        "the zip cannot be read: it is larger than 20 MB: "
        "hand in the notebooks without other files",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_is_hostile_is_refused_and_the_neighbour_read(tmp_path, case):
    """The reason stands with the name; bob's notebook is read as it is."""
    content, name, said = HOSTILE[case]
    result = read_all(tmp_path, content)
    assert result.pop(("bob", "41_range_assignor")) == b"{}"
    assert result == {name: said}


def test_a_bomb_that_lies_about_its_size_is_read_no_further(tmp_path):
    """The size that is stated bounds what is read, and the checksum tells."""
    result = read_all(tmp_path, lying(SMALL_BOMB, 100))
    assert "Bad CRC-32" in result[ANN]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_that_cannot_be_bounded_are_not_read(tmp_path, method):
    """A few bytes of them may become gigabytes in one step."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("bob/" + NAME, b"{}")
        archive.writestr("ann/" + NAME, BOMB[:100], method)
    said = "it is compressed in a way that is not read: use an ordinary zip"
    assert read_all(tmp_path, content.getvalue())[ANN] == said


def test_a_name_that_stands_twice_is_refused(tmp_path):
    """Which of the two was meant, nobody knows."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for each in ("bob", "ann"):
            archive.writestr(f"{each}/{NAME}", b"{}")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr(f"ann/{NAME}", b"{}")
    result = read_all(tmp_path, content.getvalue())
    assert result[ANN] == "the zip holds 2 files of this name"
    assert result["bob", "41_range_assignor"] == b"{}"


OLD_NAMES = "the zip does not say how its names are written: they were read as code page 437"


def test_names_are_read_in_the_encoding_that_they_have(tmp_path):
    """UTF-8 that is not declared is recognised; what cannot be known is said."""
    declared = packed({"Zoë/" + NAME: b"{}", "ann/" + NAME: b"{}"})
    undeclared = declared.replace("Zoë".encode(), b"Zo\x81a")
    for content, student, note in [
        (declared, "Zoë", ""),
        (flagged_off(declared), "Zoë", ""),
        (flagged_off(undeclared), "Zoüa", OLD_NAMES),
    ]:
        (tmp_path / "class.zip").write_bytes(content)
        found, _ = find_submissions(tmp_path / "class.zip", {"41_range_assignor"})
        assert (found.student, found.note) == (student, note)
        assert found.read().content == b"{}"
    with pytest.raises(
        NoSubmissionsError, match=r"the names in it are not what they claim to be, UTF-8$"
    ):
        read_all(tmp_path, undeclared)


def flagged_off(content):
    """The zip without the flag that its names are UTF-8."""
    changed = bytearray(content)
    for mark, at in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        place = -1
        while (place := content.find(mark, place + 1)) >= 0:
            changed[place + at] &= ~8
    return bytes(changed)


def test_what_systems_add_is_no_submission(tmp_path):
    """macOS and Windows leave files of their own; Windows' separators are separators."""
    files = {"__MACOSX/ann/._" + NAME: b"x", "ann/.DS_Store": b"x", "ann\\ps1\\" + NAME: b"{}"}
    assert read_all(tmp_path, packed(files)) == {ANN: b"{}"}


def test_a_zip_that_changed_since_it_was_listed_says_so(tmp_path):
    """A file that vanished or was cut is a reason, never an exception of another kind."""
    content = packed({"ann/" + NAME: b"{}" * 5000, **HONEST})
    (tmp_path / "class.zip").write_bytes(content)
    ann, _ = find_submissions(tmp_path / "class.zip", {"41_range_assignor"})
    archives._opened.cache_clear()
    (tmp_path / "class.zip").write_bytes(content[:40])
    with pytest.raises(SubmissionError, match="cannot be read from its zip"):
        ann.read()
