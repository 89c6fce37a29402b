"""A story with its settings at hand: controls above, a Stepper below, what came of it between."""

import base64
import os
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

import ipywidgets

from kafkalearn.errors import ConfigError, KafkaError
from kafkalearn.trace import Trace
from kafkalearn.views.language import Say
from kafkalearn.views.saved_page import BOOK
from kafkalearn.views.stepper import Rerun, Stepper
from kafkalearn.views.wording import shown, tag

_WIDE = {"description_width": "150px"}
_LAYOUT = {"width": "430px"}


class Story(Rerun, Protocol):
    """A scenario with its arguments: what `scenarios.reruns` gives."""

    def trace(self) -> Trace:
        """Run it."""

    def having(self, **settings: Any) -> "Story":
        """Give the same story with other settings; KafkaError if it has no such."""


class StoryExplorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Shows `story`, and tells it again whenever a control is used; the base of the explorers.

    A control is named as the setting that it changes. What the story refuses is said, and the last
    picture stays.
    """

    panes: Sequence[str] = ("messages", "group", "subscriptions", "logs", "fields")

    def __init__(self, story: Story, *, lang: str = "en") -> None:
        self._say = Say(lang)
        self._story = story
        try:
            self._controls = self.controls(story.settings)
        except KeyError as error:
            raise ConfigError(
                f"{type(self).__name__} needs a story with a setting {error}: "
                f"this one has {', '.join(story.settings)}"
            ) from None
        self._outcome = ipywidgets.HTML()
        self._trace = story.trace()
        self.stepper = Stepper(self._trace, rerun=story, panes=self.panes, lang=lang)
        for control in self._controls.values():
            control.observe(self._on_control, "value")
        grid = ipywidgets.Box(
            list(self._controls.values()), layout=ipywidgets.Layout(flex_flow="row wrap")
        )
        super().__init__([grid, self._outcome, self.stepper])
        self._tell()

    # What an explorer is made of.

    def controls(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Give the controls by the setting that each changes, at its present value."""
        raise NotImplementedError

    def outcome(self, trace: Trace) -> list[tuple[str, str]]:
        """Give what came of it: a name and a number each."""
        raise NotImplementedError

    def telling(self, trace: Trace) -> int:
        """Give the step to begin with: where it gets interesting."""
        return 0

    # What all do.

    def set(self, **settings: Any) -> None:
        """Tell the story with other settings; KafkaError for what it refuses."""
        story = self._story.having(**settings)
        trace = story.trace()
        self._story, self._trace = story, trace
        for name, control in self._controls.items():
            control.unobserve(self._on_control, "value")
            control.value = story.settings[name]
            control.observe(self._on_control, "value")
        self.stepper.tell(story, trace)
        self._tell()

    def as_text(self) -> str:
        """Tell the settings, what came of them, and what the stepper shows."""
        settings = [f"{name} = {control.value}" for name, control in self._controls.items()]
        outcome = [f"{name}: {value}" for name, value in self.outcome(self._trace)]
        return "\n".join([*settings, "", *outcome])

    def _on_control(self, change: Mapping[str, Any]) -> None:
        name = next(n for n, each in self._controls.items() if each is change["owner"])
        try:
            self.set(**{name: change["new"]})
        except KafkaError as error:
            self._tell(notice=str(error))

    def _tell(self, notice: str = "") -> None:
        if not notice:
            self.stepper.step = self.telling(self._trace)
        said = tag("p", escape(shown(notice, 400)), class_="kl-notice") if notice else ""
        items = "".join(
            tag("dt", escape(name)) + tag("dd", escape(value))
            for name, value in self.outcome(self._trace)
        )
        self._outcome.value = tag(
            "div", said + tag("dl", items), class_="kl kl-outcome", role="status"
        )

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={each.value}" for name, each in self._controls.items())
        return f"{type(self).__name__}({settings})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """Text for comparing, the live view, and a picture for places that run nothing."""
        if os.environ.get(BOOK):
            return self.stepper._repr_mimebundle_()[0] | {"text/plain": repr(self)}
        data = super()._repr_mimebundle_(**kwargs) or {}
        address = base64.b64encode(self.stepper.picture().encode()).decode()
        image = tag("img", src=f"data:image/svg+xml;base64,{address}", alt=repr(self))
        return {**data, "text/plain": repr(self), "text/html": image}


def number(name: str, value: int, *, least: int, most: int, step: int = 1) -> Any:
    """Make a slider that asks when it is let go."""
    return ipywidgets.IntSlider(
        value,
        min=min(least, value),
        max=max(most, value),
        step=step,
        description=name,
        continuous_update=False,
        style=_WIDE,
        layout=_LAYOUT,
    )


def choice(name: str, value: str, *, options: Sequence[str]) -> Any:
    """Make a list to choose from."""
    return ipywidgets.Dropdown(
        options=list(options), value=value, description=name, style=_WIDE, layout=_LAYOUT
    )
