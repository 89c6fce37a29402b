"""The styles of all widgets stand in one tab: none may hit what belongs to another."""

import re

import pytest

from kafkalearn.assignors import all_assignors
from kafkalearn.views import AssignmentExplorer, PartitionerExplorer
from kafkalearn.views.assets import joined

OF_EXPLORERS = ("explorers/explorer.css", "explorers/partitioner.css")
OF_STEPPERS = ("stepper.css", "drawings/messages.css", "drawings/panes.css")
CLASS = re.compile(r"\.(kl-[\w-]+)")


def selectors(css):
    """Give each selector that a sheet begins a rule with, those of media queries too."""
    css = re.sub(r"/\*.*?\*/|@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", css, flags=re.S)
    css = re.sub(r"@(?:media|container)[^{]*\{((?:[^{}]*\{[^{}]*\})*)\s*;?\s*\}", r"\1", css)
    depth, begun = 0, ""
    for character in css:
        depth += (character == "{") - (character == "}")
        if depth == 0 and character != "}":
            begun += character
        elif begun.strip():
            yield from re.split(r",(?![^(]*\))", begun.strip())
            begun = ""


def may_match(selector, classes):
    """Whether a selector could match something in a page that has these classes only."""
    selector = re.sub(r":(not|has)\([^()]*\)", "", selector)
    among = r":(?:is|where)\(([^()]*)\)"
    return set(CLASS.findall(re.sub(among, "", selector))) <= classes and all(
        any(set(CLASS.findall(each)) <= classes for each in group.split(","))
        for group in re.findall(among, selector)
    )


@pytest.fixture(scope="module")
def classes():
    """Collect the classes of the explorers' pages, with reasons, notices and what waits."""
    topics = {"t0": 2, "t1": 2}
    members = {"c0": ["t0", "t1"], "c1": ["t0", "t1"]}
    groups = AssignmentExplorer(all_assignors(), topics=topics, members=members)
    groups.add_member()
    groups._receive({"action": "set_partitions", "topic": "t0", "n": 99})
    told = groups.html
    groups.choose("sticky", step=2)
    told += groups.html
    keys = PartitionerExplorer(lambda key, n: n - 1, keys=["a", None], hash_of=len)
    keys.set_partitions(4)
    found = re.findall(r'class="([^"]*)"', told + keys.html)
    return {each for classes in found for each in classes.split()}


@pytest.mark.parametrize("name", OF_EXPLORERS)
def test_an_explorers_rule_is_for_explorers_only(name):
    """Each is within .kl-explorer."""
    found = list(selectors(joined(name)))
    assert found
    assert [each for each in found if not each.strip().startswith(".kl-explorer")] == []


@pytest.mark.parametrize("name", OF_STEPPERS)
def test_a_steppers_rule_hits_no_explorer(name, classes):
    """Each names a class that no explorer's page has."""
    found = list(selectors(joined(name)))
    assert len(found) > 20
    assert [each for each in found if may_match(each, classes)] == []


@pytest.mark.parametrize(
    ("selector", "may"),
    [
        (".kl-tools b", True),
        ("table > :where(i, b)", True),
        (".kl-tools:not(.kl-busy)", True),
        (":is(.kl-pane, .kl-panel) td", True),
        (".kl-pane .kl-tools", False),
        (".kl-panel :is(.kl-ok, .kl-bad)", False),
    ],
)
def test_what_would_hit_an_explorer_is_found(selector, may):
    """Alternatives count if one is an explorer's; what is excluded does not count."""
    assert may_match(selector, {"kl-tools", "kl-panel"}) == may
