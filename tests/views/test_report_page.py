"""A report's page: what it says of plain data, that it escapes, and that nothing is fetched."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from kafkalearn.scenarios import consumer_dies
from kafkalearn.views.report import page, words
from kafkalearn.views.report.charts import nice

EVIL = "<img src=x onerror=alert(1)>"
EPOCH_MS = 1_795_817_700_000
MARKS = [0, 1000, 2000, 3000, 9000, 9500]


def rebalance(**changed):
    """One that a silent member was the cause of."""
    return {
        "rebalance": 2,
        "generation": 7,
        "cause": "session_timeout",
        "reason": f"member c2-1 gave no sign of life {EVIL}",
        "member_id": "c2-1",
        "node": "c2",
        "outcome": "stable",
        "members": 1,
        "started_ms": EPOCH_MS + 2000,
        "joined_ms": EPOCH_MS + 4000,
        "ended_ms": EPOCH_MS + 4300,
        "join_ms": 2000,
        "sync_ms": 300,
        "kept": 1,
        "moved": 2,
        "unowned": [{"topic": "orders", "partition": 0, "ms": 2300}],
        "unowned_ms": 2300,
        "leader": "c1-1",
        "also": [],
        "names": ["c1-1", "c3-1"],
        "owners": {"c1": {"orders": [0, 1, 2, 5]}},
    } | changed


def owned(partition, node, begin, end=None):
    """A stretch in which a consumer owned a partition, in ms since the first event."""
    until = None if end is None else EPOCH_MS + end
    times = {"from_ms": EPOCH_MS + begin, "until_ms": until, "ended": end and "revoked"}
    named = {"topic": "orders", "partition": partition, "node": node, "member_id": f"{node}-1"}
    return named | times


def group(**changed):
    """A group with one rebalance."""
    commit = {"node": "c1", "generation": 7, "mode": None, "outcome": "UNKNOWN_MEMBER_ID"}
    lag = {"topic": "orders", "partition": 0, "lag": None}
    return {
        "run_id": "logs a.log",
        "group_id": "billing",
        "groups": 1,
        "first_ms": EPOCH_MS,
        "last_ms": EPOCH_MS + 9000,
        "rebalances": [rebalance()],
        "total": 1,
        "causes": {"session_timeout": 1},
        "nodes": {"c1-1": "c1"},
        "advice": [{"seen": "It was silent.", "setting": "session.timeout.ms", "why": "So."}],
        "ownership": [owned(0, "c2", 100, 2000), owned(0, "c1", 4300), owned(0, "c2", 5000, 6000)],
        "lag": [lag | {"time_ms": EPOCH_MS + ms, "unread": n} for ms, n in ((0, 3), (3000, 30))],
        "commits": [commit | {"count": 3, "from_ms": EPOCH_MS + 10, "to": EPOCH_MS + 20}],
    } | changed


def data(**changed):
    """A report on a log."""
    none = {"groups": [], "windows": [], "sweep": None, "unparsed": None}
    return {"name": "out", "runs": ["logs a.log"]} | none | changed


def sweep(**changed):
    """A report on two settings of five runs each, of which one more failed."""
    numbers = {"known": 5, "above": 4, "marks": MARKS, "dots": [0, 2000, 2000]}
    unknown = {"known": 0, "above": 0, "marks": None, "dots": None}
    of_value = {"rebalance_ms": numbers, "unowned_ms": numbers, "duplicated": unknown}
    of_value["lost"] = numbers | {"above": 0, "marks": [0] * 6, "dots": [0]}
    one = [{"setting": "assignor", "value": each, "runs": 5} | of_value for each in ("a", EVIL)]
    failure = {"error": "ConfigError", "message": EVIL, "count": 1, "seed": 3, "settings": "{}"}
    told = {"scenario": "story", "seeds": [0, 6], "vary": {"assignor": ["a", EVIL]}, "wanted": 12}
    found = {"runs": 10, "values": one, "failures": [failure], "failed": 1}
    return data(sweep=told | found | changed)


class Words(HTMLParser):
    """What a page says, and which elements and attributes it has."""

    def __init__(self, text):
        super().__init__()
        self.said, self.tags, self.attributes = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep an element."""
        self.tags.append(tag)
        self.attributes += [(tag, *each) for each in attrs]

    def handle_data(self, data):
        """Keep text."""
        self.said.append(data)

    @property
    def text(self):
        """All text, with single spaces."""
        return " ".join(" ".join(self.said).split())


def test_a_generation_tells_when_why_who_and_how_long():
    """In the words of a reader, with the times of the log and since its beginning."""
    said = Words(page(data(groups=[group()]))).text
    for part in (
        *("+2.000 s", "2026-11-27 22:15:02.000", "no heartbeat came in time", "c2 (c2-1)"),
        *("2,300 ms", "join 2,000 ms", "sync 300 ms", "up to 2,300 ms 1 partition 1 kept"),
        *("c1 leads", "c3-1", "c1: orders 0–2 5", "It was silent. session.timeout.ms So."),
        *("UNKNOWN_MEMBER_ID 3 +0.010 s to +0.020 s", "1 kept, 2 moved", "orders-0 30 30"),
    ):
        assert part in said, part


@pytest.mark.parametrize(
    ("stretches", "said"),
    [
        ([(0, "c1", 0, 5000), (0, "c2", 2000)], "3,000 ms"),
        ([(0, "c1", 0), (0, "c2", 2000, 3500), (0, "c3", 3000)], "6,000 ms"),
        ([(0, "c1", 0, 5000), (0, "c1", 2000)], ""),
        ([(0, "c1", 0, 2900), (0, "c2", 2000)], ""),
        ([(0, "c1", 0, 5000), (1, "c2", 2000)], ""),
    ],
)
def test_two_owners_at_once_are_told(stretches, said):
    """One had not noticed its end: from a second on, as the clocks of two machines may differ."""
    told = Words(page(data(groups=[group(ownership=[owned(*each) for each in stretches])]))).text
    sentence = "A partition had two owners at once for "
    assert (f"{sentence}{said}." in told) if said else (sentence not in told)


def test_it_begins_with_what_is_wrong_who_is_to_blame_and_what_to_change():
    """Of one group in its first sentence; several have a row each above all, with its settings."""
    told = [rebalance(), rebalance(node="c9"), rebalance(node=None, cause="other")]
    told[1]["unowned"] = [{"topic": "orders", "partition": 1, "ms": 400}]
    bad = group(rebalances=told, causes={"session_timeout": 2, "other": 1})
    calm = group(group_id="calm", rebalances=[], causes={}, advice=[], ownership=[])
    bad["groups"] = 2
    said = Words(page(data(groups=[bad, calm]))).text
    why = "2 × no heartbeat came in time (c2 and c9) and 1 × another reason"
    gaps = "3 gaps of up to 2,300 ms"
    assert f"billing {why} {gaps} session.timeout.ms calm none not known Group billing" in said
    assert f"Partitions without an owner: {gaps}." in said
    assert f"Group billing 3 rebalances in 9,000 ms of events: {why}. The longest, to gen" in said
    assert "0 rebalances in 9,000 ms of events. What would have helped" in said
    assert "At the end a partition" not in said
    calm["ownership"] = [owned(0, "c1", 100), owned(1, "c2", 5, 90), owned(1, "c1", 100, 2000)]
    end = "At the end a partition had no owner for 7,000 ms."
    said = Words(page(data(groups=[bad, calm]))).text
    assert end in said
    assert "nobody whose log is here" in said  # c3 of the group before
    calm["rebalances"] = [rebalance(names=["c1-1", "c4-1"])]
    assert end not in Words(page(data(groups=[bad, calm]))).text
    found = Words(page(data(groups=[bad, calm], runs=["one", "two"])))
    assert "Group billing logs a.log 3 rebalances" in found.text


def test_what_is_not_known_is_said_to_be():
    """A log that tells little gives no zeros and no empty charts."""
    told = dict.fromkeys(rebalance()) | {"also": [], "names": [], "owners": {}}
    bare = group(rebalances=[told], ownership=[], lag=[], commits=[], advice=[], causes={})
    said = Words(page(data(groups=[bare]))).text
    assert "Not known: no event tells who was given partitions." in said
    assert "Not known: no event tells where the logs end." in said
    assert "Not known: no event tells how a commit ended." in said
    assert "Nothing in these numbers asks for another setting." in said
    faulty = page(data(groups=[bare | {"causes": {"poll_timeout": 1}}]))
    assert "These numbers do not tell which setting would have helped." in Words(faulty).text
    assert said.count("not known") >= 6
    assert "None" not in said


def test_a_gap_and_a_second_owner_can_be_seen():
    """The lane goes from the first owner to the end; who comes while another is there is lower."""
    found = Words(page(data(groups=[group()]))).attributes
    heights = [value for tag, name, value in found if (tag, name) == ("rect", "height")]
    assert heights.count("18") == 2
    assert heights.count("9") == 1
    assert ("rect", "class", "kl-gap") in found


@pytest.mark.parametrize("told", [data(groups=[group(group_id=EVIL)], name=EVIL), sweep()])
def test_text_of_the_data_stays_text(told):
    """Names, reasons, values and messages start nothing and load nothing."""
    found = Words(page(told))
    assert not {"img", "script", "link"} & set(found.tags)
    assert EVIL in found.text
    assert "default-src 'none'" in str(found.attributes)
    assert not [each for each in found.attributes if each[1].startswith("on") or each[1] == "src"]


def test_a_window_is_a_page_of_the_stepper_in_a_frame():
    """It is linked from its rebalance, and is whole in spite of its quotes."""
    trace = consumer_dies()
    window = {
        "run_id": trace.run_id,
        "group_id": "billing",
        "size": 300,
        "step": 7,
        "trace": trace,
        "at": None,
    }
    told = data(
        groups=[group(rebalances=[rebalance(window=0)])], windows=[window | {"events": range(40)}]
    )
    found = Words(page(told))
    (frame,) = [value for tag, name, value in found.attributes if name == "srcdoc"]
    assert frame.startswith("<!doctype html>")
    assert frame.rstrip().endswith("</html>")
    assert ("a", "href", "#window-0") in found.attributes
    assert ("iframe", "id", "window-0") in found.attributes
    assert "group billing, generation 7, " in found.text
    assert ": 40 events" in found.text
    assert '"step":7' in frame
    assert "around every rebalance" in found.text
    assert ": 40 events, opens at event 8, where its first rebalance begins" in found.text
    assert "from event" not in found.text
    told["groups"][0]["rebalances"][0]["step"] = 21
    assert "step through it (1) from event 22 of it" in Words(page(told)).text
    told["groups"][0]["rebalances"].append(rebalance())
    assert "around the rebalances that took longest" in Words(page(told)).text


def test_a_sweep_is_told_by_value_in_a_chart_and_in_numbers():
    """With the median, the 95th, the failures, and what is missing of it."""
    found = Words(page(sweep()))
    assert "a 5 80 % 2,000 ms 9,000 ms 9,500 ms" in found.text
    assert found.tags.count("svg") == 2
    assert "Not known in any run." in found.text
    assert "0 in every run." in found.text
    assert "The sweep was not finished: 1 run to go." in found.text
    assert "ConfigError" in found.text
    assert "1 run failed" in found.text


def test_a_sweep_begins_with_its_best_and_its_worst_values():
    """By the median of a time, and the share of runs with duplicates; nothing of what is 0."""
    told = sweep()
    one, other = told["sweep"]["values"]
    other["unowned_ms"] = one["unowned_ms"] | {"marks": [0, 0, 12_000, 0, 0, 13_000]}
    one["duplicated"] = one["lost"]
    other["duplicated"] = one["unowned_ms"]
    said = Words(page(told)).text
    assert "Rebalance time by assignor: median 2,000 ms with each value." in said
    assert f"owner by assignor: median 2,000 ms with a, median 12.0 s with {EVIL}." in said
    assert f"Duplicates by assignor: 0 % of runs with a, 80 % of runs with {EVIL}." in said
    assert "Lost by" not in said


def test_lines_that_were_not_read_are_counted():
    """By reason, with the first of each; an empty list says that there is none."""
    row = {"reason": "no time", "count": 1200, "file": "a.log", "line_number": 7, "line": EVIL}
    said = Words(page(data(unparsed=[row]))).text
    assert "no time 1,200 a.log:7" in said
    assert "was read" in Words(page(data(unparsed=[]))).text
    assert "were not read" not in Words(page(data())).text


def test_every_heading_follows_the_one_above_it():
    """No level is skipped, and each picture says in words what it shows."""
    found = Words(page(data(groups=[group()], sweep=sweep()["sweep"], unparsed=[])))
    levels = [int(tag[1]) for tag in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(later - one <= 1 for one, later in pairwise(levels))
    labels = [
        value for tag, name, value in found.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert found.tags.count("svg") == len(labels) == 4


def test_words():
    """Numbers, times and partitions are written as people read them."""
    assert [words.lasted(ms) for ms in (None, 408, 12_345, 700_000)] == [
        *("not known", "408 ms", "12.3 s", "11.7 min")
    ]
    assert (words.clock(5000), words.clock(10**18)) == ("", "")
    assert words.named("c1", "c1") == "c1"
    assert words.named(None) == "not known"
    assert nice(9000, 6) == [0, 2000, 4000, 6000, 8000]
    assert nice(0) == [0]
