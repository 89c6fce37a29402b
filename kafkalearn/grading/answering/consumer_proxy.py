"""What a loop is handed in place of a KafkaConsumer: each call is a message to the judge.

The real consumer lives in the judge's simulation. A call waits until the judge says what it gave or
raised; meanwhile the judge may ask for the listener or a callback, which may call the consumer in
turn, as they may in Kafka.
"""

import builtins
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from itertools import count
from threading import get_ident
from typing import Any, NoReturn, Self

from greenlet import GreenletExit  # type: ignore[import-untyped]

from kafkalearn import errors
from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.errors import ConcurrentModificationError, IllegalArgumentError, KafkaError
from kafkalearn.grading.answering.wire import WireError, decode, encode

METHODS = (
    *("subscribe", "unsubscribe", "subscription", "assign", "assignment", "poll", "wakeup"),
    *("commit_sync", "commit_async", "committed", "position", "seek", "seek_to_beginning"),
    *("seek_to_end", "pause", "resume", "paused", "beginning_offsets", "end_offsets"),
    *("offsets_for_times", "close"),
)
# Sends a message to the judge, and gives the next one that comes from there.
Talk = Callable[[dict[str, Any]], dict[str, Any]]


class ConsumerProxy:
    """A KafkaConsumer, as far as a loop needs one: the same calls, values and errors."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._thread = get_ident()
        self._listener = ConsumerRebalanceListener()
        self._callbacks: dict[int, Callable[..., object]] = {}
        self._numbers = count()

    def subscribe(
        self, topics: Iterable[str], *, listener: ConsumerRebalanceListener | None = None
    ) -> None:
        """Read these topics as a member of the group; see KafkaConsumer.subscribe."""
        before, self._listener = self._listener, listener or ConsumerRebalanceListener()
        try:
            self._call("subscribe", topics)
        except Exception:
            self._listener = before
            raise

    def commit_async(
        self, offsets: Any = None, callback: Callable[..., object] | None = None
    ) -> None:
        """Commit and go on; see KafkaConsumer.commit_async."""
        number = None
        if callback is not None:
            if not callable(callback):
                raise IllegalArgumentError(f"callback is {callback!r:.60}: a function is allowed")
            number = next(self._numbers)
            self._callbacks[number] = callback
        self._call("commit_async", offsets, number)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in METHODS:
            snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
            begun = [each for each in METHODS if each.startswith(f"{snake}_")]
            near = " or ".join(begun or get_close_matches(snake, METHODS, n=1))
            near = f"is it {near}? " if near else ""
            raise AttributeError(
                f"the consumer has no {name!r}: {near}{', '.join(METHODS)} are there"
            )
        return partial(self._call, name)

    def __iter__(self) -> NoReturn:
        raise TypeError("a consumer is not iterable: poll(100) gives the records")

    def __dir__(self) -> list[str]:
        return [*METHODS]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._call("close")

    def _process(self, record: ConsumerRecord) -> None:
        """Let a record have its effect on the world outside; it takes some time."""
        if not isinstance(record, ConsumerRecord):
            raise IllegalArgumentError(
                f"process({record!r:.60}): a record that poll returned is allowed, one at a time"
            )
        self._call("process", record.topic, record.partition, record.offset)

    def _call(self, name: str, *args: Any, **named: Any) -> Any:
        if get_ident() != self._thread:
            raise ConcurrentModificationError(
                f"{name} is called from another thread: KafkaConsumer is not safe for "
                "multi-threaded access, and in this exercise process is not either"
            )
        try:
            values = encode([_plain(value) for value in args])
            by_name = {each: encode(_plain(value)) for each, value in named.items()}
        except WireError as error:
            raise IllegalArgumentError(f"{name}: {error}") from None
        message = self._talk({"call": name, "args": values, "named": by_name})
        while True:
            if "returned" in message:
                return decode(message["returned"])
            if "raised" in message:
                raise error_of(message["raised"])
            message = self._talk(self._told(message))

    def _told(self, message: dict[str, Any]) -> dict[str, Any]:
        """Run what the judge asks for in the middle of a call."""
        try:
            if "listener" in message:
                getattr(self._listener, message["listener"])(decode(message["partitions"]))
            else:
                error = message["error"] and error_of(message["error"])
                self._callbacks.pop(message["callback"])(decode(message["offsets"]), error)
        except (Exception, SystemExit) as error:
            return {"done": True, "raised": error_message(error)}
        return {"done": True}


def run_loop(loop: Callable[..., Any], talk: Talk) -> dict[str, Any]:
    """Run a loop to its end; the message that tells how it ended."""
    consumer = ConsumerProxy(talk)
    try:
        result = loop(consumer, consumer._process)
    except (KeyboardInterrupt, GreenletExit):  # not the loop's own
        raise
    except BaseException as error:
        return {"raised": error_message(error)}
    return {"ended": "" if result is None else type(result).__name__}


def error_message(error: BaseException) -> dict[str, Any]:
    """Take an exception apart, so that it can travel.

    words: for a learner to read. error: what else there is to know of a Kafka error.
    """
    from kafkalearn.grading.answering.learner import in_words

    code = getattr(error, "error", None)
    return {
        "kind": type(error).__name__,
        "text": str(error),
        "words": in_words(error),
        "kafka": isinstance(error, KafkaError),
        "code": getattr(code, "name", None),
        "cause": error.__cause__ and error_message(error.__cause__),
    }


def error_of(message: Mapping[str, Any]) -> Exception:
    """Put an exception together again; one of an unknown class is a KafkaError that names it."""
    kind = getattr(errors, message["kind"], getattr(builtins, message["kind"], None))
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        return KafkaError(f"{message['kind']}: {message['text']}")
    made: Any = kind(message["text"])
    if message["code"] is not None:
        made.error = errors.Errors[message["code"]]
    if message["cause"]:
        made.__cause__ = error_of(message["cause"])
    return made  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """Take any collection where Kafka does."""
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping | list | tuple):
        return list(value)
    return value
