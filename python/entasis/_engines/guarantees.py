"""Statistics of blocks as guarantees: pyarrow finds the blocks in which an expression can hold."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import fs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from entasis._file.file import File

# Rows that have a guarantee together: the values of a block of a column of fixed width.
_ROWS = 1 << 16


class Guarantees:
    """Expressions that hold for rows of some columns, by their statistics.

    Parameters
    ----------
    file
        All rows of a table.
    numbers
        The numbers of the columns.
    schema
        Their names and types in pyarrow.
    """

    def __init__(self, file: File, numbers: Sequence[int], schema: pa.Schema) -> None:
        n = -(-file.n_rows // _ROWS)
        found: list[list[pc.Expression]] = [[] for _ in range(n)]
        for number, field in zip(numbers, schema, strict=True):
            for part, guarantee in _of_column(file, number, field):
                if guarantee is not None:
                    found[part].append(guarantee)
        format_, system = ds.IpcFileFormat(), fs.LocalFileSystem()
        fragments = [
            format_.make_fragment(str(i), system, reduce(operator.and_, parts) if parts else None)
            for i, parts in enumerate(found)
        ]
        self._n_rows = file.n_rows
        self._fragments = ds.FileSystemDataset(fragments, schema, format_, system)

    def ranges(self, expression: pc.Expression) -> Iterator[range]:
        """The rows for which an expression can hold, in ascending ranges."""
        last: range | None = None
        for i in sorted(int(fragment.path) for fragment in self._fragments.get_fragments(expression)):
            here = range(i * _ROWS, min((i + 1) * _ROWS, self._n_rows))
            if last is not None and last.stop == here.start:
                last = range(last.start, here.stop)
                continue
            if last is not None:
                yield last
            last = here
        if last is not None:
            yield last


def _of_column(file: File, number: int, field: pa.Field) -> Iterator[tuple[int, pc.Expression | None]]:
    """The guarantee of a column for each part of the table; None for a part without one."""
    of_part: dict[int, list[dict[str, Any]]] = {}
    for block in file._view([number], None).stats():
        first, last = block["first_row"], block["first_row"] + block["n_rows"] - 1
        for part in range(first // _ROWS, last // _ROWS + 1):
            of_part.setdefault(part, []).append(block)
    for part, blocks in of_part.items():
        yield part, _guarantee(blocks, field)


def _guarantee(blocks: list[dict[str, Any]], field: pa.Field) -> pc.Expression | None:
    """An expression that holds for all values of some blocks.

    It is a conjunction of bounds, because pyarrow makes no use of other forms. Blocks with NaN have
    none: no bound holds for it.
    """
    column = pc.field(field.name)
    if any(block["n_missing"] is None or block["has_nan"] for block in blocks):
        return None
    some = [block for block in blocks if block["n_missing"] < block["n_rows"]]
    if not some:
        return column.is_null()
    if any(block["min"] is None or block["max"] is None for block in some):
        return None
    least = _scalar(min(block["min"] for block in some), field.type)
    greatest = _scalar(max(block["max"] for block in some), field.type)
    if least is None or greatest is None:
        return None
    bounds = [column >= least]
    if not any(block["is_cut"] for block in some):
        bounds.append(column <= greatest)
    if any(block["n_missing"] for block in blocks):
        bounds = [bound | column.is_null() for bound in bounds]
    return reduce(operator.and_, bounds)


def _scalar(value: Any, type_: pa.DataType) -> pa.Scalar | None:
    """A value of the statistics with the type of its column; None without an exact one."""
    is_plain = pa.types.is_integer(type_) or pa.types.is_boolean(type_) or pa.types.is_decimal(type_)
    is_plain = is_plain or pa.types.is_float32(type_) or pa.types.is_float64(type_)
    is_string = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    is_string = is_string or pa.types.is_binary(type_) or pa.types.is_large_binary(type_)
    is_time = pa.types.is_timestamp(type_) or pa.types.is_date32(type_) or pa.types.is_duration(type_)
    if value is None or not (is_plain or is_string or is_time):
        return None
    try:
        if not is_time:
            return pa.scalar(value, type_)
        if pa.types.is_timestamp(type_):
            # The statistics of a column with a zone are in UTC, as its values are.
            return pa.array([value]).cast(pa.timestamp(type_.unit)).view(type_)[0]
        return pa.array([value]).cast(type_)[0]
    except (pa.ArrowException, TypeError, ValueError):
        return None
