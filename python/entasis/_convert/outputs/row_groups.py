"""Row groups of Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The most rows of a row group, and their bytes in memory.
GROUP = 1 << 20
_GROUP_LEN = 64 << 20


def grouped(batches: Iterator[Any]) -> Iterator[Any]:
    """Batches joined to row groups of Parquet."""
    import pyarrow as pa

    parts: list[Any] = []
    n = size = 0
    for batch in batches:
        table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
        if parts and (n + table.num_rows > GROUP or size + table.nbytes > _GROUP_LEN):
            yield pa.concat_tables(parts)
            parts, n, size = [], 0, 0
        parts.append(table)
        n += table.num_rows
        size += table.nbytes
    if parts:
        yield pa.concat_tables(parts)
