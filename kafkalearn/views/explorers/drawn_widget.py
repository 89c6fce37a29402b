"""A widget whose page Python draws. The browser shows it and sends back which control was used."""

import base64
from typing import Any

import anywidget
import traitlets

from kafkalearn.errors import KafkaError
from kafkalearn.views.assets import asset, joined
from kafkalearn.views.wording import shown, tag


class DrawnWidget(anywidget.AnyWidget):
    """What an explorer is made of; it gives `_page`, `_said` and `picture`.

    `actions`: the methods that the browser may ask for; the rest of a message are the arguments.
    What one of them refuses with a KafkaError becomes a notice on the page.
    """

    actions: tuple[str, ...] = ()
    _esm = asset("explorers/draws_in_python.js")
    _css = joined("look.css", "explorers/explorer.css")
    html = traitlets.Unicode().tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Int(0).tag(sync=True)  # counts up, so that a refused entry is drawn over too

    def __init__(self) -> None:
        super().__init__()
        self.on_msg(lambda _, content, __: self._receive(content))
        self._draw()

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        raise NotImplementedError

    def _page(self, notice: str) -> str:
        """Draw everything as HTML; `notice` says what was refused, if anything was."""
        raise NotImplementedError

    def _said(self) -> str:
        """Say in a sentence what is shown."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Text for comparing, the live view, and a picture for places that run nothing."""
        address = base64.b64encode(self.picture().encode()).decode()
        image = tag("img", src=f"data:image/svg+xml;base64,{address}", alt=self._said())
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**data, "text/plain": repr(self), "text/html": image}, metadata

    def _receive(self, content: Any) -> None:
        message = dict(content)
        action = message.pop("action", None)
        if action not in self.actions:
            return
        try:
            getattr(self, action)(**message)
        except KafkaError as error:
            self._draw(f"{shown(str(error), 400)}.")

    def _draw(self, notice: str = "") -> None:
        with self.hold_sync():
            self.html = self._page(notice)
            self.sentence = notice or self._said()
            self.drawn += 1
