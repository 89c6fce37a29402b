"""The mutants of a package, as mutmut makes them: each is one changed place in one function."""

import ast
import difflib
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("assignors", "broker", "consumer", "grading")


@dataclass(frozen=True)
class Mutant:
    """One change: `module` is a path from the project's root, `source` the whole changed module."""

    module: str
    function: str
    number: int  # among the module's mutants, from 1
    lines: tuple[int, int]  # of the statement, first and last
    before: str  # the changed lines, stripped
    after: str
    source: str

    @property
    def name(self) -> str:
        """What stands in reports and in the list of equivalent mutants."""
        return f"{self.module}:{self.lines[0]} {self.function} #{self.number}"

    def diff(self) -> str:
        """Show the change with two lines around it."""
        original = (ROOT / self.module).read_text(encoding="utf-8")
        lines = difflib.unified_diff(original.splitlines(), self.source.splitlines(), n=2)
        return "\n".join(list(lines)[2:])


def mutants(package: str, *, size: int | None, seed: int) -> tuple[int, list[Mutant]]:
    """Count a package's mutants, and make `size` of them, chosen by chance; all for None."""
    folder, found = ROOT / "kafkalearn" / package, []
    for path in sorted(folder.rglob("*.py")):
        tree, mutations = changes(path)
        found += [(path, tree, number, each) for number, each in enumerate(mutations, start=1)]
    count = len(found)
    if size is not None and size < count:
        chosen = random.Random(seed).sample(range(count), size)
        found = [found[index] for index in sorted(chosen)]
    return count, [_mutant(*each) for each in found]


def changes(path: Path) -> tuple[Any, list[Any]]:
    """Give a module's syntax tree and mutmut's changes to it; what runs at import has none."""
    from mutmut.mutation.file_mutation import create_mutations

    tree, mutations, *_ = create_mutations(path.name, path.read_text(encoding="utf-8"))
    within = ((each, each.contained_by_top_level_function) for each in mutations)
    return tree, [each for each, function in within if hasattr(function, "params")]


def _mutant(path: Path, tree: Any, number: int, change: Any) -> Mutant:
    from mutmut.mutation.file_mutation import deep_replace

    changed = deep_replace(tree, change.original_node, change.mutated_node).code
    line, before, after = difference(tree.code, changed)
    return Mutant(
        module=path.relative_to(ROOT).as_posix(),
        function=change.contained_by_top_level_function.name.value,
        number=number,
        lines=statement_around(tree.code, line),
        before=before,
        after=after,
        source=changed,
    )


def difference(source: str, changed: str) -> tuple[int, str, str]:
    """Give the first line that differs (from 1), and what stood and stands there."""
    old, new = source.splitlines(), changed.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    rest = min(len(old), len(new)) - first
    same = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    before, after = (
        " ".join(line.strip() for line in lines[first : len(lines) - same]) for lines in (old, new)
    )
    return first + 1, before, after


def statement_around(source: str, line: int) -> tuple[int, int]:
    """Give the first and last line of the innermost statement around a line.

    Of a compound one that is its header alone; but a function's, which runs at import, stands for
    all of the function.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            last = node.end_lineno or node.lineno
            if (body := getattr(node, "body", None)) and not isinstance(node, ast.FunctionDef):
                last = max(node.lineno, body[0].lineno - 1)
            if node.lineno <= line <= last:
                found.append((node.lineno, last))
    return max(found, default=(line, line))
