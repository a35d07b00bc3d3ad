"""How a host map describes an index: its kind, and the columns beside the table that hold its labels."""

from __future__ import annotations

from typing import Any, NamedTuple

from entasis._columns.names import as_text
from entasis._entasis import ColumnRef
from entasis._host_map import interpretation


class Codes(NamedTuple):
    """A categorical column of which the codes are wanted: the values may be missing, and equal."""

    codes: Any
    values: Any


def column_name(label: Any, position: int, n: int) -> str:
    """The name of the column that keeps an index or a level of one."""
    if label is not None:
        return as_text(label)
    return "index" if n == 1 else f"level_{position}"


def number_of(ref: Any) -> int:
    """The number of the column that a host map names."""
    if type(ref) is not ColumnRef:
        raise TypeError(f"{ref!r} is no column")
    return ref.index


@interpretation()
def columns_of(spec: dict[str, Any]) -> list[int]:
    """The columns that an index needs, in the order in which `decode_index` takes them."""
    if spec["kind"] == "multi":
        return [number_of(ref) for ref in spec["columns"]]
    return [number_of(spec[key]) for key in ("column", "missing_kinds") if key in spec]
