"""Any frames of Polars."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st
from polars.testing.parametric import dtypes, series

from .cells import CELL, TEXT

# Polars can't make lists of the integers of 128 bits that it draws.
_LEAVES = [
    *(pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    *(pl.Float32, pl.Float64, pl.Decimal, pl.String, pl.Binary, pl.Date, pl.Time, pl.Datetime, pl.Duration),
    *(pl.Categorical, pl.Enum, pl.Null, pl.List, pl.Array, pl.Struct),
]


def _is_kept(dtype: Any) -> bool:
    """Whether it contains no array of length 0, which Polars doesn't take back from Arrow."""
    if isinstance(dtype, pl.Array) and 0 in dtype.shape:
        return False
    inner = [field.dtype for field in dtype.fields] if isinstance(dtype, pl.Struct) else []
    if isinstance(dtype, (pl.List, pl.Array)):
        inner.append(dtype.inner)
    return all(map(_is_kept, inner))


@st.composite
def frames(draw: Any) -> Any:
    """A frame of columns of any dtypes."""
    n = draw(st.integers(0, 6))
    columns = []
    for name in draw(st.lists(TEXT.filter(lambda text: "\0" not in text), max_size=4, unique=True)):
        if draw(st.integers(0, 4)) == 0:
            columns.append(pl.Series(name, [draw(CELL) for _ in range(n)], dtype=pl.Object))
            continue
        dtype = draw(dtypes(allowed_dtypes=_LEAVES, nesting_level=3).filter(_is_kept))
        columns.append(draw(series(name=name, dtype=dtype, min_size=n, max_size=n, allow_null=True)))
    frame = pl.DataFrame(columns) if columns else pl.DataFrame(height=n)
    if frame.width and n > 1 and not any(column.dtype == pl.Object for column in columns):
        cut = draw(st.integers(0, n))
        frame = pl.concat([frame[:cut], frame[cut:]], rechunk=False)
    return frame
