"""What a report says of commits that were refused: of whom, why, and what comes again."""

from collections.abc import Iterable
from typing import Any

from kafkalearn.spark.report_ends import how_often, said

Row = dict[str, Any]
_OUTSIDE = "UNKNOWN_MEMBER_ID"
_EVICTED = (_OUTSIDE, "ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS")


def refused_commits(failed: list[Row], ends: list[Row]) -> Iterable[Row]:
    """Commits that were refused, of consumers in the group and of those that were out of it."""
    late = [row for row in _once(failed) if row["outcome"] in _EVICTED]
    out = [row for row in late if _is_outside(row, ends)]
    inside = [row for row in late if row not in out]
    if out:
        yield said(
            _refused(out, "the consumer was no member any more"),
            "commit after fewer records",
            why=(
                "Who is out of the group cannot commit, not even in a callback: only what it "
                "committed before is not read again. What keeps it a member helps more."
            ),
        )
    if inside:
        yield said(
            _refused(inside, "the group rebalanced"),
            "commit in on_partitions_revoked, and after fewer records",
            why="What is committed before the partitions are given up is not read again.",
        )


def _once(failed: list[Row]) -> list[Row]:
    """Leave out what tells again, without a partition, of a refusal told just before."""
    told = {(row["node"], row["outcome"], row["time_ms"] // 100) for row in failed if row["topic"]}
    return [
        row
        for row in failed
        if row["topic"] or (row["node"], row["outcome"], row["time_ms"] // 100) not in told
    ]


def _is_outside(row: Row, ends: list[Row]) -> bool:
    """Whether a commit is of a member that was gone, and not back yet."""
    ms = row["time_ms"]
    own = (end for end in ends if row["member_id"] and end["member_id"] == row["member_id"])
    gone = (end["left_ms"] <= ms <= (end["back_ms"] or ms) for end in own)
    return row["outcome"] == _OUTSIDE or any(gone)


def _refused(rows: list[Row], why: str) -> str:
    """Say which commits were refused, and how many records they were of, as far as is known."""
    names = ", ".join(sorted({row["outcome"] for row in rows}))
    told = f"{how_often(rows)} a commit was refused ({names}), since {why}."
    known = [row for row in rows if None not in (row["committed"], row["offset"])]
    if known:
        again = sum(max(0, row["offset"] - row["committed"]) for row in known)
        told += f" {again:,} records were to be read again."
    if count := len(rows) - len(known):
        told += f" For {count} of them the" if known else " The"
        told += " events do not tell how many records that were."
    return told
