"""Converts files for the command."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from entasis._convert.at_address import brought
from entasis._convert.run import run
from entasis._filter.where import where
from entasis._memory import reported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from entasis._entasis import Key, Password

# The number of the open file that the command writes results into.
_STDOUT = 1


def convert(
    inputs: Sequence[str | bytes],
    output: str | None,
    options: dict[str, Any],
    progress: Callable[[int, int | None], Any],
    secret: Key | Password | None,
) -> dict[str, Any]:
    """Convert files into a file, or into the standard output, and return the number of rows if known."""
    text = options.pop("text")
    if "dates" in text:
        # JSON lacks None as a key.
        text["dates"] = dict(text["dates"])
    compression = options.pop("compression", None)
    if isinstance(compression, list):
        compression = dict(compression)
    condition = options.pop("where", None)
    rows = options.pop("rows", None)
    n_rows: int | None = None

    def show(done: int, total: int | None, *, unit: str) -> None:
        nonlocal n_rows
        if unit == "rows":
            n_rows = done
        progress(done, total)

    with reported, ExitStack() as copies:
        sources = [copies.enter_context(brought(one, secret=secret)) for one in inputs]
        run(
            sources[0] if len(sources) == 1 else sources,
            output,
            compression=compression,
            rows=None if rows is None else tuple(rows),
            filter=None if condition is None else where(condition),
            text=text,
            progress=show,
            pipe=_STDOUT if output is None else None,
            key=secret,
            **options,
        )
    return {"n_rows": n_rows}
