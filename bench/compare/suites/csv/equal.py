"""Equality of frames that several readers make of one text.

Readers take different types for some values, which is a note and no error:

- dates and times as text, and other units of times
- integers of other widths, and integers with gaps as floats
- columns without any value of any type
- words for missing values, and empty text, as missing text or the reverse

All other differences of values are `WrongData`. Floats are compared bit by bit.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ...hosts import WrongData
from ...hosts.base import named

WORDS = ["", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "None", "<NA>"]
BITS = {pa.float32(): pa.uint32(), pa.float64(): pa.uint64()}
TIME = pa.timestamp("us")


def differences(expected: pa.Table, got: pa.Table) -> list[str]:
    """The types that differ, as notes; `WrongData` if a value differs."""
    if expected.shape != got.shape:
        raise WrongData(f"shape {got.shape} instead of {expected.shape}")
    if expected.column_names != got.column_names:
        raise WrongData("the names of columns differ")
    kinds: dict[str, list[str]] = {}
    for i, name in enumerate(expected.column_names):
        try:
            note = _column(_plain(expected.column(i)), _plain(got.column(i)))
        except (WrongData, pa.ArrowException) as error:
            raise WrongData(f"column {name}: {error}") from error
        if note:
            kinds.setdefault(note, []).append(name)
    return [f"{note} ({named(labels)})" for note, labels in kinds.items()]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Without dictionaries, views and time zones, and with wide offsets."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_string(column.type) or pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column


def _column(expected: pa.ChunkedArray, got: pa.ChunkedArray) -> str:
    """A note on the types of one column, or an empty string."""
    left, right = expected.type, got.type
    n = len(expected)
    if expected.null_count == n:
        if got.null_count == n or (pa.types.is_large_string(right) and _is_empty(got)):
            return "" if left == right else "a type for columns without values"
        raise WrongData("values where all are missing")
    note = "" if left == right else f"{left} as {right}"
    if pa.types.is_large_string(left) and pa.types.is_large_string(right):
        if expected.equals(got):
            return ""
        _same(_without_words(expected), _without_words(got))
        return "words for missing values"
    if pa.types.is_temporal(left):
        # The cast of text takes ISO 8601 alone.
        _same(expected.cast(TIME), got.cast(TIME))
    elif pa.types.is_integer(left) and pa.types.is_floating(right):
        _same(expected, got.cast(left))
        return "integers with gaps as floats" if expected.null_count else "integers as floats"
    elif left == right or (_is_number(left) and pa.types.is_integer(right)):
        _same(expected, got.cast(left))
    else:
        raise WrongData(note)
    return note


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _without_words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text with an empty string for missing values and their words."""
    words = pc.is_in(column, pa.array(WORDS, column.type))
    return pc.if_else(pc.or_kleene(words, pc.is_null(column)), pa.scalar("", column.type), column)


def _same(expected: pa.ChunkedArray, got: pa.ChunkedArray) -> None:
    """Raise `WrongData` with the first row that differs, unless all are equal bit by bit."""
    left, right = _bits(expected), _bits(got)
    if left.equals(right):
        return
    equal = pc.fill_null(pc.equal(left, right), False)
    both = pc.and_(pc.is_null(left), pc.is_null(right))
    row = pc.index(pc.or_(equal, both), False).as_py()
    shown = [repr(column[row].as_py())[:40] for column in (got, expected)]
    raise WrongData(f"row {row} has {shown[0]} instead of {shown[1]}")


def _bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    bits = BITS.get(column.type)
    if bits is None:
        return column
    return pa.chunked_array([chunk.view(bits) for chunk in column.chunks], bits)


def _is_empty(column: pa.ChunkedArray) -> bool:
    return bool(pc.all(pc.equal(pc.fill_null(column, ""), "")).as_py())
