"""Run seeds alone: ``.venv/bin/python -m tests.whole_groups 17`` tells what it broke."""

import sys

from tests.whole_groups.outcome import outcome_of
from tests.whole_groups.plan import plan_of

for seed in sys.argv[1:]:
    print(outcome_of(plan_of(int(seed))) or f"{seed}: all promises were kept")
