"""What the views say, in English and Chinese. Events themselves are told by `trace.describe`."""

from kafkalearn.errors import ConfigError
from kafkalearn.views.chinese import CHINESE

LANGUAGES = ("en", "zh")


class Say:
    """Says a text of the views in one language: ``say("waits for {}", "c1")``.

    lang: ``en`` or ``zh``; ConfigError for another. The English text is the name of the Chinese.
    """

    def __init__(self, lang: str = "en") -> None:
        if lang not in LANGUAGES:
            raise ConfigError(f"lang is {lang!r}: {' or '.join(LANGUAGES)} is allowed")
        self.lang = lang

    def __call__(self, text: str, *values: object) -> str:
        """Say it, with values filled in."""
        template = CHINESE[text] if self.lang == "zh" else text
        return template.format(*values) if values else template
