"""What a line of Kafka's clients and coordinators looks like, and which event it tells of.

The tables beside this module have a line for each wording: the kinds of event, the fields that it
implies, and a pattern whose named groups are fields. One replacement turns a line of a log into
all its fields, in one pass of the pattern. Sources: the log statements of the named releases.
"""

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

FIELDS = (
    *("kinds", "api", "peer", "node", "client", "group", "member", "instance", "generation"),
    *("partitions", "topic", "partition", "offset", "error", "reason", "from", "to", "leader"),
    *("protocol", "assignment", "members", "mode", "flag", "list", "old"),
)
"""kinds: of the events, with + between; or quiet: known, and of no interest here. `leader` and
`assignment` are no events, but what one client tells of its group.

old: a member that another one replaces. flag: lost, pending, or leader (this client leads).
list: `owned` and `assigned` begin a list of several lines, `member` and `item` are its lines.
"""
RDKAFKA = r"%\d\|(?<seconds>\d+\.\d+)\|[A-Z0-9_]+\|"
CONTEXTS = {
    "java": r"\[Consumer (?:instanceId=(?<instance>.*?), )?"
    r"clientId=(?<client>.*?), groupId=(?<group>.*?)\] ",
    "broker": r"\[Group ?(?:Coordinator|Metadata ?Manager)(?: on Broker)? "
    r"(?:id=|brokerId=)?(?<node>\d+)[^\]]*\]:? ",
    "rdkafka": r"%\d\|\d+\.\d+\|{facility}\|(?<client>.*?)(?:#(?:consumer|producer)-\d+)?\| "
    r"(?:\[thrd:.*?\]: )?(?:\S+/\S+: )?",
    "plain": "",
}
_LEVEL = "(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|CRITICAL)"
SPLIT, _BETWEEN = "\x1f", "\x1e"
_NAMED = re.compile(r"\(\?<([a-z]+)>")


class Wording(NamedTuple):
    """pattern: Java's, after `context`, to the end. implied: what is not in the text."""

    context: str
    pattern: str
    implied: dict[str, str]


def table(family: str) -> list[Wording]:
    """Read the wordings of one family, as CONTEXTS names them."""
    text = Path(__file__).with_name(f"{family}.tsv").read_text(encoding="utf-8")
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            kinds, implied, pattern = line.split("\t")
            fields = dict(each.split("=", 1) for each in implied.split("; ") if each != "-")
            context = CONTEXTS[family]
            if family == "rdkafka":
                facility, _, pattern = pattern.partition("|")
                context = context.replace("{facility}", facility)
            fields["kinds"] = "" if kinds == "-" else kinds
            found.append(Wording(context, pattern, fields))
    return found


def matched(text: Column) -> Column:
    """Give an array: which wording fits, then its FIELDS, '' where one is absent; else null.

    One pattern for all is one pass over a line. What replaces the line has, before the fields, the
    text of each wording: all but one are empty, which says the place of that one.
    """
    every, groups = _pattern()
    wholes = _BETWEEN.join(groups[""])
    template = SPLIT.join([wholes, *("".join(groups.get(name, [])) for name in FIELDS)])
    taken = F.regexp_replace(text, f"(?s)^(?:{every})$", template)
    return F.when(F.contains(taken, F.lit(SPLIT)), F.split(taken, SPLIT, -1))


def values(parts: Column) -> Column:
    """Give an array of all FIELDS out of what `matched` gave, with those that are implied."""
    implied = [SPLIT.join(["", *(each.implied.get(name, "") for name in FIELDS)]) for each in _ALL]
    which = F.length(parts[0]) - F.length(F.ltrim(parts[0], F.lit(_BETWEEN)))
    constants = F.split(F.get(constant(implied, _BETWEEN), which), SPLIT, -1)
    return F.slice(F.zip_with(parts, constants, _or), 2, len(FIELDS))


def _or(given: Column, implied: Column) -> Column:
    return F.when(given == "", implied).otherwise(given)


def _pattern() -> tuple[str, dict[str, list[str]]]:
    """Join all wordings, each context once: the pattern, and the groups of each field in it."""
    groups: dict[str, list[str]] = {"": []}
    count = 0

    def taken(name: str) -> None:
        nonlocal count
        count += 1
        groups.setdefault(name, []).append(f"${count}")

    parts = []
    for context, wordings in _BY_CONTEXT.items():
        for name in _NAMED.findall(context):
            taken(name)
        for each in wordings:
            taken("")
            for name in _NAMED.findall(each.pattern):
                taken(name)
        parts.append(context + "(?:" + "|".join(f"({each.pattern})" for each in wordings) + ")")
    return nameless("|".join(parts), "("), groups


def constant(values: Iterable[object], between: str) -> Column:
    """Give a constant array of texts. One text that is split is planned faster than an array."""
    return F.split(F.lit(between.join(map(str, values))), between, -1)


def anchors() -> str:
    """Give a pattern that finds where a wording may begin in a line.

    One that has no context begins a message: after a level, or what ends the name of a logger.
    """
    begins = {
        re.match(r"(?:\\.|[^\\()\[{.*+?|])+(?![*+?])", each.pattern) for each in table("plain")
    }
    literals = "|".join(sorted(found[0] for found in begins if found))
    contexts = [nameless(CONTEXTS[each]) for each in ("java", "broker")]
    begin = (
        rf"(?:^|(?<=[:\t])|(?<=[=,]\")|(?<= )(?:(?<=[-:>|)\]] )|(?<=:\d{{1,5}} )|(?<={_LEVEL} )))"
    )
    return f"{nameless(RDKAFKA)}|{'|'.join(contexts)}|{begin}(?:{literals})"


def nameless(pattern: str, group: str = "(?:") -> str:
    """Begin each named group with `group`."""
    return _NAMED.sub(lambda _: group, pattern)


_BY_CONTEXT: dict[str, list[Wording]] = {}
for _each in chain.from_iterable(map(table, CONTEXTS)):
    _BY_CONTEXT.setdefault(_each.context, []).append(_each)
_ALL = list(chain.from_iterable(_BY_CONTEXT.values()))
_NAMES = sorted({each.context.split(r"\|")[2] for each in _ALL if each.context.startswith("%")})
FACILITIES = rf"\|(?:{'|'.join(_NAMES)})\|"
"""A pattern for what librdkafka calls the part of it that tells of something of interest."""
