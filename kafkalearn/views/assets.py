"""The stylesheets and modules that stand beside the code."""

from pathlib import Path

_VIEWS = Path(__file__).parent


def asset(name: str) -> Path:
    """Find a file of the views by its path in them: ``look.css``, ``explorers/explorer.css``."""
    return _VIEWS / name


def joined(*names: str) -> str:
    """Give stylesheets, or the parts of a module, as one text."""
    return "\n".join(asset(name).read_text(encoding="utf-8") for name in names)
