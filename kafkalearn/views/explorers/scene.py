"""What an explorer shows of its group: which assignor, at which reason. Draws nothing."""

from collections.abc import Iterable, Mapping

from kafkalearn.errors import UnknownAssignorError
from kafkalearn.views.drawings.assignment_text import as_text, outcome
from kafkalearn.views.explorers.explored_group import ExploredGroup
from kafkalearn.views.explorers.history import Assignor, History
from kafkalearn.views.explorers.model import ExplorerError
from kafkalearn.views.wording import shown

ALL = "all"


class Scene(ExploredGroup):
    """A group of which one assignor (`chosen`) is shown, or all; `reason` counts, 0 is the result.

    A change of the group leads back to the result.
    """

    def __init__(
        self,
        assignors: Iterable[Assignor],
        *,
        topics: Mapping[str, int],
        members: Mapping[str, Iterable[str]],
        chosen: str = ALL,
    ) -> None:
        super().__init__(assignors, topics=topics, members=members)
        self.choose(chosen)
        self._made()

    @property
    def in_sight(self) -> dict[str, History]:
        """The assignors that are shown, by name."""
        if self.chosen == ALL:
            return self.histories
        return {self.chosen: self.histories[self.chosen]}

    def choose(self, name: str, *, step: int = 0) -> None:
        """Show one assignor, or ``"all"``; a single one is always shown."""
        names = [*self.histories, ALL]
        if name not in names:
            raise UnknownAssignorError(
                f"there is no assignor {name!r:.80} here: {', '.join(names)} are allowed"
            )
        self.chosen = names[0] if len(names) == 2 else name
        self.step(step) if step else self._changed()

    def step(self, k: int) -> None:
        """Show reason `k` of the chosen assignor, counted from 1; 0 is the result."""
        if self.chosen == ALL:
            raise ExplorerError(
                f"a reason is one assignor's: choose {' or '.join(self.histories)} first"
            )
        reasons = len(self.histories[self.chosen].steps)
        if k not in range(reasons + 1):
            allowed = f"0 (the result) to {reasons} (the last reason) are allowed"
            raise ExplorerError(f"the step is {k!r:.80}: {allowed}")
        self._changed(int(k))

    def next_step(self) -> None:
        """Show the next reason."""
        self.step(self.reason + 1)

    def previous_step(self) -> None:
        """Show the reason before; before the first comes the result."""
        self.step(self.reason - 1)

    def said(self) -> str:
        """Say what happens now: the reason, or what the last change led to."""
        if self.reason:
            reason = self.histories[self.chosen].steps[self.reason - 1]
            return f"{shown(reason.sentence, 1000)}."
        concerned = {n: h for n, h in self.in_sight.items() if n in self.concerned}
        return outcome(
            self.change, {n: None if h.failure else h.result for n, h in concerned.items()}
        )

    def as_text(self) -> str:
        """Tell in words what the pictures show."""
        told = [
            f"{name}: {history.failure}"
            if history.failure
            else as_text(history.frame(self.reason), name)
            for name, history in self.in_sight.items()
        ]
        return "\n\n".join([self.said(), *told])

    def _changed(self, reason: int = 0) -> None:
        self.reason = reason
        super()._changed()
