"""Traces by hand, of one group: what a checker is shown."""

from kafkalearn.trace import Trace


class Story:
    """A trace that grows; each method adds what its name says, and gives the story.

    at_ms: when the next events happen. node: the broker that they happen on.
    """

    def __init__(self, node="broker-0"):
        self.trace = Trace("a story")
        self.at_ms = 0
        self.node = node

    def later(self, ms, node=None):
        """Go on after some time, or on another broker."""
        self.at_ms += ms
        self.node = node or self.node
        return self

    def event(self, kind, node=None, **columns):
        """Add any event of the group."""
        columns = {"group_id": "billing"} | columns
        self.trace.record(kind, self.at_ms, node or self.node, **columns)
        return self

    def fault(self, fault, node=None):
        """Let a node crash or restart."""
        return self.event("fault", node, group_id=None, detail={"fault": fault})

    def state(self, before, after, generation=0, *, members="", reason="why not"):
        """Go from one state to another; members are names with blanks between."""
        detail = {"from": before, "to": after, "reason": reason, "members": members.split()}
        return self.event("group_state", generation=generation, detail=detail)

    def loaded(self, state, generation, members=""):
        """Let a new coordinator read the group."""
        detail = {"to": state, "members": members.split()}
        return self.event("group_loaded", generation=generation, detail=detail)

    def joined(self, member_id, instance_id=None):
        """Take a member in."""
        detail = {"instance_id": instance_id}
        return self.event("member_joined", member_id=member_id, detail=detail)

    def pending(self, member_id):
        """Give an id out."""
        return self.event("member_joined", member_id=member_id, detail={"pending": True})

    def removed(self, member_id):
        """Drop a member."""
        return self.event("member_removed", member_id=member_id, detail={"reason": "why not"})

    def stable(self, members="a", generation=1):
        """Let new members join an Empty group and be assigned to."""
        for member_id in members.split():
            self.joined(member_id)
        self.state("Empty", "PreparingRebalance", generation - 1, members=members)
        self.state("PreparingRebalance", "AwaitingSync", generation, members=members)
        return self.state("AwaitingSync", "Stable", generation, members=members)

    # Messages of client c; `number` tells which exchange they belong to.

    def asks(self, number, api, **columns):
        """Let a request be sent and arrive; what is no column of the trace is a field."""
        told = self._message(number, api, columns)
        self.event("send", "c", **told | {"peer": self.node})
        return self.event("receive", **told | {"peer": "c", "detail": None})

    def answers(self, number, api, error="NONE", **columns):
        """Let an answer leave."""
        told = self._message(number, api, columns)
        return self.event("respond", **told | {"peer": "c", "error": error})

    def _message(self, number, api, columns):
        known = {name: columns.pop(name, None) for name in ("member_id", "generation")}
        return known | {"api": api, "correlation_id": number, "detail": {"fields": columns}}

    def commits(self, number, *, error="NONE", offset=5, stored=True):
        """Let a commit for orders-0 arrive and, unless the error is None, be answered."""
        offsets = {"orders-0": {"offset": offset, "metadata": ""}}
        self.asks(number, "OffsetCommit", offsets=offsets)
        if stored:
            self.event("offset_stored", topic="orders", partition=0, offset=offset)
        if error is not None:
            self.answers(number, "OffsetCommit", partitions={"orders-0": error})
        return self

    def fetches(self, number, offset):
        """Let all offsets be asked for; -1 stands for none."""
        told = {"orders-0": {"offset": offset, "metadata": "", "error_code": "NONE"}}
        self.asks(number, "OffsetFetch")
        return self.answers(number, "OffsetFetch", partitions=told if offset >= 0 else {})

    def expires(self, offset, reason="expired"):
        """Forget what is committed for orders-0."""
        columns = {"topic": "orders", "partition": 0, "offset": offset}
        return self.event("offset_expired", **columns, detail={"reason": reason})
