"""The exercises 11, 25, 32 and 37 for tests: their judges, and the answers of their notebooks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafkalearn.grading.answering.learner import answer_message
from kafkalearn.grading.exercise import load
from kafkalearn.grading.judging.judge import Verdict, decide

EXERCISES = Path(__file__).parents[2] / "exercises"
FUNCTIONS = {
    "11_partition": "choose_partition",
    "25_rebalance_triggers": "causes",
    "32_pattern": "follow_pattern",
    "37_commit_judged": "judge_commit",
}
PARTITION, TRIGGERS, PATTERN, COMMIT = FUNCTIONS
LOADED = {name: load(EXERCISES / name) for name in FUNCTIONS}


def book(path: Path) -> dict[str, Any]:
    """Read a notebook."""
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def answer_of(path: Path) -> Callable[..., Any]:
    """Give the function that a notebook's answer cell defines."""
    found = book(path)
    namespace: dict[str, Any] = {}
    for cell in found["cells"]:
        if cell["id"] in ("example", "answer"):
            exec("".join(cell["source"]), namespace)
    answer: Callable[..., Any] = namespace[FUNCTIONS[found["metadata"]["kafkalearn"]["exercise"]]]
    return answer


def verdict(name: str, check: str, answer: Callable[..., Any], *, seed: int = 0) -> Verdict:
    """Ask this answer in this process, as the judge asks over its socket."""
    return decide(
        LOADED[name], check, seed=seed, ask=lambda message: answer_message(answer, message)
    )


def passed(name: str, answer: Callable[..., Any], *, seed: int) -> list[str]:
    """List the checks that an answer passes."""
    names = [each.name for each in LOADED[name].checks]
    return [each for each in names if verdict(name, each, answer, seed=seed).passed]
