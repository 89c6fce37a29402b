"""The drawing: safe for any name, readable, never telling anything by colour alone."""

import re
from xml.etree import ElementTree

import pytest

from kafkalearn.records import TopicPartition
from kafkalearn.trace.text import columns
from kafkalearn.views.assets import joined
from kafkalearn.views.assignment import frames
from kafkalearn.views.drawings import matrix
from kafkalearn.views.drawings.common import COLOURS
from kafkalearn.views.drawings.sheet import sheet
from kafkalearn.views.wording import shown, tag
from tests.views.contrast import contrast

SVG = "{http://www.w3.org/2000/svg}"
LOOK = joined("look.css")
ODD_NAMES = [
    "<img src=x onerror=alert(1)>",
    '"quoted" & <b>bold</b>',
    "]]></style><script>alert(1)</script>",
    "nul\0 line\nfeed \x1b[31m",
    "right-to-left \u202e override",
    "lone \ud800 surrogate",
    "消费者一",
    "x" * 300,
]


def drawn(before, after, **more):
    """Draw a change as a whole picture, and parse it as the XML that it must be."""
    frame = frames(before, after, **more)[-1]
    return ElementTree.fromstring(matrix.picture("what happened", [("sticky", frame, "")]))


def rows(picture):
    """The groups of the chips, by their class without the prefix."""
    found = {}
    for group in picture.iter(f"{SVG}g"):
        if kind := group.get("class"):
            found.setdefault(kind.removeprefix("kl-"), []).append(group)
    return found


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_is_text_whatever_it_holds(name):
    """A member called like a tag, a NUL or an override makes a picture of known elements."""
    partition = TopicPartition("t", 0)
    picture = drawn({name: [partition]}, {"other" + name: [partition], name: []})
    assert {element.tag.removeprefix(SVG) for element in picture.iter()} <= {
        *("svg", "style", "rect", "g", "text", "tspan", "path", "title")
    }
    assert shown(name, 14) in [text.text for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("before", "after", "kind", "remark"),
    [
        ({"c0": "0", "c1": ""}, {"c0": "", "c1": "0"}, "moved", "from c0"),
        ({"c0": "0", "c1": "1"}, {"c0": "1", "c1": "0"}, "needless", "⇄ from c1"),
        ({"c0": "0"}, {"c1": "0"}, "orphaned", "from c0"),
        ({"c0": "0"}, {"c1": "0"}, "left", "to c1"),
        ({"c0": "0"}, {"c0": "01"}, "new", "new"),
    ],
)
def test_what_changed_has_an_outline_or_dashes_and_says_so(before, after, kind, remark):
    """Colour is never the only sign."""
    before, after = (
        {member: [TopicPartition("t", int(n)) for n in numbers] for member, numbers in each.items()}
        for each in (before, after)
    )
    chip = rows(drawn(before, after))[kind][0]
    assert ("could have stayed" in chip.find(f"{SVG}title").text) == (kind == "needless")
    shapes = {rect.get("class") for rect in chip.iter(f"{SVG}rect")}
    assert shapes & {"kl-outline", "kl-empty"}
    assert remark in [text.text for text in chip.iter(f"{SVG}text")]


def test_a_kept_partition_is_calm():
    """No outline, no remark: its label alone."""
    same = {"c0": [TopicPartition("t", 3)]}
    chip = rows(drawn(same, same))["kept"][0]
    assert [rect.get("class") for rect in chip.iter(f"{SVG}rect")] == ["kl-chip kl-p3"]
    assert [text.text for text in chip.iter(f"{SVG}text")] == ["t-3"]


def test_a_withheld_partition_is_dashed_and_says_for_whom_it_waits():
    """The picture shows where it will go, and that it is not there."""
    partition = TopicPartition("t", 0)
    before, after = {"c0": [partition]}, {"c0": [], "c1": []}
    chip = rows(drawn(before, after, awaited={"c1": [partition]}))["waiting"][-2]
    assert [rect.get("class") for rect in chip.iter(f"{SVG}rect")] == ["kl-empty"]
    assert "waits for c0" in [text.text for text in chip.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "sentence", ["c1 sends a request to the broker. " * 9, "消费者一提交" * 30]
)
def test_a_sentence_takes_as_many_lines_as_it_needs(sentence):
    """No line is wider than the drawing, which begins below the last; nothing is left out."""
    picture = ElementTree.fromstring(sheet(sentence, (400, 100, "<b/>")))
    lines = [text for text in picture.iter(f"{SVG}text") if text.get("class") == "kl-say"]
    assert len(lines) > 4
    assert "".join(line.text for line in lines).replace(" ", "") == sentence.replace(" ", "")
    assert max(columns(line.text) for line in lines) * 7.5 < 400
    (top,) = [float(g.get("transform").split(",")[1][:-1]) for g in picture.iter(f"{SVG}g")]
    assert top > float(lines[-1].get("y"))
    assert float(picture.get("height")) > top + 100


def test_chips_stay_inside_the_panel_and_do_not_overlap():
    """144 partitions with long names still make lines."""
    owned = [TopicPartition(f"a-rather-long-topic-{t}", n) for t in range(6) for n in range(24)]
    picture = drawn({"c0" * 20: owned}, {"c1" * 20: owned})
    boxes = []
    for chip in rows(picture)["orphaned"]:
        assert chip.find(f"{SVG}rect") is not None
    for place in picture.iter(f"{SVG}g"):
        chip = place.find(f"{SVG}g")
        if chip is not None and chip.get("class") == "kl-orphaned":
            x, y = map(float, re.findall(r"[\d.]+", place.get("transform")))
            boxes.append((y, x, x + float(chip.find(f"{SVG}rect").get("width"))))
    boxes = [box for box in boxes if box[1] > 4]  # the key's own chip stands at the left
    assert len(boxes) == 144
    assert max(right for _, _, right in boxes) <= matrix.WIDTH
    for (y, _, right), (next_y, left, _) in zip(sorted(boxes), sorted(boxes)[1:], strict=False):
        assert y != next_y or right < left


@pytest.mark.parametrize(("colour", "against_white"), [("#ffffff", 1.0), ("rgb(0, 0, 0)", 21.0)])
def test_contrast_goes_from_1_to_21(colour, against_white):
    """White on white cannot be read at all, black on white best, however they are written."""
    assert contrast(colour, "#ffffff") == pytest.approx(against_white)


def test_every_partition_colour_can_be_read():
    """Eight different colours, each with an ink of contrast 4.5 or more."""
    pairs = re.findall(r"\.kl-p(\d) ~ .*--p: (#\w+); --p-ink: (#\w+);", LOOK)
    assert [int(number) for number, _, _ in pairs] == list(range(COLOURS))
    assert len({fill for _, fill, _ in pairs}) == COLOURS
    assert min(contrast(fill, ink) for _, fill, ink in pairs) >= 4.5


@pytest.mark.parametrize("side", [0, 1], ids=["light", "dark"])
def test_every_text_colour_can_be_read(side):
    """Ink, soft text, accent, red, amber and green on the page, in both themes."""
    themes = dict(re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\)", LOOK))
    colour = {name: both.split(", ")[side] for name, both in themes.items()}
    for name in ("ink", "soft", "accent", "bad", "wait", "ok"):
        assert contrast(colour[name], colour["bg"]) >= 4.5, name
    assert contrast(colour["wait"], colour["wait-bg"]) >= 4.5
    assert contrast(colour["ink"], colour["accent-bg"]) >= 4.5
    assert contrast(colour["on-accent"], colour["accent"]) >= 4.5


@pytest.mark.parametrize(
    ("name", "short"),
    [("orders", "orders"), ("a" * 13, "aaaaaa…aaaaa"), ("a\tb", r"a\tb"), ("\u202e", r"\u202e")],
)
def test_a_name_is_one_line_that_can_be_drawn(name, short):
    """Long ones lose their middle, odd characters are spelled out."""
    assert shown(name, 12) == short


def test_a_chinese_character_is_two_columns_wide():
    """Texts with one still line up."""
    assert [columns(text) for text in ("ab", "消费", "é")] == [2, 4, 1]


def test_attributes_are_escaped():
    """No value breaks out of its quotes; what is no text becomes JSON."""
    made = tag("b", data_send=['"><i>'], title="'&", hidden=True, id=None)
    sent = "[&quot;\\&quot;&gt;&lt;i&gt;&quot;]"
    assert made == f'<b data-send="{sent}" title="&#x27;&amp;" hidden=""></b>'
