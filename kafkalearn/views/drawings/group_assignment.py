"""Draws who reads what as the assignment explorer's matrix does."""

from html import escape

from kafkalearn.views.drawings.matrix import strips
from kafkalearn.views.group_assignment import Frame, left_out
from kafkalearn.views.language import Say
from kafkalearn.views.wording import tag


def draw(frame: Frame, say: Say) -> list[str]:
    """Draw the matrix; nothing before somebody owned something."""
    if not frame["members"]:
        return [tag("p", say("nobody owns a partition yet"), class_="kl-none")]
    more = [tag("p", escape(line), class_="kl-none") for line in left_out(frame, say)]
    return [*strips(frame, say("owned now")), *more]
