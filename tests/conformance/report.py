"""How many recorded sequences of a file agree, what was skipped and why, and what differs.

A skip is decided by the fields of a sequence; steps before it still count.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkalearn.profile import KAFKA_0_10_1, KAFKA_1_0, KAFKA_2_3, KAFKA_2_4, KAFKA_4_0
from tests.conformance.player import first_difference

VECTORS = Path(__file__).parent / "vectors"
PROFILES = {
    "0.10.1.1": KAFKA_0_10_1,
    "1.0.2": KAFKA_1_0,
    "2.3.1": KAFKA_2_3,
    "2.4.0": KAFKA_2_4,
    "4.0": KAFKA_4_0,
}
Sequence = dict[str, Any]


@dataclass
class Report:
    """What came of one file."""

    name: str
    sequences: int = 0
    steps: int = 0
    skipped_whole: Counter[str] = field(default_factory=Counter)
    cut_short: Counter[str] = field(default_factory=Counter)
    differences: dict[str, str] = field(default_factory=dict)

    @property
    def compared(self) -> int:
        """How many sequences were played, at least in part."""
        return self.sequences - self.skipped_whole.total()

    def __str__(self) -> str:
        agree = self.compared - len(self.differences)
        lines = [
            f"{self.name}: {agree} of {self.compared} sequences agree, in {self.steps:,} steps; "
            f"{self.sequences} in the file"
        ]
        lines += [f"  {count} skipped: {why}" for why, count in self.skipped_whole.items()]
        lines += [f"  {count} cut short: {why}" for why, count in self.cut_short.items()]
        lines += [f"  differs: {name}: {what}" for name, what in self.differences.items()]
        return "\n".join(lines)


def skips(sequence: Sequence) -> Iterable[tuple[int, str]]:
    """Give the steps from which a sequence is not compared, with the reason."""
    if "quirk" in sequence:
        [step] = re.findall(r"from step (\d+)", sequence["quirk"])
        yield int(step), "quirk: the session timer of a member that is gone"
    for step in sequence["steps"]:
        if step["request"] == "OffsetDelete":
            yield step["step"], "OffsetDelete is not modelled"
        if step["request"] == "JoinGroup" and "version" in step:
            yield step["step"], "the old JoinGroup version"


def report_on(path: Path) -> Report:
    """Play every sequence of a file under its release's preset."""
    report = Report(path.name)
    for sequence in json.loads(path.read_text(encoding="utf-8")):
        report.sequences += 1
        last = sequence["steps"][-1]["step"]
        limit, why = min(skips(sequence), default=(last + 1, ""))
        if limit == 1:
            report.skipped_whole[why] += 1
            continue
        if why:
            report.cut_short[why] += 1
        report.steps += limit - 1
        profile = PROFILES[sequence["kafka"].split(" ")[0]]
        if difference := first_difference(sequence, profile, limit):
            report.differences[sequence["name"]] = difference
    return report
