"""The drawing of a decision: the check that refused stands out, any name is text."""

from xml.etree import ElementTree

from kafkalearn import scenarios
from kafkalearn.views import decision
from kafkalearn.views.drawings.decision import draw
from kafkalearn.views.language import Say

EN, ZH = Say("en"), Say("zh")


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
