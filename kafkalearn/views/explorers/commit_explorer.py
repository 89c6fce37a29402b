"""What a crash costs, by how and when a consumer commits: records lost, records twice."""

from collections import Counter
from typing import ClassVar

from kafkalearn.trace import Trace
from kafkalearn.views.explorers.story_explorer import Controls, StoryExplorer
from kafkalearn.views.story import MAX_EVENTS


class CommitExplorer(StoryExplorer):
    """Choose the commit mode and when the crash comes; count what is lost and what comes twice.

    story: ``scenarios.reruns(scenarios.crash_before_commit)``. ``before`` commits before the work,
    ``sync`` and ``async`` after it, ``auto`` within poll.
    """

    panes = ("logs", "messages", "subscriptions", "fields", "decision")
    controls: ClassVar[Controls] = {
        "commit_mode": ("auto", "sync", "async", "before"),
        "records": range(1, 25),
        "max_poll_records": range(1, 13),
        "crash_after": range(25),
    }

    def outcome(self, trace: Trace) -> list[tuple[str, str]]:
        """Count the effects in the world outside against what the group has committed.

        Lost is only what it was to read: nothing from before where it first began.
        """
        effects = Counter((e.topic, e.partition, e.offset) for e in trace.where(kind="processed"))
        committed = {(e.topic, e.partition): e.offset for e in trace.where(kind="offset_stored")}
        begun = {
            (e.topic, e.partition): e.offset or 0
            for e in reversed(trace.where(kind="position"))
            if e.offset is not None
        }
        lost = [
            (*log, offset)
            for log, end in committed.items()
            for offset in range(begun.get(log, 0), end or 0)
            if (*log, offset) not in effects
        ]
        say, settings = self._say, self._settings()
        records = settings["records"]
        missed = [(say("no crash"), say("only {} records", records))]
        return [
            *(missed if settings["crash_after"] > records else []),
            (say("records processed"), str(len(effects))),
            (say("processed twice or more"), str(sum(n > 1 for n in effects.values()))),
            (say("lost: committed and never processed"), str(len(lost))),
        ]

    def telling(self, trace: Trace) -> int:
        """Begin with the crash, or with the end where there is none."""
        crashes = (k for k, event in enumerate(trace) if event.kind == "fault")
        return min(next(crashes, len(trace) - 1), MAX_EVENTS - 1)
