"""Batches of Arrow, from which columns and rows are chosen."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import close_to, integer, shown
from entasis._convert import libraries as _libraries
from entasis._convert.in_memory import staged
from entasis._filter import bind as _bind
from entasis.errors import ColumnNotFoundError, DuplicateColumnError

from . import base as _base
from .file import StagedInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows


def joined(given: _base.Input) -> Any:
    """All rows of an input as a table of pyarrow."""
    import pyarrow as pa

    parts = list(given.batches())
    schema = given.schema()
    return pa.concat_tables(parts).unify_dictionaries() if parts else pa.Table.from_batches([], schema)


class ArrowInput(StagedInput):
    """Batches of Arrow. Columns and rows can be chosen."""

    _columns: list[str] | None = None
    _span: tuple[int, int | None] | None = None
    _filter: Any = None

    def _schema(self) -> Any:
        """The schema of all columns."""
        raise NotImplementedError

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        """All rows of some columns, as record batches or tables."""
        raise NotImplementedError

    def _from(self, columns: list[str] | None, start: int) -> tuple[Iterator[Any], int]:
        """Rows from a position at or before `start`, and this position."""
        return self._raw(columns), 0

    def _count(self) -> int | None:
        """The number of all rows, if it is known before reading."""
        return None

    def _begin(self) -> None:
        """Find the facts that do not need the rows."""
        found = self._schema().metadata or {}
        self.host = "pandas" if b"pandas" in found and _libraries.load("pandas") is not None else "pyarrow"
        self.n_rows = self._count()

    def schema(self) -> Any:
        found = self._schema()
        if self._columns is None:
            return found
        import pyarrow as pa

        return pa.schema([found.field(name) for name in self._columns], found.metadata)

    def batches(self) -> Iterator[Any]:
        import pyarrow as pa

        start, stop = self._span or (0, None)
        wanted = self._columns
        needed = None
        if wanted is not None:
            tested = [] if self._filter is None else _bind.names(self._filter, self._schema().names)
            needed = None if tested is None else list(dict.fromkeys([*wanted, *tested]))
        with _libraries.reading(self.name):
            found, at = self._from(needed, start)
            if start == stop:
                return
            for batch in found:
                first, last = max(start - at, 0), batch.num_rows if stop is None else min(stop - at, batch.num_rows)
                at += batch.num_rows
                if first < last:
                    part = batch.slice(first, last - first)
                    table = part if isinstance(part, pa.Table) else pa.Table.from_batches([part])
                    yield self._passing(table, wanted, needed)
                if stop is not None and at >= stop:
                    return

    def _passing(self, table: Any, wanted: list[str] | None, needed: list[str] | None) -> Any:
        if self._filter is not None:
            # The core tests conditions on files.
            return staged(table).read(columns=wanted, filter=self._filter).cast(self.schema())
        return table if wanted is None or wanted == needed else table.select(wanted)

    def whole(self) -> Any:
        if self.host == "pandas" and not self._is_part():
            with _libraries.reading(self.name):
                return self._pandas()
        return self.table()

    def table(self) -> Any:
        """All rows as a table of pyarrow."""
        return joined(self)

    def _is_part(self) -> bool:
        return self._columns is not None or self._span is not None or self._filter is not None

    def _pandas(self) -> Any:
        """The frame that pandas reads."""
        return self.table().to_pandas()

    def selected(self, columns: Columns | None, rows: Rows | None, filter: Filter | None) -> _base.Input:
        if columns is None and rows is None and filter is None:
            return self
        span = None if rows is None else self._consecutive(rows)
        if self.host == "pandas" or (rows is not None and span is None):
            # Labels of rows and columns have the meaning that pandas gives them.
            return super().selected(columns, rows, filter)
        found = copy(self)
        found._filter = None if filter is None else _bind.condition(filter)
        found._columns = None if columns is None else _names(self._schema(), columns)
        if found._filter is not None:
            empty = self._schema().empty_table()
            names = _bind.names(found._filter, empty.column_names)
            _names(empty.schema, names or [])
            # A condition that does not fit is an error without rows too.
            tested = empty if names is None or found._columns is None else empty.select(list(dict.fromkeys(names)))
            staged(tested).read(filter=found._filter)
        found._span, found.n_rows = span, None
        return found

    def _consecutive(self, rows: Any) -> tuple[int, int | None] | None:
        """The start and end of consecutive rows; None for other rows."""
        pair = rows if isinstance(rows, tuple) and len(rows) == 2 else None
        if isinstance(rows, (slice, range)) and rows.step in (None, 1):
            pair = rows.start, rows.stop
        if pair is None:
            return None
        start = 0 if pair[0] is None else integer(pair[0])
        stop = integer(pair[1])
        if start is None or (stop is None and pair[1] is not None):
            return None
        if start < 0 or (stop is not None and stop < 0):
            if self.n_rows is None:
                return None
            start, stop, _ = slice(start, stop).indices(self.n_rows)
        return start, None if stop is None else max(stop, start)


class TableInput(ArrowInput):
    """A table of pyarrow in memory."""

    def __init__(self, table: Any, name: str = "<frame>") -> None:
        self._found, self.name = table, name
        self.n_rows = table.num_rows

    def _schema(self) -> Any:
        return self._found.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        yield from pieces(self._found if columns is None else self._found.select(columns))


def _names(schema: Any, columns: Any) -> list[str]:
    """The names of chosen columns: names, positions, or a slice of positions."""
    every = schema.names
    known = set(every)
    if isinstance(columns, (slice, range)):
        wanted = [every[i] for i in (range(*columns.indices(len(every))) if isinstance(columns, slice) else columns)]
    else:
        one = isinstance(columns, str) or integer(columns) is not None
        wanted = []
        for label in [columns] if one else columns:
            number = integer(label)
            if number is not None and -len(every) <= number < len(every):
                wanted.append(every[number])
            elif isinstance(label, str) and label in known:
                wanted.append(label)
            else:
                raise ColumnNotFoundError(f"no column {shown(label)}{close_to(label, every)}")
    for name in wanted if len(known) < len(every) else ():
        if every.count(name) > 1:
            raise DuplicateColumnError(f"several columns have the name {shown(name)}")
    return wanted


def pieces(batch: Any) -> Iterator[Any]:
    """Parts of a long batch."""
    for start in range(0, batch.num_rows, _base.BATCH):
        yield batch.slice(start, _base.BATCH)
