"""The explorer of keys: what it says, what it refuses, what the browser may ask of it."""

import json
import re

import pytest

from kafkalearn.producer.placement import hash_of, placements
from kafkalearn.views.explorers.model import ExplorerError
from kafkalearn.views.explorers.partitioner_explorer import PartitionerExplorer
from tests.views.test_assignment_explorer import Controls, run, send

KEYS = ["alice", "bob", "carol", None, None]
HOSTILE = ["<img src=x onerror=alert(1)>", '"><script>', "\u202ekey\0", "", " ", "订单-42"]


def explorer_of(keys=KEYS, partitions=3):
    """Make an explorer with two partitioners, as Kafka has had them."""
    return PartitionerExplorer(placements(), keys=keys, partitions=partitions, hash_of=hash_of)


def test_more_partitions_move_keys():
    """The sentence counts them and says what it means; the picture says from where."""
    explorer = explorer_of()
    assert explorer.sentence == "Equal keys go to the same partition, and so stay in order."
    assert [place for _, place in explorer.placed[:3]] == [0, 0, 2]
    explorer.set_partitions(5)
    assert explorer.sentence == (
        "The topic has 5 partitions instead of 3. 2 of 3 keys go elsewhere than with 3 partitions: "
        "their new records are no longer in order with the older ones."
    )
    assert explorer.placed[:3] == [("alice", 4), ("bob", 3), ("carol", 2)]
    assert explorer.as_text().splitlines()[2] == (
        "5 partitions: 3 keys, 2 without key, 2 moved since there were 3"
    )
    assert explorer.picture().count("kl-outline") == explorer.picture().count(">from ") + 2  # style
    assert repr(explorer) == "PartitionerExplorer(round robin (before 2.4): 5 keys, 5 partitions)"


def test_records_without_a_key_go_as_the_release_has_it():
    """One after the other, or all to one partition; and they stay where they are."""
    explorer = explorer_of([None] * 4, partitions=4)
    places = [place for _, place in explorer.placed]
    assert sorted(places) == [0, 1, 2, 3]
    explorer.add_key("alice")
    assert [place for _, place in explorer.placed[:4]] == places
    explorer.choose("sticky (2.4)")
    assert len({place for _, place in explorer.placed[:4]}) == 1
    explorer.set_partitions(3)
    explorer.set_partitions(4)
    explorer.choose("round robin (before 2.4)")
    assert [place for _, place in explorer.placed[:4]] == places


def test_a_learner_edits_the_keys():
    """One more, one less, others; what happened is said."""
    explorer = explorer_of()
    told = []
    for act in (
        lambda: explorer.add_key("dave"),
        lambda: explorer.add_key(None),
        lambda: explorer.add_next_key(),
        lambda: explorer.remove_key("bob"),
        lambda: explorer.remove_key(None),
        lambda: explorer.set_keys(["x"]),
        lambda: explorer.start_over(),
    ):
        assert act() is None
        told.append((len(explorer.placed), explorer.sentence))
    assert told == [
        (6, "key 'dave' goes to partition 1."),
        (7, f"a record without a key goes to partition {told[1][1][-2]}."),
        (8, "key 'user-0' goes to partition 1."),
        (7, "key 'bob' is gone."),
        (6, "a record without a key is gone."),
        (1, "Other keys."),
        (5, "Equal keys go to the same partition, and so stay in order."),
    ]


def test_a_removed_record_without_a_key_is_the_last():
    """Those before it keep their places."""
    explorer = explorer_of([None, "alice", None, "bob"])
    places = explorer.placed
    explorer.remove_key(None)
    assert explorer.placed == [*places[:2], places[3]]


REFUSED = {
    "too many partitions": (
        {"action": "set_partitions", "partitions": 25},
        "the number of partitions is 25: 1 to 24 are allowed",
    ),
    "no partition": ({"action": "set_partitions", "partitions": 0}, "a whole number from 1 up"),
    "an empty entry": ({"action": "set_partitions", "partitions": None}, "a whole number from 1"),
    "a key twice": ({"action": "add_key", "key": "bob"}, "key 'bob' is there already: equal keys"),
    "no text": ({"action": "add_key", "key": 3}, "3 is no key: None or a text of up to 200 char"),
    "a long text": ({"action": "add_key", "key": "x" * 201}, "is no key: None or a text of up to"),
    "no such key": ({"action": "remove_key", "key": "eve"}, "key 'eve' is not there"),
    "no such partitioner": ({"action": "choose", "name": "fair"}, "there is no partitioner 'fair'"),
    "no character": ({"action": "add_key", "key": "\ud800"}, "the partitioner failed with Unicode"),
}


@pytest.mark.parametrize(("message", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_changes_nothing(message, sentence):
    """The browser gets a notice, which goes with the next change; Python an error."""
    explorer = explorer_of()
    before, drawn = explorer.as_text(), explorer.drawn
    send(explorer, **message)
    assert sentence in explorer.sentence
    assert sentence in Controls(explorer.html).text
    assert (explorer.as_text(), explorer.drawn) == (before, drawn + 1)
    name = message.pop("action")
    with pytest.raises(ValueError, match=re.escape(sentence)):
        getattr(explorer, name)(**message)
    explorer.add_next_key()
    assert "kl-refused" not in explorer.html


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"keys": "abc"}, "keys is 'abc': a list of texts"),
        ({"keys": 3}, "keys is 3: a list of texts"),
        ({"keys": [f"{n}" for n in range(61)]}, "61 keys are too many: at most 60"),
        ({"partition": 3}, "3 is no partitioner"),
        ({"partition": {}}, "{} is no partitioner"),
        ({"partition": lambda key, n: n}, "the partitioner gives 3 for key 'a': 0 to 2 is allowed"),
        ({"partition": lambda key, n: True}, "the partitioner gives True for key 'a'"),
        ({"partition": lambda key, n: 1 // 0}, "the partitioner failed with ZeroDivisionError"),
        ({"partition": lambda key: 0}, "the partitioner failed with TypeError"),
    ],
)
def test_what_cannot_be_explored_is_refused(arguments, sentence):
    """From the beginning, whatever a learner's own partitioner does."""
    known = {"partition": lambda key, n: 0, "keys": ["a"]} | arguments
    with pytest.raises(ExplorerError, match=re.escape(sentence)):
        PartitionerExplorer(known.pop("partition"), **known)


def test_the_browser_may_ask_for_nothing_else():
    """A message is no way to call any other method."""
    explorer = explorer_of()
    drawn = explorer.drawn
    for action in ("close", "_draw", "set_keys", "picture", None):
        send(explorer, action=action)
    assert explorer.drawn == drawn


def test_every_control_on_the_page_works_and_can_be_told_apart():
    """Each message that the page holds is one that Python takes; its key is its own."""
    found = Controls(explorer_of().html).found
    keys = [control["data-key"] for control in found]
    assert len(set(keys)) == len(keys) == 2 + 2 + 2 + 1 + len(KEYS)
    for control in found:
        fresh = explorer_of()
        message = json.loads(control["data-send"])
        if "data-value" in control:
            message[control["data-value"]] = 4 if control["type"] == "number" else "typed"
        send(fresh, **message)
        assert fresh.drawn == 2
        assert "kl-refused" not in fresh.html
        assert control.get("data-next") in (None, *keys)


def test_a_key_is_never_markup():
    """A key called like a tag is shown as text: in the page, the notice and the picture."""
    explorer = explorer_of(HOSTILE)
    explorer.set_partitions(7)
    send(explorer, action="remove_key", key="<script>")
    page = Controls(explorer.html)
    assert not page.tags & {"img", "script"}
    assert "<img src=x onerror=alert(1)>" in page.text
    assert "\\u202ekey" in page.text
    assert "\u202e" not in explorer.html + explorer.picture() + explorer.as_text()
    assert not Controls(explorer.picture()).tags & {"img", "script"}
    assert re.fullmatch(r"<img [^<>]*>", explorer._repr_mimebundle_()[0]["text/html"])


def test_the_largest_picture():
    """Sixty keys on 24 partitions are three bands, and the page stays small."""
    explorer = explorer_of([f"user-{n}" for n in range(60)], partitions=24)
    assert explorer.picture().count(">partition ") == 24
    assert len(explorer.html) < 60_000


WHOLE_STORY = """
from kafkalearn.views.explorers.partitioner_explorer import PartitionerExplorer
from kafkalearn.producer.placement import hash_of, placements
explorer = PartitionerExplorer(placements(), keys=["a", "b", None, None], hash_of=hash_of)
explorer.set_partitions(7)
explorer.choose("sticky (2.4)")
print(explorer, explorer.as_text(), explorer.picture(), explorer.html)
"""


def test_the_same_changes_give_the_same_text_and_picture_everywhere():
    """Two fresh processes with other hash seeds write the same bytes."""
    one, other = (run(WHOLE_STORY, PYTHONHASHSEED=seed) for seed in ("1", "2"))
    assert b"The topic has 7" not in one
    assert b"PartitionerExplorer(sticky (2.4): 4 keys, 7 partitions)" in one
    assert one == other
