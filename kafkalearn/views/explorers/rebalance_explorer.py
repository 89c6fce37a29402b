"""What happens to a group when a member joins, leaves, crashes, freezes, or is slow; and when."""

from typing import ClassVar

from kafkalearn.trace import Trace
from kafkalearn.views.explorers.story_explorer import Controls, StoryExplorer
from kafkalearn.views.fold import text
from kafkalearn.views.story import MAX_EVENTS

_UNREST = "PreparingRebalance"


class RebalanceExplorer(StoryExplorer):
    """Change a group and its settings, and see how long nobody reads.

    story: ``scenarios.reruns(scenarios.group_changes)``, or another with these settings.
    """

    panes = ("messages", "group", "assignment", "subscriptions", "fields")
    controls: ClassVar[Controls] = {
        "change": ("crash", "leave", "freeze", "slow", "join", "none"),
        "members": range(1, 9),
        "at_ms": range(4000, 20_001, 250),
        "session_timeout_ms": range(6000, 30_001, 1000),
        "heartbeat_interval_ms": range(500, 5001, 500),
        "max_poll_interval_ms": range(1000, 20_001, 500),
    }

    def outcome(self, trace: Trace) -> list[tuple[str, str]]:
        """Tell how often, how soon and how long the group rebalanced after the change."""
        changed_ms = self._story.settings["at_ms"]
        states = [e for e in trace.where(kind="group_state") if e.time_ms >= changed_ms]
        begins = [e.time_ms for e in states if text(e, "to") == _UNREST]
        stable = [e.time_ms for e in states if text(e, "to") == "Stable"]
        say = self._say
        if not begins:
            return [(say("rebalances after the change"), "0")]
        told = [
            (say("rebalances after the change"), str(len(begins))),
            (say("the group hears of it after"), f"{begins[0] - changed_ms:,} ms"),
        ]
        if stable:
            told.append((say("everything is read again after"), f"{stable[-1] - changed_ms:,} ms"))
        return told

    def telling(self, trace: Trace) -> int:
        """Begin where the group changes."""
        changed_ms = self._story.settings["at_ms"]
        later = (k for k, event in enumerate(trace) if event.time_ms >= changed_ms)
        return min(next(later, len(trace) - 1), MAX_EVENTS - 1)
