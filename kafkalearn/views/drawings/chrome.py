"""What stands around the panes: title, controls, time line. `stepper.js` finds it by `data-…`.

``data-do``: what a button does; ``data-key``: the key that does the same; ``data-jump``: the kind
of event that it looks for; ``data-act``: what the kernel is asked for; ``data-run``: which of the
runs a part shows.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from kafkalearn.views.drawings.controls import button, icon_of
from kafkalearn.views.drawings.fork_bar import Forks, fork_bar
from kafkalearn.views.language import Say
from kafkalearn.views.panes import Look
from kafkalearn.views.wording import shown, tag

_KEYS = (
    ("Tab", "or a click into the picture: from then on keys are its own"),
    ("← →", "one step"),
    ("Home End", "to the beginning, to the end"),
    ("space", "play or pause"),
    ("r c e f", "next rebalance, commit, error, fault"),
    ("Shift r …", "the one before"),
    ("+ −", "faster, slower"),
)
_STRIP = (
    ("▭", "amber: a rebalance"),
    ("╷", "green: a commit"),
    ("╵", "red: an error"),
    ("┊", "red, dashed: a fault"),
)
_WIDE = ("logs", "decision")
_OF_TWO = ("messages", "group")
SPEEDS = (1, 2, 5, 10)  # steps a second


class Heading(NamedTuple):
    """What is shown: in bold, and the rest. runs: what tells two runs apart; empty for one."""

    name: str
    about: str
    runs: Sequence[str]


def page(
    told: Mapping[str, Any],
    *,
    look: Look,
    heading: Heading,
    forks: Forks | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Draw all that stays while one steps. notes: what of the trace is not shown."""
    say, count = look.say, len(told["runs"])
    body = [
        tag("header", tag("b", escape(heading.name)) + tag("span", escape(heading.about))),
        _controls(told, say),
        _choices(told, look),
        fork_bar(forks, count, say=say) if forks else "",
        tag("p", "", class_="kl-notice", data_notice=True, hidden=True),
        "".join(tag("p", escape(note), class_="kl-beyond") for note in notes),
        _range(told, say),
    ]
    for run in range(count):
        name = heading.runs[run] if heading.runs else ""
        body.append(_run(run, told, name=name, look=look))
    body.append(tag("div", "", class_="kl-aloud", aria_live="polite"))
    about = {"role": "group", "aria_label": say("Stepper"), "tabindex": 0, "lang": say.lang}
    kind = f"kl kl-stepper{' kl-two' if count > 1 else ''}"
    return tag("section", "".join(body), class_=kind, **about)


def _controls(told: Mapping[str, Any], say: Say) -> str:
    def icon(do: str, label: str, key: str) -> str:
        named = {"aria_label": say(label), "title": say(label)}
        return button(icon_of(do), data_do=do, data_key=key, **named)

    play = tag("span", icon_of("play") + tag("span", say("Play")), class_="kl-when-paused")
    play += tag("span", icon_of("freeze") + tag("span", say("Pause")), class_="kl-when-playing")
    jumps = [
        button(say(label), data_jump=kind, data_key=key)
        for kind, label, key in (
            ("rebalance", "next rebalance", "r"),
            ("commit", "next commit", "c"),
            ("error", "next error", "e"),
            ("fault", "next fault", "f"),
        )
        if any(run["stops"].get(kind) for run in told["runs"])
    ]
    if told["difference"] is not None:
        jumps.append(button(say("first difference"), data_do="difference", class_="kl-differs"))
    speeds = "".join(
        tag("option", f"{speed}×", value=speed, selected=speed == 2) for speed in SPEEDS
    )
    return tag(
        "div",
        icon("first", "to the beginning", "Home")
        + icon("back", "one step back", "ArrowLeft")
        + button(play, data_do="play", data_key=" ", class_="kl-primary")
        + icon("next", "one step on", "ArrowRight")
        + icon("last", "to the end", "End")
        + tag("select", speeds, data_speed=True, aria_label=say("steps a second"))
        + "".join(jumps)
        + tag("span", "", class_="kl-counter", data_count=say("event {} of {}")),
        class_="kl-controls",
    )


def _choices(told: Mapping[str, Any], look: Look) -> str:
    """Who is stepped through, whether routine is, which panes are open, and the keys."""
    say, panes = look.say, look.panes
    names = list(dict.fromkeys(name for run in told["runs"] for name in run["names"]))
    nodes = "".join(
        button(escape(shown(name, 16)), data_node=name, aria_pressed="true") for name in names
    )
    opened = "".join(
        button(say(name), data_pane=name, aria_pressed=str(_begins_open(name, told, panes)).lower())
        for name in panes
    )
    keys = "".join(tag("dt", key) + tag("dd", say(what)) for key, what in (*_KEYS, *_STRIP))
    help_ = tag("details", tag("summary", say("keys")) + tag("dl", keys), class_="kl-keys")
    title = say("stop at heartbeats, empty polls and fetches too")
    routine = button(say("routine"), data_routine=True, aria_pressed="false", title=title)
    step = tag("span", say("step through"), class_="kl-label2")
    show = tag("span", say("show"), class_="kl-label2")
    return tag("div", step + nodes + routine + show + opened + help_, class_="kl-choices")


def _range(told: Mapping[str, Any], say: Say) -> str:
    last = max(0, len(told["steps"]) - 1)
    about = {"type": "range", "min": 0, "max": last, "value": 0, "aria_label": say("time line")}
    return tag("input", data_scrub=True, class_="kl-scrub", **about)


def _run(place: int, told: Mapping[str, Any], *, name: str, look: Look) -> str:
    say = look.say
    run, strings = told["runs"][place], told["strings"]
    line = strings[run["track"]] + '<i class="kl-cursor"></i>'
    if told["difference"] is not None:
        k = max(0, told["steps"][told["difference"]][place])
        left = f"left:{100 * (k + 0.5) / max(1, len(run['times'])):.2f}%"
        line += tag("i", "▼", class_="kl-parted", style=left, title=say("first difference"))
    line = tag("div", line, class_="kl-track")
    head = tag("h2", tag("b", escape(name))) if name else ""
    body = {
        "messages": _messages(run, strings, say),
        "fields": tag("h3", say("this message")) + '<div data-fields="true"></div>',
    }
    drawn = {
        pane: _pane(
            pane, body.get(pane, ""), say=say, hidden=not _begins_open(pane, told, look.panes)
        )
        for pane in look.panes
    }
    said = tag("p", "", class_="kl-caption")
    return tag("article", head + line + said + _arranged(drawn), data_run=place)


def _begins_open(pane: str, told: Mapping[str, Any], panes: Sequence[str]) -> bool:
    """Whether a pane is shown at first: of two runs, one above the other, no more than two are."""
    return len(told["runs"]) == 1 or len(panes) <= len(_OF_TWO) or pane in _OF_TWO


def _pane(name: str, body: str, *, say: Say, hidden: bool) -> str:
    kind = f"kl-pane kl-at-{name}"
    about = {"tabindex": 0, "role": "group", "aria_label": say(name), "hidden": hidden}
    return tag("div", body, class_=kind, data_shows=name, **about)


def _arranged(drawn: Mapping[str, str]) -> str:
    """Put the messages to the left of what is narrow; what is wide takes the whole width."""
    beside = [each for pane, each in drawn.items() if pane not in ("messages", *_WIDE)]
    narrow = drawn.get("messages", "") + (tag("div", "".join(beside)) if beside else "")
    columns = tag("div", narrow, class_="kl-panes") if narrow else ""
    first = next((pane for pane in drawn if pane not in _WIDE), None)
    return "".join(
        drawn[pane] if pane in _WIDE else columns for pane in drawn if pane in (first, *_WIDE)
    )


def _messages(run: Mapping[str, Any], strings: Sequence[str], say: Say) -> str:
    """The diagram scrolls below its heads; veil and frame are laid over it."""
    body = strings[run["messages"]["body"]] + '<i class="kl-veil"></i><i class="kl-frame"></i>'
    about = {"tabindex": 0, "role": "group", "aria_label": say("messages")}
    heads = tag("div", strings[run["messages"]["head"]], class_="kl-lanes")
    rows = tag("div", tag("div", body), class_="kl-scroll", **about)
    return tag("h3", say("messages")) + heads + rows
