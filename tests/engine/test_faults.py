"""A fault plan is data that can be written, read, checked, and that happens."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.engine import (
    AnswerWithError,
    Crash,
    CutOff,
    Delay,
    Drop,
    Freeze,
    InvalidFaultError,
    Restart,
)
from kafkalearn.engine.faults import check, from_json, to_json, to_text
from tests.engine.world import Request, World

NAME = st.text(min_size=1, max_size=4) | st.sampled_from(["c1", "c1,at_ms=5", "c1)+crash(c2", '"'])
MS = st.integers(0, 9)
MESSAGE = {"api": NAME, "nth": st.integers(1, 9), "node": st.none() | NAME}
PART = st.sampled_from(["request", "response"])
FAULTS = st.one_of(
    st.builds(Crash, NAME, MS),
    st.builds(Restart, NAME, MS),
    st.builds(Freeze, NAME, MS, MS),
    st.builds(CutOff, NAME, MS, MS, st.none() | NAME),
    st.builds(Drop, **MESSAGE, part=PART),
    st.builds(Delay, **MESSAGE, part=PART, by_ms=MS),
    st.builds(AnswerWithError, **MESSAGE, error=NAME),
)
PLANS = st.lists(FAULTS, max_size=4).map(tuple)


@given(plan=PLANS)
def test_a_plan_is_written_and_read_without_loss(plan):
    """Any plan, whatever the names in it."""
    assert from_json(to_json(plan)) == plan


@given(one=PLANS, other=PLANS)
def test_different_plans_read_differently(one, other):
    """So a run is named by its plan."""
    assert (to_text(one) == to_text(other)) == (one == other)


def test_a_plan_is_readable():
    """Only what is not left at its default is told."""
    plan = (
        *(Crash("c1", 5000), Restart("c1", 9000), Freeze("c1", 100, 50), CutOff("c1", 1, 2)),
        *(CutOff("c1", 1, 2, "broker-0"), Drop("Fetch"), Drop("Fetch", 2, "c 1", "response")),
        *(Delay("Heartbeat", 300), AnswerWithError("JoinGroup", "NOT_COORDINATOR", 3)),
    )
    assert to_text(()) == ""
    assert to_text(plan).split("+") == [
        *("crash(c1,at_ms=5000)", "restart(c1,at_ms=9000)", "freeze(c1,at_ms=100,for_ms=50)"),
        *("cut_off(c1,at_ms=1,for_ms=2)", "cut_off(c1,at_ms=1,for_ms=2,other=broker-0)"),
        *("drop(Fetch)", 'drop(Fetch,nth=2,node="c 1",part=response)'),
        *("delay(Heartbeat,by_ms=300)", "answer_with_error(JoinGroup,error=NOT_COORDINATOR,nth=3)"),
    ]
    assert json.loads(to_json(plan[:1])) == [{"kind": "crash", "node": "c1", "at_ms": 5000}]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Crash("c1", -1), "at_ms of crash is -1: a whole number from 0 up is allowed"),
        (lambda: Crash("c1", 1.5), "at_ms of crash is 1.5: a whole"),
        (lambda: Crash("c1", True), "at_ms of crash is True: a whole"),
        (lambda: Crash("", 1), "node of crash is '': a name is allowed"),
        (lambda: Crash(None, 1), "node of crash is None: a name is allowed"),
        (lambda: CutOff("c1", 1, 1, ""), "other of cut_off is '': a name is allowed"),
        (lambda: Freeze("c1", 1, -5), "for_ms of freeze is -5"),
        (lambda: Drop("Fetch", 0), "nth of drop is 0: a whole number from 1 up is allowed"),
        (lambda: Drop("Fetch", part="half"), "part of drop is 'half': request or response is"),
        (lambda: Delay("Fetch", by_ms="1"), "by_ms of delay is '1': a whole number from 0 up"),
        (lambda: AnswerWithError("Fetch", ""), "error of answer_with_error is ''"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(make, sentence):
    """The error names the field, its value and what is allowed."""
    with pytest.raises(InvalidFaultError) as caught:
        make()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[{", "this fault plan is no JSON: "),
        ("{}", "a fault plan is a list of faults: this is {}"),
        ("[5]", "5 is no fault: an object with a kind is allowed, one of crash, restart, freeze, "),
        ('[{"node": "c1"}]', "{'node': 'c1'} is no fault: an object with a kind"),
        ('[{"kind": "melt"}]', "{'kind': 'melt'} is no fault"),
        ('[{"kind": ["crash"]}]', "{'kind': ['crash']} is no fault"),
        (
            '[{"kind": "crash", "node": "c1"}]',
            "{'kind': 'crash', 'node': 'c1'}: the fields of crash are node, at_ms",
        ),
        (
            '[{"kind": "drop", "api": "Fetch", "by_ms": 1}]',
            "{'kind': 'drop', 'api': 'Fetch', 'by_ms': 1}: "
            "the fields of drop are api, nth?, node?, part?",
        ),
        ('[{"kind": "crash", "node": "c1", "at_ms": -1}]', "at_ms of crash is -1"),
    ],
)
def test_a_text_that_tells_no_plan_is_refused(text, sentence):
    """The error shows what was read and what is allowed."""
    with pytest.raises(InvalidFaultError) as caught:
        from_json(text)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (Crash("c9", 1), "crash(c9,at_ms=1) names c9: the nodes are c1, broker-0"),
        (CutOff("c1", 1, 1, "c9"), "cut_off(c1,at_ms=1,for_ms=1,other=c9) names c9: the nodes"),
        (Drop("Fetch", node="c9"), "drop(Fetch,node=c9) names c9: the nodes are c1, broker-0"),
    ],
)
def test_a_node_that_does_not_exist_is_found(fault, sentence):
    """The error names it, and the nodes there are."""
    check([Crash("c1", 1), CutOff("broker-0", 1, 1, "c1"), Drop("Fetch")], ["c1", "broker-0"])
    with pytest.raises(InvalidFaultError) as caught:
        check([fault], ["c1", "broker-0"])
    assert str(caught.value).startswith(sentence)


def test_a_fault_may_name_a_node_that_comes_later():
    """One that is not there when the fault is due is named then."""
    world = World()
    world.inject(Crash("c3", 5), Crash("c4", 9))
    world.loop.call_at(3, lambda: world.loop.add_node("c3"))
    with pytest.raises(InvalidFaultError, match="names c4: the nodes are c1, c2, broker-0, c3"):
        world.loop.run_until(10)
    assert not world.loop.nodes["c3"].alive


def tick(world, *, until_ms=60):
    """A process that notes every tenth millisecond."""
    while world.loop.now_ms < until_ms:
        world.processes.sleep(10)
        world.note("tick")


def test_nodes_crash_restart_and_freeze():
    """At their time, written down, with a hook for each; what is done already is left alone."""
    world = World()
    world.processes.on_kill.append(lambda node: world.note(f"{node.name} down"))
    restart, world.restart = world.restart, lambda name: (world.note(f"{name} up"), restart(name))
    world.inject(
        *(Freeze("c1", 15, 20), Crash("c1", 55), Restart("c1", 57), Restart("c1", 58)),
        *(Crash("broker-0", 56), Crash("broker-0", 57), Freeze("broker-0", 58, 1)),
    )
    world.spawn(lambda: tick(world))
    world.loop.run_until(100)
    assert world.log == [
        *[(10, "tick"), (35, "tick"), (45, "tick")],
        *[(55, "c1 down"), (56, "broker-0 down"), (57, "c1 up")],
    ]
    assert world.faults == [
        *[(15, "freeze(c1,at_ms=15,for_ms=20)"), (55, "crash(c1,at_ms=55)")],
        *[(56, "crash(broker-0,at_ms=56)"), (57, "restart(c1,at_ms=57)")],
    ]
    assert [world.loop.nodes[name].alive for name in ("c1", "broker-0")] == [True, False]


def answers(world, *apis, node=None):
    """Send requests one after the other, each on a connection of its own; what came back."""
    node = node or world.c1
    exchanges = []
    for number, api in enumerate(apis):
        exchanges.append(world.connect(node).send(Request(api, number)))
        world.processes.sleep(10)
    return [
        exchange in world.inboxes[node].exchanges and exchange.response for exchange in exchanges
    ]


def test_nodes_are_cut_off():
    """For a while, from one or from all."""
    world = World()
    world.inject(CutOff("c1", 5, 10, "broker-0"), CutOff("broker-0", 25, 10))
    assert answers(world, *["Ask"] * 5) == [
        *[("answer to", 0), False, ("answer to", 2), False, ("answer to", 4)]
    ]
    assert world.faults == [
        (5, "cut_off(c1,at_ms=5,for_ms=10,other=broker-0)"),
        (25, "cut_off(broker-0,at_ms=25,for_ms=10)"),
    ]


def test_a_request_is_dropped():
    """The nth of its api that the node sends; the journal says by which fault."""
    world = World()
    world.inject(Drop("Fetch", 2, "c1"))
    got = answers(world, "Fetch", "Fetch", node=world.c2)
    got += answers(world, "Fetch", "Other", "Fetch", "Fetch")
    assert got == [
        *[("answer to", 0), ("answer to", 1), ("answer to", 0), ("answer to", 1)],
        False,
        ("answer to", 3),
    ]
    assert world.faults == [(40, "drop(Fetch,nth=2,node=c1)")]
    assert (40, "dropped c1 2: drop(Fetch,nth=2,node=c1)") in world.log
    assert (41, "c1 told") in world.log


def test_a_response_is_dropped():
    """The request was handled, and the client is told that its connection ended."""
    world = World()
    world.inject(Drop("Fetch", part="response"))
    assert answers(world, "Fetch") == [False]
    assert (world.handled, world.log[-2:]) == (
        [0],
        [(1, "dropped c1 0: drop(Fetch,part=response)"), (2, "c1 told")],
    )


def test_a_message_is_late():
    """What follows it on its connection waits behind it; other connections do not."""
    world = World()
    world.inject(Delay("Fetch", 30), Delay("Fetch", 5, 2, "broker-0", "response"))
    connections = [world.connect(), world.connect(world.c2)]
    for connection in (connections[0], connections[0], connections[1]):
        connection.send(Request("Fetch", connection.client.name))
    world.loop.run_until(100)
    assert [(time_ms, what) for time_ms, what in world.log if "send" not in what] == [
        *[(1, "receive c2 0"), (1, "respond c2 0"), (2, "response c2 0")],
        *[(31, "receive c1 0"), (31, "respond c1 0"), (31, "receive c1 1"), (31, "respond c1 1")],
        *[(37, "response c1 0"), (37, "response c1 1")],
    ]
    assert world.faults == [
        (0, "delay(Fetch,by_ms=30)"),
        (31, "delay(Fetch,by_ms=5,nth=2,node=broker-0,part=response)"),
    ]


def test_a_request_is_answered_with_an_error():
    """The server does nothing else, and the journal looks as for any other answer."""
    world = World()
    world.inject(AnswerWithError("Fetch", "NOT_LEADER", 2))
    assert answers(world, "Fetch", "Fetch", "Fetch") == [
        *[("answer to", 0), ("NOT_LEADER", 1), ("answer to", 2)]
    ]
    assert world.handled == [0, 2]
    assert world.log[4:8] == [
        *[(10, "send c1 1"), (11, "receive c1 1"), (11, "respond c1 1"), (12, "response c1 1")]
    ]
    assert world.faults == [(10, "answer_with_error(Fetch,error=NOT_LEADER,nth=2)")]


def test_several_faults_may_meet_one_message():
    """Each counts for itself; a message that is late and lost is lost."""
    world = World()
    world.inject(Drop("Fetch", 2), Delay("Fetch", 5, 2), Delay("Fetch", 3), Delay("Fetch", 4))
    assert answers(world, "Fetch", "Fetch") == [("answer to", 0), False]
    assert world.log[1] == (8, "receive c1 0")
    assert len(world.faults) == 4
