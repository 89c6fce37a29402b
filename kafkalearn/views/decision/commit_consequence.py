"""What a client does with the answer to its OffsetCommit.

Source: ConsumerCoordinator: OffsetCommitResponseHandler, commitOffsetsSync, doCommitOffsetsAsync,
doAutoCommitOffsetsAsync (1.0.2; 2.4 and 2.5 where rules say so); who is fenced:
invokeCompletedOffsetCommitCallbacks (2.4.0).
"""

from kafkalearn.profile import KafkaProfile
from kafkalearn.views.decision.commit_checks import TOO_LARGE, UNKNOWN
from kafkalearn.views.language import Saying
from kafkalearn.views.wording import shown

_DONE = (("commit_sync returns",), ("commit_async's callback is called at a later poll",))
_LATER = (
    ("commit_sync tries again",),
    ("commit_async does not: its callback gets {}", "RetriableCommitFailedError"),
    ("an automatic commit tries again soon",),
)
_LOOKS_ANEW = ("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "REQUEST_TIMED_OUT")
_OUT_OF_THE_GROUP = ("UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS")
_RAISED = {TOO_LARGE: "OffsetMetadataTooLargeError", UNKNOWN: "KafkaError"}


def consequence(
    client: str, error: str | None, *, is_from_assign: bool, rules: KafkaProfile | None
) -> list[Saying]:
    """Say in parts what the client does with the answer, and what its application sees.

    is_from_assign: it has no generation. rules: None where the release is not known.
    """
    client = shown(client)
    if error is None:
        return [("{} notes what is committed", client), *_DONE]
    if error in _LOOKS_ANEW:
        return [("{} looks for the coordinator anew", client), *_LATER]
    if error == "COORDINATOR_LOAD_IN_PROGRESS":
        return [("{} goes on", client), *_LATER]
    if error == "FENCED_INSTANCE_ID":
        others = ("after any other commit the next poll raises it",)
        action = "another consumer has the group.instance.id of {}"
        return [(action, client), _raised("FencedInstanceIdError")[0], others]
    if error not in _OUT_OF_THE_GROUP:
        return [("{} goes on", client), *_raised(_RAISED.get(error, shown(error, 40)))]
    raised, action = "CommitFailedError", "{} forgets its generation and joins at its next poll"
    if is_from_assign:
        action = "{} uses assign(): it can commit only while the group is Empty"
    elif error == "REBALANCE_IN_PROGRESS" and rules is None:
        action, raised = "{} joins at its next poll", f"{raised} / RebalanceInProgressError (2.5)"
    elif error == "REBALANCE_IN_PROGRESS" and rules is not None:
        if rules.commit_keeps_generation:
            action = "{} keeps its generation and joins at its next poll"
        raised = "RebalanceInProgressError" if rules.commit_tells_rebalance else raised
    return [(action, client), *_raised(raised)]


def _raised(name: str) -> list[Saying]:
    return [
        ("commit_sync raises {}", name),
        ("commit_async's callback gets it",),
        ("an automatic commit only logs it",),
    ]
