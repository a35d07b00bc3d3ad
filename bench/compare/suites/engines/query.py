"""A query for each engine, and the equality of answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...hosts import WrongData

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# Sums of floats depend on the order of rows, which varies with threads.
TOLERANCE = 1e-9

Lazy = Callable[[dict[str, "pl.LazyFrame"]], "pl.LazyFrame"]


@dataclass(frozen=True)
class Query:
    """The same query for DuckDB and for Polars, which gets the tables by name."""

    kind: str  # of the targets
    title: str
    sql: str
    polars: Lazy


def check(expected: pa.Table, got: pa.Table) -> None:
    """Raise `WrongData` unless both answers have the same rows, in any order.

    Floats may differ by `TOLERANCE`. Engines have other types for sums, so numbers are compared by
    value.
    """
    if expected.column_names != got.column_names:
        raise WrongData(f"columns {got.column_names} instead of {expected.column_names}")
    if expected.num_rows != got.num_rows:
        raise WrongData(f"{got.num_rows} rows instead of {expected.num_rows}")
    for left, right in zip(_rows(expected), _rows(got), strict=True):
        for name, a, b in zip(expected.column_names, left, right, strict=True):
            if not _same(a, b):
                raise WrongData(f"column {name}: {b!r} instead of {a!r}")


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows, sorted by their values other than floats."""
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def key(row: tuple[Any, ...]) -> list[tuple[bool, Any]]:
        return [(value is None, value or "") for value in row if not isinstance(value, float)]

    try:
        return sorted(rows, key=key)
    except TypeError:
        return sorted(rows, key=str)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and math.isclose(a, b, rel_tol=TOLERANCE)
    return bool(a == b)
