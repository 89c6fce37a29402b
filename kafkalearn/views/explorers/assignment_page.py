"""The AssignmentExplorer's page as HTML."""

from collections.abc import Iterator
from html import escape

from kafkalearn.views.assignment import Frame, frames
from kafkalearn.views.drawings.matrix import key, panel
from kafkalearn.views.explorers.controls import button, choice, framed
from kafkalearn.views.explorers.explored_group import ExploredGroup
from kafkalearn.views.explorers.history import History
from kafkalearn.views.explorers.model import MAX_PARTITIONS
from kafkalearn.views.explorers.scene import ALL, Scene
from kafkalearn.views.wording import listed, plural, shown, tag

_REASONS_SHOWN = 9


def page(scene: Scene, notice: str) -> str:
    """Draw everything; `notice` says what was refused, if anything was."""
    if scene.chosen == ALL:
        panels = "".join(map(_panel, scene.histories.values()))
    else:
        panels = _one(scene.histories[scene.chosen], scene.reason)
    parts = [
        tag("div", _choice(scene), class_="kl-tools"),
        tag("div", _grid(scene) + _key(scene), class_="kl-setting"),
        tag("div", panels, class_="kl-panels"),
    ]
    return framed("Assignment", parts, said=_stressed(scene.said(), scene.change), notice=notice)


def _key(group: ExploredGroup) -> str:
    topic, count = next(iter(group.topics.items()), ("t0", 2))
    return key(next(iter(group.members), "c1"), topic, partitions=count)


def _stressed(sentence: str, change: str) -> str:
    """Write the sentence with what happened in bold."""
    if not sentence.startswith(change):
        return escape(sentence)
    return tag("b", escape(change)) + escape(sentence.removeprefix(change))


def _choice(scene: Scene) -> str:
    names = {name: name for name in scene.histories}
    if len(names) > 1:
        names[ALL] = "all side by side"
    start = button("start over", "start_over", class_="kl-quiet")
    return choice("Assignor", names, chosen=scene.chosen) + start


def _grid(group: ExploredGroup) -> str:
    """Members × topics: who subscribes to what, and how many partitions each topic has."""
    heads = [tag("th", _head(topic, "topic"), scope="col") for topic in group.topics]
    sizes = [tag("td", _size(topic, count)) for topic, count in group.topics.items()]
    rows = [
        tag("td") + "".join(heads) + tag("td", button("+ topic", "add_topic"), rowspan=2),
        tag("th", "partitions", scope="row", class_="kl-unit") + "".join(sizes),
        *(_member_row(group, member) for member in group.members),
        tag("td", button("+ member", "add_member"), colspan=len(heads) + 2),
    ]
    about = "Who subscribes to what, and how many partitions there are"
    caption = tag("caption", about, class_="kl-aloud")
    return tag("table", caption + "".join(tag("tr", row) for row in rows), class_="kl-group")


def _head(name: str, what: str) -> str:
    """Name a member or topic, with the button that removes it."""
    remove = button(
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
        body += button(
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
    made = button("follow-up rebalance", "rebalance", class_="kl-primary", data_next="start_over")
    return tag("p", tag("span", escape(said)) + made, class_="kl-held")


def _controls(step: int, reasons: int) -> str:
    """Previous and next reason; the arrow keys do the same from anywhere."""
    following = "next reason →" if step else "step through the reasons →"
    parts = [
        button("← previous", "previous_step", off=step == 0, data_hotkey="ArrowLeft"),
        button(
            following,
            "next_step",
            off=step == reasons,
            class_="kl-primary",
            data_hotkey="ArrowRight",
        ),
        button("show the result", "step", send={"k": 0}, off=step == 0),
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
        made = button(
            shown(each.sentence, 1000), "step", send={"k": number}, data_key=["step", number]
        )
        kind = "kl-now" if now else "kl-later" if step and number > step else None
        items.append(tag("li", made, class_=kind, aria_current="step" if now else None))
    yield tag("ol", "".join(items), start=start + 1)
    if rest := len(steps) - start - len(window):
        yield tag("p", f"{rest} more", class_="kl-more")
