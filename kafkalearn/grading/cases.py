"""Cases that an answer is asked about, and what was found in one: here, calls of a function."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

from kafkalearn.grading.exercise import Exercise, Table
from kafkalearn.grading.smallest import Finding, simpler_arguments
from kafkalearn.grading.wire import WireError, decode, encode
from kafkalearn.grading.wording import as_text, clean, raised_in_words

# Hands a message to the learner's side and waits for its one reply.
Ask = Callable[[dict[str, Any]], dict[str, Any]]


class Story(NamedTuple):
    """A run for a learner to step through: its trace as JSON Lines, and the event to look at."""

    caption: str
    jsonl: str
    step: int


class Shown(NamedTuple):
    """A case as a learner sees it: in words, and as a picture or a story where it has one.

    picture: HTML or SVG in which all text is escaped.
    """

    text: str
    table: Table | None = None
    picture: str = ""
    story: Story | None = None

    @property
    def detail(self) -> str:
        """What feedback needs of it, as JSON text: table, picture, story; what is absent is out."""
        parts = {
            "table": self.table and self.table._asdict(),
            "picture": self.picture,
            "story": self.story and self.story._asdict(),
        }
        return json.dumps({name: part for name, part in parts.items() if part})


class Cases(Protocol):
    """One kind of exercise: which cases there are, and how an answer fares in one."""

    def cases(self, check: str, seed: int) -> Iterable[Any]:
        """Give the cases of a check, small ones first; equal seeds give equal cases."""

    def find(self, case: Any) -> Finding | None:
        """Ask about a case and say what is wrong; None if nothing is."""

    def simpler(self, case: Any) -> Iterable[Any]:
        """Give the cases that are one step simpler."""

    def shown(self, case: Any, found: Finding) -> Shown:
        """Lay out the case and what was found in it."""


class FunctionCases:
    """The answer is a function: a case is the arguments of one call, judge.py knows the promise."""

    def __init__(self, exercise: Exercise, ask: Ask) -> None:
        self._exercise = exercise
        self._judge = exercise.judge
        self._ask = ask

    def cases(self, check: str, seed: int) -> Iterable[tuple[Any, ...]]:
        """Give what judge.py asks in this check."""
        return self._judge.inputs(check, seed)

    def find(self, case: tuple[Any, ...]) -> Finding | None:
        """Send the arguments; what came back is judged on this side."""
        message = self._ask({"question": encode(case)})
        if "raised" in message:
            raised = str(message["raised"])
            return Finding(raised_in_words(raised, self._exercise), raised.split(":")[0], None)
        if "returned" not in message:
            return Finding(str(message.get("refused", "no answer came back")), "refused", None)
        try:
            answer = decode(message["returned"])
            sentence = self._judge.problem(case, answer)
        except WireError as error:
            return Finding(str(error), "refused", None)
        return Finding(sentence, _promise(sentence, case), answer) if sentence else None

    def simpler(self, case: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Use judge.py's own way if it has one, and leave out what it does not allow."""
        simpler = getattr(self._judge, "simpler", simpler_arguments)
        allowed = getattr(self._judge, "allowed", lambda case: True)
        return (each for each in simpler(case) if allowed(each))

    def shown(self, case: tuple[Any, ...], found: Finding) -> Shown:
        """Lay out judge.py's table, and its picture if it draws one."""
        table = self._judge.table(case, found.evidence)
        table = table._replace(rows=tuple(tuple(map(clean, row)) for row in table.rows))
        picture = getattr(self._judge, "picture", lambda case, answer: "")
        return Shown(as_text(table), table, picture(case, found.evidence))


def _promise(sentence: str, case: object) -> str:
    """What is left of a sentence without names and numbers: a smaller case must break the same."""
    names = {"nothing", *_texts(encode(case))}  # an empty list is told as "nothing"
    words = [word for word in sentence.split() if not any(map(str.isdigit, word))]
    return " ".join(word for word in words if word.strip(",.:;'\"") not in names)


def _texts(plain: Any) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, list | dict):
        for each in plain.values() if isinstance(plain, dict) else plain:
            yield from _texts(each)
