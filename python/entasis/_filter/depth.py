"""The depth of conditions."""

from __future__ import annotations

from typing import Any


def depth_of(tree: tuple[Any, ...]) -> int:
    """The depth of a condition; 1 for a comparison."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [part for node in level for part in _parts(node)]
    return depth


def _parts(node: tuple[Any, ...]) -> Any:
    if node[0] == "engine":
        # This node only marks a condition of an engine, and adds no depth.
        return _parts(node[1])
    if node[0] in ("and", "or"):
        return node[1]
    return node[1:] if node[0] == "not" else ()
