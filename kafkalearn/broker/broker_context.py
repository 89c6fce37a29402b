"""What all parts of one broker share for as long as it lives; a restarted broker gets a new one."""

import random
import uuid
from dataclasses import dataclass

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.interfaces import Recorder, Timers
from kafkalearn.profile import KafkaProfile


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerContext:
    """Settings, rules, and the ways out: timers and the trace.

    random: makes member ids, so that equal seeds give equal ones.
    offsets_load_ms: how long a new coordinator takes to read its groups back.
    """

    node: str
    config: BrokerConfig
    profile: KafkaProfile
    timers: Timers
    record: Recorder
    random: random.Random
    offsets_load_ms: int = 0

    def new_uuid(self) -> str:
        """Make what Kafka ends a member id with."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))
