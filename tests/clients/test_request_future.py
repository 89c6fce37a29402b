"""Futures of requests: completed once, told to who listens, composed and chained."""

import pytest

from kafkalearn.clients.request_future import NoAvailableBrokersError, RequestFuture
from kafkalearn.errors import (
    CoordinatorNotAvailableError,
    DisconnectError,
    IllegalStateError,
    UnknownMemberIdError,
)

LOST = DisconnectError("lost")


def listened(future):
    """Give the list on which a future's end is noted."""
    heard = []
    future.add_listener(
        lambda value: heard.append(("value", value)), lambda error: heard.append(("error", error))
    )
    return heard


def state_of(future):
    """Say all that a future says of itself."""
    return future.is_done, future.succeeded(), future.failed(), future.should_block()


def test_an_open_future_has_neither_value_nor_error():
    """Both are refused, and a poll for it has to go on."""
    future = RequestFuture()
    assert state_of(future) == (False, False, False, True)
    with pytest.raises(IllegalStateError, match="did not succeed has no value"):
        future.value()
    with pytest.raises(IllegalStateError, match="did not fail has no exception"):
        future.exception()


def test_a_completed_future_has_its_value_only():
    """None is a value like any other."""
    future = RequestFuture.void_success()
    assert state_of(future) == (True, True, False, False)
    assert future.value() is None
    assert not future.is_retriable()
    with pytest.raises(IllegalStateError, match="no exception"):
        future.exception()


def test_a_failed_future_has_its_error_only():
    """The error is given back, not raised."""
    future = RequestFuture.failure(LOST)
    assert state_of(future) == (True, False, True, False)
    assert future.exception() is LOST
    with pytest.raises(IllegalStateError, match="no value"):
        future.value()


def test_who_may_be_asked_again():
    """A lost connection is retriable, an unknown member is not."""
    assert RequestFuture.failure(LOST).is_retriable()
    assert not RequestFuture.failure(UnknownMemberIdError("who")).is_retriable()


@pytest.mark.parametrize("end", [lambda future: future.complete(2), lambda f: f.raise_error(LOST)])
def test_a_future_ends_once(end):
    """A second end, of either kind, is refused and changes nothing."""
    future = RequestFuture()
    future.complete(1)
    with pytest.raises(IllegalStateError, match="a request is completed once"):
        end(future)
    assert future.value() == 1


def test_listeners_hear_in_order_and_once():
    """Those of before hear when it ends, a later one at once; those for the other end nothing."""
    future, heard = RequestFuture(), []
    future.add_listener(lambda value: heard.append(("first", value)), pytest.fail)
    future.add_listener(lambda value: heard.append(("second", value)))
    assert heard == []
    future.complete(5)
    future.add_listener(lambda value: heard.append(("late", value)), pytest.fail)
    future.add_listener(None, pytest.fail)
    assert heard == [("first", 5), ("second", 5), ("late", 5)]


def test_listeners_for_errors_hear_errors_only():
    """Before and after the end."""
    future, heard = RequestFuture(), []
    future.add_listener(pytest.fail, heard.append)
    future.add_listener(pytest.fail)
    future.raise_error(LOST)
    future.add_listener(pytest.fail, heard.append)
    future.add_listener(pytest.fail)
    assert heard == [LOST, LOST]


def test_a_composed_future_ends_as_its_adapter_says():
    """From the value; the adapter may also let it fail."""
    first = RequestFuture()
    doubled = first.compose(lambda value, future: future.complete(value * 2))
    refused = first.compose(lambda value, future: future.raise_error(LOST))
    assert not doubled.is_done
    first.complete(21)
    assert doubled.value() == 42
    assert refused.exception() is LOST


def test_errors_pass_through_a_composed_future():
    """The adapter is not asked."""
    first = RequestFuture()
    second = first.compose(lambda value, future: pytest.fail("it has no value"))
    first.raise_error(LOST)
    assert second.exception() is LOST


def test_a_chained_future_ends_alike():
    """With the value or with the error."""
    ends = []
    for source in (RequestFuture.void_success(), RequestFuture.failure(LOST)):
        other = RequestFuture()
        heard = listened(other)
        source.chain(other)
        ends += heard
    assert ends == [("value", None), ("error", LOST)]


def test_ready_made_failures_may_be_tried_again():
    """No coordinator and no broker are known for now only."""
    for future, kind in (
        (RequestFuture.coordinator_not_available(), CoordinatorNotAvailableError),
        (RequestFuture.no_brokers_available(), NoAvailableBrokersError),
    ):
        assert type(future.exception()) is kind
        assert future.is_retriable()
