"""One file that steps with no kernel and no network: the page, its data, and the same module."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from kafkalearn.views.html_file import html_file

_ALONE = """
body { margin: 12px; background: light-dark(#fff, #12161c); }
.kl-stepper { margin: auto !important; }
.kl-above { max-width: 1240px; margin: 0 auto 14px; overflow-wrap: anywhere; color: var(--ink);
  font: 15px/1.5 var(--sans); }
.kl-above h1 { font-size: 22px; margin: 0; } .kl-above p { margin: 4px 0; }"""
_SHIM = """
const held = JSON.parse(document.getElementById("held").textContent);
const model = {
  get: (name) => held[name],
  set: (name, value) => { held[name] = value; },
  save_changes() {}, send() {}, on() {}, off() {},
};
widget.render({ model, el: document.getElementById("stepper") });
if (!window.frameElement) document.querySelector(".kl-stepper").focus({ preventScroll: true });
const frame = window.frameElement; // in a book the page stands in a frame, which grows with it
const grow = () => { frame.style.height = `${document.documentElement.offsetHeight + 24}px`; };
if (frame) new ResizeObserver(grow).observe(document.body);
"""
BOOK = "KAFKALEARN_BOOK"  # set in the environment of a kernel whose outputs become a book's pages


def saved_page(
    state: Mapping[str, Any], *, module: str, style: str, title: str, about: Sequence[str] = ()
) -> str:
    """Write the page. state: what the model holds: ``html``, ``story``, ``step``, ``notice``."""
    # Within a script element only "<" could end it, or begin a comment that swallows the rest.
    held = json.dumps(state, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = module.replace("export default", "const widget =") + _SHIM
    told = f"<h1>{escape(title)}</h1>" + "".join(f"<p>{escape(each)}</p>" for each in about)
    above = f'<header class="kl kl-above">{told}</header>' if about else ""
    body = (
        f'<body>\n{above}<main id="stepper"></main>\n'
        f'<script type="application/json" id="held">{held}</script>\n'
        f'<script type="module">\n{script}</script>\n</body>'
    )
    lang = state["story"]["lang"]
    return html_file(title, body, style=style + _ALONE, lang=lang, has_scripts=True)
