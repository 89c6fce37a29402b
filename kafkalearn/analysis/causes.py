"""Why a group rebalanced, read from what its coordinator says: ours, or Kafka's own log."""

import re

LEFT = "member_left"
POLL_TIMEOUT = "poll_timeout"
CAUSES = {
    "session_timeout": r"(?i)session time(?:d )?out|heartbeat expiration|no sign of life",
    "rebalance_timeout": r"(?i)did not (?:sync|join)|join timeout|rebalance timeout",
    "member_joined": r"(?i)^adding new member",
    "member_rejoined": r"(?i)joins again|re-?joining|rejoined|came back|updating metadata",
    LEFT: r"(?i) left$|leave ?group|remov",
}
"""Cause -> a pattern of the reasons that tell of it; the first that fits holds.

Rebalances for another reason have the cause ``other``. `POLL_TIMEOUT` is a member that left since
its application did not poll in time.
"""
POLL_REASON = r"(?i)max(?:\.|imum )poll[. ]interval|poll timeout"
MEMBER = (
    r"(?i)^(?:adding new |static |removing |updating metadata for |old )?(?:member|leader) (.+?)"
    r"(?: joins again| came back| with group instance id.*| on .*| re-?joining.*| during .*)?$"
    r"|^(.+) (?:left$|gave no sign)"
    r"|^explicit .?leave ?group.? request for \(([^,)]+)\) members"
)
NAMED_IN = (1, 2, 3)
"""MEMBER finds the member that a reason names, in one of these groups."""


def cause_of(reason: str | None) -> str | None:
    """Give the cause that a coordinator's reason tells of; None without a reason."""
    if reason is None:
        return None
    return next((cause for cause, told in CAUSES.items() if re.search(told, reason)), "other")


def member_of(reason: str | None) -> str | None:
    """Name the member that a reason names, if it names one."""
    found = re.search(MEMBER, reason or "")
    return next(filter(None, found.groups())) if found else None
