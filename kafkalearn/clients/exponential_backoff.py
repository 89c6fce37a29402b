"""How long to wait before each next try of the same.

Source: org.apache.kafka.common.utils.ExponentialBackoff (3.7.0), KIP-580.
"""

from random import Random
from typing import Protocol, Self

_JITTER = 0.2  # so that not all who failed together come back together


class Retries(Protocol):
    """The settings of a client that say how soon it tries again."""

    @property
    def retry_backoff_ms(self) -> int:
        """The first wait."""

    @property
    def retry_backoff_max_ms(self) -> int | None:
        """The longest wait (3.7)."""


class ExponentialBackoff:
    """Waits of ms that double up to a maximum, each by up to a fifth shorter or longer by chance.

    max_ms: None, as in releases without retry.backoff.max.ms, lets each wait be the first one. So
    does one that is not above initial_ms, and no wait is longer. random: needed with a maximum.
    """

    def __init__(
        self, initial_ms: int, max_ms: int | None = None, *, random: Random | None = None
    ) -> None:
        self.initial_ms = initial_ms if max_ms is None else min(initial_ms, max_ms)
        self._max_ms = self.initial_ms if max_ms is None else max_ms
        self._random = random or Random(0)

    @classmethod
    def of(cls, config: Retries, random: Random) -> Self:
        """Make that of a client's retries."""
        return cls(config.retry_backoff_ms, config.retry_backoff_max_ms, random=random)

    def backoff(self, attempts: int) -> int:
        """Give the ms to wait after a failure; `attempts` counts those before it."""
        if self._max_ms <= self.initial_ms:
            return self.initial_ms
        wait_ms = min(self.initial_ms << min(attempts, 40), self._max_ms)
        wait_ms = int(wait_ms * self._random.uniform(1 - _JITTER, 1 + _JITTER))
        return max(1, min(wait_ms, self._max_ms))
