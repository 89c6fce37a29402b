"""Every text that a view says has its Chinese, and every Chinese text is said."""

import ast
from pathlib import Path

import pytest

from kafkalearn.errors import ConfigError
from kafkalearn.trace.wording import CHINESE as TOLD
from kafkalearn.views import decision
from kafkalearn.views.chinese import CHINESE
from kafkalearn.views.decision import commit_consequence
from kafkalearn.views.drawings import assignment_text, chrome, poll, track
from kafkalearn.views.group import members, model
from kafkalearn.views.language import Say, term
from kafkalearn.views.logs import partition_log, partition_verdict
from kafkalearn.views.messages import phrases, runs

IN_TABLES = [
    *(*assignment_text._REMARKS.values(), *poll._MEANING.values(), *members.PARKED.values()),
    *(*members._FAULTS.values(), *model._SENTENCES.values(), *partition_log.CELL_KINDS.values()),
    *(*partition_verdict._GONE.values(), *runs.VERBS.values()),
    *(text for _, text in (*chrome._KEYS, *decision.model.OUTCOMES.values())),
    *(text for *_, text in track._TICKS.values()),
    *(text for texts in phrases._NOUNS.values() for text in texts),
    *(text for text, *_ in (*commit_consequence._DONE, *commit_consequence._LATER)),
]
VIEWS = Path(__file__).parents[2] / "kafkalearn" / "views"


def literals():
    """Give all texts of the views' code, but for the Chinese table itself."""
    for module in VIEWS.rglob("*.py"):
        if module.name != "chinese.py":
            yield from _texts(ast.parse(module.read_text(encoding="utf-8")))


def _texts(tree):
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def said():
    """Give the texts that are handed to `say` as they stand, or by a table."""
    yield from IN_TABLES
    for module in VIEWS.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "say" in ast.unparse(node.func).lower():
                yield from (a.value for a in node.args[:1] if isinstance(a, ast.Constant))


def test_every_text_has_its_chinese():
    """What a view says in English, it says in Chinese too."""
    texts = [text for text in said() if text not in ("en", "zh")]
    assert len(texts) > 100
    assert [text for text in texts if text not in CHINESE] == []


def test_no_chinese_is_left_over():
    """The table has no text that no view says."""
    assert set(CHINESE) - set(TOLD.terms) - set(literals()) == set()


def test_both_languages_fill_in_the_same_values():
    """A text and its Chinese have the same number of places to fill in."""
    filled = {text: translated for text, translated in CHINESE.items() if "{" in text}
    assert filled
    for text, translated in filled.items():
        assert text.count("{") == translated.count("{"), text


def test_words_of_a_trace_are_terms():
    """A reason that the program gives has its Chinese; any other is shown as it is spelled."""
    assert Say("zh")(*term("the leader assigned")) == "leader 已分配"
    assert [Say(lang)(*term("{x}\n")) for lang in ("en", "zh")] == ["{x}\\n"] * 2


def test_equal_languages_are_one():
    """What is drawn once for a language need not be drawn again for another `Say` of it."""
    assert {Say("en"), Say("zh"), Say("zh")} == {Say("zh"), Say()}


def test_another_language_is_refused():
    """A language that there is not is named, with those that there are."""
    with pytest.raises(ConfigError, match="lang is 'fr': en or zh is allowed"):
        Say("fr")
