"""The seeds of `make test`, or of a longer run, in chunks that workers share.

Workers take whole files, so that there are two: one for each of two cores.
"""

import os

RUNS = int(os.environ.get("WHOLE_GROUPS_RUNS", "1000"))
FIRST_SEED = int(os.environ.get("WHOLE_GROUPS_FIRST_SEED", "0"))
CHUNK = 25


def chunks(half: int) -> list[range]:
    """Give every other chunk of seeds, from the first or from the second on."""
    last = FIRST_SEED + RUNS
    starts = range(FIRST_SEED + half * CHUNK, last, 2 * CHUNK)
    return [range(start, min(start + CHUNK, last)) for start in starts]


def name_of(seeds: range) -> str:
    """Name a chunk in the list of tests."""
    return f"{seeds.start}-{seeds.stop - 1}"
