"""`python -m tests.mutation`: which share of all mutants do the tests kill? See `--help`."""

import argparse
import hashlib
import os
from pathlib import Path

from tests.mutation import report
from tests.mutation.judging import Copy, Verdict, judge
from tests.mutation.mutants import PACKAGES, ROOT, Mutant, mutants
from tests.mutation.reach import Reach, measure

SCRATCH = ROOT / "build" / "mutation"
REPORT = ROOT / "build" / "mutation.md"
GOLDEN = ("tests/scenarios/test_golden.py", "tests/simulation/test_golden.py")
# Who judges a package: its own tests, and the whole system where that says much in little time.
JUDGES = {
    "assignors": ("tests/assignors",),
    "broker": ("tests/broker", "tests/conformance", *GOLDEN),
    "consumer": ("tests/consumer", "tests/simulation", *GOLDEN),
    # Whole solutions of loops take long, and tell nothing that their parts do not.
    # And a copy lies where git ignores everything.
    "grading": (
        *("tests/grading", "tests/exercises"),
        "--deselect=tests/grading/test_loops.py::test_the_solution",
        "--deselect=tests/grading/test_kit.py::test_learners_copies_are_not_part_of_the_repository",
    ),
}


def main() -> None:
    """Try each package's mutants, print the figures and write the survivors."""
    options = _options()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    copies = [Copy(SCRATCH / f"copy-{number}") for number in range(options.jobs)]
    text = f"# Mutants\n\nSample: {options.sample or 'all'}, seed {options.seed}\n\n```text\n"
    text += f"{report.HEAD}\n```\n"
    print(report.HEAD, flush=True)
    for package in options.packages or PACKAGES:
        count, chosen = mutants(package, size=options.sample, seed=options.seed)
        verdicts = _judged(chosen, _reach(package, copies[0]), copies)
        row = report.row(package, count, verdicts)
        print(row, *report.unknown(chosen if len(chosen) == count else []), sep="\n", flush=True)
        text = text.replace("\n```\n", f"\n{row}\n```\n", 1)
        text += f"\n## {package}: survivors\n\n{report.survivors(verdicts)}"
        REPORT.write_text(text, encoding="utf-8")


def _judged(chosen: list[Mutant], reach: Reach, copies: list[Copy]) -> list[Verdict]:
    """Judge quickly, and what lives thoroughly."""
    tests = {mutant: reach.tests(mutant) for mutant in chosen}
    verdicts, living = [], list[Mutant]()
    for round_, names in enumerate((chosen, living)):
        cases = ((mutant, tests[mutant][round_]) for mutant in names)
        timed = (
            (mutant, some, sum(map(reach.seconds.__getitem__, some))) for mutant, some in cases
        )
        for verdict in judge(timed, copies):
            if round_ == 0 and verdict.outcome == "survived" and tests[verdict.mutant][1]:
                living.append(verdict.mutant)
                continue
            verdicts.append(verdict)
            if verdict.outcome not in report.KILLED:
                print(f"{verdict.outcome}: {verdict.mutant.name}")
            print(f"{len(verdicts)} of {len(chosen)}", end="\r", flush=True)
    return verdicts


def _reach(package: str, copy: Copy) -> Reach:
    """Measure what a package's tests reach, or take what was measured on this very code."""
    path = SCRATCH / f"{package}-{_digest(copy.folder)}.json"
    if not path.exists():
        pid = copy.fork(lambda: measure(package, JUDGES[package], path))
        if os.waitpid(pid, 0)[1]:
            path.unlink(missing_ok=True)
            said = Path(f"{copy.folder}.txt").read_text(encoding="utf-8")
            raise SystemExit(f"{said}\nThe tests of {package} must pass before mutants are tried.")
    return Reach.load(path)


def _digest(folder: Path) -> str:
    files = sorted(
        path
        for part in ("kafkalearn", "tests")
        for path in (folder / part).rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "mutation" not in path.parts[-2:]
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=main.__doc__)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(PACKAGES)}; all by default")
    parser.add_argument("--sample", type=int, help="so many of each package, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of that chance")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="side by side")
    options = parser.parse_args()
    if unknown := set(options.packages) - set(PACKAGES):
        parser.error(f"no such package: {', '.join(sorted(unknown))}; there are {PACKAGES}")
    return options


if __name__ == "__main__":
    main()
