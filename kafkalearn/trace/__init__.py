"""The trace: everything that happened in one run, one flat row an event.

It is all that leaves a simulation. Views, tables, invariants and grades read it and nothing else,
so a trace that was imported from real logs serves them as well.
"""

from kafkalearn.trace.describe import describe
from kafkalearn.trace.event import (
    COLUMNS,
    REQUIRED,
    DamagedTraceError,
    Event,
    TraceError,
    detail_text,
)
from kafkalearn.trace.kind import KINDS, Carries
from kafkalearn.trace.trace import Trace
from kafkalearn.trace.wording import LANGUAGES

__all__ = [
    "COLUMNS",
    "KINDS",
    "LANGUAGES",
    "REQUIRED",
    "Carries",
    "DamagedTraceError",
    "Event",
    "Trace",
    "TraceError",
    "describe",
    "detail_text",
]
