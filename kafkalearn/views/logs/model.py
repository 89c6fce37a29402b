"""Each partition as a bar of records: what was processed, returned, committed, lost, deleted.

It follows one group. What a consumer processed that is of no group, or of another, does not count.
"""

from typing import TypedDict

from kafkalearn.trace import Event, Trace
from kafkalearn.views.fold import Needs, default_group, fold, number, partitions, text
from kafkalearn.views.language import Say
from kafkalearn.views.logs.log_row import Row, in_words, row_of, sentence
from kafkalearn.views.logs.partition_log import PartitionLog
from kafkalearn.views.wording import aligned, shown

_PARTITION = ("topic", "partition")
_OFFSET = (*_PARTITION, "offset")
NEEDS: Needs = {
    "append": _OFFSET,
    "retention": _OFFSET,
    "topic_changed": ("topic",),
    "poll": (),
    "assigned": (),
    "revoked": (),
    "position": _PARTITION,
    "records_returned": _OFFSET,
    "processed": _OFFSET,
    "commit": _OFFSET,
    "offset_stored": _OFFSET,
    "offset_expired": _PARTITION,
    "client_state": (),
    "fault": (),
}
ESSENTIAL = ("append",)
MAX_ROWS = 24
_DECISIVE = ("records_returned", "processed", "offset_stored")
_MAX_KNOWN = 1000  # partitions of a topic before anything happens in them


class Frame(TypedDict):
    """rows: sorted; `more` are left out. told: whether the trace tells what was processed."""

    group_id: str | None
    rows: list[Row]
    more: int
    told: bool


def frames(
    trace: Trace, window: range | None = None, *, group_id: str | None = None
) -> list[Frame]:
    """Follow the logs as `group_id` sees them, by default `default_group`."""
    group_id = default_group(trace) if group_id is None else group_id
    known = {kind for kind in _DECISIVE if len(trace.where(kind=kind))}
    known |= {"processed"} if trace.sinks else set()
    return fold(trace, _Logs(group_id, known), window=window)


def title(frame: Frame, say: Say) -> str:
    """Give the heading."""
    if frame["group_id"] is None:
        return say("Logs")
    return say("Logs · committed by group {}", shown(frame["group_id"]))


def as_text(frame: Frame, say: Say) -> str:
    """Tell each partition in a line."""
    rows = [
        [
            f"{shown(each['topic'])}-{each['partition']}",
            f"{in_words(each, say)}. {sentence(each, say)}",
        ]
        for each in frame["rows"]
    ]
    lines = aligned(rows) or [say("no partitions")]
    return "\n".join([title(frame, say), *lines, *notes(frame, say)])


def notes(frame: Frame, say: Say) -> list[str]:
    """Say what is not shown."""
    more = [say("and {} more partitions", frame["more"])] if frame["more"] else []
    untold = [say("this trace does not tell what was processed")] if not frame["told"] else []
    return [*more, *untold]


class _Logs:
    """known: which of the decisive kinds the trace has at all; without the others it is judged."""

    needs = NEEDS

    def __init__(self, group_id: str | None, known: set[str]) -> None:
        self._group_id = group_id
        self._known = known
        self._groups: dict[str, str | None] = {}  # of each consumer, as its latest poll said
        self._logs: dict[tuple[str, int], PartitionLog] = {}
        self._rows: dict[tuple[str, int], Row] = {}

    def frame(self) -> Frame:
        chosen = sorted(self._logs)[:MAX_ROWS]
        for place in chosen:
            if place not in self._rows:
                self._rows[place] = row_of(*place, log=self._logs[place])
        return {
            "group_id": self._group_id,
            "rows": [self._rows[place] for place in chosen],
            "more": len(self._logs) - len(chosen),
            "told": "processed" in self._known or "records_returned" not in self._known,
        }

    def _log(self, event: Event) -> PartitionLog:
        return self._at(event.topic or "", event.partition or 0)  # both are there: see NEEDS

    def _at(self, topic: str, partition: int) -> PartitionLog:
        """Give a log that is about to change; of the cluster's own topics one that nobody sees."""
        place = topic, partition
        if topic.startswith("__"):
            return PartitionLog(processing_is_told=False)
        self._rows.pop(place, None)
        if place not in self._logs:
            self._logs[place] = PartitionLog(processing_is_told="processed" in self._known)
        return self._logs[place]

    def _is_ours(self, event: Event) -> bool:
        return self._groups.get(event.node, self._group_id) == self._group_id

    # The logs themselves.

    def on_append(self, event: Event) -> None:
        self._log(event).append(event.offset or 0, number(event, "count") or 0)

    def on_retention(self, event: Event) -> None:
        self._log(event).delete_before(event.offset or 0)

    def on_topic_changed(self, event: Event) -> None:
        topic = event.topic or ""
        if text(event, "change") != "deleted":
            for partition in range(min(number(event, "count") or 0, _MAX_KNOWN)):
                self._at(topic, partition)
            return
        for place in [each for each in self._logs if each[0] == topic]:
            del self._logs[place]
            self._rows.pop(place, None)

    # Those who read them.

    def on_poll(self, event: Event) -> None:
        if event.node not in self._groups and event.group_id != self._group_id:
            self._drop(event, "left")  # what it did before its first poll was not for this group
        self._groups[event.node] = event.group_id

    def on_assigned(self, event: Event) -> None:
        for place in partitions(event):
            if self._is_ours(event):
                self._at(*place).assign(event.node)

    def on_revoked(self, event: Event) -> None:
        for place in partitions(event):
            if place in self._logs and event.node in self._logs[place].readers:
                self._at(*place).drop(event.node, "gave up")

    def on_position(self, event: Event) -> None:
        if self._is_ours(event):
            log, read_on = self._log(event), text(event, "reason") == "consumed"
            log.grow(number(event, "high_watermark") or 0)
            log.move(event.node, event.offset, read_on=read_on)

    def on_records_returned(self, event: Event) -> None:
        if self._is_ours(event):
            count = number(event, "count") or 0
            self._log(event).hand_out(event.node, event.offset or 0, count=count)

    def on_processed(self, event: Event) -> None:
        log, offset = self._log(event), event.offset or 0
        strangers = any(each != self._group_id for each in self._groups.values())
        # Who has no polls of its own works for somebody: of several groups, for who has the record.
        known = event.node in self._groups or not strangers or log.is_in_work(offset)
        if self._is_ours(event) and known:
            log.process(event.node, offset, sink=text(event, "sink") or "")

    def on_client_state(self, event: Event) -> None:
        if text(event, "reason") == "the consumer closes":
            self._drop(event, "left")

    def on_fault(self, event: Event) -> None:
        if text(event, "fault") == "crash":
            self._drop(event, "crashed")

    def _drop(self, event: Event, why: str) -> None:
        for place, log in self._logs.items():
            if event.node in log.readers:
                self._at(*place).drop(event.node, why)

    # What is committed.

    def on_commit(self, event: Event) -> None:
        if event.group_id not in (None, self._group_id) or not self._is_ours(event):
            return
        if error := event.failure:
            self._log(event).refuse(event.node, event.offset or 0, error=error)
        elif "offset_stored" not in self._known:
            self._log(event).commit(event.offset or 0)

    def on_offset_stored(self, event: Event) -> None:
        if event.group_id in (None, self._group_id):
            self._log(event).commit(event.offset or 0)

    def on_offset_expired(self, event: Event) -> None:
        if event.group_id in (None, self._group_id):
            self._log(event).forget_committed()
