"""An index that is a range, as a column for libraries that have no index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._columns.levels import RANGE
from entasis._libraries import library_errors as _library_errors
from entasis.errors import DuplicateColumnError

if TYPE_CHECKING:
    from .table import OpenTable


def read(
    table: OpenTable, columns: list[int], rows: Any, reader: Any, host: dict[str, Any], threads: int | None
) -> Any:
    """Read columns that include the index.

    Parameters
    ----------
    table
        The table.
    columns, rows
        The numbers of the columns, and a resolved selection of rows.
    reader
        The module of a library without an index.
    host
        The host map.
    threads
        The number of threads; None for as many as there are processors.
    """
    levels = table.levels
    name, values = levels.name(RANGE), levels.range_values(rows)
    others = [column for column in columns if column != RANGE]
    found = _library_errors.read(reader, table.handle, host, others, rows, threads)
    positions = [i for i, column in enumerate(columns) if column == RANGE]
    if len(positions) > 1:
        raise DuplicateColumnError(f"the index {shown(name)} can't be two columns here")
    (position,) = positions
    if isinstance(found, dict):
        names = list(found)
        return {key: values if key == name else found[key] for key in [*names[:position], name, *names[position:]]}
    if type(found).__module__.partition(".")[0] == "polars":
        import polars as pl

        return found.insert_column(position, pl.Series(name, values)) if others else pl.DataFrame({name: values})
    import pyarrow as pa

    return found.add_column(position, name, pa.array(values)) if others else pa.table({name: values})
