"""The controls that change what happens next: a fault from here on, or another setting.

``data-act`` is what the kernel is asked for.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from kafkalearn.views.drawings.controls import button, icon_of
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown, tag

_FAULTS = (("crash", "crash it"), ("freeze", "freeze it"), ("cut_off", "cut it off"))


class Forks(NamedTuple):
    """What may be changed at the step shown: the nodes a fault can meet, and the settings."""

    nodes: Sequence[str]
    settings: Mapping[str, Any]


def fork_bar(forks: Forks, runs: int, *, say: Say) -> str:
    """Ask the kernel to run the story again, with a fault or another setting."""
    nodes = "".join(tag("option", escape(shown(name)), value=name) for name in forks.nodes)
    crash, *lasting = (
        button(icon_of(act) + tag("span", say(label)), data_act=act, class_="kl-danger")
        for act, label in _FAULTS
    )
    entry = {"type": "number", "value": 3000, "min": 1, "max": 600_000, "data_for": True}
    for_ms = tag("input", aria_label=say("for how many ms"), **entry)
    acts = [
        tag("span", say("from here on"), class_="kl-label2"),
        tag("select", nodes, data_target=True, aria_label=say("which node")),
        crash,
        *lasting,
        tag("label", f"{say('for')}{for_ms}ms"),
        tag("span", say("running …"), class_="kl-running"),
    ]
    if forks.settings:
        fields = "".join(_setting(name, value) for name, value in forks.settings.items())
        again = button(say("run again"), data_act="settings", class_="kl-primary")
        summary = tag("summary", say("other settings"))
        acts.append(tag("details", summary + tag("div", fields + again), class_="kl-settings"))
    if runs > 1:
        acts.append(button(say("back to one history"), data_act="back"))
    return tag("div", "".join(acts), class_="kl-forks")


def _setting(name: str, value: Any) -> str:
    """One entry, of the kind that its present value has."""
    kind = {bool: "checkbox", int: "number"}.get(type(value), "text")
    held = {"checked": value} if kind == "checkbox" else {"value": value}
    entry = tag("input", type=kind, data_setting=name, **held)
    return tag("label", escape(name) + entry)
