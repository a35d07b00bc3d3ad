"""The description of an index in a host map: its kind, and the columns that hold its labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from entasis._entasis import ColumnRef
from entasis._host_map import interpretation

from .text import as_text


class Codes(NamedTuple):
    """Codes and values of one level of an index. Values may be missing, or equal."""

    codes: Any
    values: Any


def column_name(label: Any, position: int, n: int) -> str:
    """The name of the column that stores an index or one of its levels."""
    if label is not None:
        return as_text(label)
    return "index" if n == 1 else f"level_{position}"


def number_of(ref: Any) -> int:
    """The number of a column that a host map refers to."""
    if type(ref) is not ColumnRef:
        raise TypeError(f"{ref!r} is not a column")
    return ref.index


@interpretation()
def columns_of(spec: dict[str, Any]) -> list[int]:
    """The columns of an index, in the order that `decode_index` expects."""
    if spec["kind"] == "multi":
        return [number_of(ref) for ref in spec["columns"]]
    return [number_of(spec[key]) for key in ("column", "missing_kinds") if key in spec]
