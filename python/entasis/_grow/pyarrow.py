"""Rows of pyarrow. An append gives the result of `pa.concat_tables`, with wider types."""

from __future__ import annotations

from os import PathLike
from typing import Any

from entasis._arguments.options import shown
from entasis._hosts.arrow.run_ends import with_run_ends
from entasis.errors import ArgumentError

from .columns import (
    check_length,
    check_lists,
    is_records,
    listed,
    no_missing,
    positions,
    refused,
    unreadable,
)
from .pyarrow_nulls import check_nulls
from .rules import Rules


class ArrowRules(Rules):
    """The rules of pyarrow."""

    def collect(self, value: Any) -> Any:
        """The value as a table."""
        import pyarrow as pa

        if isinstance(value, pa.Table):
            return value
        if isinstance(value, pa.RecordBatch):
            return pa.Table.from_batches([value])
        if isinstance(value, (str, bytes, PathLike)) or (isinstance(value, list) and not is_records(value)):
            raise unreadable(value, "pyarrow", "a table")
        if isinstance(value, dict):
            check_lists(value)
        try:
            return pa.Table.from_pylist(value) if isinstance(value, list) else pa.table(value)
        except (TypeError, ValueError, AttributeError, pa.ArrowException) as error:
            raise ArgumentError(f"{shown(value)} can't be appended to a file of pyarrow: {error}") from error

    def head(self, value: Any) -> Any:
        """No rows of a value."""
        return value.slice(0, 0)

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value.column_names)

    def fit(self, old: Any, new: Any, fill: bool) -> tuple[Any, dict[int, Any]]:
        """The rows to append with the file's types, and wider types that columns of the file need."""
        import pyarrow as pa

        columns, fields, grown = [], [], {}
        for i, position in enumerate(positions(old.column_names, new.column_names, fill)):
            field = old.schema.field(i)
            what = f"column {shown(field.name)}"
            if position is None:
                if not field.nullable and new.num_rows:
                    raise no_missing(what, f"{field.type} not null")
                column = pa.chunked_array([pa.nulls(new.num_rows, field.type)])
            else:
                column = new.column(position)
                common = _common(field.name, field.type, column)
                if common != field.type:
                    grown[i] = common
                column = _cast(field.name, column, common)
            _check_order(what, old.column(i), column)
            check_nulls(what, field.with_type(column.type), column)
            fields.append(field.with_type(column.type))
            columns.append(column)
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, old.schema.metadata)), grown

    def grow(self, old: Any, grown: dict[int, Any]) -> Any:
        """A table of the file with wider types."""
        for i, kind in grown.items():
            field = old.schema.field(i)
            old = old.set_column(i, field.with_type(kind), _cast(field.name, old.column(i), kind))
        return old

    def concat(self, old: Any, new: Any) -> Any:
        """The table of the file after the append."""
        import pyarrow as pa

        return pa.concat_tables([old, new.replace_schema_metadata(old.schema.metadata)])

    def columns(self, value: Any, file: Any) -> Any:
        """New columns of a file, with its number of rows."""
        found = self.collect(value)
        check_length(found.num_rows, file.n_rows)
        return found

    def nothing(self) -> Any:
        """A table without columns and rows."""
        import pyarrow as pa

        return pa.table({})

    def joined_labels(self, old: Any, new: Any, sources: list[tuple[bool, int]]) -> list[str]:
        """The labels of columns of the file and of new ones."""
        return [(new if is_new else old).column_names[position] for is_new, position in sources]

    def with_columns(self, old: Any, new: Any, sources: list[tuple[bool, int]], labels: list[str]) -> Any:
        """The table with columns of the file and new ones."""
        import pyarrow as pa

        chosen = [(new if is_new else old, position) for is_new, position in sources]
        fields = [
            table.schema.field(position).with_name(label)
            for (table, position), label in zip(chosen, labels, strict=True)
        ]
        arrays = [table.column(position) for table, position in chosen]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, old.schema.metadata))

    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a table."""
        return value.slice(start, stop - start)

    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""
        import pyarrow as pa

        return pa.concat_tables(parts)

    def size(self, value: Any) -> int:
        """Bytes of a table."""
        return int(value.nbytes)


def _common(label: str, old: Any, column: Any) -> Any:
    """The type that holds the values of both."""
    from pyarrow import types

    new = column.type
    if old == new or types.is_null(new) or (len(column) and column.null_count == len(column)):
        return old
    if types.is_null(old):
        return new
    for is_kind in (types.is_signed_integer, types.is_unsigned_integer, types.is_floating):
        if is_kind(old) and is_kind(new):
            return max(old, new, key=lambda kind: kind.bit_width)
    for is_kind in (types.is_timestamp, types.is_duration):
        if is_kind(old) and is_kind(new) and getattr(old, "tz", None) == getattr(new, "tz", None):
            return max(old, new, key=lambda kind: ("s", "ms", "us", "ns").index(kind.unit))
    if types.is_run_end_encoded(old) and types.is_run_end_encoded(new) and old.value_type == new.value_type:
        return max(old, new, key=lambda kind: kind.run_end_type.bit_width)
    raise refused(f"column {shown(label)}", old, new)


def _cast(label: str, column: Any, kind: Any) -> Any:
    """A column of a wider type."""
    import pyarrow as pa

    if column.type == kind:
        return column
    if pa.types.is_run_end_encoded(column.type) and pa.types.is_run_end_encoded(kind):
        return with_run_ends(column, kind)
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column), kind)])
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ArgumentError(f"column {shown(label)} can't be converted to {kind}: {error}") from error


def _check_order(what: str, old: Any, column: Any) -> None:
    """Check that one of two ordered dictionaries begins with the other."""
    import pyarrow as pa

    if not pa.types.is_dictionary(old.type) or not old.type.ordered or not pa.types.is_dictionary(column.type):
        return
    for of_file in [chunk.dictionary for chunk in old.chunks]:
        for of_rows in [chunk.dictionary for chunk in column.chunks]:
            n = min(len(of_file), len(of_rows))
            if not of_file.slice(0, n).equals(of_rows.slice(0, n)):
                raise ArgumentError(
                    f"{what} has the ordered categories {listed(of_file.to_pylist())} in the file and "
                    f"{listed(of_rows.to_pylist())} in the rows to append: give both the same"
                )


RULES = ArrowRules()
