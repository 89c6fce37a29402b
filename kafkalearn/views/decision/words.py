"""What is said of a commit that was judged: heading, verdict, checks, what follows."""

from kafkalearn.views.decision.model import OUTCOMES, Frame
from kafkalearn.views.language import Say
from kafkalearn.views.wording import shown


def title(frame: Frame, say: Say) -> str:
    """Give the heading: whose commit this is."""
    if frame["judged_ms"] is None:
        return say("Decision")
    client, group = shown(frame["client"]), shown(frame["group_id"])
    return say("Decision · {}'s commit in group {}", client, group)


def verdict(frame: Frame, say: Say) -> str:
    """Say how it was judged."""
    if frame["judged_ms"] is None:
        return say("no commit has reached a coordinator yet")
    if not frame["answered"]:
        return say("{} is judging it", shown(frame["broker"]))
    if frame["error"] is None:
        return say("stored")
    is_partly = frame["checks"][-1]["outcome"] == "stored"
    return say("stored in part: {}" if is_partly else "refused: {}", shown(frame["error"], 40))


def as_text(frame: Frame, say: Say) -> str:
    """Tell the checks in lines."""
    lines = [f"{title(frame, say)}: {verdict(frame, say)}"]
    for check in frame["checks"]:
        error = f" {shown(check['error'], 40)}" if check["outcome"] == "refused" else ""
        mark, outcome = OUTCOMES[check["outcome"]]
        said = f"{say(check['name'])} ({say(*check['compared'])})"
        lines.append(f"{mark} {said}: {say(outcome)}{error}")
    for name, offset, of in frame["partitions"]:
        lines.append(
            f"  {shown(name, 40)} {'?' if offset is None else offset}: {shown(of or 'NONE', 40)}"
        )
    if frame["more"]:
        lines.append("  " + say("and {} more partitions", frame["more"]))
    return "\n".join([*lines, *([then(frame, say)] if frame["follows"] else [])])


def then(frame: Frame, say: Say) -> str:
    """Say what the client does with the answer."""
    return say("; ").join(say(*saying) for saying in frame["follows"])
