"""Building blocks of the data sets: seeded draws, decimals, strings in pandas' own type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

SEED = 20160329
TABLE = 1 << 16  # steps of the probabilities that `pick` draws with
STRING = pd.StringDtype(na_value=np.nan)

Array = np.ndarray[Any, np.dtype[Any]]


def start(name: str, n_rows: int, scale: float) -> tuple[np.random.Generator, int]:
    """The generator of a data set and its number of rows at that scale."""
    if not 0 < scale <= 1:
        raise ValueError(f"scale must be above 0 and at most 1, not {scale}")
    return np.random.default_rng([SEED, *name.encode()]), max(1, round(n_rows * scale))


def zipf(n: int, exponent: float = 1.0, shift: float = 0.0) -> Array:
    """Weights of ranks 1 to n, which fall as a power of the rank."""
    return (np.arange(1, n + 1) + shift) ** -exponent


def pick(rng: np.random.Generator, weights: Sequence[float] | Array, n: int) -> Array:
    """`n` codes, each drawn with its weight, in steps of 1/65536."""
    cumulative = np.cumsum(weights, dtype=np.float64)
    steps = (np.arange(TABLE) + 0.5) * (cumulative[-1] / TABLE)
    table = np.minimum(np.searchsorted(cumulative, steps), len(cumulative) - 1).astype(np.int32)
    return table[rng.integers(0, TABLE, n, dtype=np.uint16)]


def chance(rng: np.random.Generator, share: float, n: int) -> Array:
    """True for about this share of `n` values."""
    return rng.random(n, dtype=np.float32) < share


def decimals(values: Array, digits: int) -> Array:
    """The doubles that reading text with this many decimals gives."""
    return np.rint(np.asarray(values, np.float64) * 10.0**digits) / 10.0**digits


def holes(values: Array, missing: Array) -> Array:
    """As float64, NaN where missing."""
    found = values.astype(np.float64)
    found[missing] = np.nan
    return found


def series(array: Any) -> pd.Series:
    """An Arrow array of strings as the type `str` of pandas."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    made: Any = pd.arrays.ArrowStringArray
    return pd.Series(made(array.cast(pa.large_string()), dtype=STRING), copy=False)


def words(codes: Array, known: Sequence[str] | pa.Array, missing: Array | None = None) -> pd.Series:
    """The word of each code; missing where the mask is set."""
    return series(arrow_words(codes, known, missing))


def arrow_words(
    codes: Array, known: Sequence[str] | pa.Array, missing: Array | None = None
) -> pa.Array:
    if not isinstance(known, pa.Array):
        known = pa.array(known, pa.large_string())
    return known.take(pa.array(codes, mask=missing))


def numerals(values: Array, width: int = 0) -> pa.Array:
    """Integers as text, with leading zeros up to the width."""
    text = pa.array(values).cast(pa.large_string())
    return pc.utf8_lpad(text, width, "0") if width else text


def glue(*parts: Any) -> pa.Array:
    """Concatenate strings row by row; a part is an array, or one string for all rows."""
    length = next(len(part) for part in parts if not isinstance(part, str))
    scalars = [pa.scalar(p, pa.large_string()) if isinstance(p, str) else p for p in parts]
    joined = pc.binary_join_element_wise(*scalars, pa.scalar("", pa.large_string()))
    assert len(joined) == length
    return joined


def marks(rng: np.random.Generator, alphabet: str, n: int, width: int) -> pa.Array:
    """Strings of one width, their letters drawn evenly from an ASCII alphabet."""
    letters = np.frombuffer(alphabet.encode(), np.uint8)
    values = letters[rng.integers(0, len(letters), n * width, dtype=np.uint8)]
    offsets = np.arange(n + 1, dtype=np.int64) * width
    return pa.LargeStringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(values))


def months(first: str, count: int, form: str) -> list[str]:
    """The names of consecutive months."""
    return [str(m) for m in pd.date_range(first, periods=count, freq="MS").strftime(form)]


def listed(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


def frame(columns: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(columns, copy=False)
