"""Compares two files for the command."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from entasis._convert.at_address import brought
from entasis._convert.diff import diff as _diff
from entasis._convert.report import lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def diff(
    inputs: Sequence[str | bytes], options: dict[str, Any], progress: Callable[[int, int | None], Any]
) -> dict[str, Any]:
    """Compare two files, and return whether they differ, and the lines of a report."""
    is_json = options.pop("json")
    with ExitStack() as copies:
        sides = [copies.enter_context(brought(one)) for one in inputs]
        found = _diff(*sides, progress=lambda done, total, unit: progress(done, total), **options)
    if is_json:
        report = [found.to_json()]
    else:
        names = [one if isinstance(one, str) else "standard input" for one in inputs]
        report = lines(found, names[0], names[1], options["limit"])
    return {"differs": bool(found), "lines": report}
