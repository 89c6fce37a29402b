"""A loop's calls, done on its real consumer: what the judge's side of the talk understands."""

from collections.abc import Callable
from typing import Any, Protocol

from kafkalearn.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafkalearn.consumer.consumer_records import ConsumerRecord
from kafkalearn.consumer.kafka_consumer import KafkaConsumer
from kafkalearn.errors import IllegalArgumentError
from kafkalearn.grading.answering.consumer_proxy import METHODS, error_message, error_of
from kafkalearn.grading.answering.wire import WireError, decode, encode
from kafkalearn.grading.judging.wording import clean

Message = dict[str, Any]
LONGEST_CALL = 20_000  # characters of its arguments


class StoryOverError(BaseException):
    """What a loop did can be no part of any story; no `except Exception` on the way catches it."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class UnheardError(BaseException):
    """Nobody answers; no `except Exception` on the way catches it. The reason is its cause."""


class Surroundings(Protocol):
    """What the calls of a loop need of the story in which it runs."""

    def ask(self, message: Message) -> Message:
        """Hand a loop a message, and give what it says."""

    def count_call(self, name: str) -> None:
        """Notice a call; StoryOverError if there are too many."""

    def process(self, record: ConsumerRecord) -> None:
        """Let a record have its effect."""


class LoopCalls:
    """One life of one consumer: its loop's calls are done on the real one."""

    def __init__(self, run: Surroundings, consumer: KafkaConsumer) -> None:
        self._run = run
        self._consumer = consumer
        self._name = consumer.context.node.name
        self._delivered: dict[tuple[str, int, int], ConsumerRecord] = {}

    def serve(self, message: Message) -> Message:
        """Do what the loop calls, one after the other; its last message, which is no call."""
        reply = self._run.ask(message)
        while "call" in reply:
            reply = self._run.ask({"loop": self._name} | self._performed(reply))
        return reply

    def _performed(self, message: Message) -> Message:
        try:
            name, args = message["call"], [decode(value) for value in message["args"]]
            named = {str(key): decode(value) for key, value in message["named"].items()}
        except (AttributeError, KeyError, TypeError, WireError) as error:
            raise StoryOverError("refused", f"a call cannot be read: {error}") from None
        if len(repr((args, named))) > LONGEST_CALL:
            raise StoryOverError("refused", f"{name} is given more than can be read")
        self._run.count_call(str(name)[:40])
        own = getattr(self, f"_{name}", None) if name in _OWN else None
        if own is None and name not in METHODS:
            raise StoryOverError("refused", f"the consumer has no {str(name)[:40]!r}")
        try:
            value = (own or getattr(self._consumer, name))(*args, **named)
        except Exception as error:
            return {"raised": error_message(error)}
        return {"returned": encode(value)}

    def _process(self, *which: Any) -> None:
        record = self._delivered.get(which)
        if record is None:
            raise IllegalArgumentError("process() takes a record that a poll of this run returned")
        self._run.process(record)

    def _poll(self, *args: Any, **named: Any) -> Any:
        records = self._consumer.poll(*args, **named)
        self._delivered.update({record[:3]: record for record in records})
        return records

    def _subscribe(self, topics: Any) -> None:
        self._consumer.subscribe(topics, listener=_Listener(self.tell))

    def _commit_async(self, offsets: Any = None, callback: int | None = None) -> None:
        def told(offsets: Any, error: Exception | None) -> None:
            self.tell(
                callback=callback, offsets=encode(offsets), error=error and error_message(error)
            )

        self._consumer.commit_async(offsets, None if callback is None else told)

    def tell(self, **what: Any) -> None:
        """Let the loop's listener or callback run; raises the Kafka error that it raised."""
        reply = self.serve({"loop": self._name} | what)
        if "raised" in reply:
            what_ran = "listener" if "listener" in what else "callback"
            raise check_raised(reply, what=what_ran, allowed=(Exception,))


_OWN = ("process", "poll", "subscribe", "commit_async")


class _Listener(ConsumerRebalanceListener):
    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell

    def on_partitions_revoked(self, partitions: Any) -> None:
        self._tell(listener="on_partitions_revoked", partitions=encode(partitions))

    def on_partitions_assigned(self, partitions: Any) -> None:
        self._tell(listener="on_partitions_assigned", partitions=encode(partitions))

    def on_partitions_lost(self, partitions: Any) -> None:
        self._tell(listener="on_partitions_lost", partitions=encode(partitions))


def check_raised(reply: Message, *, what: str, allowed: tuple[type[Exception], ...]) -> Exception:
    """Give the Kafka error that a loop, listener or callback raised; StoryOverError for others."""
    raised = reply["raised"]
    try:
        kind, words = str(raised["kind"]), str(raised["words"])
        error = error_of({**raised, "text": clean(raised["text"])}) if raised["kafka"] else None
    except (AttributeError, KeyError, TypeError):  # not taken apart, or not by us
        kind, words, error = str(raised).split(":")[0], str(raised), None
    if not isinstance(error, allowed):
        raise StoryOverError(kind, words if what == "loop" else f"{words}, in the {what}")
    return error
