"""What a simulation asks of a fault plan beyond the engine; what a fault leaves in the trace."""

from collections.abc import Collection, Iterable
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any

from kafkalearn.engine.faults import AnswerWithError, Fault, FaultPlan, InvalidFaultError
from kafkalearn.errors import Errors, KafkaError
from kafkalearn.trace import LANGUAGES, Trace

NETWORK = "network"  # who acts where a fault meets a message of any node
APIS = tuple(LANGUAGES["en"].requests)  # a trace has words for each
_MISSPELT = 0.85  # from this likeness on a name is meant to be a broker's: broker1, brokr-1
_DETAIL = ("part", "for_ms", "by_ms")


def as_plan(faults: object) -> FaultPlan:
    """Take a list of faults; InvalidFaultError for anything else."""
    if isinstance(faults, Fault) or not isinstance(faults, Iterable):
        raise InvalidFaultError(f"faults is {faults!r}: a list of faults is allowed")
    return tuple(faults)


def check_plan(plan: Iterable[Fault], brokers: Collection[str]) -> None:
    """Refuse what can never happen; clients are checked when the time of a fault comes.

    What meets a message has no time: if it names a client that never comes, it never happens.
    InvalidFaultError for a broker that is not there or is misspelt, an api or an error that Kafka
    does not have.
    """
    for fault in plan:
        if not isinstance(fault, Fault):
            raise InvalidFaultError(f"{fault!r} is no fault: see kafkalearn.engine.faults")
        if isinstance(fault, AnswerWithError):
            _check_error(fault)
        api = getattr(fault, "api", None)
        if api is not None and api not in APIS:
            raise InvalidFaultError(f"{fault} names no api: {', '.join(APIS)} are")
        for name in fault.nodes():
            is_meant = get_close_matches(name, brokers, cutoff=_MISSPELT)
            if name not in brokers and (name.startswith("broker-") or is_meant):
                there = ", ".join(brokers)
                raise InvalidFaultError(f"{fault} names {name}: the brokers are {there}")


def _check_error(fault: AnswerWithError) -> None:
    try:
        error = Errors.of(fault.error)
    except KafkaError as wrong:
        raise InvalidFaultError(f"{fault}: {wrong}") from None
    if error is Errors.NONE:
        raise InvalidFaultError(f"{fault}: NONE is no error")


def record_fault(trace: Trace, fault: Fault, *, time_ms: int) -> None:
    """Write one event: which fault, and whom it meets."""
    told: dict[str, Any] = {"part": getattr(fault, "part", None)} | asdict(fault)
    detail = {key: told[key] for key in _DETAIL if told.get(key) is not None}
    trace.record(
        "fault",
        time_ms,
        told.get("node") or NETWORK,
        api=told.get("api"),
        peer=told.get("other"),
        error=told.get("error"),
        detail={"fault": fault.kind} | detail,
    )
