"""Rows of Polars. An append gives the result of `pl.concat` in the types of the file."""

from __future__ import annotations

from os import PathLike
from typing import Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, is_records, positions, unreadable
from .fitting import Fitted, Options, converted, fit, missing
from .polars_types import TYPES
from .rules import Rules


class PolarsRules(Rules):
    """The rules of Polars."""

    HOST = "polars"
    types = TYPES

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

    def column(self, value: Any, key: int) -> Any:
        """A column of a frame, or a series itself."""
        return value if hasattr(value, "name") else value.to_series(key)

    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that columns of the file need."""
        import polars as pl

        if isinstance(old, pl.Series):
            if not isinstance(new, pl.Series):
                raise ArgumentError(f"{shown(new)} can't be appended to a file of a Series: pass one")
            part = fit(TYPES, f"column {shown(old.name)}", old.dtype, new, options, 0).alias(old.name)
            return Fitted(part, {} if part.dtype == old.dtype else {0: part.dtype})
        if isinstance(new, pl.Series):
            raise ArgumentError("a Series can't be appended to a file of a DataFrame: pass a DataFrame")
        columns, grown = [], {}
        like = pl.Series([], dtype=pl.Null).clear(new.height)
        found, more = positions(old.columns, new.columns, options.fill)
        for i, ((name, dtype), position) in enumerate(zip(old.schema.items(), found, strict=True)):
            what = f"column {shown(name)}"
            if position is None:
                column = missing(TYPES, what, dtype, like, options, i)
            else:
                column = fit(TYPES, what, dtype, new.to_series(position), options, i)
            if column.dtype != dtype:
                grown[i] = column.dtype
            columns.append(column.alias(name))
        columns += [new.to_series(position) for position in more]
        return Fitted(pl.DataFrame(columns), grown, len(more))

    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A value with wider types, and new columns of the rows to append."""
        import polars as pl

        columns = [value] if hasattr(value, "name") else value.get_columns()
        found = [
            converted(TYPES, f"column {shown(column.name)}", column, column.dtype if dtype is None else dtype)
            for column, dtype in zip(columns, dtypes, strict=True)
        ]
        if hasattr(value, "name"):
            return found[0]
        nulls = [pl.Series(name, [], dtype=dtype).clear(n) for name, dtype in part.schema.items()]
        return pl.DataFrame(found + nulls)

    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a frame."""
        import polars as pl

        return pl.DataFrame([value.to_series(position) for position in positions])

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


RULES = PolarsRules()
