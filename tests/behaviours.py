"""Which rows of the list of Kafka's behaviours a test module names."""

import ast
import re


def rows_named(source):
    """Give the rows that the tests of a module name at the beginning of their docstrings."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    promises = [
        ast.get_docstring(node) or "" for node in functions if node.name.startswith("test_")
    ]
    begins = (re.match(r"Behaviours? ((?:\w+(?:, | and )?)+): ", each) for each in promises)
    return {row for found in begins if found for row in re.findall(r"[BC]?\d+", found[1])}
