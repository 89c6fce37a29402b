"""The one thing that matters about a partition's log: what is lost, at stake, or waits."""

from kafkalearn.views.language import Saying
from kafkalearn.views.logs.partition_log import PartitionLog
from kafkalearn.views.logs.spans import Spans, clip, size, told
from kafkalearn.views.wording import shown

Verdict = tuple[str, list[Saying]]
"""A tone, then a cause and perhaps its effect."""

_GONE = {"crashed": "{} crashed", "left": "{} left", "gave up": "{} gave it up"}


def judge(log: PartitionLog, lost: Spans) -> Verdict:
    """Choose what to say: what is lost first, then what would be, then what waits."""
    if lost:
        return "bad", _lost(log, lost)
    if log.refused is not None:
        node, offset, error = log.refused
        cause = "{}'s commit of {} was refused with {}", shown(node), offset, shown(error, 40)
        return "bad", [cause, _next_reader(log)]
    if log.forgotten is not None:
        return "bad", [("the committed offset {} was forgotten", log.forgotten), _next_reader(log)]
    if not log.readers:
        return _unread(log)
    if not any(each.position is not None for each in log.readers.values()):
        return "soft", [("{} must find where to begin", log.names([]))]
    return _at_stake(log) or _at_rest(log)


def _lost(log: PartitionLog, lost: Spans) -> list[Saying]:
    past = clip(lost, (log.begin, log.end))
    cause = "committed past {}, which nobody processed" if past else "{} deleted, never processed"
    one = size(past or lost) == 1
    return [(cause, told(past or lost)), ("it is lost" if one else "they are lost",)]


def _unread(log: PartitionLog) -> Verdict:
    if log.gone is None:
        if log.committed is None:
            return "soft", [("nobody reads it",)]
        return "soft", [("nobody reads it",), _next_reader(log)]
    node, why = log.gone
    return "bad" if why == "crashed" else "soft", [(_GONE[why], shown(node)), _next_reader(log)]


def _next_reader(log: PartitionLog) -> Saying:
    done, _ = log.uncommitted()
    if log.committed is None:
        return ("auto.offset.reset decides where the next reader begins",)
    if done:
        text = "the next reader begins at {} and processes {} once more"
        return (text, log.committed, told(done))
    return "the next reader begins at {}", log.committed


def _at_stake(log: PartitionLog) -> Verdict | None:
    if risk := log.passed():
        cause = "{} committed past {}, not processed yet", log.names(risk), told(risk)
        return "bad", [cause, ("a crash now loses {}", told(risk))]
    if repeated := log.repeated():
        before = "it was processed before" if size(repeated) == 1 else "they were processed before"
        return "bad", [("{} went back to {}", log.names(repeated), told(repeated)), (before,)]
    done, work = log.uncommitted()
    if done:
        cause = "{} processed {}, not committed yet", log.names(done), told(done)
        effect = "a crash now has {} processed again"
    elif work:
        cause = "{} returned {} to the application, not committed yet", log.names(work), told(work)
        effect = "a crash now delivers {} again"
    else:
        return None
    if log.committed is None:
        return "soft", [cause, ("after a crash now, auto.offset.reset decides what comes again",)]
    return "soft", [cause, (effect, told(done or work))]


def _at_rest(log: PartitionLog) -> Verdict:
    waiting = log.end - max(at for at, _ in log.positions())
    if waiting > 0:
        text = "{} record waits to be read" if waiting == 1 else "{} records wait to be read"
        return "wait", [(text, f"{waiting:,}")]
    if log.end == log.first:
        return "soft", [("no records yet",)]
    if log.committed is None:
        return "soft", [("all read, nothing committed",)]
    if log.twice:
        text = "all read and committed, {} processed more than once"
        return "bad", [(text, told(log.twice))]
    return "ok", [("all read and committed",)]
