"""Writes row groups of Parquet: encodes one while the next is read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from . import row_groups as _row_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .base import Options

# A sample of a column: so many slices of so many rows.
_SLICES, _SLICE = 16, 4096


def write(sink: Any, schema: Any, codec: str, batches: Iterator[Any], options: Options) -> None:
    """Write batches. The writer of pyarrow encodes in one thread, and another one reads ahead."""
    import pyarrow.parquet as pq

    groups = _row_groups.grouped(batches)
    first = next(groups, None)
    paths = True if first is None else _worth_dictionaries(first)
    n = 0
    with (
        pq.ParquetWriter(sink, schema, compression=codec, use_dictionary=paths) as file,
        ThreadPoolExecutor(1) as reader,
    ):
        table = first
        while table is not None:
            following = None if options.threads == 1 else reader.submit(next, groups, None)
            file.write_table(table, _row_groups.GROUP)
            n += table.num_rows
            options.done(n)
            table = next(groups, None) if following is None else following.result()


def _worth_dictionaries(table: Any) -> Any:
    """The paths of the columns whose values repeat; True for all.

    A dictionary that outgrows its page is thrown away, and building it takes longer than the rest
    of the encoding.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    names = table.schema.names
    # The writer knows the values inside of nested columns by paths of the format, and columns by
    # their names.
    if len(set(names)) < len(names) or any(map(pa.types.is_nested, table.schema.types)):
        return True
    found = []
    step = max(table.num_rows // _SLICES, _SLICE)
    for name, column in zip(names, table.columns, strict=True):
        parts = [column.slice(start, _SLICE) for start in range(0, table.num_rows, step)]
        sample = pa.chunked_array([chunk for part in parts for chunk in part.chunks], column.type)
        try:
            n_distinct = len(pc.unique(sample))
        except pa.ArrowException:
            found.append(name)
            continue
        if 2 * n_distinct < len(sample) or len(sample) < _SLICE:
            found.append(name)
    return True if len(found) == table.num_columns else found or False
