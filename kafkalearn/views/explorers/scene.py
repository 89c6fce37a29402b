"""What an explorer shows of its group: which assignor, at which reason. Draws nothing."""

from kafkalearn.errors import UnknownAssignorError
from kafkalearn.views.drawings.assignment_text import as_text, outcome
from kafkalearn.views.explorers.explored_group import ExploredGroup, ExplorerError
from kafkalearn.views.explorers.history import History
from kafkalearn.views.wording import shown

ALL = "all"


class Scene:
    """One assignor (`chosen`) or all; `step` counts its reasons from 1, and 0 is the result."""

    def __init__(self, group: ExploredGroup, chosen: str) -> None:
        self.group = group
        self.choose(chosen)

    @property
    def histories(self) -> dict[str, History]:
        """The assignors that are shown, by name."""
        if self.chosen == ALL:
            return self.group.histories
        return {self.chosen: self.group.histories[self.chosen]}

    def choose(self, name: str) -> None:
        """Show one assignor, or all; a group with a single assignor always shows that one."""
        names = [*self.group.histories, ALL]
        if name not in names:
            raise UnknownAssignorError(
                f"there is no assignor {name!r:.80} here: {', '.join(names)} are allowed"
            )
        self.chosen, self.step = names[0] if len(names) == 2 else name, 0

    def go_to(self, step: int) -> None:
        """Show a reason of the chosen assignor."""
        if self.chosen == ALL:
            raise ExplorerError(
                f"a reason is one assignor's: choose {' or '.join(self.group.histories)} first"
            )
        reasons = len(self.group.histories[self.chosen].steps)
        if step not in range(reasons + 1):
            allowed = f"0 (the result) to {reasons} (the last reason) are allowed"
            raise ExplorerError(f"the step is {step!r:.80}: {allowed}")
        self.step = int(step)

    def sentence(self) -> str:
        """Say what happens now: the reason, or what the last change led to."""
        if self.step:
            reason = self.group.histories[self.chosen].steps[self.step - 1]
            return f"{shown(reason.sentence, 1000)}."
        concerned = {n: h for n, h in self.histories.items() if n in self.group.concerned}
        return outcome(
            self.group.change, {n: None if h.failure else h.result for n, h in concerned.items()}
        )

    def as_text(self) -> str:
        """Tell in words what the pictures show."""
        told = [
            f"{name}: {history.failure}"
            if history.failure
            else as_text(history.frame(self.step), name)
            for name, history in self.histories.items()
        ]
        return "\n\n".join([self.sentence(), *told])
