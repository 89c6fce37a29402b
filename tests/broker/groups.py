"""One coordinator to ask, in virtual time: every partition of __consumer_offsets is here.

Clients have short names. A client remembers the member id and the generation that it was told, and
sends them; what a test gives by name is sent in their place.
"""

import random
from dataclasses import dataclass

from kafkalearn.broker.broker_config import BrokerConfig
from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.group_coordinator import GroupCoordinator
from kafkalearn.broker.group_state import GroupState
from kafkalearn.broker.offset_store import OffsetStore
from kafkalearn.config import configure
from kafkalearn.engine import EventLoop
from kafkalearn.profile import PROFILES, profile_of
from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupRequest,
)
from kafkalearn.protocol.group_admin import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
)
from kafkalearn.protocol.message import Request, Response
from kafkalearn.protocol.offsets import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
)
from kafkalearn.records import OffsetAndMetadata, TopicPartition

DAY_MS = 86_400_000
T0 = TopicPartition("t", 0)
STATES = [each.value for each in GroupState if each is not GroupState.DEAD]
EVERY_PROFILE = list(PROFILES)


class MemoryLog:
    """See OffsetsLog; it outlives the coordinators that write it."""

    def __init__(self):
        self.partitions = {}

    def append(self, partition, records):
        """See OffsetsLog."""
        self.partitions.setdefault(partition, []).extend(records)

    def read_all(self, partition):
        """See OffsetsLog."""
        return self.partitions.get(partition, [])


@dataclass
class Asked:
    """A request that was sent. response, at_ms: the answer and its time; None while it waits."""

    request: Request
    response: Response | None = None
    at_ms: int | None = None

    @property
    def parked(self):
        """Whether there is no answer yet."""
        return self.response is None

    @property
    def error(self):
        """The name of the error; ``parked`` without an answer, ``MIXED`` if parts differ."""
        if self.response is None:
            return "parked"
        errors = set(_errors(self.response))
        return errors.pop().name if len(errors) == 1 else "MIXED"


def _errors(response):
    """Give the errors of a response's parts; that of the whole, if it has no parts."""
    match response:
        case OffsetCommitResponse():
            return response.partitions.values()
        case DeleteGroupsResponse():
            return response.results.values()
        case DescribeGroupsResponse():
            return [each.error_code for each in response.groups]
        case LeaveGroupResponse() if response.members:
            return [each.error_code for each in response.members]
    return [response.error_code]


class Groups:
    """A coordinator, its clock, its log, and the clients of one group.

    settings: of BrokerConfig; the initial delay is 0 unless it is given. owned: whether the
    coordinator leads the partitions. offsets_load_ms: how long a new coordinator reads its log.
    instances: client -> group.instance.id, for static members.
    events: (kind, time, columns) of what was recorded.
    """

    def __init__(self, profile="1.0", *, owned=True, offsets_load_ms=0, **settings):
        self.profile = profile_of(profile)
        self.configure(**settings)
        self.offsets_load_ms = offsets_load_ms
        self.loop = EventLoop(max_time_ms=400 * DAY_MS)
        self.log, self.events, self.random = MemoryLog(), [], random.Random(0)
        self.ids, self.generations, self.instances = {}, {}, {}
        self.told = {}
        self.start()
        if owned:
            self.immigrate()

    # The coordinator's life.

    def configure(self, **settings):
        """Have the next coordinator started with these settings."""
        given = {"group_initial_rebalance_delay_ms": 0, **settings}
        self.config = configure(BrokerConfig, self.profile.version, given=given)

    def start(self):
        """Start a coordinator that leads nothing yet; one before it dies with its timers."""
        if "broker-0" in self.loop.nodes:
            self.loop.nodes["broker-0"].alive = False
        self.node = self.loop.add_node("broker-0")
        context = BrokerContext(
            node="broker-0",
            config=self.config,
            profile=self.profile,
            timers=self,
            record=lambda kind, now_ms, **columns: self.events.append((kind, now_ms, columns)),
            random=self.random,
            offsets_load_ms=self.offsets_load_ms,
        )
        store = OffsetStore(self.log, self.config.offsets_topic_num_partitions)
        self.coordinator = GroupCoordinator(context, store)
        self.coordinator.startup(self.now_ms)

    def call_at(self, time_ms, callback):
        """See Timers."""
        return self.loop.call_at(time_ms, lambda: callback(self.loop.now_ms), node=self.node)

    def immigrate(self):
        """Let the coordinator lead every partition, from now on."""
        for partition in range(self.config.offsets_topic_num_partitions):
            self.coordinator.handle_group_immigration(partition, self.now_ms)

    def emigrate(self):
        """Let another broker lead every partition, from now on."""
        for partition in range(self.config.offsets_topic_num_partitions):
            self.coordinator.handle_group_emigration(partition, self.now_ms)

    def fail_over(self):
        """Crash; a new coordinator leads, and begins to read the log."""
        self.start()
        self.immigrate()

    # Time.

    @property
    def now_ms(self):
        """What the clock says."""
        return self.loop.now_ms

    def wait(self, ms=0):
        """Let time go by, and all that is due by then happen."""
        self.loop.run_until(self.now_ms + ms)

    def until(self, time_ms):
        """Let everything happen that is due by a time."""
        self.loop.run_until(time_ms)

    # Requests.

    def ask(self, request, on_answer=lambda asked: None):
        """Send a request now."""
        asked = Asked(request)

        def reply(response):
            assert asked.parked, f"{request} is answered twice"
            asked.response, asked.at_ms = response, self.now_ms
            on_answer(asked)

        self.coordinator.handle(request, self.now_ms, reply)
        return asked

    def join_once(self, client, *, offers=None, **fields):
        """Send one JoinGroup. offers: protocol -> metadata, preferred first."""
        offers = {"range": client} if offers is None else offers
        given = {
            "session_timeout_ms": 10_000,
            "rebalance_timeout_ms": 60_000,
            "member_id": self.id(client),
            "group_instance_id": self.instances.get(client),
            "protocols": tuple(JoinGroupRequestProtocol(*each) for each in offers.items()),
        }

        def learn(asked):
            if asked.error in ("NONE", "MEMBER_ID_REQUIRED"):
                self.ids[client] = asked.response.member_id
                self.told[self.ids[client]] = client
                self.generations[client] = asked.response.generation_id

        request = JoinGroupRequest(**{"group_id": "g", **given, "client_id": client, **fields})
        return self.ask(request, learn)

    def join(self, client, **fields):
        """Join as a client does: it asks again with the id that it was given."""
        asked = self.join_once(client, **fields)
        if asked.error == "MEMBER_ID_REQUIRED":
            asked = self.join_once(client, **fields)
        return asked

    def sync(self, client, assignments=None, **fields):
        """Send a SyncGroup. assignments: client -> what it reads."""
        given = {self.id(name): text for name, text in (assignments or {}).items()}
        return self.ask(SyncGroupRequest(**{**self._as(client), "assignments": given, **fields}))

    def heartbeat(self, client, **fields):
        """Send a Heartbeat."""
        return self.ask(HeartbeatRequest(**{**self._as(client), **fields}))

    def leave(self, *clients, **fields):
        """Send one LeaveGroup for these."""
        members = tuple(MemberIdentity(self.id(client)) for client in clients)
        return self.ask(LeaveGroupRequest(**{"group_id": "g", "members": members, **fields}))

    def commit(self, client="nobody", offset=1, *, metadata="", offsets=None, **fields):
        """Commit partition t-0, or `offsets`; ``nobody`` is a consumer that uses assign()."""
        given = {T0: OffsetAndMetadata(offset, metadata)} if offsets is None else offsets
        return self.ask(OffsetCommitRequest(**{**self._as(client), "offsets": given, **fields}))

    def fetch(self, *partitions, **fields):
        """Send an OffsetFetch of these, or of all."""
        given = {"group_id": "g", "partitions": partitions or None}
        return self.ask(OffsetFetchRequest(**{**given, **fields}))

    def committed(self, partition=T0):
        """Say which offset is committed; -1 for none."""
        return self.fetch(partition).response.partitions[partition].offset

    def describe(self, group_id="g"):
        """Describe a group."""
        (group,) = self.ask(DescribeGroupsRequest(groups=(group_id,))).response.groups
        return group

    def list(self, *states):
        """List the groups."""
        return self.ask(ListGroupsRequest(states_filter=states))

    def delete(self, *group_ids):
        """Send a DeleteGroups."""
        return self.ask(DeleteGroupsRequest(groups_names=group_ids or ("g",)))

    # The group.

    @property
    def group(self):
        """The group as the coordinator holds it; None if it does not."""
        return self.coordinator.groups.get("g")

    @property
    def state(self):
        """The name of its state, ``none`` without a group."""
        return "none" if self.group is None else self.group.state.value

    @property
    def members(self):
        """The clients in it, in order."""
        return [self._client_of(member_id) for member_id in self.group.members]

    def id(self, client):
        """Say the member id that a client was told last; '' before."""
        return self.ids.get(client, "")

    def form(self, *clients, **fields):
        """Let clients join and sync until the group is Stable; the first one leads.

        Give the group's generation.
        """
        joins = {client: self.join(client, **fields) for client in clients}
        self.wait()
        for client in [each for each in clients if not joins[each].parked]:
            if self.state == "PreparingRebalance":
                self.join(client, **fields)
        self.assign(*clients)
        return self.group.generation_id

    def assign(self, *clients):
        """Let clients sync, the leader last; each reads what is named after it."""
        leads_last = sorted(clients, key=lambda each: self.group.is_leader(self.id(each)))
        for client in leads_last:
            self.sync(client, {each: f"of {each}" for each in clients})
        assert self.state == "Stable"

    def bring_to(self, state):
        """Let a, which leads, and b come to this state.

        In PreparingRebalance b's join is missing, in AwaitingSync nobody has synced.
        """
        self.form("a", "b")
        match GroupState.of(state):
            case GroupState.EMPTY:
                self.leave("a")
                self.leave("b")
            case GroupState.PREPARING_REBALANCE:
                self.join("a")
            case GroupState.AWAITING_SYNC:
                self.join("a")
                self.join("b")
        assert self.state == state

    def seen(self, kind):
        """Give (time, columns) of what was recorded of a kind."""
        return [(time_ms, columns) for each, time_ms, columns in self.events if each == kind]

    def removed(self):
        """Give (time, client) for each member that was dropped."""
        return [
            (time_ms, self._client_of(each["member_id"]))
            for time_ms, each in self.seen("member_removed")
        ]

    def states_seen(self):
        """Give (time, state) for each change of the group's state that was recorded."""
        return [(time_ms, each["detail"]["to"]) for time_ms, each in self.seen("group_state")]

    def _client_of(self, member_id):
        joined = {each["member_id"]: each["detail"] for _, each in self.seen("member_joined")}
        return self.told.get(member_id) or joined[member_id]["client_id"]

    def _as(self, client):
        return {
            "group_id": "g",
            "member_id": self.id(client),
            "generation_id": self.generations.get(client, -1),
            "group_instance_id": self.instances.get(client),
        }


def group_in(state, profile="1.0", **settings):
    """Make a group of a, which leads, and b, whose state is this one; see `bring_to`."""
    groups = Groups(profile, **settings)
    groups.bring_to(state)
    return groups
