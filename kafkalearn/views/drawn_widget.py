"""A widget whose page Python draws: the browser shows it and sends back which control was used."""

import base64
import os
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from kafkalearn.errors import KafkaError
from kafkalearn.views.saved_page import BOOK
from kafkalearn.views.wording import shown, tag

Bundle = tuple[dict[str, Any], dict[str, Any]]


def bundle(
    view: object, live: Any, *, picture: Callable[[], str], said: str, page: Callable[[], str]
) -> Bundle:
    """Give what a notebook stores: text for comparing, and a picture for places that run nothing.

    live: the widget's own bundle. said: the picture's words. page: what stands in a book instead,
    '' for the picture.
    """
    text = {"text/plain": repr(view)}
    in_a_book = bool(os.environ.get(BOOK))
    if in_a_book and (saved := page()):
        frame = tag("iframe", srcdoc=saved, title=repr(view), class_="kl-book")
        return {**text, "text/html": frame}, {}
    address = base64.b64encode(picture().encode()).decode()
    image = tag("img", src=f"data:image/svg+xml;base64,{address}", alt=said)
    data, metadata = live if isinstance(live, tuple) else (live or {}, {})
    if in_a_book:  # nothing is live there
        data, metadata = {}, {}
    return {**data, **text, "text/html": image}, metadata


class DrawnWidget(anywidget.AnyWidget):
    """The base of what is stepped through and explored."""

    html = traitlets.Unicode().tag(sync=True)
    drawn = traitlets.Int(0).tag(sync=True)  # counts redraws: the browser listens to it alone

    def __init__(self) -> None:
        super().__init__()
        self.on_msg(lambda _, content, __: self._receive(content))

    def picture(self) -> str:
        """Draw what is shown now as one SVG document."""
        raise NotImplementedError

    def said(self) -> str:
        """Say in a sentence what is shown now."""
        raise NotImplementedError

    def _saved(self) -> str:
        """Write a page that works without a kernel; '' if it cannot be."""
        return ""

    def _state(self, notice: str) -> Mapping[str, Any]:
        """Draw all that the browser shows, by its trait; `notice` says what was refused."""
        raise NotImplementedError

    def _do(self, asked: dict[str, Any]) -> None:
        """Do what a control asks for; KafkaError if it is refused."""
        raise NotImplementedError

    def _receive(self, content: Any) -> None:
        """Do what a control asks for; what is refused becomes a sentence in the page."""
        try:
            self._do(dict(content) if isinstance(content, Mapping) else {})
        except KafkaError as error:
            self._draw(shown(str(error), 400))

    def _draw(self, notice: str = "") -> None:
        with self.hold_sync():
            for name, value in self._state(notice).items():
                setattr(self, name, value)
            self.drawn += 1

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle:
        live = super()._repr_mimebundle_(**kwargs)
        return bundle(self, live, picture=self.picture, said=self.said(), page=self._saved)
