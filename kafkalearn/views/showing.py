"""What a stepper shows of one run or two, and where its steps are. Draws; is no widget."""

from collections.abc import Sequence

from kafkalearn.trace import Event, Trace
from kafkalearn.views import captions, messages
from kafkalearn.views.drawings import chrome
from kafkalearn.views.drawings import messages as drawn_messages
from kafkalearn.views.drawings.fork_bar import Forks
from kafkalearn.views.panes import PANES, Look, frames, lacking
from kafkalearn.views.story import story, window_of
from kafkalearn.views.wording import moment, shown


class Showing:
    """Traces, what of them is shown, and how: all that a page is drawn from.

    events: places of the trace, at most 1,000; by default the first.
    """

    def __init__(self, traces: Sequence[Trace], look: Look, *, events: range | None = None) -> None:
        self.traces, self._look, self._say = traces, look, look.say
        self.windows = [window_of(trace, events) for trace in traces]
        self.story = story(traces, self.windows, look=look)

    @property
    def steps(self) -> list[list[int]]:
        """For each step the event that each run shows, counted within its window; -1 for none."""
        steps: list[list[int]] = self.story["steps"]
        return steps

    @property
    def nodes(self) -> list[str]:
        """Those that act in the first trace and that a fault can meet: consumers come first."""
        nobody = ("admin", "network")  # who asks for topics, and where faults meet messages
        acting = {event.node for event in self.traces[0]}.difference(nobody)
        polling = {event.node for event in self.traces[0] if event.kind in ("poll", "client_state")}
        return sorted(acting, key=lambda node: (node not in polling, node))

    def events(self, step: int) -> list[tuple[int, int]]:
        """Give (run, place in its trace) for each run that has begun."""
        if not self.steps:
            return []
        at = zip(self.windows, self.steps[step], strict=True)
        return [(run, window[k]) for run, (window, k) in enumerate(at) if k >= 0]

    def moved(self, step: int) -> tuple[Event, int] | None:
        """Give the event that a step came to, and its run; None in an empty trace."""
        before = dict(self.events(step - 1)) if step else {}
        for run, place in self.events(step):
            if before.get(run) != place:
                return self.traces[run][place], run
        return None

    def next(self, step: int, kind: str) -> int:
        """Find the next step at which a run comes to an event of a kind; `step` if none does."""
        stops = [set(run["stops"].get(kind, ())) for run in self.story["runs"]]
        for at in range(step + 1, len(self.steps)):
            arrived = zip(self.steps[at - 1], self.steps[at], stops, strict=True)
            if any(now != before and now in wanted for before, now, wanted in arrived):
                return at
        return step

    def page(self, forks: Forks | None) -> str:
        """Draw what stays while one steps."""
        return chrome.page(
            self.story, look=self._look, heading=self.heading(), forks=forks, notes=self._notes()
        )

    def heading(self) -> chrome.Heading:
        """Name the scenario, tell what it was run with, and what tells two runs apart."""
        told = [trace.run_id.split(" ") for trace in self.traces]
        scenario, *settings = told[0]
        shared = [each for each in settings if all(each in run for run in told)]
        apart = [" ".join(each for each in run[1:] if each not in shared) for run in told]
        runs = [shown(each, 120) or self._say("as it was") for each in apart]
        name = shown(scenario.replace("_", " "), 60)
        return chrome.Heading(name, shown(" ".join(shared), 160), runs if len(runs) > 1 else [])

    def sentence(self, step: int) -> str:
        """Say what happens at a step."""
        moved = self.moved(step)
        if moved is None:
            return self._say("this trace has no events")
        return captions.caption(moved[0], self._say.lang)

    def as_text(self, step: int) -> str:
        """Tell in words what is shown: the sentence of each run, and its panes."""
        told = [self._told(run, place) for run, place in self.events(step)]
        return "\n\n".join(told) or self.sentence(step)

    def _told(self, run: int, place: int) -> str:
        trace = self.traces[run]
        event = trace[place]
        parts = [f"{moment(event.time_ms)}: {captions.caption(event, self._say.lang)}"]
        if len(self.traces) > 1:
            parts.insert(0, self.heading().runs[run])
        for name in self._look.panes:
            if name in PANES:
                at = range(place, place + 1)
                (frame,) = frames(name, trace, window=at, options=self._look.options)
                parts.append(PANES[name].model.as_text(frame, self._say))
        return "\n\n".join(parts)

    def picture(self, step: int) -> str:
        """Draw the messages around a step as one SVG document."""
        _, run = self.moved(step) or (None, 0)
        place = dict(self.events(step)).get(run, 0) - self.windows[run].start
        diagram = messages.diagram(self.traces[run], self.windows[run])
        caption = self.sentence(step)
        return drawn_messages.picture(diagram, max(0, place), caption=caption, say=self._say)

    def _notes(self) -> list[str]:
        """Say what of the traces is not shown."""
        notes = [] if self.steps else [self._say("this trace has no events")]
        for trace, window in zip(self.traces, self.windows, strict=True):
            if len(window) < len(trace):
                some = (window.start + 1, window.stop, len(trace))
                notes.append(
                    self._say("events {} to {} of {} are shown", *map("{:,}".format, some))
                )
            for name in self._look.panes:
                if name in PANES and (kinds := lacking(name, trace)):
                    notes.append(
                        f"{self._say(name)}: {self._say('not in this trace: {}', ', '.join(kinds))}"
                    )
        return list(dict.fromkeys(notes))
