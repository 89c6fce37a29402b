"""The one sentence for an event, in both languages."""

import pkgutil
import re
from importlib import import_module

import pytest
from hypothesis import given

from kafkalearn import protocol
from kafkalearn.protocol.message import Request
from kafkalearn.trace import COLUMNS, KINDS, LANGUAGES, Event, Trace, TraceError, describe
from kafkalearn.trace.describe import _FIELD
from tests.trace.traces import story, traces

for _, module, _ in pkgutil.iter_modules(protocol.__path__):
    import_module(f"{protocol.__name__}.{module}")
OURS = [each for each in Request.__subclasses__() if each.__module__.startswith(protocol.__name__)]
APIS = [request.api for request in OURS]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_kind_and_every_request_has_words(lang):
    """A kind or an api that one language lacks would be a hole in a story."""
    assert set(LANGUAGES[lang].kinds) == set(KINDS)
    assert set(LANGUAGES[lang].requests) == set(APIS)


def test_both_languages_tell_the_same():
    """A template names what the kind carries, and in each language the same."""
    for kind, carries in KINDS.items():
        told = [{match[1] for match in _FIELD.findall(words.kinds[kind])} for words in (
            LANGUAGES["en"], LANGUAGES["zh"])]  # fmt: skip
        assert told[0] == told[1], kind
        assert told[0] <= {*carries.columns, *carries.detail, "request"}, kind


def test_the_table_of_kinds_names_columns():
    """What a kind is said to carry are columns of a trace, and no detail hides behind one."""
    for kind, carries in KINDS.items():
        assert set(carries.columns) <= set(COLUMNS), kind
        assert not set(carries.detail) & set(COLUMNS), kind


@pytest.mark.parametrize("api", [*APIS, "ApiVersions", None])
def test_a_request_is_told_whatever_it_asks(api):
    """No bracket, brace or unknown remains, whether the group is known or not."""
    for lang in LANGUAGES:
        for group_id in ("billing", None):
            event = Event("run", 0, 0, "c1", "send", api=api, peer="broker-0", group_id=group_id)
            sentence = describe(event, lang)
            assert not re.search(r"[\[\]{}]", sentence)
            assert sentence.count("?") == (api is None)


SENTENCES = {
    "heartbeat": (
        Event("r", 0, 0, "broker-0", "respond", "Heartbeat", "c1", 9, "billing", "c1-8a", 3,
              error="REBALANCE_IN_PROGRESS"),
        "broker-0 answers c1, which asked whether it is still a member of group billing "
        "(Heartbeat, correlation 9): REBALANCE_IN_PROGRESS",
        "broker-0 答复 c1 的请求：心跳，确认仍属于消费组 billing（Heartbeat，correlation 9）"
        "：REBALANCE_IN_PROGRESS",
    ),
    "one record": (
        Event("r", 0, 0, "broker-0", "append", topic="orders", partition=1, offset=7,
              detail={"count": 1}),
        "broker-0 appends 1 record to orders-1 at offset 7",
        "broker-0 向 orders-1 追加 1 条消息，从 offset 7 开始",
    ),
    "several records": (
        Event("r", 0, 0, "c1", "records_returned", topic="orders", partition=0, offset=0,
              detail={"count": 12}),
        "c1 gets 12 records of orders-0 from offset 0 on",
        "c1 取得 orders-0 的 12 条消息，从 offset 0 开始",
    ),
    "nothing": (
        Event("r", 0, 0, "c3", "assigned", group_id="g", generation=2, detail={"partitions": {}}),
        "c3 is given nothing in group g, generation 2",
        "c3 分配到分区：无，消费组 g，generation 2",
    ),
    "many": (
        Event("r", 0, 0, "c3", "revoked", detail={"partitions": {"a": [*range(9)]}, "lost": True}),
        "c3 gives up a-0, a-1, a-2, a-3, a-4, a-5 and 3 more, perhaps another's by now",
        "c3 放弃分区：a-0、a-1、a-2、a-3、a-4、a-5 等，另有 3 项，可能已属于其他成员",
    ),
    "who waits": (
        Event("r", 0, 0, "broker-0", "group_state", group_id="g", generation=0, detail={
            "from": "Empty", "to": "PreparingRebalance", "leader": None, "members": ["m1", "m2"],
            "waiting_join": ["m1"], "waiting_sync": []}),
        "broker-0 moves group g from Empty to PreparingRebalance, generation 0; members m1, m2; "
        "waiting to join: m1",
        "broker-0 将消费组 g 的状态从 Empty 变为 PreparingRebalance，generation 0；成员 m1、m2"
        "；等待加入组：m1",
    ),
    "pending": (
        Event("r", 0, 0, "b", "member_joined", group_id="g", member_id="m1",
              detail={"instance_id": None, "pending": True}),
        "b takes m1 into group g, once it joins with this id",
        "b 将成员 m1 加入消费组 g，待它用此 id 加入",
    ),
    "a fault": (
        Event("r", 0, 0, "c1", "fault", detail={"fault": "freeze", "for_ms": 0}),
        "c1 meets a fault: freeze for 0 ms",
        "c1 发生故障：停顿，持续 0 ms",
    ),
    "lost": (
        Event("r", 0, 0, "c1", "dropped", "Fetch", "broker-0", 2,
              detail={"message": "response", "reason": "cut off"}),
        "c1 never gets the response from broker-0 (cut off): asked for records "
        "(Fetch, correlation 2)",
        "c1 未收到 broker-0 的答复消息（cut off）：拉取数据（Fetch，correlation 2）",
    ),
    "imported, little known": (
        Event("r", 0, 0, "c1", "commit"),
        "c1 commits offset ? of ?-?",
        "c1 提交 ?-? 的 offset ?",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("event", "english", "chinese"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_sentence_says_what_happened(event, english, chinese):
    """What is absent is left out, a zero is not absent, and long lists are cut."""
    assert describe(event) == english
    assert describe(event, "zh") == chinese


@given(traces())
def test_any_event_is_one_line(trace):
    """Whatever names and details hold, a sentence is one line that can be printed."""
    for event in trace:
        for lang in LANGUAGES:
            assert describe(event, lang).isprintable()


def test_a_name_is_never_taken_for_a_template():
    """Braces and brackets in a name are text."""
    event = Event("r", 0, 0, "{node}", "leader_elected", topic="[{topic}]", partition=0)
    assert describe(event) == "{node} leads [{topic}]-0 from now on"


def test_an_unknown_language_or_kind_is_refused():
    """The message names the wrong value and what is allowed."""
    with pytest.raises(TraceError, match="there are no sentences in 'de': en, zh are allowed"):
        describe(story()[0], "de")
    with pytest.raises(TraceError, match="no sentences in 'de'"):
        story().text("de")
    with pytest.raises(TraceError, match="'sned' is no kind of event"):
        describe(Event("r", 0, 0, "c1", "sned"))


def test_words_of_the_program_are_translated_and_names_are_not():
    """A topic may be called like a change that happens to topics."""
    trace = Trace("run")
    trace.record("topic_changed", 0, "b", topic="created", detail={"change": "created", "count": 1})
    assert trace.text("zh").endswith("得知 topic created 已创建：1 个分区")
    assert trace.text("en").endswith("hears that topic created was created: 1 partition")
