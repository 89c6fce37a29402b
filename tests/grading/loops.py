"""Loops for tests, and the exercises whose answer is one."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafkalearn.errors import WakeupError
from kafkalearn.grading.answering.learner import answer_message
from kafkalearn.grading.exercise import Exercise, load
from kafkalearn.grading.judging.loop_story import LoopStory
from kafkalearn.grading.judging.story_run import StoryRun
from kafkalearn.trace import Trace

FOLDER = Path(__file__).parents[2] / "exercises"
EXERCISES = {
    name: load(FOLDER / name)
    for name in ("36_sync_and_async", "38_loss_and_duplicates", "39_rebalance_listener")
}
WRONG = sorted(path for name in EXERCISES for path in (FOLDER / name / "wrong").glob("*.ipynb"))
CALM = LoopStory("calm", (3, 2), config={"max_poll_records": 2})
Loop = Callable[..., Any]


def notebook(path: Path) -> dict[str, Any]:
    """A notebook as JSON."""
    book: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return book


def exercise_of(path: Path) -> Exercise:
    """The exercise that a notebook belongs to."""
    return EXERCISES[notebook(path)["metadata"]["kafkalearn"]["exercise"]]


def loop_of(path: Path) -> Loop:
    """The loop that a notebook's answer cell defines."""
    namespace: dict[str, Any] = {"__name__": "notebook"}
    for cell in notebook(path)["cells"]:
        if cell["id"] in ("example", "answer"):
            exec("".join(cell["source"]), namespace)
    loop: Loop = namespace["loop"]
    return loop


def asker(loop: Loop) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Ask this loop in this process, as the judge asks over its socket."""
    return lambda message: answer_message(loop, message)


def played(loop: Loop, story: LoopStory = CALM) -> Trace:
    """The trace of a story that this loop lives through."""
    run = StoryRun(story, asker(loop))
    run.play()
    return run.sim.trace


def at_least_once(consumer: Any, process: Any) -> None:
    """The plain loop, which knows when to stop."""
    consumer.subscribe(["orders"])
    try:
        while True:
            for record in consumer.poll(100):
                process(record)
            consumer.commit_sync()
    except WakeupError:
        consumer.close()


def done(trace: Trace) -> list[tuple[str, int | None, int | None]]:
    """Who processed what, in order."""
    return [(each.node, each.partition, each.offset) for each in trace.where(kind="processed")]
