"""Rows of pyarrow. An append gives the result of `pa.concat_tables` in the types of the file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from entasis._arguments.options import shown
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
from .fitting import Fitted, Options, converted, fit, missing
from .pyarrow_dictionaries import greatest_code, n_joined, with_codes
from .pyarrow_nulls import check_nulls
from .pyarrow_types import TYPES
from .rules import Rules


class ArrowRules(Rules):
    """The rules of pyarrow."""

    HOST = "pyarrow"
    types = TYPES

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

    def length(self, value: Any) -> int:
        """The number of rows of a table."""
        return int(value.num_rows)

    def column(self, value: Any, key: int) -> Any:
        """A column of a table."""
        return value.column(key)

    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that columns of the file need."""
        import pyarrow as pa

        columns, fields, grown = [], [], {}
        found, more = positions(old.column_names, new.column_names, options.fill)
        like = pa.chunked_array([pa.nulls(new.num_rows)])
        for i, position in enumerate(found):
            field = old.schema.field(i)
            what = f"column {shown(field.name)}"
            if position is None:
                if not field.nullable and new.num_rows:
                    raise no_missing(what, f"{field.type} not null")
                column = missing(TYPES, what, field.type, like, options, i)
            else:
                column = fit(TYPES, what, field.type, new.column(position), options, i)
            _check_order(what, old.column(i), column)
            column = _with_codes(what, old.column(i), column, options)
            if column.type != field.type:
                grown[i] = column.type
            check_nulls(what, field.with_type(column.type), column)
            fields.append(field.with_type(column.type))
            columns.append(column)
        for position in more:
            field = new.schema.field(position)
            if not field.nullable and options.earlier.n:
                raise ArgumentError(
                    f"column {shown(field.name)} is new, and {field.type} not null has no missing value for the "
                    f"{options.earlier.n:,} rows before: make the field nullable (field.with_nullable)"
                )
            fields.append(field)
            columns.append(new.column(position))
        part = pa.Table.from_arrays(columns, schema=pa.schema(fields, old.schema.metadata))
        return Fitted(part, grown, len(more))

    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A table with wider types, and new columns of the rows to append."""
        import pyarrow as pa

        columns, fields = [], []
        for field, column, kind in zip(value.schema, value.columns, dtypes, strict=True):
            kind = field.type if kind is None else kind
            columns.append(converted(TYPES, f"column {shown(field.name)}", column, kind))
            fields.append(field.with_type(kind))
        columns += [pa.chunked_array([pa.nulls(n, field.type)]) for field in part.schema]
        return pa.Table.from_arrays(columns, schema=pa.schema([*fields, *part.schema], value.schema.metadata))

    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a table."""
        return value.select(positions)

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


def _with_codes(what: str, old: Any, column: Any, options: Options) -> Any:
    """A column of dictionaries whose codes tell the categories of the file and of the rows apart."""
    import pyarrow as pa

    kind = column.type
    if not pa.types.is_dictionary(kind) or not pa.types.is_dictionary(old.type):
        return column
    n = n_joined(old, column)
    if n <= greatest_code(kind.index_type) + 1:
        return column
    wider = with_codes(kind, n)
    if not options.widen:
        reason = f"the {n:,} categories of both"
        raise refused(what, old.type, kind, reason, wider)
    return TYPES.convert(column, wider)


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
