"""Draws one poll as the list of its steps, with the present one lit."""

from html import escape

from kafkalearn.views.language import Say
from kafkalearn.views.poll import MARKS, Frame, Step, outcome
from kafkalearn.views.wording import shown, tag

_MEANING = {
    "poll": "is there a subscription? is one thread at work only?",
    "ensure_coordinator_ready": "who coordinates the group?",
    "ensure_active_group": "join if that is needed; the listener; the heartbeat",
    "maybe_auto_commit_offsets_async": "is an automatic commit due?",
    "update_fetch_positions": "where to begin reading: committed offset, or the reset",
    "fetched_records (1st)": "return what came before this poll, if there is some",
    "send_fetches": "one Fetch to each broker that has none in flight",
    "client.poll": "wait for answers, and let the heartbeat and callbacks go on",
    "fetched_records (2nd)": "return what has arrived, up to max.poll.records",
}


def draw(frame: Frame, say: Say) -> list[str]:
    """One piece for each step, and how many records came."""
    steps = [_drawn(step, say) for step in frame["steps"]]
    return [f'<ol class="kl-poll">{"".join(steps)}</ol>', tag("p", outcome(frame, say))]


def _drawn(step: Step, say: Say) -> str:
    state = step["state"]
    mark = tag("span", MARKS[state], class_="kl-mark", aria_hidden="true")
    name = tag("code", escape(step["name"]))
    did = ", ".join(shown(each, 40) for each in step["did"])
    body = mark + name + tag("small", escape(say(_MEANING[step["name"]])))
    if did:
        body += tag("span", escape(did), class_="kl-did")
    current = "step" if state == "now" else None
    return tag("li", body, class_=f"kl-{state}", aria_current=current)
