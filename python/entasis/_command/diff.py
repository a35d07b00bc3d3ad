"""Compares two files for the command."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from entasis._convert.at_address import brought
from entasis._convert.diff import diff as _diff
from entasis._convert.formats import of_source
from entasis._convert.report import lines
from entasis._convert.run import is_encrypted_source
from entasis._dataset.scan import FolderScan, scan
from entasis._open import open_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from entasis._entasis import Key, Password


def diff(
    inputs: Sequence[str | bytes],
    options: dict[str, Any],
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None,
) -> dict[str, Any]:
    """Compare two files, and return whether they differ, and the lines of a report."""
    is_json = options.pop("json")
    with ExitStack() as copies:
        brought_here = (copies.enter_context(brought(one, secret=secret)) for one in inputs)
        sides = [one if secret is None else _opened(one, secret) for one in brought_here]
        found = _diff(*sides, progress=lambda done, total, unit: progress(done, total), **options)
    if is_json:
        report = [found.to_json()]
    else:
        names = [one if isinstance(one, str) else "standard input" for one in inputs]
        report = lines(found, names[0], names[1], options["limit"])
    return {"differs": bool(found), "lines": report}


def _opened(side: Any, secret: Any) -> Any:
    """An encrypted side, opened; others as they are."""
    if isinstance(side, FolderScan) or of_source(side, None) != "entasis" or not is_encrypted_source(side):
        return side
    return scan(side, key=secret) if isinstance(side, str) and os.path.isdir(side) else open_value(side, secret)
