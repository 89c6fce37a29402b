"""The command `kafkalearn trace`: stories listed, printed, written as pages and as JSON Lines."""

from typer.testing import CliRunner

from kafkalearn import scenarios
from kafkalearn.cli import app
from kafkalearn.trace import Trace


def run(*arguments):
    """Call the command in this process."""
    return CliRunner().invoke(app, ["trace", *map(str, arguments)])


def test_the_stories_are_listed():
    """Without a name: every story with its first sentence."""
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines] == scenarios.names()
    assert lines[0].endswith("find the coordinator, join, sync, find positions, fetch.")


def test_a_story_is_printed():
    """By name, in the language that was asked for, with settings, seed and profile."""
    told = run("first_member", "--set", "partitions=3", "--seed", 4, "--profile", "2.4")
    trace = scenarios.first_member(partitions=3, seed=4, profile="2.4")
    assert told.stdout == f"{trace}\n"
    assert run("first_member", "--lang", "zh").stdout == scenarios.first_member().text("zh") + "\n"


def test_a_story_is_written(tmp_path):
    """As a page that stands alone, and as events that can be read back; nothing is printed."""
    page, events = tmp_path / "story.html", tmp_path / "story.jsonl"
    told = run("first_member", "--html", page, "--jsonl", events, "--lang", "zh")
    assert (told.exit_code, told.stdout) == (0, "")
    assert 'lang="zh"' in page.read_text(encoding="utf-8")
    assert Trace.from_jsonl(events) == scenarios.first_member()


def test_what_cannot_be_done_is_a_sentence(tmp_path):
    """Status 2, the value and what is allowed; no file is left behind."""
    for arguments, said in (
        (("nobody",), "'nobody' is no scenario: first_member, "),
        (("first_member", "--set", "partitions"), "--set partitions is not understood"),
        (("first_member", "--set", "partitions=-1"), "partitions is -1"),
        (("first_member", "--profile", "9"), "9"),
        (("first_member", "--lang", "fr", "--html", tmp_path / "x.html"), "lang is 'fr'"),
        (("first_member", "--html", tmp_path / "none" / "x.html"), "No such file"),
    ):
        told = run(*arguments)
        assert told.exit_code == 2, arguments
        assert said in told.stderr
    assert list(tmp_path.iterdir()) == []
