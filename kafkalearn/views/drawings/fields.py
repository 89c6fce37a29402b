"""The fields of the request or answer that an event is about, as a table."""

from html import escape

from kafkalearn.trace import Trace
from kafkalearn.views import messages
from kafkalearn.views.language import Say
from kafkalearn.views.wording import tag


def fields_table(trace: Trace, window: range, *, say: Say) -> list[str]:
    """Draw for each event of the window what its message says, if it is one."""
    drawn = []
    none = tag("p", escape(say("this event is no message")), class_="kl-none")
    for told in messages.fields(trace, window):
        rows = "".join(tag("dt", escape(name)) + tag("dd", escape(value)) for name, value in told)
        drawn.append(tag("dl", rows, class_="kl-fields") if told else none)
    return drawn
