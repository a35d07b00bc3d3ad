"""Rows of Polars. An append gives the result of `pl.concat(how="vertical")`, with wider types."""

from __future__ import annotations

from os import PathLike
from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, is_records, positions, refused, unreadable
from .rules import Rules

_UNITS = ("ms", "us", "ns")


class PolarsRules(Rules):
    """The rules of Polars."""

    def collect(self, value: Any) -> Any:
        """The value as one of Polars."""
        import polars as pl

        if isinstance(value, pl.LazyFrame):
            return value.collect()
        if isinstance(value, (pl.DataFrame, pl.Series)):
            return value
        if isinstance(value, (str, bytes, PathLike)) or (isinstance(value, list) and not is_records(value)):
            raise unreadable(value, "Polars", "a DataFrame")
        if isinstance(value, dict):
            check_lists(value)
        try:
            return pl.DataFrame(value)
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise ArgumentError(f"{shown(value)} can't be appended to a file of Polars: {error}") from error

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value.columns) if hasattr(value, "columns") else [value.name]

    def fit(self, old: Any, new: Any, fill: bool) -> tuple[Any, dict[str, Any]]:
        """The rows to append with the file's types, and wider types that columns of the file need."""
        import polars as pl

        if isinstance(old, pl.Series):
            if not isinstance(new, pl.Series):
                raise ArgumentError(f"{shown(new)} can't be appended to a file of a Series: pass one")
            dtype = _common(old.name, old.dtype, new)
            return _cast(old.name, new, dtype).alias(old.name), {} if dtype == old.dtype else {old.name: dtype}
        if isinstance(new, pl.Series):
            raise ArgumentError("a Series can't be appended to a file of a DataFrame: pass a DataFrame")
        columns, grown = [], {}
        for (name, dtype), position in zip(old.schema.items(), positions(old.columns, new.columns, fill), strict=True):
            if position is None:
                columns.append(_missing(name, dtype, new.height))
                continue
            column = new.to_series(position)
            common = _common(name, dtype, column)
            if common != dtype:
                grown[name] = common
            columns.append(_cast(name, column, common))
        return pl.DataFrame(columns), grown

    def grow(self, old: Any, grown: dict[str, Any]) -> Any:
        """A value of the file with wider types."""
        if hasattr(old, "name"):
            return _cast(old.name, old, grown.get(old.name, old.dtype))
        columns = [_cast(name, old.get_column(name), dtype) for name, dtype in grown.items()]
        return old.with_columns(columns)

    def concat(self, old: Any, new: Any) -> Any:
        """The value of the file after the append."""
        import polars as pl

        return pl.concat([old, new], how="vertical", rechunk=False)

    def columns(self, value: Any, file: Any) -> Any:
        """New columns of a file, with its number of rows."""
        import polars as pl

        found = self.collect(value)
        if isinstance(found, pl.Series):
            found = found.to_frame()
        check_length(found.height, file.n_rows)
        return found

    def nothing(self) -> Any:
        """A frame without columns and rows."""
        import polars as pl

        return pl.DataFrame()

    def joined_labels(self, old: Any, new: Any, sources: list[tuple[bool, int]]) -> list[str]:
        """The labels of columns of the file and of new ones."""
        return [(new if is_new else old).columns[position] for is_new, position in sources]

    def with_columns(self, old: Any, new: Any, sources: list[tuple[bool, int]], labels: list[str]) -> Any:
        """The frame with columns of the file and new ones."""
        import polars as pl

        found = [(new if is_new else old).to_series(position) for is_new, position in sources]
        return pl.DataFrame([series.alias(label) for series, label in zip(found, labels, strict=True)])

    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a value."""
        return value.slice(start, stop - start)

    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""
        import polars as pl

        return pl.concat(parts, rechunk=False)

    def size(self, value: Any) -> int:
        """Bytes of a value, about."""
        return int(value.estimated_size())


def _common(label: str, old: Any, column: Any) -> Any:
    """The type that holds the values of both."""
    import polars as pl

    new = column.dtype
    if old == new or new == pl.Null or (len(column) and column.null_count() == len(column)):
        return old
    if old == pl.Null:
        return new
    for wider in (old, new):
        narrow = new if wider is old else old
        same_sign = (old.is_signed_integer() and new.is_signed_integer()) or (
            old.is_unsigned_integer() and new.is_unsigned_integer()
        )
        if (same_sign or (old.is_float() and new.is_float())) and _bits(wider) > _bits(narrow):
            return wider
    for kind in (pl.Datetime, pl.Duration):
        if (
            isinstance(old, kind)
            and isinstance(new, kind)
            and getattr(old, "time_zone", 0) == getattr(new, "time_zone", 0)
        ):
            return max(old, new, key=lambda dtype: _UNITS.index(dtype.time_unit))
    raise refused(f"column {shown(label)}", old, new)


def _missing(label: str, dtype: Any, n: int) -> Any:
    """A column of nulls."""
    import polars as pl

    return pl.Series(label, [], dtype=dtype).clear(n)


def _cast(label: str, column: Any, dtype: Any) -> Any:
    """A column of a wider type. Times beyond the range of a finer unit are an error."""
    import polars as pl

    # Polars can't cast nested values to their own type if a null hides some.
    if column.dtype == dtype:
        return column
    if column.null_count() == len(column):
        return _missing(column.name, dtype, len(column))
    beyond = ArgumentError(f"column {shown(label)} has times beyond the range of {dtype}: convert it")
    try:
        found = column.cast(dtype)
    except pl.exceptions.InvalidOperationError:
        raise beyond from None
    # Older versions of Polars convert units without checking the range.
    if dtype.is_temporal() and not found.cast(column.dtype).equals(column, null_equal=True):
        raise beyond
    return found


def _bits(dtype: Any) -> int:
    return int("".join(filter(str.isdigit, str(dtype))))


RULES = PolarsRules()
