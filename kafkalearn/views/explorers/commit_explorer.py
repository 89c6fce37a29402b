"""What a crash costs, by how and when a consumer commits: records lost, records twice."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from kafkalearn.trace import Trace
from kafkalearn.views.explorers.story_explorer import StoryExplorer, choice, number
from kafkalearn.views.story import MAX_EVENTS

_BOUNDS = {"records": (1, 24), "max_poll_records": (1, 12), "crash_after": (0, 24)}
MODES = ("auto", "sync", "async", "before")


class CommitExplorer(StoryExplorer):
    """Choose the commit mode and when the crash comes; count what is lost and what comes twice.

    story: ``scenarios.reruns(scenarios.crash_before_commit)``. ``before`` commits before the work,
    ``sync`` and ``async`` after it, ``auto`` within poll.
    """

    panes = ("logs", "messages", "subscriptions", "fields", "decision")

    def controls(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Give the mode, how many records there are, how many a poll returns, and the crash."""
        made = {
            "commit_mode": choice("commit_mode", settings["commit_mode"], options=MODES),
        }
        for name, (least, most) in _BOUNDS.items():
            made[name] = number(name, settings[name], least=least, most=most)
        return made

    def outcome(self, trace: Trace) -> list[tuple[str, str]]:
        """Count the effects in the world outside against what the group has committed."""
        effects = Counter((e.topic, e.partition, e.offset) for e in trace.where(kind="processed"))
        committed = {(e.topic, e.partition): e.offset for e in trace.where(kind="offset_stored")}
        lost = [
            (*log, offset)
            for log, end in committed.items()
            for offset in range(end or 0)
            if (*log, offset) not in effects
        ]
        say = self._say
        return [
            (say("records processed"), str(len(effects))),
            (say("processed twice or more"), str(sum(n > 1 for n in effects.values()))),
            (say("lost: committed and never processed"), str(len(lost))),
        ]

    def telling(self, trace: Trace) -> int:
        """Begin with the crash, or with the end where there is none."""
        crashes = (k for k, event in enumerate(trace) if event.kind == "fault")
        return min(next(crashes, len(trace) - 1), MAX_EVENTS - 1)
