"""`make conformance`: how far the coordinator answers as Kafka's own did, file by file.

Another folder of files in the same form can be given: ``make conformance VECTORS=DIR``.
"""

import sys
from pathlib import Path

from tests.conformance.report import VECTORS, report_on


def main(folder: Path) -> int:
    """Print a report for each file; 1 if any sequence differs."""
    paths = sorted(folder.glob("coordinator*.json"))
    if not paths:
        print(f"{folder} holds no coordinator*.json", file=sys.stderr)
        return 2
    differ = 0
    for path in paths:
        report = report_on(path)
        differ += len(report.differences)
        print(report)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else VECTORS))
