"""The drawing of a decision: the check that refused stands out, any name is text."""

from xml.etree import ElementTree

import pytest

from kafkalearn import scenarios
from kafkalearn.trace import Trace
from kafkalearn.views import decision
from kafkalearn.views.drawings.decision import draw
from kafkalearn.views.language import Say

EN, ZH = Say("en"), Say("zh")
ODD = "<img src=x onerror=alert(1)>\u202e"


def parsed(frame, say=EN):
    """Put the pieces together and parse them as the well-formed HTML that they must be."""
    return ElementTree.fromstring(f"<body>{''.join(draw(frame, say))}</body>")


def test_the_check_that_refused_stands_out():
    """One row is marked, with sign, words and error; the methods stand where they begin."""
    trace = scenarios.assign_beside_subscribe()
    frames = decision.frames(trace)
    frame = next(frame for frame in frames if frame["error"] == "UNKNOWN_MEMBER_ID")
    body = parsed(frame)
    (row,) = body.iterfind(".//tr[@class='kl-is-refused']")
    assert ["".join(cell.itertext()) for cell in row] == [
        *("✗", "is a member", "no member id, members c1-0eb1…", "refused", "UNKNOWN_MEMBER_ID")
    ]
    assert [code.text for code in body.iter("code")] == [
        *("handle_commit_offsets", "do_commit_offsets", "store_offsets")
    ]
    assert "refused: UNKNOWN_MEMBER_ID" in "".join(body.itertext())


@pytest.mark.parametrize("say", [EN, ZH])
def test_names_are_text(say):
    """A group, member, client and error called like a tag are shown as text."""
    trace = Trace("x")
    columns = {"api": "OffsetCommit", "correlation_id": 1, "group_id": ODD, "member_id": ODD}
    fields = {"offsets": {ODD: {"offset": 1}}, "group_instance_id": ODD}
    state = {"to": ODD, "members": [ODD]}
    trace.record("group_state", 0, ODD, group_id=ODD, detail=state)
    trace.record("send", 0, ODD, **columns, peer=ODD, detail={"fields": fields})
    trace.record("receive", 0, ODD, **columns, peer=ODD)
    answer = {"fields": {"partitions": {ODD: ODD}}}
    trace.record("respond", 0, ODD, **columns, peer=ODD, error=ODD, detail=answer)
    for frame in decision.frames(trace):
        body = parsed(frame, say)
        assert {each.tag for each in body.iter()} <= {
            *("body", "p", "span", "div", "table", "thead", "tbody", "tr", "th", "td", "code", "b")
        }
        assert "\u202e" not in "".join(body.itertext())


@pytest.mark.parametrize("name", scenarios.names())
def test_each_scenario_is_drawn_in_both_languages(name):
    """All that is said has its Chinese, and the pieces are well formed."""
    seen = {id(frame): frame for frame in decision.frames(scenarios.run(name))}
    for frame in seen.values():
        parsed(frame, EN)
        parsed(frame, ZH)
        assert decision.as_text(frame, ZH)
