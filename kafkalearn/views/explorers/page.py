"""The explorer's page as HTML. Every control carries the message that the browser sends back.

`data-send` is that message; `data-key` finds the control again after a redraw, `data-next` names
what gets the focus if it is gone; `data-hotkey` is a key that works from anywhere in the page.
See draws_in_python.js.
"""

from collections.abc import Iterator, Mapping
from html import escape

from kafkalearn.views.assignment import Frame, frames
from kafkalearn.views.drawings.matrix import key, panel
from kafkalearn.views.explorers.explored_group import MAX_PARTITIONS, ExploredGroup
from kafkalearn.views.explorers.history import History
from kafkalearn.views.explorers.scene import ALL, Scene
from kafkalearn.views.wording import listed, plural, shown, tag

_REASONS_SHOWN = 9


def page(scene: Scene, notice: str) -> str:
    """Draw everything; `notice` says what was refused, if anything was."""
    choice = _choice(scene) + _button("start over", "start_over", class_="kl-quiet")
    if scene.chosen == ALL:
        panels = "".join(map(_panel, scene.histories.values()))
    else:
        panels = _one(scene.histories[scene.chosen], scene.step)
    parts = [
        tag("p", _stressed(scene.sentence(), scene.group.change), class_="kl-sentence"),
        tag("p", escape(notice), class_="kl-notice") if notice else "",
        tag("div", choice, class_="kl-bar"),
        tag("div", _grid(scene.group) + key(), class_="kl-setting"),
        tag("div", panels, class_="kl-panels"),
    ]
    about = {"role": "group", "aria_label": "Assignment explorer"}
    return tag("div", "".join(parts), class_="kl kl-explorer", **about)


def _stressed(sentence: str, change: str) -> str:
    """Write the sentence with what happened in bold."""
    if not sentence.startswith(change):
        return escape(sentence)
    return tag("b", escape(change)) + escape(sentence.removeprefix(change))


def _button(
    text: str,
    action: str,
    *,
    send: Mapping[str, object] | None = None,
    off: bool = False,
    **attributes: object,
) -> str:
    """Make a button; `send` has the message's values; `off` leaves it in reach of the keyboard."""
    known = {"data_key": action, "aria_disabled": "true" if off else None, **attributes}
    return tag(
        "button", escape(text), type="button", data_send={"action": action, **(send or {})}, **known
    )


def _choice(scene: Scene) -> str:
    """Radio buttons, so that the arrow keys choose; a single assignor needs no choice."""
    names = list(scene.group.histories)
    if len(names) == 1:
        return ""
    labels = [tag("legend", "Assignor")]
    for name in [*names, ALL]:
        radio = tag(
            "input",
            type="radio",
            name="assignor",
            checked=name == scene.chosen,
            data_key=["choose", name],
            data_send={"action": "choose", "name": name},
        )
        text = "all side by side" if name == ALL else shown(name, 30)
        labels.append(tag("label", radio + tag("span", escape(text))))
    return tag("fieldset", "".join(labels), class_="kl-choice")


def _grid(group: ExploredGroup) -> str:
    """Members × topics: who subscribes to what, and how many partitions each topic has."""
    heads = [tag("th", _head(topic, "topic"), scope="col") for topic in group.topics]
    sizes = [tag("td", _size(topic, count)) for topic, count in group.topics.items()]
    rows = [
        tag("td") + "".join(heads) + tag("td", _button("+ topic", "add_topic"), rowspan=2),
        tag("th", "partitions", scope="row", class_="kl-unit") + "".join(sizes),
        *(_member_row(group, member) for member in group.members),
        tag("td", _button("+ member", "add_member"), colspan=len(heads) + 2),
    ]
    caption = tag("caption", "Who subscribes to what, and how many partitions there are")
    return tag("table", caption + "".join(tag("tr", row) for row in rows), class_="kl-group")


def _head(name: str, what: str) -> str:
    """Name a member or topic, with the button that removes it."""
    remove = _button(
        "×",
        f"remove_{what}",
        send={"name": name},
        class_="kl-remove",
        aria_label=f"remove {shown(name)}",
        data_key=["remove", what, name],
        data_next=f"add_{what}",
    )
    title = tag("span", escape(shown(name, 16)), class_="kl-data", title=shown(name, 250))
    return tag("div", title + remove, class_="kl-line")


def _size(topic: str, count: int) -> str:
    return tag(
        "input",
        type="number",
        min=0,
        max=MAX_PARTITIONS,
        value=count,
        aria_label=f"partitions of {shown(topic)}",
        data_key=["partitions", topic],
        data_send={"action": "set_partitions", "topic": topic},
        data_value="n",
    )


def _member_row(group: ExploredGroup, member: str) -> str:
    cells = [tag("th", _head(member, "member"), scope="row")]
    for topic in group.topics:
        wants = topic in group.members[member]
        action = "unsubscribe" if wants else "subscribe"
        box = tag(
            "input",
            type="checkbox",
            checked=wants,
            aria_label=f"{shown(member)} subscribes to {shown(topic)}",
            data_key=["subscribes", member, topic],
            data_send={"action": action, "member": member, "topic": topic},
        )
        cells.append(tag("td", tag("label", box)))
    return "".join(cells)


def _panel(history: History) -> str:
    """One assignor among several: its matrix, what waits, and the way to its reasons."""
    name, frame = history.assignor.name, history.result
    body = panel(frame, name, failure=history.failure) + _waiting(frame)
    if history.steps:
        reasons = plural(len(history.steps), "reason")
        body += _button(
            f"why? {reasons}",
            "choose",
            send={"name": name, "step": 1},
            class_="kl-quiet",
            aria_label=f"why? {reasons} of {shown(name)}",
            data_key=["reasons", name],
            data_next="next_step",
        )
    return _section(body, name)


def _one(history: History, step: int) -> str:
    """One assignor alone: before, now, and its reasons, one at a time."""
    name, frame = history.assignor.name, history.frame(step)
    parts = []
    if not frame["first"]:
        before = panel(frames({}, history.before)[-1], "before")
        parts.append(_section(before, "before"))
    now = panel(frame, f"now: {name}", failure=history.failure)
    parts.append(_section(now + _waiting(frame), "now"))
    if history.steps:
        listing = _controls(step, len(history.steps)) + "".join(_listed(history, step))
        parts.append(_section(listing, "reasons", wide=not frame["first"]))
    return "".join(parts)


def _section(body: str, name: str, *, wide: bool = False) -> str:
    kind = "kl-panel kl-wide" if wide else "kl-panel"
    return tag("section", body, class_=kind, aria_label=shown(name))


def _waiting(frame: Frame) -> str:
    """Say what is held back, and offer the rebalance that hands it out."""
    if not frame["waiting"]:
        return ""
    waiting = [
        cell for row in frame["members"] for cell in row["partitions"] if cell["state"] == "waiting"
    ]
    givers = sorted({shown(cell["other"] or "", 16) for cell in waiting})
    if len(givers) > 3:
        givers = [plural(len(givers), "member")]
    wait = "waits" if len(waiting) == 1 else "wait"
    said = f"{plural(len(waiting), 'partition')} {wait} for {listed(givers)}."
    button = _button(
        "follow-up rebalance", "rebalance", class_="kl-primary", data_next="start_over"
    )
    return tag("p", tag("span", escape(said)) + button, class_="kl-waits")


def _controls(step: int, reasons: int) -> str:
    """Previous and next reason; the arrow keys do the same from anywhere."""
    following = "next reason →" if step else "step through the reasons →"
    parts = [
        _button("← previous", "previous_step", off=step == 0, data_hotkey="ArrowLeft"),
        _button(
            following,
            "next_step",
            off=step == reasons,
            class_="kl-primary",
            data_hotkey="ArrowRight",
        ),
        _button("show the result", "step", send={"k": 0}, off=step == 0),
    ]
    at = f"reason {step} of {reasons}" if step else plural(reasons, "reason")
    return tag("div", "".join(parts) + tag("span", at, class_="kl-at"), class_="kl-steps")


def _listed(history: History, step: int) -> Iterator[str]:
    """List the reasons around the present one, each a button, and count the rest."""
    steps = history.steps
    start = max(0, min(step - 1 - _REASONS_SHOWN // 2, len(steps) - _REASONS_SHOWN))
    window = steps[start : start + _REASONS_SHOWN]
    if start:
        yield tag("p", f"{start} before", class_="kl-more")
    items = []
    for number, each in enumerate(window, start=start + 1):
        now = number == step
        button = _button(
            shown(each.sentence, 1000), "step", send={"k": number}, data_key=["step", number]
        )
        kind = "kl-now" if now else "kl-later" if step and number > step else None
        items.append(tag("li", button, class_=kind, aria_current="step" if now else None))
    yield tag("ol", "".join(items), start=start + 1)
    if rest := len(steps) - start - len(window):
        yield tag("p", f"{rest} more", class_="kl-more")
