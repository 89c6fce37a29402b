"""Random runs of whole groups: the second half of their seeds. See outcome.py for what is asked."""

import pytest

from tests.whole_groups.chunks import chunks, name_of
from tests.whole_groups.draw import plan_of
from tests.whole_groups.outcome import outcome_of


@pytest.mark.parametrize("seeds", chunks(1), ids=name_of)
def test_whole_groups_keep_their_promises(seeds):
    """Whatever members do and whatever fails, no run breaks a promise; else its story is told."""
    for seed in seeds:
        outcome = outcome_of(plan_of(seed))
        assert not outcome.breaches, str(outcome)
