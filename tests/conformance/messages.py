"""Between the recordings' fields and our requests and responses."""

from collections.abc import Callable
from typing import Any

from kafkalearn.protocol.group import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
)
from kafkalearn.protocol.group_admin import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)
from kafkalearn.protocol.message import Request, Response
from kafkalearn.protocol.offsets import OffsetCommitRequest, OffsetFetchRequest
from kafkalearn.records import OffsetAndMetadata, TopicPartition

Step = dict[str, Any]
IdOf = Callable[[str], str]


def request_of(step: Step, group_id: str, id_of: IdOf) -> Request:
    """Make the request that a step tells of."""
    group_id = step.get("group_id", group_id)
    member: Step = {"group_id": group_id, "group_instance_id": step.get("instance")}
    if isinstance(step.get("member"), str):
        member["member_id"] = id_of(step["member"])
    if "generation" in step:
        member["generation_id"] = step["generation"]
    match step["request"]:
        case "JoinGroup":
            return JoinGroupRequest(
                **member,
                protocol_type=step.get("protocol_type", "consumer"),
                protocols=tuple(JoinGroupRequestProtocol(*each) for each in step["protocols"]),
                session_timeout_ms=step["session_timeout_ms"],
                rebalance_timeout_ms=step["rebalance_timeout_ms"],
                client_id=step["client"],
            )
        case "SyncGroup":
            return SyncGroupRequest(
                **member,
                assignments={id_of(who): text for who, text in step["assignments"].items()},
                protocol_type=step.get("protocol_type"),
                protocol_name=step.get("protocol"),
            )
        case "Heartbeat":
            return HeartbeatRequest(**member)
        case "LeaveGroup":
            pairs = [(each, None) if isinstance(each, str) else each for each in step["members"]]
            members = tuple(MemberIdentity(id_of(who), instance) for who, instance in pairs)
            return LeaveGroupRequest(group_id=group_id, members=members)
        case "OffsetCommit":
            offsets = {TopicPartition(t, p): _committed(*rest) for t, p, *rest in step["offsets"]}
            return OffsetCommitRequest(**member, offsets=offsets)
        case "OffsetFetch":
            asked = step["partitions"]
            partitions = None if asked is None else tuple(TopicPartition(*each) for each in asked)
            return OffsetFetchRequest(group_id=group_id, partitions=partitions)
        case "DescribeGroups":
            return DescribeGroupsRequest(groups=(group_id,))
        case "ListGroups":
            return ListGroupsRequest(states_filter=tuple(step.get("states", ())))
        case "DeleteGroups":
            return DeleteGroupsRequest(groups_names=(group_id,))
        case other:
            raise ValueError(f"a step asks for {other!r}, which nobody plays")


def _committed(offset: int, metadata: str | int = "") -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, "x" * metadata if isinstance(metadata, int) else metadata)


def answer_of(response: Response | None, step: Step, symbols: dict[str, str]) -> Step:
    """Tell a response as the recordings do, with symbols for ids."""
    if response is None:
        return {}
    answer: Step = {"error": response.error_code.name}
    answer |= _ANSWERS.get(step["request"], lambda *_: {})(response, step, symbols)
    return answer


def _join(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    return {
        "member_id": symbols.get(response.member_id, response.member_id),
        "generation": response.generation_id,
        "protocol": response.protocol_name,
        "leader": symbols.get(response.leader, response.leader),
        "is_leader": response.leader == response.member_id,
        "members": sorted(
            [symbols.get(each.member_id, "?"), each.group_instance_id, each.metadata]
            for each in response.members
        )
        or None,
        "skip_assignment": response.skip_assignment or None,
    }


def _sync(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    return {"assignment": response.assignment, "protocol": response.protocol_name}


def _leave(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    return {"member_errors": [each.error_code.name for each in response.members]}


def _commit(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    errors = set(response.partitions.values())
    return {
        "error": errors.pop().name if len(errors) == 1 else "MIXED",
        "partitions": [[*tp, error.name] for tp, error in response.partitions.items()],
    }


def _fetch(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    return {
        "offsets": sorted(
            [*tp, got.offset, *([got.metadata] if got.metadata else [])]
            for tp, got in response.partitions.items()
        )
    }


def _describe(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    [group] = response.groups
    return {
        "error": group.error_code.name,
        "state": group.group_state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol_data,
        "members": sorted(
            [
                symbols.get(each.member_id, "?"),
                each.group_instance_id,
                each.member_metadata,
                each.member_assignment,
            ]
            for each in group.members
        ),
    }


def _list(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    return {
        "groups": sorted(
            [each.group_id, each.protocol_type, *([each.group_state] if each.group_state else [])]
            for each in response.groups
        )
    }


def _delete(response: Any, step: Step, symbols: dict[str, str]) -> Step:
    [error] = response.results.values()
    return {"error": error.name}


_ANSWERS: dict[str, Callable[[Any, Step, dict[str, str]], Step]] = {
    "JoinGroup": _join,
    "SyncGroup": _sync,
    "LeaveGroup": _leave,
    "OffsetCommit": _commit,
    "OffsetFetch": _fetch,
    "DescribeGroups": _describe,
    "ListGroups": _list,
    "DeleteGroups": _delete,
}
