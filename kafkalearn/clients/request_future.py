"""The result of a request that was sent, once it is there.

Nobody waits for a future as such: a client polls its network until the future is done.

Source: org.apache.kafka.clients.consumer.internals.RequestFuture (1.0.2).
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kafkalearn.errors import (
    CoordinatorNotAvailableError,
    IllegalStateError,
    RetriableError,
)

T = TypeVar("T")
S = TypeVar("S")
OnSuccess = Callable[[T], object]
OnFailure = Callable[[Exception], object]


class RequestFuture(Generic[T]):
    """Completed once: with a value, or with the error that Java would raise.

    is_done: whether it is.
    """

    __slots__ = ("_error", "_listeners", "_value", "is_done")

    def __init__(self) -> None:
        self.is_done = False
        self._value: Any = None
        self._error: Exception | None = None
        self._listeners: list[tuple[OnSuccess[T] | None, OnFailure | None]] = []

    def succeeded(self) -> bool:
        """Whether it has a value."""
        return self.is_done and self._error is None

    def failed(self) -> bool:
        """Whether it has an error."""
        return self._error is not None

    def value(self) -> T:
        """Give the value; IllegalStateError if there is none."""
        if not self.succeeded():
            raise IllegalStateError("a request that did not succeed has no value")
        value: T = self._value
        return value

    def exception(self) -> Exception:
        """Give the error; IllegalStateError if there is none."""
        if self._error is None:
            raise IllegalStateError("a request that did not fail has no exception")
        return self._error

    def is_retriable(self) -> bool:
        """Whether the same request may be sent again."""
        return isinstance(self._error, RetriableError)

    def should_block(self) -> bool:
        """Whether a poll of the network has to go on for it (Java: PollCondition)."""
        return not self.is_done

    def complete(self, value: T) -> None:
        """Give it its value, and tell who listens."""
        self._settle(value, None)

    def raise_error(self, error: Exception) -> None:
        """Let it fail, and tell who listens (Java: raise)."""
        self._settle(None, error)

    def add_listener(
        self, on_success: OnSuccess[T] | None = None, on_failure: OnFailure | None = None
    ) -> None:
        """Call one of the two when it is done: now, if it is."""
        if not self.is_done:
            self._listeners.append((on_success, on_failure))
        elif self._error is not None:
            if on_failure is not None:
                on_failure(self._error)
        elif on_success is not None:
            on_success(self._value)

    def compose(self, on_success: "Callable[[T, RequestFuture[S]], object]") -> "RequestFuture[S]":
        """Give a future that `on_success` completes from this one's value; errors pass through."""
        adapted: RequestFuture[S] = RequestFuture()
        self.add_listener(lambda value: on_success(value, adapted), adapted.raise_error)
        return adapted

    def chain(self, other: "RequestFuture[T]") -> None:
        """Let `other` end as this one does."""
        self.add_listener(other.complete, other.raise_error)

    @staticmethod
    def failure(error: Exception) -> "RequestFuture[Any]":
        """Make one that failed."""
        future: RequestFuture[Any] = RequestFuture()
        future.raise_error(error)
        return future

    @staticmethod
    def void_success() -> "RequestFuture[None]":
        """Make one that succeeded with nothing."""
        future: RequestFuture[None] = RequestFuture()
        future.complete(None)
        return future

    @staticmethod
    def coordinator_not_available() -> "RequestFuture[Any]":
        """Make one that failed because nobody knows the coordinator."""
        return RequestFuture.failure(CoordinatorNotAvailableError("the coordinator is not known"))

    @staticmethod
    def no_brokers_available() -> "RequestFuture[Any]":
        """Make one that failed because there is nobody to ask."""
        return RequestFuture.failure(NoAvailableBrokersError("no broker can be connected to now"))

    def _settle(self, value: Any, error: Exception | None) -> None:
        if self.is_done:
            raise IllegalStateError("a request is completed once")
        self.is_done, self._value, self._error = True, value, error
        for on_success, on_failure in self._listeners:
            if error is None:
                if on_success is not None:
                    on_success(value)
            elif on_failure is not None:
                on_failure(error)
        self._listeners.clear()


class NoAvailableBrokersError(RetriableError):
    """No broker can be connected to (Java: NoAvailableBrokersException)."""
