"""Draws a decision as the chain of its checks, the one that refused standing out."""

from html import escape

from kafkalearn.views.decision.commit_checks import Check
from kafkalearn.views.decision.model import OUTCOMES, Frame
from kafkalearn.views.decision.words import then, verdict
from kafkalearn.views.drawings.common import END, badge, heads, since
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown, tag


def draw(frame: Frame, say: Say) -> list[str]:
    """How it was judged and when, a piece for each check, and what follows."""
    told = verdict(frame, say)
    if frame["judged_ms"] is None:
        return [tag("p", escape(told), class_="kl-none")]
    tone = "ok" if frame["error"] is None else "bad"
    if not frame["answered"]:
        tone = "wait"
    mark = {"ok": "✓", "bad": "✗", "wait": "…"}[tone]
    head = tag(
        "p", badge(f"{mark} {told}", tone) + " " + since(frame["judged_ms"]), class_="kl-verdict"
    )
    names = ("", "check", "compared", "outcome", "would refuse with")
    table = heads(say(name) if name else "" for name in names)
    before = ["", *(check["method"] for check in frame["checks"])]
    rows = [
        _row(check, say, is_first=check["method"] != method)
        for check, method in zip(frame["checks"], before, strict=False)
    ]
    return [head, '<div class="kl-checks">' + table, *rows, END + "</div>", _foot(frame, say)]


def _row(check: Check, say: Say, *, is_first: bool) -> str:
    outcome = check["outcome"]
    mark, word = OUTCOMES[outcome]
    method = tag("code", check["method"]) if is_first and check["method"] else ""
    cells = [
        tag("td", mark, class_="kl-mark", aria_hidden="true"),
        tag("td", escape(say(check["name"])) + method),
        tag("td", escape(say(*check["compared"])), class_="kl-compared"),
        tag("td", escape(say(word))),
        tag("td", escape(shown(check["error"], 40)).replace("_", "_<wbr/>"), class_="kl-error"),
    ]
    return tag("tr", "".join(cells), class_=f"kl-is-{outcome}" + (" kl-begins" * bool(method)))


def _foot(frame: Frame, say: Say) -> str:
    stored = []
    for name, offset, error in frame["partitions"]:
        at = f"{shown(name, 40)}: {'?' if offset is None else f'{offset:,}'}"
        what = say("waits for the answer") if not frame["answered"] else error or say("stored")
        kind = "bad" if error else "ok" if frame["answered"] else "wait"
        stored.append(tag("span", escape(at) + " " + badge(shown(what, 40), kind)))
    if frame["more"]:
        stored.append(tag("span", escape(say("and {} more partitions", frame["more"]))))
    parts = [tag("p", "".join(stored), class_="kl-offsets")] if stored else []
    if frame["follows"]:
        follows = tag("b", escape(say("Then:"))) + " " + escape(then(frame, say))
        parts.append(tag("p", follows, class_="kl-follows"))
    return "".join(parts)
