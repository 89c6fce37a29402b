"""What the views say, in English and Chinese. Events themselves are told by `trace.describe`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafkalearn.errors import ConfigError
from kafkalearn.trace.wording import CHINESE as TOLD
from kafkalearn.views.chinese import CHINESE
from kafkalearn.views.wording import shown

LANGUAGES = ("en", "zh")
Saying = Sequence[Any]
"""An English text, then its values: what a model says without a language."""


@dataclass(frozen=True)
class Say:
    """Says a text of the views in one language: ``say("waits for {}", "c1")``.

    lang: ``en`` or ``zh``; ConfigError for another. The English text is the name of the Chinese.
    """

    lang: str = "en"

    def __post_init__(self) -> None:
        """Refuse a language that there is not."""
        if self.lang not in LANGUAGES:
            raise ConfigError(f"lang is {self.lang!r}: {' or '.join(LANGUAGES)} is allowed")

    def __call__(self, text: str, *values: object) -> str:
        """Say it, with values filled in."""
        template = CHINESE[text] if self.lang == "zh" else text
        return template.format(*values) if values else template


def is_term(word: str | None) -> bool:
    """Tell a word that the program puts into a trace, such as a reason, which has its Chinese."""
    return word in TOLD.terms


def term(word: str, limit: int = 24) -> Saying:
    """Say such a word; any other stands as it is."""
    return [word] if is_term(word) else ["{}", shown(word, limit)]
