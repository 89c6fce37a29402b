"""Kafka's errors, one flat table of exceptions: Java's ``XxxException`` is ``XxxError`` here.

A learner meets these instead of tracebacks into the package, so each message names the value
that was refused and what is allowed.

Source: org.apache.kafka.common.errors, and org.apache.kafka.common.protocol.Errors (3.9).
"""

from enum import IntEnum


class Errors(IntEnum):
    """What a response's error_code can say: Kafka's name with Kafka's number.

    Only those that the classic clients and the brokers here can meet. `Errors.of(name)` also knows
    the names that older releases, and the documents, use.
    """

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    MESSAGE_TOO_LARGE = 10
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_CONFIG = 40
    INVALID_REQUEST = 42
    KAFKA_STORAGE_ERROR = 56
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    TOPIC_DELETION_DISABLED = 73
    MEMBER_ID_REQUIRED = 79
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82

    @classmethod
    def of(cls, name: str) -> "Errors":
        """Find an error by its name, an older name included; KafkaError for any other."""
        try:
            return cls[_OLDER_NAMES.get(name, name)]
        except KeyError:
            raise KafkaError(
                f"{name!r} is no error that is known here: {', '.join(cls.__members__)} are"
            ) from None

    @property
    def retriable(self) -> bool:
        """Whether Kafka's client may send the same request again and hope."""
        return self in _RETRIABLE

    def exception(self, message: str = "") -> "ApiError":
        """Give what Kafka's client raises for it (Java: Errors.exception)."""
        kind = _EXCEPTIONS.get(self, RetriableError if self.retriable else ApiError)
        made = kind(message or f"{self.name} (code {self.value})")
        made.error = self
        return made


_OLDER_NAMES = {
    "GROUP_LOAD_IN_PROGRESS": "COORDINATOR_LOAD_IN_PROGRESS",
    "GROUP_COORDINATOR_NOT_AVAILABLE": "COORDINATOR_NOT_AVAILABLE",
    "NOT_COORDINATOR_FOR_GROUP": "NOT_COORDINATOR",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
}
_RETRIABLE = frozenset(
    {
        Errors.CORRUPT_MESSAGE,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.LEADER_NOT_AVAILABLE,
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.REQUEST_TIMED_OUT,
        Errors.NETWORK_EXCEPTION,
        Errors.COORDINATOR_LOAD_IN_PROGRESS,
        Errors.COORDINATOR_NOT_AVAILABLE,
        Errors.NOT_COORDINATOR,
        Errors.NOT_ENOUGH_REPLICAS,
        Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        Errors.KAFKA_STORAGE_ERROR,
    }
)


class KafkaError(Exception):
    """Anything that Kafka, or our reading of it, refuses."""

    def _render_traceback_(self) -> list[str]:
        """Show a learner the sentence alone: IPython asks for this instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class InvalidAssignmentInputError(KafkaError, ValueError):
    """A partition count, subscription or claim that no Kafka cluster could send.

    Differs from Kafka: its assignors trust their caller and then misbehave or throw whatever comes.
    """


class UnknownAssignorError(KafkaError, ValueError):
    """No assignor has this name. Java throws a ConfigException at the setting's key."""


class ConfigError(KafkaError, ValueError):
    """A setting that does not exist, or a value that Kafka refuses (Java: ConfigException)."""


class IllegalStateError(KafkaError, RuntimeError):
    """Something asked for at a moment at which it cannot be done."""


class IllegalArgumentError(KafkaError, ValueError):
    """A value that Kafka's client does not take (Java: IllegalArgumentException)."""


class ApiError(KafkaError):
    """What a broker's error code, or the lack of an answer, means to a client (Java: ApiException).

    error: the code, by which those without a class of their own are told apart.
    """

    error = Errors.UNKNOWN_SERVER_ERROR


class RetriableError(ApiError):
    """What may go well when it is tried again (Java: RetriableException)."""


class DisconnectError(RetriableError):
    """A connection ended before the answer came (Java: DisconnectException)."""

    error = Errors.NETWORK_EXCEPTION


class KafkaTimeoutError(RetriableError, TimeoutError):
    """Something did not come in the time that was given (Java: TimeoutException)."""


class RequestTimeoutError(KafkaTimeoutError):
    """No answer came in the time that was given."""


class CoordinatorNotAvailableError(RetriableError):
    """No broker can be asked about the group (COORDINATOR_NOT_AVAILABLE, code 15)."""


class UnknownMemberIdError(ApiError):
    """The coordinator does not have this member (UNKNOWN_MEMBER_ID, code 25)."""


class IllegalGenerationError(ApiError):
    """The member is in another generation than its group (ILLEGAL_GENERATION, code 22)."""


class RebalanceInProgressError(ApiError):
    """The group rebalances: join again (REBALANCE_IN_PROGRESS, code 27).

    A plain ApiError in Java too: what is to be done is not to send the same once more.
    """


class MemberIdRequiredError(ApiError):
    """Join again with the id that came along (MEMBER_ID_REQUIRED, code 79)."""


class FencedInstanceIdError(ApiError):
    """Another consumer has the same group.instance.id (FENCED_INSTANCE_ID, code 82)."""


class GroupMaxSizeReachedError(ApiError):
    """The group has as many members as the brokers allow (GROUP_MAX_SIZE_REACHED, code 81)."""


class InvalidGroupIdError(ApiError):
    """The group id is empty (INVALID_GROUP_ID, code 24)."""


class InvalidSessionTimeoutError(ApiError):
    """The broker allows no such session timeout (INVALID_SESSION_TIMEOUT, code 26)."""


class InconsistentGroupProtocolError(ApiError):
    """No assignor suits the whole group (INCONSISTENT_GROUP_PROTOCOL, code 23)."""


class InvalidTopicError(ApiError, ValueError):
    """A topic that Kafka does not allow (INVALID_TOPIC_EXCEPTION, code 17): its name, mostly."""


class OffsetMetadataTooLargeError(ApiError):
    """The note with an offset is too long (OFFSET_METADATA_TOO_LARGE, code 12)."""


class RecordTooLargeError(ApiError):
    """A record, or its batch, is larger than allowed (MESSAGE_TOO_LARGE, code 10)."""


class CommitFailedError(KafkaError):
    """The commit cannot succeed: the group gave the partitions to others, or never gave them.

    error: what the coordinator answered; NONE if it was not asked, as this is no active member.
    """

    def __init__(self, message: str, error: Errors = Errors.NONE) -> None:
        super().__init__(message)
        self.error = error


class RetriableCommitFailedError(RetriableError):
    """An asynchronous commit failed, and a later one may succeed; the cause is in __cause__."""


class InvalidOffsetError(KafkaError):
    """There is no valid offset to read from."""


class NoOffsetForPartitionError(InvalidOffsetError):
    """Nothing is committed, and auto.offset.reset is none."""


class OffsetOutOfRangeError(InvalidOffsetError):
    """The position is not in the log, and auto.offset.reset is none."""


class WakeupError(KafkaError):
    """Somebody called wakeup()."""


class ConcurrentModificationError(KafkaError, RuntimeError):
    """Two processes use a consumer at once (Java: ConcurrentModificationException)."""


class SerializationError(KafkaError, ValueError):
    """A key or value that cannot be turned into bytes, or back."""


class InvalidRequestError(KafkaError, ValueError):
    """A request that no Kafka client could send, so that no error code answers it."""


_EXCEPTIONS: dict[Errors, type[ApiError]] = {
    Errors.REQUEST_TIMED_OUT: KafkaTimeoutError,
    Errors.COORDINATOR_NOT_AVAILABLE: CoordinatorNotAvailableError,
    Errors.UNKNOWN_MEMBER_ID: UnknownMemberIdError,
    Errors.ILLEGAL_GENERATION: IllegalGenerationError,
    Errors.REBALANCE_IN_PROGRESS: RebalanceInProgressError,
    Errors.MEMBER_ID_REQUIRED: MemberIdRequiredError,
    Errors.GROUP_MAX_SIZE_REACHED: GroupMaxSizeReachedError,
    Errors.FENCED_INSTANCE_ID: FencedInstanceIdError,
    Errors.INVALID_GROUP_ID: InvalidGroupIdError,
    Errors.INVALID_SESSION_TIMEOUT: InvalidSessionTimeoutError,
    Errors.INCONSISTENT_GROUP_PROTOCOL: InconsistentGroupProtocolError,
    Errors.INVALID_TOPIC_EXCEPTION: InvalidTopicError,
    Errors.OFFSET_METADATA_TOO_LARGE: OffsetMetadataTooLargeError,
    Errors.MESSAGE_TOO_LARGE: RecordTooLargeError,
}
for _code, _kind in _EXCEPTIONS.items():
    _kind.error = _code  # also where the client itself raises it
