"""Words that a model gives without a language: phrases, in a row.

A phrase is a text that stands as it is, such as a name or a term of Kafka, or a `Saying`.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

from kafkalearn.views.language import Say, Saying

Phrase = str | Saying
LISTED = 3  # of a longer list the first ones are named, and the rest is counted
_NOUNS = {
    "record": ("1 record", "{} records"),
    "member": ("1 member", "{} members"),
    "partition": ("1 partition", "{} partitions"),
}


def told(label: Sequence[Phrase], say: Say) -> str:
    """Say a label: its phrases in a row."""
    return " · ".join(each if isinstance(each, str) else say(*each) for each in label)


def counted(count: int, noun: str) -> Phrase:
    """``1 record``, ``2 records``: both are texts of `Say`."""
    one, many = _NOUNS[noun]
    return [one] if count == 1 else [many, count]


def listed(items: Iterable[str], count: int) -> list[Phrase]:
    """Name the first of `count` items, and count the rest."""
    first = list(islice(items, LISTED))
    rest = count - len(first)
    return [*([", ".join(first)] if first else []), *([["and {} more", rest]] if rest > 0 else [])]
