"""The sentence for an event, and what follows from it."""

import html
import re

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import KINDS, Trace, TraceError
from kafkalearn.views.captions import caption, caption_html

ODD = "<img src=x onerror=alert(1)>\u202e"


def event(kind, node="c1", **more):
    """Make one event."""
    trace = Trace("one")
    trace.record(kind, 1, node, **more)
    return trace[0]


def answer(api, error):
    """Make the answer to c1 that a broker sends."""
    return event(
        "respond", "broker-0", api=api, peer="c1", correlation_id=9, group_id="g", error=error
    )


def test_a_refused_heartbeat_says_what_comes_of_it():
    """The error, and what the member does at its next poll, whatever its assignor."""
    told = answer("Heartbeat", "REBALANCE_IN_PROGRESS")
    assert caption(told) == (
        "broker-0 answers c1, which asked whether it is still a member of group g: "
        "REBALANCE_IN_PROGRESS. The group rebalances: at its next poll c1 joins again, and with "
        "an eager assignor gives up its partitions first."
    )
    assert "<b>REBALANCE_IN_PROGRESS</b>" in caption_html(told)
    assert caption(told, "zh") == (
        "broker-0 答复 c1 的请求：心跳，确认仍属于消费组 g：REBALANCE_IN_PROGRESS。"
        "消费组正在重平衡：c1 在下一次 poll 时重新加入；若分配策略是 eager，会先放弃分区。"
    )


def test_the_client_is_meant_at_either_end():
    """What follows is about who asked, also where the answer arrives."""
    heard = event("response", api="OffsetCommit", peer="broker-0", error="UNKNOWN_MEMBER_ID")
    sent = answer("OffsetCommit", "UNKNOWN_MEMBER_ID")
    clause = (
        "c1 forgets its generation and joins at its next poll; commit_sync raises "
        "CommitFailedError; commit_async's callback gets it; an automatic commit only logs it."
    )
    assert caption(heard).endswith(clause)
    assert caption(sent).endswith(clause)


def test_what_says_nothing_is_left_out():
    """No number of the request, no NONE, no list of members that another pane shows."""
    assert caption(answer("LeaveGroup", "NONE")) == (
        "broker-0 answers c1, which asked to let it leave group g"
    )
    moved = event(
        "group_state",
        "broker-0",
        group_id="g",
        generation=1,
        detail={
            "from": "Stable",
            "to": "PreparingRebalance",
            "reason": "c2 came",
            "members": ["c1-a", "c2-b"],
            "waiting_join": ["c2-b"],
        },
    )
    assert caption(moved) == (
        "broker-0 moves group g from Stable to PreparingRebalance, generation 1: c2 came. Members "
        "that have not joined yet hear of it only by their next heartbeat."
    )


def test_no_clause_where_it_would_be_wrong():
    """Nobody is missing, nothing was given: nothing follows."""
    alone = event(
        "group_state",
        "b",
        group_id="g",
        detail={"to": "PreparingRebalance", "members": ["a"], "waiting_join": ["a"]},
    )
    assert "heartbeat" not in caption(alone)
    assert caption(event("assigned", detail={"partitions": {"t": []}})) == "c1 is given nothing"
    assert "auto.offset.reset" in caption(event("assigned", detail={"partitions": {"t": [0]}}))


def test_names_are_text():
    """A name is escaped and in one line; it cannot stress anything."""
    told = event("respond", ODD, api=ODD, peer=ODD, group_id=ODD, error=ODD)
    drawn = caption_html(told)
    assert set(re.findall(r"<[^>]*>", drawn)) == {"<b>", "</b>"}
    assert "\u202e" not in drawn


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_html_and_text_say_the_same(lang):
    """For every event of these scenarios; each sentence begins with who acts."""
    for name in ("consumer_dies", "consumer_stops_polling", "coordinator_fails_over"):
        for each in scenarios.run(name):
            plain = re.sub("</?b>", "", caption_html(each, lang))
            assert html.unescape(plain) == caption(each, lang)
            assert caption_html(each, lang).startswith(f"<b>{each.node}</b>")
            assert "correlation" not in plain


def test_another_language_is_refused():
    """As `describe` refuses it."""
    with pytest.raises(TraceError, match="no sentences in 'fr'"):
        caption(event("poll"), "fr")


def test_texts_may_be_empty():
    """Of an imported event of any kind every text may be."""
    for kind, carries in KINDS.items():
        columns = dict.fromkeys(("group_id", "member_id", "api", "peer", "error", "topic"), "")
        told = event(kind, "", **columns, detail=dict.fromkeys(carries.detail, ""))
        for lang in ("en", "zh"):
            assert re.sub("</?b>", "", caption_html(told, lang)) == caption(told, lang)


def test_a_frozen_broker_sends_no_heartbeats():
    """What is said of a freeze holds for a broker too: heartbeats are a member's."""
    trace = Trace("frozen")
    trace.record("fault", 1, "broker-0", detail={"fault": "freeze", "for_ms": 3000})
    assert "if it is a member" in caption(trace[0])
