"""Reads files of other formats for the verbs that show tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._convert import formats as _formats
from entasis._convert.at_address import brought
from entasis._convert.in_memory import stored
from entasis._convert.inputs.open import opened
from entasis._convert.inputs.text import TextInput
from entasis._csv.scan import scan_csv
from entasis._memory import reported

if TYPE_CHECKING:
    from collections.abc import Sequence

# Texts have types that hold for so many first rows.
_SNIFFED = 10_000


def read(inputs: Sequence[str | bytes], options: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Read a file, or its first rows, as an Entasis file. Also return the number of all rows if known."""
    (given_source,) = inputs
    rows = options.get("rows")
    with reported, brought(given_source) as source:
        form = _formats.of_source(source, None)
        is_begin = rows is not None and rows[1] <= _SNIFFED
        given = TextInput(scan_csv(source)) if form == "csv" and is_begin else opened(source, form)
        n_rows = given.n_rows
        # A slice may end after the last row.
        part = given if rows is None else given.selected(None, slice(*rows), None)
        return {"n_rows": n_rows}, stored(part.whole())
