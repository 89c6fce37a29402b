"""The frame of an explorer's page, and its controls: each carries the message that it sends.

`data-send` is that message; `data-key` finds the control again after a redraw, `data-next` names
what gets the focus if it is gone; `data-hotkey` is a key that works from anywhere in the page.
See draws_in_python.js.
"""

from collections.abc import Iterable, Mapping
from html import escape

from kafkalearn.views.drawings import controls
from kafkalearn.views.wording import shown, tag


def framed(name: str, parts: Iterable[str], *, said: str, notice: str) -> str:
    """Draw a page: the sentence (`said`) and the parts as the HTML that they are."""
    top = tag("p", said, class_="kl-sentence")
    if notice:
        top += tag("p", escape(notice), class_="kl-refused")
    about = {"role": "group", "aria_label": f"{name} explorer"}
    kind = f"kl kl-explorer kl-{name.lower()}"
    return tag("div", top + "".join(parts), class_=kind, **about)


def button(
    text: str,
    action: str,
    *,
    send: Mapping[str, object] | None = None,
    off: bool = False,
    **attributes: object,
) -> str:
    """Make a button; `send` has the message's values; `off` leaves it in reach of the keyboard."""
    known = {"data_key": action, "aria_disabled": "true" if off else None, **attributes}
    return controls.button(escape(text), data_send={"action": action, **(send or {})}, **known)


def choice(what: str, names: Mapping[str, str], *, chosen: str) -> str:
    """Radio buttons, so that the arrow keys choose. names: name -> text; one needs no choice."""
    if len(names) == 1:
        return ""
    labels = [tag("legend", what, class_="kl-aloud")]
    for name, text in names.items():
        radio = tag(
            "input",
            type="radio",
            name=what,
            checked=name == chosen,
            data_key=["choose", name],
            data_send={"action": "choose", "name": name},
        )
        labels.append(tag("label", radio + tag("span", escape(shown(text, 40)))))
    return tag("fieldset", "".join(labels), class_="kl-choice")
