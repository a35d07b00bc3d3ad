"""The rows of a view as Arrow tables of one type, decoded one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.levels import RANGE
from entasis._host_map import interpretation
from entasis._hosts.arrow.stream import ArrowColumns, has_metadata
from entasis._memory import reported

from .text_len import text_len, too_long
from .windows import Sizes, Window, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._view.view import View

# Rows of a block.
_BLOCK = 1 << 16
# For a view that is not read at once: the rows of its first array, and the fewest rows per
# dictionary value. Some consumers convert the dictionary of each array.
_FIRST = 1 << 16
_ROWS_OF_CATEGORY = 4
# A view of at most this many values, in a file of at most this many bytes, is read at once.
# Compressed text becomes a few times longer.
_CELLS_AT_ONCE = 1 << 22
_LEN_AT_ONCE = 1 << 26
# Values of the longest array of less than a block. Reading a block in several parts takes longer.
_CELLS_OF_BLOCK = 1 << 25
_NO_ROWS = Window(range(0), range(0))


class ArrowRows:
    """The rows of a view as tables of one type.

    Parameters
    ----------
    view
        The view.
    columns
        The numbers of its columns; None for all of the file.
    every
        The numbers of all columns of the view.
    layout
        The layout of strings; see `Handle.read_arrow`.

    Attributes
    ----------
    numbers
        The numbers of the columns.
    """

    def __init__(self, view: View, columns: list[int] | None, every: list[int], layout: int) -> None:
        host = view.table.host
        self._view = view
        self.numbers = every if columns is None else columns
        # No column of the file stores the labels of a range index.
        self._ranges = [i for i, column in enumerate(self.numbers) if column == RANGE]
        stored = [column for column in self.numbers if column != RANGE] if self._ranges else columns
        own, metadata = view.written_by == "pyarrow", has_metadata(host)
        self._columns = ArrowColumns(view.handle, host, stored, None, layout=layout, own=own, metadata=metadata)
        self._converted = self._columns.converted(view.rows)
        # pyarrow makes the arrays of a mapped file, and adds the labels of a range index.
        self._is_native = not (self._ranges or self._converted or (view.table.memory_map and stored != []))
        self._empty = self._read(_NO_ROWS)

    def reopened(self, numbers: list[int], layout: int) -> ArrowRows:
        """Some columns of these rows, with strings in a layout."""
        return ArrowRows(self._view, numbers, numbers, layout)

    def __arrow_c_schema__(self) -> object:
        # A table of pyarrow exports its schema through `schema`, our own table directly.
        return getattr(self._empty, "schema", self._empty).__arrow_c_schema__()

    def stream(self, tree: tuple[Any, ...] | None, limit: int | None, wanted: Any = None) -> object:
        """The capsule of a stream of the rows that pass a condition.

        Parameters
        ----------
        tree
            The condition as the core takes it; None for all rows.
        limit
            The greatest number of rows.
        wanted
            A schema of pyarrow to cast to, if any.
        """
        tables = self._tables(tree, limit)
        if wanted is None and self._is_native:
            return self._empty.stream(tables)
        import pyarrow as pa

        def batches() -> Iterator[Any]:
            for table in tables:
                found = pa.table(table) if self._is_native else table
                yield from (found if wanted is None else found.cast(wanted)).to_batches()

        reader = pa.RecordBatchReader.from_batches(self._empty.schema if wanted is None else wanted, batches())
        return reader.__arrow_c_stream__()

    def _tables(self, tree: tuple[Any, ...] | None, limit: int | None) -> Iterator[Any]:
        """All rows in order, in one table or more."""
        sizes, left, is_any = self._sizes(), limit, False
        with reported:
            for window in windows(self._view, tree, sizes, self.numbers):
                if left is not None:
                    window = Window(window.positions[:left], window.rows[:left])
                    left -= len(window.rows)
                for table in self._typed(window):
                    is_any = True
                    if self._is_native:
                        sizes.measured(len(window.rows), table.memory_len)
                    yield table
                if left == 0:
                    break
            if not is_any:
                # Some consumers take the dictionaries of a table from its first array.
                yield self._empty

    def _sizes(self) -> Sizes:
        n, n_columns = self._view.n_rows, max(self._columns.n, 1)
        least = min(_BLOCK, _CELLS_OF_BLOCK // n_columns)
        lens = text_len(self._view, self.numbers)
        if n * n_columns <= _CELLS_AT_ONCE and self._view.handle.file_len <= _LEN_AT_ONCE:
            return Sizes(n_columns, n, least, lens)
        n_categories = self._empty.dictionary_len if self._is_native else 0
        return Sizes(n_columns, max(_FIRST, n_categories * _ROWS_OF_CATEGORY), least, lens)

    def _typed(self, window: Window) -> Iterator[Any]:
        """Some rows as one table, or as several if one would have another type.

        Columns with offsets of 32 bits get wider ones if they would take more than 2 GiB.
        """
        table, n = self._read(window), len(window.rows)
        if self._is_same(table):
            yield table
        elif n > 1:
            del table
            for half in window.halves():
                yield from self._typed(half)
        else:
            raise too_long(int(window.rows[0]))

    def _is_same(self, table: Any) -> bool:
        if self._is_native:
            return bool(self._empty.is_like(table))
        return bool(table.schema.equals(self._empty.schema))

    def _read(self, window: Window) -> Any:
        """Some rows as a table of our own, or of pyarrow if pyarrow makes some arrays."""
        rows, view = window.rows, self._view
        if view.rows is None and len(rows) == view.handle.n_rows:
            # Reading everything has a faster path.
            rows = None
        table = self._columns.read(rows, self._converted_at(window.positions))
        if self._is_native:
            return table
        import pyarrow as pa

        if type(table) is not pa.Table:
            with interpretation():
                table = pa.RecordBatchReader.from_stream(table).read_all()
        for position in self._ranges:
            name, labels = view.table.levels.name(RANGE), pa.array(view.table.levels.range_values(rows))
            table = table.add_column(position, name, labels) if table.num_columns else pa.table({name: labels})
        return table

    def _converted_at(self, positions: Any) -> dict[int, tuple[Any, Any]]:
        """The converted columns at some positions of the view."""
        if isinstance(positions, range):
            start, n = positions.start, len(positions)
            return {i: (field, array.slice(start, n)) for i, (field, array) in self._converted.items()}
        return {i: (field, array.take(positions)) for i, (field, array) in self._converted.items()}
