"""One file that steps with no kernel and no network: the page, its data, and the same module."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

# The page may load nothing from anywhere; what it shows cannot start anything either.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
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
    lang = escape(state["story"]["lang"])
    told = f"<h1>{escape(title)}</h1>" + "".join(f"<p>{escape(each)}</p>" for each in about)
    above = f'<header class="kl kl-above">{told}</header>' if about else ""
    return (
        f'<!doctype html>\n<html lang="{lang}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}\n"
        ":root { color-scheme: light dark; }\n"
        "body { margin: 12px; background: light-dark(#fff, #12161c); }\n"
        ".kl-stepper { margin: auto !important; }\n"
        ".kl-above { max-width: 1240px; margin: 0 auto 14px; overflow-wrap: anywhere; "
        "color: var(--ink); font: 15px/1.5 var(--sans); }\n"
        ".kl-above h1 { font-size: 22px; margin: 0; } .kl-above p { margin: 4px 0; }\n"
        f'</style></head><body>\n{above}<main id="stepper"></main>\n'
        f'<script type="application/json" id="held">{held}</script>\n'
        f'<script type="module">\n{script}</script>\n</body></html>\n'
    )
