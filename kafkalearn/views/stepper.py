"""Step through a run, forwards and backwards, and change what happens next.

Python draws everything once; the browser shows step after step without asking. Only what changes
the run, as in "crash c1 here", comes back here, and runs the story again.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import traitlets

from kafkalearn.errors import ConfigError
from kafkalearn.trace import Trace
from kafkalearn.trace.jsonl import written_beside
from kafkalearn.views import poll
from kafkalearn.views.assets import joined
from kafkalearn.views.drawings.fork_bar import Forks
from kafkalearn.views.drawn_widget import DrawnWidget
from kafkalearn.views.language import Say
from kafkalearn.views.panes import Look, check, check_options
from kafkalearn.views.saved_page import saved_page
from kafkalearn.views.showing import Showing
from kafkalearn.views.wording import plural

DEFAULT_PANES = ("messages", "group", "subscriptions", "fields", "logs", "decision")
POLL_PANES = ("messages", "poll", "subscriptions", "fields")
_FREEZE_MS = 3000
_MODULE = joined("run.js", "course.js", "stepper.js")
_STYLE = joined("look.css", "stepper.css", "drawings/messages.css", "drawings/panes.css")


class Rerun(Protocol):
    """Runs a story again, changed: what `scenarios.reruns` gives."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The story's own settings, as they are."""

    def __call__(self, **changes: Any) -> Trace:
        """Run it: ``at_ms=, crash=`` | ``at_ms=, freeze=, for_ms=`` | ``settings=``."""


class Stepper(DrawnWidget):
    """Shows a trace one event at a time: messages, group, subscriptions, logs, commits judged.

    traces: one; or two of the same story, which are shown one above the other, aligned by virtual
    time, with their first difference marked: ``Stepper(*what_if(…))``.
    rerun: what runs the story again, so that a learner can change it at the step shown.
    panes: which to show, of ``messages group assignment subscriptions decision poll logs fields``.
    lang: ``en`` or ``zh``. events: which places of the trace; at most 1,000, by default the first.
    options: for a pane, what it is to show: ``{"group": {"group_id": "billing"}}``.

    Keys: ← → Home End, space, r c e f for the next rebalance, commit, error, fault. ConfigError for
    a pane or language that there is not, and for more than two traces.
    """

    _esm = _MODULE
    _css = _STYLE
    story = traitlets.Dict().tag(sync=True)
    notice = traitlets.Unicode().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(
        self,
        *traces: Trace,
        rerun: Rerun | None = None,
        panes: Sequence[str] = DEFAULT_PANES,
        lang: str = "en",
        events: range | None = None,
        options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._rerun = rerun
        self._look = Look(Say(lang), check(panes), check_options(options or {}))
        if events is not None and (not isinstance(events, range) or events.step != 1):
            raise ConfigError(f"events is {events!r:.60}: a range is allowed, as in range(0, 500)")
        self._events = events
        super().__init__()
        self.show(*traces)

    @classmethod
    def of_poll(
        cls, trace: Trace, *, node: str | None = None, number: int = 1, lang: str = "en"
    ) -> "Stepper":
        """Walk through one poll of a consumer, step by step through `poll_once`.

        node: by default the first that polls. number: which of its polls, counted from 1.
        ConfigError if it has none of that number.
        """
        node, events = poll.events_of(trace, node=node, number=number)
        return cls(
            trace, panes=POLL_PANES, lang=lang, events=events, options={"poll": {"node": node}}
        )

    def show(self, *traces: Trace) -> None:
        """Show another trace, or two, from the beginning."""
        if not 1 <= len(traces) <= 2 or not all(isinstance(each, Trace) for each in traces):
            given = ", ".join(type(each).__name__ for each in traces) or "nothing"
            raise ConfigError(
                f"a Stepper was given {given}: one Trace or two are allowed; a scenario has to be "
                "called first"
            )
        self._showing = Showing(traces, self._look, events=self._events)
        with self.hold_sync():  # the page hears of the story and the step at once
            self._draw()
            self.step = 0

    def tell(self, rerun: Rerun, trace: Trace) -> None:
        """Show another story, which can be run again."""
        self._rerun = rerun
        self.show(trace)

    def go_to(self, step: int) -> None:
        """Show a step, counted from 0; ConfigError if there is none of that number."""
        last = len(self._showing.steps) - 1
        if type(step) is not int or not 0 <= step <= last:
            raise ConfigError(f"the step is {step!r}: 0 to {last} are allowed")
        self.step = step

    def next(self, kind: str) -> None:
        """Go to the next ``rebalance``, ``commit``, ``error`` or ``fault``; stay if none comes."""
        known = self._showing.story["runs"][0]["stops"]
        if kind not in known:
            raise ConfigError(f"{kind!r} cannot be gone to: {', '.join(known)} are allowed")
        self.step = self._showing.next(self.step, kind)

    def crash(self, node: str) -> None:
        """Let a node crash after the millisecond shown, and show both histories.

        Of two that are shown already, it is the first that is forked.
        """
        self._fork(at_ms=self._fork_ms(), crash=node)

    def freeze(self, node: str, for_ms: int = _FREEZE_MS) -> None:
        """Let a node stand still for a while, from the millisecond shown on."""
        self._fork(at_ms=self._fork_ms(), freeze=node, for_ms=for_ms)

    def cut_off(self, node: str, for_ms: int = _FREEZE_MS) -> None:
        """Let no message of a node through for a while, from the millisecond shown on."""
        self._fork(at_ms=self._fork_ms(), cut_off=node, for_ms=for_ms)

    def change(self, **settings: Any) -> None:
        """Run the story with other settings, from its beginning."""
        self._fork(settings=settings)

    def back(self) -> None:
        """Show the first history alone again, where it is now."""
        step = max(0, self._showing.steps[self.step][0]) if self._showing.steps else 0
        with self.hold_sync():
            self.show(self._showing.traces[0])
            self.step = step

    def _fork_ms(self) -> int:
        """After the millisecond shown, so that all that one has seen stays as it was."""
        shown_now = dict(self._showing.events(self.step))
        return self._showing.traces[0][shown_now[0]].time_ms + 1 if 0 in shown_now else 0

    def _fork(self, **changes: Any) -> None:
        if self._rerun is None:
            raise ConfigError("this trace cannot be run again: give the Stepper a `rerun`")
        changed = self._rerun(**changes)
        with self.hold_sync():
            self.show(self._showing.traces[0], changed)
            self.step = self._showing.story["difference"] or 0

    def as_text(self) -> str:
        """Tell what is shown now: the sentence, and each pane in words."""
        return self._showing.as_text(self.step)

    def said(self) -> str:
        """Say in a sentence what happens now."""
        return self._showing.sentence(self.step)

    def picture(self) -> str:
        """Draw the messages around the present step as one SVG document."""
        return self._showing.picture(self.step)

    def save(
        self, path: str | os.PathLike[str], *, title: str = "", about: Sequence[str] = ()
    ) -> Path:
        """Write one HTML file that steps with no kernel and no network; give its path.

        about: paragraphs that stand above, below the title.
        """
        file = Path(path)
        with written_beside(file) as beside:  # what was there before stays, if this fails
            beside.write_text(self._saved(title, about), encoding="utf-8")
        return file

    def _saved(self, title: str = "", about: Sequence[str] = ()) -> str:
        state = {"html": self._showing.page(None), "story": self.story, "step": self.step}
        title = title or self._showing.heading().name
        return saved_page(state, module=_MODULE, style=_STYLE, title=title, about=about)

    def __repr__(self) -> str:
        runs = "" if len(self._showing.traces) == 1 else "two runs, "
        steps = plural(len(self._showing.steps), "step")
        return f"Stepper({self._showing.heading().name}: {runs}{steps}, at {self.step + 1})"

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        """Keep the step within the story, whatever a page or a notebook sets."""
        last = len(self._showing.steps) - 1 if hasattr(self, "_showing") else 0
        return max(0, min(int(proposal["value"]), last))

    def _do(self, asked: dict[str, Any]) -> None:
        action, node, settings = (asked.get(name) for name in ("action", "node", "settings"))
        for_ms: Any = asked.get("for_ms")  # whatever a page sends: the fault says what is allowed
        acts: dict[str, Callable[[], None]] = {
            "crash": lambda: self.crash(str(node)),
            "freeze": lambda: self.freeze(str(node), for_ms),
            "cut_off": lambda: self.cut_off(str(node), for_ms),
            "settings": lambda: self.change(**(settings if isinstance(settings, dict) else {})),
            "back": self.back,
        }
        if action not in acts or type(asked.get("step")) is not int:
            return
        self.step = asked["step"]
        acts[action]()

    def _state(self, notice: str) -> dict[str, Any]:
        rerun = self._rerun
        forks = None if rerun is None else Forks(self._showing.nodes, rerun.settings)
        page = self._showing.page(forks)
        return {"html": page, "story": self._showing.story, "notice": notice}
