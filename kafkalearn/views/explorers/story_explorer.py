"""A story with its settings at hand: controls above, a Stepper below, what came of it between."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, ClassVar, Protocol

import ipywidgets

from kafkalearn.errors import ConfigError, KafkaError
from kafkalearn.trace import Trace
from kafkalearn.views.drawn_widget import Bundle, bundle
from kafkalearn.views.language import Say
from kafkalearn.views.stepper import Rerun, Stepper
from kafkalearn.views.wording import shown, tag

Controls = Mapping[str, Sequence[str] | range]
"""Setting -> what it may be: names to choose from, or a range."""

_STYLE: dict[str, Any] = {"style": {"description_width": "150px"}, "layout": {"width": "430px"}}


class Story(Rerun, Protocol):
    """A scenario with its arguments: what `scenarios.reruns` gives."""

    def trace(self) -> Trace:
        """Run it."""

    def having(self, **settings: Any) -> "Story":
        """Give the same story with other settings; KafkaError if it has no such."""


class StoryExplorer(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Shows `story`, and tells it again whenever a control is used; the base of the explorers.

    What the story refuses is said, and the last picture stays.
    """

    controls: ClassVar[Controls] = {}
    panes: Sequence[str] = ("messages", "group", "subscriptions", "logs", "fields")

    def __init__(self, story: Story, *, lang: str = "en") -> None:
        self._say = Say(lang)
        self._story = story
        for name in self.controls:
            if name not in story.settings:
                raise ConfigError(
                    f"{type(self).__name__} needs a story with a setting {name!r}: "
                    f"this one has {', '.join(story.settings)}"
                )
        self._controls = {
            name: _control(name, story.settings[name], allowed)
            for name, allowed in self.controls.items()
        }
        self._outcome = ipywidgets.HTML(layout={"overflow": "hidden"})
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
        self._set_controls()
        self.stepper.tell(story, trace)
        self._tell()

    def as_text(self) -> str:
        """Tell the settings, and what came of them."""
        settings = [f"{name} = {value}" for name, value in self._settings().items()]
        outcome = [f"{name}: {value}" for name, value in self.outcome(self._trace)]
        return "\n".join([*settings, "", *outcome])

    def _settings(self) -> dict[str, Any]:
        """Give the settings of the story shown, as far as they have controls."""
        return {name: self._story.settings[name] for name in self.controls}

    def _set_controls(self) -> None:
        """Let the controls show the story's settings, without telling it again."""
        for name, value in self._settings().items():
            control = self._controls[name]
            control.unobserve(self._on_control, "value")
            control.value = value
            control.observe(self._on_control, "value")

    def _on_control(self, change: Mapping[str, Any]) -> None:
        name = next(n for n, each in self._controls.items() if each is change["owner"])
        try:
            self.set(**{name: change["new"]})
        except KafkaError as error:
            self._set_controls()
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
        settings = ", ".join(f"{name}={value}" for name, value in self._settings().items())
        return f"{type(self).__name__}({settings})"

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle:
        live, stepper = super()._repr_mimebundle_(**kwargs), self.stepper
        return bundle(self, live, picture=stepper.picture, said=repr(self), page=stepper._saved)


def _control(name: str, value: Any, allowed: Sequence[str] | range) -> Any:
    """Make a slider that asks when it is let go, or a list to choose from."""
    if not isinstance(allowed, range):
        return ipywidgets.Dropdown(options=list(allowed), value=value, description=name, **_STYLE)
    return ipywidgets.IntSlider(
        value,
        min=min(allowed[0], value),
        max=max(allowed[-1], value),
        step=allowed.step,
        description=name,
        continuous_update=False,
        **_STYLE,
    )
