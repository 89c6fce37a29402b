"""Draws who reads what as the assignment explorer's matrix does."""

from kafkalearn.views.assignment import Frame
from kafkalearn.views.drawings.matrix import panel
from kafkalearn.views.language import Say
from kafkalearn.views.wording import tag


def draw(frame: Frame, say: Say) -> list[str]:
    """Draw the matrix; nothing before somebody owned something."""
    if not frame["members"]:
        return [tag("p", say("nobody owns a partition yet"), class_="kl-none")]
    return [panel(frame, say("owned now"))]
