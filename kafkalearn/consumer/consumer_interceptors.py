"""Interceptors: what looks at records before the application, and at offsets after a commit.

Source: document 002; org.apache.kafka.clients.consumer.internals.ConsumerInterceptors (1.0.2).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkalearn.consumer.consumer_records import ConsumerRecords
from kafkalearn.records import OffsetAndMetadata, TopicPartition


class ConsumerInterceptors:
    """A chain of them, in the order of interceptor.classes.

    One that raises is passed over, and `warn` is told: that must not harm the application.
    """

    def __init__(self, interceptors: Sequence[Any], warn: Callable[[str], object]) -> None:
        self._interceptors = interceptors
        self._warn = warn

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        """Give what the application gets: each sees what the one before it made of the records."""
        for each in self._interceptors:
            try:
                records = each.on_consume(records)
            except Exception as error:
                self._warn(f"interceptor {type(each).__name__}.on_consume raised {error!r}")
        return records

    def on_commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Tell them what was committed."""
        for each in self._interceptors:
            try:
                each.on_commit(offsets)
            except Exception as error:
                self._warn(f"interceptor {type(each).__name__}.on_commit raised {error!r}")

    def close(self) -> None:
        """Let those go that can be closed, once their consumer is."""
        for each in self._interceptors:
            try:
                getattr(each, "close", _nothing)()
            except Exception as error:
                self._warn(f"interceptor {type(each).__name__}.close raised {error!r}")


def _nothing() -> None:
    """Stand in for a close() that an interceptor does not have."""
