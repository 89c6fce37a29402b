"""The engine: virtual time, processes, a network and its faults. It knows nothing about Kafka."""

from kafkalearn.engine.connection import Connection, Exchange, Inbox
from kafkalearn.engine.event_loop import EventLoop, PastTimeError, StuckError
from kafkalearn.engine.fault_injector import FaultInjector
from kafkalearn.engine.faults import (
    AnswerWithError,
    Crash,
    CutOff,
    Delay,
    Drop,
    Fault,
    FaultPlan,
    Freeze,
    InvalidFaultError,
    Restart,
)
from kafkalearn.engine.network import Network
from kafkalearn.engine.node import Node
from kafkalearn.engine.process import Process, Processes
from kafkalearn.engine.signals import Signal
from kafkalearn.engine.timer import Timer

__all__ = [
    "AnswerWithError",
    "Connection",
    "Crash",
    "CutOff",
    "Delay",
    "Drop",
    "EventLoop",
    "Exchange",
    "Fault",
    "FaultInjector",
    "FaultPlan",
    "Freeze",
    "Inbox",
    "InvalidFaultError",
    "Network",
    "Node",
    "PastTimeError",
    "Process",
    "Processes",
    "Restart",
    "Signal",
    "StuckError",
    "Timer",
]
