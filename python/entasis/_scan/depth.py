"""The depth of conditions, which functions that walk a condition follow by recursion."""

from __future__ import annotations

from typing import Any

from entasis.errors import ArgumentError

# The greatest depth, as in a WHERE clause of the command.
MAX_DEPTH = 200


def depth_of(tree: tuple[Any, ...]) -> int:
    """How deep the parts of a condition lie in each other; 1 for a comparison."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [part for node in level for part in _parts(node)]
    return depth


def _parts(node: tuple[Any, ...]) -> Any:
    if node[0] in ("and", "or"):
        return node[1]
    return node[1:] if node[0] == "not" else ()


def too_deep() -> ArgumentError:
    return ArgumentError(f"the condition is nested deeper than {MAX_DEPTH}: join more parts with one & or |")
