"""Frames and series of Polars."""

from __future__ import annotations

from typing import Any

import polars as pl

from .different import Different, equal
from .pyarrow import check as check_arrow
from .values import check_value


def check(a: Any, b: Any, path: str) -> None:
    """Raises `Different` when `b` is not the same as `a`. LazyFrames are collected."""
    if isinstance(a, pl.DataFrame):
        equal(a.shape, b.shape, f"{path}.shape")
        equal(a.columns, b.columns, f"{path}.columns")
        for x, y in zip(a.get_columns(), b.get_columns(), strict=True):
            check_series(x, y, f"{path}[{x.name!r}]")
    elif isinstance(a, pl.Series):
        check_series(a, b, path)
    else:
        equal(repr(a), repr(b), path)


def check_series(a: Any, b: Any, path: str) -> None:
    """Two series are the same, bit by bit where they are not null."""
    equal(a.name, b.name, f"{path}.name")
    equal(len(a), len(b), f"{path}: length")
    if a.dtype != b.dtype or repr(a.dtype) != repr(b.dtype):
        raise Different(f"{path}: dtype {b.dtype!r} instead of {a.dtype!r}")
    if a.dtype == pl.Object:
        check_value(a.to_list(), b.to_list(), path)
    elif isinstance(a.dtype, pl.Categorical):
        # Polars decides the code of a category.
        check_arrow(a.cast(pl.String).to_arrow(), b.cast(pl.String).to_arrow(), path)
    elif any(name in repr(a.dtype) for name in ("Categorical", "Int128")):
        # pyarrow has no integers of 128 bits.
        check_value(a.to_list(), b.to_list(), path)
    else:
        check_arrow(a.rechunk().to_arrow(), b.rechunk().to_arrow(), path)
