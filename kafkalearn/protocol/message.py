"""What every request and response has in common.

A message is a dataclass with Kafka's field names in snake case. It stands for the bytes on the
wire, so nobody changes it after it was sent; it is not frozen, because that makes it four times as
slow and there are millions of them.

Differs from Kafka: no api versions. What a version would add stands there always, and the broker's
profile decides whether it may be used. Lists nested by topic are mappings by TopicPartition.
Member metadata and assignments are text where Kafka has bytes, so that a trace can show them.

Source: clients/src/main/resources/common/message (3.9), AbstractRequest, AbstractResponse.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from kafkalearn.errors import Errors

UNKNOWN_MEMBER_ID = ""  # JoinGroupRequest.UNKNOWN_MEMBER_ID
UNKNOWN_GENERATION_ID = -1  # JoinGroupRequest.UNKNOWN_GENERATION_ID


@dataclass(slots=True, kw_only=True)
class Response:
    """An answer. error_code: what is wrong with the whole; parts may have errors of their own."""

    error_code: Errors = Errors.NONE


@dataclass(slots=True, kw_only=True)
class Request:
    """A question to a broker. `api` is Kafka's name of it, as in ``JoinGroup``."""

    api: ClassVar[str]

    @abstractmethod
    def get_error_response(self, error: Errors) -> Response:
        """Answer every part of the request with `error`, as in AbstractRequest."""


Reply = Callable[[Response], None]
"""Answers one request. Calling it after the connection or the broker died has no effect."""
