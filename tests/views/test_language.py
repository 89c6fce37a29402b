"""Every text that a view says has its Chinese, and every Chinese text is said."""

import ast
from pathlib import Path

import pytest

from kafkalearn.errors import ConfigError
from kafkalearn.views.chinese import CHINESE
from kafkalearn.views.language import Say

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
    """Give the texts that are handed to `say` as they stand."""
    for module in VIEWS.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "say" in ast.unparse(node.func).lower():
                yield from (a.value for a in node.args[:1] if isinstance(a, ast.Constant))


def test_every_text_has_its_chinese():
    """What a view says in English, it says in Chinese too."""
    texts = [text for text in said() if text not in ("en", "zh")]
    assert len(texts) > 30
    assert [text for text in texts if text not in CHINESE] == []


def test_no_chinese_is_left_over():
    """The table has no text that no view says."""
    assert set(CHINESE) - set(literals()) == set()


def test_both_languages_fill_in_the_same_values():
    """A text and its Chinese have the same number of places to fill in."""
    filled = {text: translated for text, translated in CHINESE.items() if "{" in text}
    assert filled
    for text, translated in filled.items():
        assert text.count("{") == translated.count("{"), text


def test_another_language_is_refused():
    """A language that there is not is named, with those that there are."""
    with pytest.raises(ConfigError, match="lang is 'fr': en or zh is allowed"):
        Say("fr")
