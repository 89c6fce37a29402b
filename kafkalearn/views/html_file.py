"""One HTML file that needs nothing else: it loads nothing from anywhere, and follows the theme."""

from html import escape

MADE_HERE = '<meta name="generator" content="kafkalearn">'
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_HEAD = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
{made_here}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
{style}
</style></head>
"""


def html_file(
    title: str, body: str, *, style: str, lang: str = "en", has_scripts: bool = False
) -> str:
    """Write the file. Frames in it may do no more than the file itself.

    body: the whole element. has_scripts: whether those that stand in it may run.
    """
    policy = _POLICY + ("; script-src 'unsafe-inline'" if has_scripts else "")
    about = {"lang": escape(lang), "policy": policy, "made_here": MADE_HERE}
    return f"{_HEAD.format(title=escape(title), style=style, **about)}{body}</html>\n"
