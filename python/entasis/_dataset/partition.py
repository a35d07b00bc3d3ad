"""Parts of a frame whose rows have the same keys."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import integer, shown
from entasis.errors import ArgumentError, ColumnNotFoundError, UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from entasis._grow.rules import Rules

# The greatest and the least integer that a key has.
_MOST = 2**63 - 1
_Value = str | None


def parts(
    frame: Any, rules: Rules, keys: Sequence[str], apart: Mapping[str, Any]
) -> Iterator[tuple[tuple[_Value, ...], tuple[str | None, ...], Any]]:
    """The rows of a frame by their keys, in the order in which keys occur.

    Parameters
    ----------
    apart
        The columns of keys that are not in the frame.

    Yields
    ------
    tuple
        The texts of the values of the keys, their types (None for a missing value), and the rows
        without the keys, in their order.
    """
    import numpy as np

    labels = rules.labels(frame)
    for key in keys:
        if key not in labels and key not in apart:
            raise ColumnNotFoundError(f"partition_by: no column {shown(key)}")
    codes = np.zeros(rules.length(frame), np.int64)
    values: list[list[Any]] = []
    for key in keys:
        distinct, inverse = _coded(apart[key] if key in apart else rules.column(frame, labels.index(key)), key)
        codes = codes * max(len(distinct), 1) + inverse
        values.append(distinct)
    rest = rules.take(frame, [i for i, label in enumerate(labels) if label not in keys])
    if len(labels) + len(apart) == len(keys):
        raise ArgumentError("partition_by names all columns: the files would have none")
    order = np.argsort(codes, kind="stable")
    ends = np.flatnonzero(np.diff(codes[order], append=-1)) + 1
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    by_first = sorted(range(len(ends)), key=lambda i: order[starts[i]])
    for i in by_first:
        rows = order[starts[i] : ends[i]]
        code = int(codes[rows[0]])
        found: list[Any] = []
        for distinct in reversed(values):
            code, at = divmod(code, max(len(distinct), 1))
            found.append(distinct[at])
        texts, types = zip(*(_text(value, key) for value, key in zip(reversed(found), keys, strict=True)), strict=True)
        yield texts, types, _rows(rest, rules, rows)


def _coded(column: Any, key: str) -> tuple[list[Any], Any]:
    """The distinct values of a column, and the position of each row's value among them."""
    import numpy as np

    root = type(column).__module__.partition(".")[0]
    if root == "polars":
        import polars as pl

        column = column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum) else column
        distinct = column.unique(maintain_order=True)
        codes = pl.DataFrame({"k": column}).join(
            pl.DataFrame({"k": distinct}).with_row_index("i"),
            on="k",
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )["i"]
        return distinct.to_list(), codes.to_numpy().astype(np.int64)
    if root == "pyarrow":
        import pyarrow as pa
        import pyarrow.compute as pc

        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        found = pc.dictionary_encode(column, null_encoding="encode")
        return found.dictionary.to_pylist(), found.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if root == "pandas":
        import pandas as pd

        codes, distinct = pd.factorize(column, use_na_sentinel=False)
        plain = [None if pd.isna(value) else value for value in distinct]
        return plain, np.asarray(codes, np.int64)
    array = np.asarray(column)
    if array.dtype == object:
        # Texts and missing values have no order.
        known: dict[Any, int] = {}
        found = [known.setdefault(value, len(known)) for value in array]
        return list(known), np.asarray(found, np.int64)
    if array.dtype.kind == "m":
        raise UnsupportedTypeError(f"the key {shown(key)} has durations: keys are integers, dates or text")
    if array.dtype.kind == "M":
        # Times finer than a microsecond would become integers.
        days = array.astype("M8[D]")
        if not np.array_equal(days.astype(array.dtype), array, equal_nan=True):
            raise UnsupportedTypeError(f"the key {shown(key)} has times of day: convert it to dates")
        array = days
    distinct, inverse = np.unique(array, return_inverse=True)
    return distinct.tolist(), inverse.astype(np.int64)


def _text(value: Any, key: str) -> tuple[str | None, str | None]:
    """The text of a value of a key, and its type."""
    if value is None:
        return None, None
    if isinstance(value, str):
        return value, "string"
    number = None if isinstance(value, bool) else integer(value)
    if number is not None and not isinstance(value, float):
        if not -_MOST - 1 <= number <= _MOST:
            raise UnsupportedTypeError(f"the key {shown(key)} has {number}, and keys are integers of 64 bits")
        return str(number), "int64"
    date = getattr(value, "to_pydatetime", lambda: value)()
    if isinstance(date, datetime.datetime):
        if date.time() != datetime.time() or date.tzinfo is not None:
            raise UnsupportedTypeError(f"the key {shown(key)} has times of day: convert it to dates")
        date = date.date()
    if isinstance(date, datetime.date):
        return f"{date.year:04}-{date.month:02}-{date.day:02}", "date"
    raise UnsupportedTypeError(
        f"the key {shown(key)} has {shown(value)}: keys are integers, dates or text; leave it in the files"
    )


def _rows(frame: Any, rules: Rules, rows: Any) -> Any:
    """Some rows of a frame."""
    if rules.HOST == "polars":
        return frame[rows]
    if rules.HOST == "pyarrow":
        return frame.take(rows)
    return {name: array[rows] for name, array in frame.items()} if rules.HOST == "numpy" else frame.iloc[rows]
