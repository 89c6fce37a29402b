"""Cases that an answer is asked about, and what was found in one: here, calls of a function."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

from kafkalearn.grading.answering.wire import WireError, decode, encode
from kafkalearn.grading.exercise import Exercise, Table
from kafkalearn.grading.judging.smallest import Finding, simpler_arguments
from kafkalearn.grading.judging.wording import as_text, clean, raised_in_words

Message = dict[str, Any]
Ask = Callable[[Message], Message]  # hands a message to the learner's side and gives its one reply


class Story(NamedTuple):
    """A run for a learner to step through: its trace as JSON Lines, and the event to look at.

    caption: what goes wrong. condition: what happens to the learner's loop in this run.
    """

    caption: str
    jsonl: str
    step: int
    condition: str = ""


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

    def tried(self, check: str, seed: int) -> Iterator[tuple[Any, Finding | None]]:
        """Ask about the cases of a check, small ones first; equal seeds give equal cases."""

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

    def tried(self, check: str, seed: int) -> Iterator[tuple[tuple[Any, ...], Finding | None]]:
        """Ask what judge.py asks in this check: a few cases first, then twice as many at a time.

        Each message costs both sides as much as some cases do; and an answer that is wrong is not
        asked about many more than show it.
        """
        cases, most = iter(self._judge.inputs(check, seed)), 4
        while group := list(islice(cases, most)):
            for case, message in zip(group, self._replies(group), strict=True):
                yield case, self._found(case, message)
            most *= 2

    def find(self, case: tuple[Any, ...]) -> Finding | None:
        """Send the arguments; what came back is judged on this side."""
        return self._found(case, self._replies([case])[0])

    def _replies(self, group: Sequence[tuple[Any, ...]]) -> list[Message]:
        """Ask about a group at once, or, if that has no answer to each, about one after another."""
        questions = [{"question": encode(case)} for case in group]
        if len(group) > 1:
            replies = self._ask({"each": questions}).get("each")
            if isinstance(replies, list) and len(replies) == len(group):
                return [each if isinstance(each, dict) else {} for each in replies]
        return [self._ask(each) for each in questions]

    def _found(self, case: tuple[Any, ...], message: Message) -> Finding | None:
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
