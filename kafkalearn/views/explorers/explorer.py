"""What the explorers of groups and keys have in common: a model, whose every change is drawn."""

from typing import Any

import traitlets

from kafkalearn.views.assets import asset, joined
from kafkalearn.views.drawn_widget import DrawnWidget
from kafkalearn.views.explorers.model import Model


class Explorer(DrawnWidget, Model):
    """The half that is a widget; the other half is the model.

    `actions`: the methods that the browser may ask for; the rest of a message are the arguments.
    """

    actions: tuple[str, ...] = ()
    _esm = asset("explorers/draws_in_python.js")
    _css = joined("look.css", "explorers/explorer.css", "explorers/partitioner.css")
    sentence = traitlets.Unicode().tag(sync=True)

    def _made(self) -> None:
        DrawnWidget.__init__(self)
        self._draw()

    def _changed(self) -> None:
        if self.drawn:  # not while it is made
            self._draw()

    def _page(self, notice: str) -> str:
        """Draw everything as HTML; `notice` says what was refused, if anything was."""
        raise NotImplementedError

    def _state(self, notice: str) -> dict[str, str]:
        notice = f"{notice}." if notice else ""
        return {"html": self._page(notice), "sentence": notice or self.said()}

    def _do(self, asked: dict[str, Any]) -> None:
        action = asked.pop("action", None)
        if action not in self.actions:
            return
        drawn = self.drawn
        getattr(self, action)(**asked)
        if self.drawn == drawn:  # nothing changed, but what was typed and an old notice have to go
            self._draw()
