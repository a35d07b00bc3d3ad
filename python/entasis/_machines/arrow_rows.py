"""Rows of a folder as batches of Arrow, for engines that take these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from entasis._dataset.dataset import FolderDataset
from entasis._dataset.together import in_types_of

from .rows import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow.compute as pc

    from .rows import Part, Source

# Rows of a task, if the engine asks for fewer tasks: about a second of work for ten columns.
_ROWS = 64 * BLOCK
# Rows of a task, if the engine asks for more tasks than are worth their start.
_LEAST_ROWS = 16 * BLOCK


def schema_of(source: Source) -> pa.Schema:
    """The types of the first file that can have rows."""
    return FolderDataset(source.query).schema


def parts_of(source: Source, n_tasks: int, limit: int | None) -> list[Part]:
    """Tasks with whole blocks of rows: as many as the engine asks for, if they are worth their start.

    Parameters
    ----------
    limit
        The greatest number of rows. With a condition one task reads them, because others would not
        know how many it found.
    """
    if limit is not None and source.query.condition is not None:
        (part,) = source.parts(source.starts(max(sum(source.lengths), 1))[:1])
        return [part.limited(limit)]
    n_rows = sum(source.lengths)
    most = min(max(-(-n_rows // max(n_tasks, 1)), _LEAST_ROWS), _ROWS)
    parts = source.parts(source.starts(-(-most // BLOCK) * BLOCK))
    if limit is None:
        return parts
    found: list[Part] = []
    for part in parts:
        if limit <= 0 and found:
            break
        found.append(part.limited(limit) if part.n_rows > limit else part)
        limit -= part.n_rows
    return found


def batches(
    part: Part, schema: pa.Schema, names: Sequence[str], filter: pc.Expression | None
) -> Iterator[pa.RecordBatch]:
    """The rows of a task that pass, in types of the first file.

    Raises
    ------
    ArgumentError
        A column of the first file does not hold all values exactly, or a file has other columns.
    """
    dataset = FolderDataset(part.selected(None))
    head = pa.schema([schema.field(name) for name in names])
    for batch in dataset.scanner(list(names), filter=filter).to_batches():
        if batch.schema.types == head.types:
            yield batch
            continue
        path = part.query.table.files.paths[0]
        whole: Any = in_types_of(head.empty_table(), pa.Table.from_batches([batch]), "pyarrow", path)
        yield from whole.to_batches()
