"""Draws a group: its state machine with the state lit, who is waited for, and its members.

Source: GroupMetadata.validPreviousStates (1.0.2, 2.4.0): which arrows there are.
"""

from functools import lru_cache
from html import escape
from typing import cast

from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.views.drawings.common import END, badge, chip, heads, row, since, until
from kafkalearn.views.group.members import Row
from kafkalearn.views.group.model import Frame, remark, sentence
from kafkalearn.views.language import Say, term
from kafkalearn.views.wording import shown, tag

_CHIPS = 8
_SIZE = (478, 98)
# Left, top, width. Any state may lead to Dead; the arrow is the way that it mostly comes.
_BOXES = {
    "Empty": (2, 2, 74),
    "PreparingRebalance": (116, 2, 156),
    "AwaitingSync": (312, 2, 164),
    "Stable": (355, 66, 78),
    "Dead": (2, 66, 74),
}
# From, to, the line, and its head.
_ARROWS = (
    ("Empty", "PreparingRebalance", "M76 11H109", "M116 11l-8-4v8z"),
    ("PreparingRebalance", "Empty", "M116 23H83", "M76 23l8-4v8z"),
    ("PreparingRebalance", "AwaitingSync", "M272 11H305", "M312 11l-8-4v8z"),
    ("AwaitingSync", "PreparingRebalance", "M312 23H279", "M272 23l8-4v8z"),
    ("AwaitingSync", "Stable", "M394 32V59", "M394 66l-4-8h8z"),
    ("Stable", "PreparingRebalance", "M355 81H204q-10 0-10-10V39", "M194 32l-4 8h8z"),
    ("Empty", "Dead", "M39 32V59", "M39 66l-4-8h8z"),
)
_TONES = {"crashed": "bad", "frozen": "bad", "cut off": "bad", "removed": "soft", "in step": "ok"}


def draw(frame: Frame, say: Say) -> list[str]:
    """Draw the machine, what it waits for, and a row for each member."""
    topics = sorted({topic for each in frame["members"] for topic, _ in each["owns"]})
    single = len(topics) == 1
    owns = say("owns, of {}", shown(topics[0])) if single else say("owns")
    pieces = [_machine(frame, say), _waits(frame, say)]
    if frame["members"]:
        pieces.append(heads([say("member"), owns, say("last heard"), say("now")]))
        pieces += [_row(tuple(each.items()), say, single) for each in frame["members"]]
        pieces.append(END)
    if frame["more"]:
        pieces.append(tag("p", escape(say("and {} more", frame["more"])), class_="kl-none"))
    return pieces


def _tone(frame: Frame, waits: bool) -> str:
    """Choose a colour: amber for a state in which somebody waits, red while nobody answers."""
    if frame["waits"] == "coordinator":
        return "bad"
    if waits or frame["state"] in ("PreparingRebalance", *SYNC_STATES):
        return "wait"
    return "ok" if frame["state"] == "Stable" else "soft"


def _machine(frame: Frame, say: Say) -> str:
    state, before = (
        "AwaitingSync" if each in SYNC_STATES else each
        for each in (frame["state"], frame["before"])
    )
    drawn = ""
    for start, end, line, head in _ARROWS:
        kind = "kl-taken" if (start, end) == (before, state) else None
        drawn += tag("g", f'<path d="{line}"/><path d="{head}"/>', class_=kind)
    for name, (x, y, width) in _BOXES.items():
        label = frame["sync_name"] if name == "AwaitingSync" else name
        box = f'<rect x="{x}" y="{y}" width="{width}" height="30" rx="15"/>'
        text = f'<text x="{x + width // 2}" y="{y + 19}">{label}</text>'
        drawn += tag("g", box + text, class_=f"kl-{_tone(frame, False)}" if name == state else None)
    width, height = _SIZE
    return tag(
        "svg",
        drawn,
        class_="kl-machine",
        viewBox=f"0 0 {width} {height}",
        width=width,
        role="img",
        aria_label=say("state of the group: {}", shown(frame["state"] or "?")),
    )


def _waits(frame: Frame, say: Say) -> str:
    """Say for whom the group waits and how long, and below it how it came into this state."""
    told = tag("b", escape(sentence(frame, say)))
    if frame["waits"] and frame["until_ms"] is not None:
        told += " · " + until(frame["until_ms"])
    came = ""
    if frame["since_ms"] is not None:
        path = " → ".join(shown(each) for each in (frame["before"], frame["state"]) if each)
        path += f": {say(*term(frame['reason'], 70))}" if frame["reason"] else ""
        came = f"{escape(path)} · {since(frame['since_ms'])}"
    return tag(
        "p",
        f"{told}<small>{came}</small>",
        class_=f"kl-waits kl-{_tone(frame, bool(frame['waits']))}",
    )


@lru_cache(maxsize=4096)  # most rows of a frame are those of the frame before
def _row(items: tuple[tuple[str, object], ...], say: Say, short: bool) -> str:
    member = cast(Row, dict(items))
    star = f'<span title="{say("leader")}">★</span>' if member["leader"] else ""
    name = tag("span", escape(shown(member["name"])), title=shown(member["member_id"], 80))
    lost = "kl-ghost" if member["now"] in ("crashed", "removed") else ""
    owns = member["owns"][:_CHIPS]
    chips = "".join(chip(topic, number, short=short, kind=lost) for topic, number in owns)
    if len(member["owns"]) > len(owns):
        chips += f"+{len(member['owns']) - len(owns)}"
    now = badge(say(member["now"]), _TONES.get(member["now"], "wait"))
    told = [escape(each) for each in [remark(member, say)] if each]
    if member["session_ends_ms"] is not None:
        told.append(f"{escape(say('session'))} {until(member['session_ends_ms'])}")
    if told:
        now += f" <small>{' · '.join(told)}</small>"
    return row(
        [
            f'<i class="kl-star">{star}</i>{name}',
            chips or '<span class="kl-tp kl-ghost">–</span>',
            "–" if member["heard_ms"] is None else since(member["heard_ms"]),
            now,
        ],
        kind="kl-removed" if member["reason"] is not None else None,
    )
