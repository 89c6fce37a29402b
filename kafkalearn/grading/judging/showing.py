"""Shows in a notebook what a failing check found: the picture of a case, or the story of a run."""

import sys
from io import StringIO

from kafkalearn.grading.judging.cases import Shown, Story

STORY_PANES = ("messages", "logs")  # what a loop is judged by, and no more than a screen holds


def show(shown: Shown) -> None:
    """Display picture and story; nothing outside of IPython, or where the views are missing."""
    if "IPython" not in sys.modules:
        return
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        return
    if shown.picture:
        display(_with_styles(shown.picture), raw=True)  # type: ignore[no-untyped-call]
    if shown.story:
        try:
            stepper = _stepper(shown.story)
        except ImportError:  # ipywidgets or anywidget; the verdict's words tell the story too
            return
        print(shown.story.caption)
        display(stepper)  # type: ignore[no-untyped-call]


def _with_styles(picture: str) -> dict[str, str]:
    from kafkalearn.views.assets import joined

    html = f"<style>{joined('look.css')}</style>{picture}"
    return {"text/plain": "(a picture of this case)", "text/html": html}


def _stepper(story: Story) -> object:
    """Open the story at its step; of a long one, what is around that."""
    from kafkalearn.trace import Trace
    from kafkalearn.views.stepper import Stepper
    from kafkalearn.views.story import MAX_EVENTS

    trace = Trace.from_jsonl(StringIO(story.jsonl))
    start = max(0, min(story.step - MAX_EVENTS // 2, len(trace) - MAX_EVENTS))
    stepper = Stepper(trace, panes=STORY_PANES, events=range(start, start + MAX_EVENTS))
    stepper.go_to(story.step - start)
    return stepper
