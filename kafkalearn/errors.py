"""Kafka's errors as exceptions: Java's ``XxxException`` is ``XxxError`` here.

A learner meets these instead of tracebacks into the package, so each message names the value
that was refused and what is allowed.

Source: org.apache.kafka.common.errors, and org.apache.kafka.common.protocol.Errors (3.9).
"""


class KafkaError(Exception):
    """Anything that Kafka, or our reading of it, refuses."""

    def _render_traceback_(self) -> list[str]:
        """Show a learner the sentence alone: IPython asks for this instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class InvalidTopicError(KafkaError, ValueError):
    """A topic name that Kafka does not allow (INVALID_TOPIC_EXCEPTION, code 17)."""


class InvalidAssignmentInputError(KafkaError, ValueError):
    """A partition count, subscription or claim that no Kafka cluster could send.

    Differs from Kafka: its assignors trust their caller and then misbehave or throw whatever comes.
    """


class UnknownAssignorError(KafkaError, ValueError):
    """No assignor has this name. Java throws a ConfigException at the setting's key."""
