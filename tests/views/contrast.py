"""How well a colour can be read on another; the tests of drawings and of the browser ask."""

import re

_TEXTS_ON_GROUNDS = """(root, selectors) => {
  const ground = (element) => {
    const colour = getComputedStyle(element).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" ? ground(element.parentElement) : colour;
  };
  return Object.entries(selectors).flatMap(([property, selector]) =>
    [...root.querySelectorAll(selector)].map(
      (element) => [getComputedStyle(element)[property], ground(element)]));
}"""


def luminance(colour):
    """Relative luminance of ``#0b5fc4`` or ``rgb(11, 95, 196)``, as WCAG 2.2 defines it."""
    if colour.startswith("#"):
        parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    else:
        parts = map(int, re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups())
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in parts)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """Contrast of two colours, from 1 to 21."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def texts_on_grounds(locator, **selectors):
    """Give each text's colour in a browser and that of its ground; `fill` for texts in SVG."""
    return locator.evaluate(_TEXTS_ON_GROUNDS, selectors)


def assert_readable_in_both(light, dark):
    """Dark on light turns into light on dark, for every text, with a contrast of 4.5 or more."""
    assert len(light) == len(dark)
    assert all(luminance(text) < luminance(ground) for text, ground in light)
    assert all(luminance(text) > luminance(ground) for text, ground in dark)
    assert [pair for pair in light + dark if contrast(*pair) < 4.5] == []
