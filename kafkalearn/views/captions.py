"""One sentence for an event, in the learner's words, and what follows from it.

`trace.describe` says what happened; a clause of the tables here says what comes of it. A clause
holds for every profile: where releases differ, it says no more than they have in common. Of a
refused commit `decision` tells what follows.

Source: AbstractCoordinator: Join-, Sync-, HeartbeatResponseHandler; Fetcher.parseCompletedFetch;
Sender.completeBatch; GroupCoordinator.prepareRebalance, onCompleteJoin (1.0.2, 2.4.0).
"""

from html import escape

from kafkalearn.trace import Event, describe
from kafkalearn.trace.kind import SYNC_STATES
from kafkalearn.trace.text import one_line
from kafkalearn.views.decision.commit_checks import rules_of
from kafkalearn.views.decision.commit_consequence import consequence
from kafkalearn.views.fold import partitions, text, texts
from kafkalearn.views.language import Say

_STATE_ONLY = ("from", "to", "reason")  # of a group; its members have a pane of their own

Clause = tuple[str, str]  # English, Chinese; {} is the client
_JOINS_AS_NEW: Clause = (
    "The group knows no such member: {} joins as a new one",
    "消费组没有这个成员：{} 将作为新成员加入",
)
_JOINS_AGAIN: Clause = ("{} has to join again", "{} 必须重新加入")
_LOOKS: Clause = ("{} looks for the coordinator again", "{} 重新查找 GroupCoordinator")
_FENCED: Clause = (
    "Another consumer has the same group.instance.id: {} cannot go on",
    "另一个消费者使用相同的 group.instance.id：{} 无法继续",
)
_LEADER: Clause = ("{} has to find the leader first", "{} 须先找到 leader")
_ANSWERED: dict[tuple[str, str], Clause] = {
    ("Heartbeat", "REBALANCE_IN_PROGRESS"): (
        "The group rebalances: at its next poll {} joins again, and with an eager assignor gives "
        "up its partitions first",
        "消费组正在重平衡：{} 在下一次 poll 时重新加入；若分配策略是 eager，会先放弃分区",
    ),
    ("Heartbeat", "UNKNOWN_MEMBER_ID"): _JOINS_AS_NEW,
    ("Heartbeat", "ILLEGAL_GENERATION"): (
        "The group has a newer generation, without {}, which has to join again",
        "消费组已进入更新的 generation，{} 不在其中，必须重新加入",
    ),
    ("Heartbeat", "FENCED_INSTANCE_ID"): _FENCED,
    ("Heartbeat", "NOT_COORDINATOR"): _LOOKS,
    ("Heartbeat", "COORDINATOR_NOT_AVAILABLE"): _LOOKS,
    ("JoinGroup", "NONE"): (
        "The join phase is over for {}; by SyncGroup it asks for its partitions",
        "{} 的加入阶段结束；接着用 SyncGroup 获取分区",
    ),
    ("JoinGroup", "MEMBER_ID_REQUIRED"): (
        "{} joins once more, with the id that it was given",
        "{} 用得到的 id 再次加入",
    ),
    ("JoinGroup", "UNKNOWN_MEMBER_ID"): _JOINS_AS_NEW,
    ("JoinGroup", "INCONSISTENT_GROUP_PROTOCOL"): (
        "The group shares no assignor, or no kind of protocol, with {} and goes on without it",
        "消费组与 {} 没有共同的分配策略或协议类型，照常运行",
    ),
    ("JoinGroup", "GROUP_MAX_SIZE_REACHED"): (
        "The group has as many members as group.max.size allows: the poll of {} raises",
        "消费组成员数已达 group.max.size：{} 的 poll 抛出异常",
    ),
    ("JoinGroup", "FENCED_INSTANCE_ID"): _FENCED,
    ("JoinGroup", "NOT_COORDINATOR"): _LOOKS,
    ("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS"): (
        "The coordinator still reads the group from its log; {} asks again soon",
        "GroupCoordinator 仍在从日志加载消费组；{} 稍后再问",
    ),
    ("SyncGroup", "REBALANCE_IN_PROGRESS"): (
        "The group rebalances again before its partitions were handed out; {} joins again",
        "分区尚未分发，消费组又开始重平衡；{} 重新加入",
    ),
    ("SyncGroup", "UNKNOWN_MEMBER_ID"): _JOINS_AGAIN,
    ("SyncGroup", "ILLEGAL_GENERATION"): _JOINS_AGAIN,
    ("SyncGroup", "FENCED_INSTANCE_ID"): _FENCED,
    ("SyncGroup", "NOT_COORDINATOR"): _LOOKS,
    ("Fetch", "OFFSET_OUT_OF_RANGE"): (
        "The log has no such offset: auto.offset.reset says where {} goes on, or that poll raises",
        "日志中没有这个 offset：由 auto.offset.reset 决定 {} 从哪里继续，或者让 poll 抛出异常",
    ),
    ("Fetch", "NOT_LEADER_OR_FOLLOWER"): _LEADER,
    ("Produce", "NOT_LEADER_OR_FOLLOWER"): _LEADER,
}
_HAPPENED: dict[tuple[str, str | None], Clause] = {
    ("group_state", "PreparingRebalance"): (
        "Members that have not joined yet hear of it only by their next heartbeat",
        "尚未加入的成员要到下一次心跳才会得知",
    ),
    **dict.fromkeys(
        (("group_state", each) for each in SYNC_STATES),
        (
            "The leader works out who gets what, and sends it with SyncGroup",
            "leader 计算分配方案，并用 SyncGroup 发送",
        ),
    ),
    ("group_state", "Stable"): (
        "Every member can learn its partitions now",
        "各成员现在可以得知自己的分区",
    ),
    ("member_removed", None): (
        "What it owned is free for the next assignment",
        "它拥有的分区留待下一次分配",
    ),
    ("assigned", None): (
        "Where to begin: at the committed offsets, or where auto.offset.reset says",
        "从哪里开始：已提交的 offset，或由 auto.offset.reset 决定",
    ),
    ("records_returned", None): (
        "The position is past them now, whether they are processed or not",
        "position 已越过它们，无论是否处理完",
    ),
    ("processed", None): (
        "Unless an offset past it is committed, a crash delivers it again",
        "除非已提交更大的 offset，否则崩溃会使它被再次投递",
    ),
    ("offset_stored", None): (
        "Whoever gets this partition next begins there",
        "下一个得到此分区的成员从那里开始",
    ),
    ("offset_expired", None): (
        "Whoever gets this partition next begins where auto.offset.reset says",
        "下一个得到此分区的成员从 auto.offset.reset 决定的位置开始",
    ),
    ("retention", None): (
        "Who asks for an earlier offset gets OFFSET_OUT_OF_RANGE",
        "请求更早 offset 的消费者会得到 OFFSET_OUT_OF_RANGE",
    ),
    ("fault", "crash"): (
        "No goodbye is sent: a member's coordinator notices only when its session ends",
        "没有告别：若它是成员，GroupCoordinator 要到会话超时才会发现",
    ),
    ("fault", "freeze"): (
        "Until then it sends and answers nothing; if it is a member, no heartbeats either",
        "在此期间它不发送也不应答；若它是成员，也没有心跳",
    ),
}


def caption(event: Event, lang: str = "en") -> str:
    """Say it as plain text; lang: ``en`` or ``zh``."""
    return "".join(text for text, _ in parts(event, lang))


def caption_html(event: Event, lang: str = "en") -> str:
    """Say it as HTML: who acts and the name of an error are bold."""
    return "".join(
        f"<b>{escape(text, quote=False)}</b>" if strong else escape(text, quote=False)
        for text, strong in parts(event, lang)
    )


def parts(event: Event, lang: str = "en") -> list[tuple[str, bool]]:
    """Give the pieces of the sentence, and whether each is to be stressed."""
    sentence = describe(_in_short(event), lang, pair=False)
    node, error = one_line(event.node), event.failure
    pieces = [(node, True)]
    rest = sentence.removeprefix(node)
    if error is not None and one_line(error) in rest:
        before, stressed, rest = rest.rpartition(one_line(error))
        pieces += [(before, False), (stressed, True)]
    if said := _follows(event, lang):
        rest += f"。{said}。" if lang == "zh" else f". {said}."
    return [piece for piece in [*pieces, (rest, False)] if piece[0]]


def _in_short(event: Event) -> Event:
    """Leave out what other panes show, and that there is no error."""
    if event.kind == "group_state":
        known = event.detail or {}
        return event._replace(detail={key: known[key] for key in _STATE_ONLY if key in known})
    return event._replace(error=event.failure)


def _follows(event: Event, lang: str) -> str:
    is_answer, error = event.kind in ("respond", "response"), event.failure
    client = (event.peer or "?") if event.kind == "respond" else event.node
    if is_answer and event.api == "OffsetCommit" and error:
        rules, is_from_assign = rules_of(event.run_id), (event.generation or 0) < 0
        told = consequence(client, error, is_from_assign=is_from_assign, rules=rules)
        say = Say(lang)
        return say("; ").join(say(*each) for each in told)
    clause = _clause(event)
    return clause[lang == "zh"].format(one_line(client)) if clause else ""


def _clause(event: Event) -> Clause | None:
    if event.kind in ("respond", "response"):
        return _ANSWERED.get((event.api or "", event.error or "NONE"))
    if event.kind == "assigned" and not partitions(event):
        return None
    to = text(event, "to") if event.kind == "group_state" else text(event, "fault")
    everybody = set(texts(event, "members")) <= set(texts(event, "waiting_join"))
    if to == "PreparingRebalance" and everybody:
        return None
    return _HAPPENED.get((event.kind, to))
