"""The panes of a stepper by name: how each makes its frames, and how they are drawn and told."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from inspect import Parameter, signature
from types import ModuleType
from typing import Any, NamedTuple

from kafkalearn.errors import ConfigError
from kafkalearn.trace import Trace
from kafkalearn.views import decision, group, group_assignment, logs, poll, subscriptions
from kafkalearn.views.drawings import decision as drawn_decision
from kafkalearn.views.drawings import group as drawn_group
from kafkalearn.views.drawings import group_assignment as drawn_assignment
from kafkalearn.views.drawings import logs as drawn_logs
from kafkalearn.views.drawings import poll as drawn_poll
from kafkalearn.views.drawings import subscriptions as drawn_subscriptions
from kafkalearn.views.fold import missing
from kafkalearn.views.language import Say
from kafkalearn.views.wording import tag


class Pane(NamedTuple):
    """A view: its model and its drawing."""

    model: ModuleType
    drawing: ModuleType


Options = Mapping[str, Mapping[str, Any]]
"""Pane -> what its model is told: ``{"group": {"group_id": "billing"}}``."""

PANES: dict[str, Pane] = {
    "group": Pane(group, drawn_group),
    "assignment": Pane(group_assignment, drawn_assignment),
    "subscriptions": Pane(subscriptions, drawn_subscriptions),
    "decision": Pane(decision, drawn_decision),
    "poll": Pane(poll, drawn_poll),
    "logs": Pane(logs, drawn_logs),
}


class Look(NamedTuple):
    """How traces are told: in which language, with which panes, and what a pane is to show."""

    say: Say
    panes: Sequence[str]
    options: Options


def frames(name: str, trace: Trace, *, window: range, options: Options) -> list[Any]:
    """Give a pane's frames, one for each event of the window."""
    return list(PANES[name].model.frames(trace, window, **options.get(name, {})))


def pieces(name: str, frame: Any, *, say: Say) -> list[str]:
    """Draw a frame of a pane: its heading, then its body."""
    model, drawing = PANES[name]
    return [tag("h3", escape(model.title(frame, say))), *drawing.draw(frame, say)]


def lacking(name: str, trace: Trace) -> list[str]:
    """Name the kinds of event that a pane would need and the trace has not."""
    model = PANES[name].model
    return missing(trace, model.NEEDS, essential=model.ESSENTIAL)


def check(panes: Iterable[str]) -> tuple[str, ...]:
    """Refuse a name that is no pane's; ConfigError."""
    known = ("messages", *PANES, "fields")
    if isinstance(panes, str) or not isinstance(panes, Iterable):
        raise ConfigError(f"panes is {panes!r:.60}: a list of {', '.join(known)} is allowed")
    chosen = tuple(panes)
    for name in chosen:
        if name not in known:
            raise ConfigError(f"{name!r} is no pane: {', '.join(known)} are allowed")
    return tuple(dict.fromkeys(chosen))


def check_options(options: Options) -> Options:
    """Refuse what a pane's model does not take; ConfigError."""
    for name, asked in options.items():
        known = signature(PANES[name].model.frames).parameters.values() if name in PANES else ()
        own = [each.name for each in known if each.kind is Parameter.KEYWORD_ONLY]
        for option in asked if isinstance(asked, Mapping) else [asked]:
            if option not in own:
                allowed = ", ".join(own) or "nothing"
                raise ConfigError(f"options of {name!r}: {option!r:.60}, but {allowed} is allowed")
    return options
