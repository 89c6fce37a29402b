"""What is said of each kind of event and each request, in each language.

A sentence begins with the node that acted; a template is what follows. ``{name}`` is a column or a
key of the detail, ``{count:record}`` a number with its noun, ``{request}`` what was asked for.
``[…]`` is left out when a name in it is absent, false or empty; ``{?name}`` only asks for that.
"""

from typing import NamedTuple


class Wording(NamedTuple):
    """One language.

    other_request: for an api that `requests` does not know.
    pair: what follows a request, so that its answer can be found.
    terms: how words that the program itself puts into a detail are said.
    """

    kinds: dict[str, str]
    requests: dict[str, str]
    other_request: str
    pair: str
    terms: dict[str, str]
    separator: str
    more: str
    nothing: str


ENGLISH = Wording(
    kinds={
        "send": "asks {peer} {request}",
        "receive": "is asked by {peer} {request}",
        "respond": "answers {peer}, which asked {request}[: {error}]",
        "response": "hears from {peer}, which it asked {request}[: {error}]",
        "dropped": "never gets[ the {message}] from {peer}[ ({reason})]: asked {request}",
        "disconnected": "loses its connection to {peer}[: {reason}]",
        "poll": "polls[, waiting up to {timeout_ms} ms][: {step}]",
        "records_returned": "gets {count:record} of {topic}-{partition} from offset {offset} on",
        "processed": "has processed offset {offset} of {topic}-{partition}[ into {sink}]",
        "position": "will read {topic}-{partition} from offset {offset} on"
        "[{?paused}, but it is paused][: {reason}]",
        "commit": "commits offset {offset} of {topic}-{partition}[ ({mode})]"
        "[ in group {group_id}][, generation {generation}][, which fails: {error}]",
        "logged": "logs: {message}",
        "client_state": "goes[ from {from}] to {to}[ in group {group_id}]"
        "[, generation {generation}][: {reason}]",
        "assigned": "is given {partitions}[ in group {group_id}][, generation {generation}]",
        "revoked": "gives up {partitions}[ in group {group_id}][, generation {generation}]"
        "[{?lost}, perhaps another's by now][: {reason}]",
        "group_state": "moves group {group_id}[ from {from}] to {to}[, generation {generation}]"
        "[: {reason}][; members {members}][; leader {leader}][; assignor {protocol}]"
        "[; waiting to join: {waiting_join}][; waiting to sync: {waiting_sync}]",
        "member_joined": "takes {member_id} into group {group_id}"
        "[ as static member {instance_id}][{?pending}, once it joins with this id]",
        "member_removed": "removes {member_id} from group {group_id}[: {reason}]",
        "offset_stored": "stores offset {offset} of {topic}-{partition} for group {group_id}"
        "[, noting {metadata}]",
        "offset_expired": "forgets group {group_id}'s offset of {topic}-{partition}"
        "[, which was {offset}][: {reason}]",
        "group_loaded": "loads group {group_id}[ from {topic}-{partition}]"
        "[, generation {generation}][, {to}][; members {members}]",
        "append": "appends {count:record} to {topic}-{partition} at offset {offset}",
        "retention": "keeps {topic}-{partition} from offset {offset} on only[: {reason}]",
        "leader_elected": "leads {topic}-{partition} from now on[, after {previous}]",
        "topic_changed": "hears that topic {topic} was {change}[: {count:partition}]",
        "fault": "meets a fault: {fault}[ of the {part} of {api}][ for {for_ms} ms][ by {by_ms} ms]"
        "[ with {peer}][: {error}]",
    },
    requests={
        "FindCoordinator": "for the coordinator[ of group {group_id}]",
        "JoinGroup": "to let it join[ group {group_id}]",
        "SyncGroup": "for its assignment[ in group {group_id}]",
        "Heartbeat": "whether it is still a member[ of group {group_id}]",
        "LeaveGroup": "to let it leave[ group {group_id}]",
        "OffsetCommit": "to store offsets[ of group {group_id}][: {offset} of {topic}-{partition}]",
        "OffsetFetch": "for the committed offsets[ of group {group_id}][: {topic}-{partition}]",
        "DescribeGroups": "to describe groups[: {group_id}]",
        "ListGroups": "which groups it coordinates",
        "DeleteGroups": "to delete groups[: {group_id}]",
        "Metadata": "which topics, partitions and leaders there are",
        "Fetch": "for records[ of {topic}-{partition} from offset {offset} on]",
        "ListOffsets": "which offsets belong to certain times[ in {topic}-{partition}]",
        "Produce": "to append records[ to {topic}-{partition}]",
        "CreateTopics": "to create topics",
        "DeleteTopics": "to delete topics",
        "CreatePartitions": "to add partitions",
    },
    other_request="something else",
    pair=" ({api}[, correlation {correlation_id}])",
    terms={"partitions_added": "extended", "cut_off": "cut off", "answer_with_error": "an error"},
    separator=", ",
    more=" and {} more",
    nothing="nothing",
)

CHINESE = Wording(
    kinds={
        "send": "向 {peer} 发送请求：{request}",
        "receive": "收到 {peer} 的请求：{request}",
        "respond": "答复 {peer} 的请求：{request}[：{error}]",
        "response": "收到 {peer} 的答复：{request}[：{error}]",
        "dropped": "未收到 {peer} 的[{message}]消息[（{reason}）]：{request}",
        "disconnected": "与 {peer} 的连接断开[：{reason}]",
        "poll": "调用 poll()[，最多等待 {timeout_ms} ms][：{step}]",
        "records_returned": "取得 {topic}-{partition} 的 {count} 条消息，从 offset {offset} 开始",
        "processed": "处理完 {topic}-{partition} 的 offset {offset}[，写入 {sink}]",
        "position": "将从 offset {offset} 开始读取 {topic}-{partition}"
        "[{?paused}，但已暂停][：{reason}]",
        "commit": "提交 {topic}-{partition} 的 offset {offset}[（{mode}）]"
        "[，消费组 {group_id}][，generation {generation}][，失败：{error}]",
        "logged": "记录日志：{message}",
        "client_state": "的状态[从 {from} ]变为 {to}[，消费组 {group_id}]"
        "[，generation {generation}][：{reason}]",
        "assigned": "分配到分区：{partitions}[，消费组 {group_id}][，generation {generation}]",
        "revoked": "放弃分区：{partitions}[，消费组 {group_id}][，generation {generation}]"
        "[{?lost}，可能已属于其他成员][：{reason}]",
        "group_state": "将消费组 {group_id} 的状态[从 {from} ]变为 {to}"
        "[，generation {generation}][：{reason}][；成员 {members}][；leader {leader}]"
        "[；分配策略 {protocol}][；等待加入组：{waiting_join}][；等待同步组：{waiting_sync}]",
        "member_joined": "将成员 {member_id} 加入消费组 {group_id}"
        "[，静态成员 {instance_id}][{?pending}，待它用此 id 加入]",
        "member_removed": "将成员 {member_id} 移出消费组 {group_id}[：{reason}]",
        "offset_stored": "为消费组 {group_id} 保存 {topic}-{partition} 的 offset {offset}"
        "[，附注 {metadata}]",
        "offset_expired": "删除消费组 {group_id} 在 {topic}-{partition} 的 offset[ {offset}]"
        "[：{reason}]",
        "group_loaded": "[从 {topic}-{partition} ]加载消费组 {group_id}"
        "[，generation {generation}][，{to}][；成员 {members}]",
        "append": "向 {topic}-{partition} 追加 {count} 条消息，从 offset {offset} 开始",
        "retention": "只保留 {topic}-{partition} 从 offset {offset} 开始的消息[：{reason}]",
        "leader_elected": "成为 {topic}-{partition} 的 leader[，接替 {previous}]",
        "topic_changed": "得知 topic {topic} {change}[：{count} 个分区]",
        "fault": "发生故障：{fault}[（{api} 的{part}）][，持续 {for_ms} ms][，推迟 {by_ms} ms]"
        "[，对方 {peer}][：{error}]",
    },
    requests={
        "FindCoordinator": "查找消费组[ {group_id} ]的 GroupCoordinator",
        "JoinGroup": "加入消费组[ {group_id}]",
        "SyncGroup": "同步组，获取在消费组[ {group_id} ]中的分区分配",
        "Heartbeat": "心跳，确认仍属于消费组[ {group_id}]",
        "LeaveGroup": "离开消费组[ {group_id}]",
        "OffsetCommit": "提交消费组[ {group_id} ]的 offset[：{topic}-{partition} 的 {offset}]",
        "OffsetFetch": "查询消费组[ {group_id} ]已提交的 offset[：{topic}-{partition}]",
        "DescribeGroups": "查询消费组[ {group_id} ]的详细信息",
        "ListGroups": "列出它管理的消费组",
        "DeleteGroups": "删除消费组[ {group_id}]",
        "Metadata": "获取 topic、分区和 leader 的元数据",
        "Fetch": "拉取[ {topic}-{partition} 从 offset {offset} 开始的]数据",
        "ListOffsets": "查询[ {topic}-{partition} ]某些时间对应的 offset",
        "Produce": "[向 {topic}-{partition} ]追加消息",
        "CreateTopics": "创建 topic",
        "DeleteTopics": "删除 topic",
        "CreatePartitions": "增加分区",
    },
    other_request="其他请求",
    pair="（{api}[，correlation {correlation_id}]）",
    terms={
        "request": "请求",
        "response": "答复",
        "sync": "同步",
        "async": "异步",
        "auto": "自动",
        "committed": "已提交",
        "consumed": "poll 已返回",
        "reset": "重置",
        "a rebalance": "重平衡",
        "the join phase ended": "加入阶段结束",
        "the leader assigned": "leader 已分配",
        "the coordinator moved": "GroupCoordinator 已迁移",
        "the consumer closes": "消费者关闭",
        "the consumer leaves": "消费者离开",
        "left": "已离开",
        "members left": "成员离开",
        "no sign of life within the session timeout": "会话超时内没有心跳",
        "nobody joined with it within the session timeout": "会话超时内无人用它加入",
        "did not join again within the rebalance timeout": "未在重平衡超时内重新加入",
        "did not sync within the rebalance timeout": "未在重平衡超时内同步",
        "the group is full": "消费组已满",
        "it was loaded with more members than group.max.size": "载入的成员多于 group.max.size",
        "expired": "已过期",
        "empty, without offsets": "为空，没有 offset",
        "topic deleted": "topic 已删除",
        "created": "已创建",
        "deleted": "已删除",
        "partitions_added": "已增加分区",
        "crash": "崩溃",
        "restart": "重启",
        "freeze": "停顿",
        "cut_off": "断开网络",
        "drop": "消息丢失",
        "delay": "消息延迟",
        "answer_with_error": "返回错误",
    },
    separator="、",
    more=" 等，另有 {} 项",
    nothing="无",
)

LANGUAGES: dict[str, Wording] = {"en": ENGLISH, "zh": CHINESE}
