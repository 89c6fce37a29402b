"""The seeds of `make test`, in chunks that workers share; `make soak` plays more.

Workers take whole files, so that there are two: one for each of two cores.
"""

SEEDS = range(1_000)
CHUNK = 25


def chunks(half: int) -> list[range]:
    """Give every other chunk of seeds, from the first or from the second on."""
    starts = range(half * CHUNK, len(SEEDS), 2 * CHUNK)
    return [SEEDS[start : start + CHUNK] for start in starts]


def name_of(seeds: range) -> str:
    """Name a chunk in the list of tests."""
    return f"{seeds.start}-{seeds.stop - 1}"
