"""Single columns and the table of qs' README, as Arrow tables.

R's `sample` gives a permutation of 1 to n and its `runif` multiples of 2^-32: 32 random bits a
value. `uniform` has all 53 bits of a double.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .text import random_strings

SEED = 20190301


def int32(n_rows: int) -> pa.Table:
    """A permutation of 1 to n."""
    return pa.table({"x": _permutation(n_rows)})


def int64(n_rows: int) -> pa.Table:
    """The same as 64-bit integers."""
    return pa.table({"x": _permutation(n_rows).astype(np.int64)})


def runif(n_rows: int) -> pa.Table:
    """Doubles from 0 to 1, of 32 random bits."""
    values = _generator().integers(1, 1 << 32, n_rows, dtype=np.uint32) * 2.0**-32
    return pa.table({"x": values})


def uniform(n_rows: int) -> pa.Table:
    """Doubles from 0 to 1, of 53 random bits."""
    return pa.table({"x": _generator().random(n_rows)})


def strings(n_rows: int) -> pa.Table:
    """Random alphanumeric strings of 50 characters."""
    return pa.table({"x": random_strings(n_rows, 50, _generator())})


def qs_table(n_rows: int) -> pa.Table:
    """Normal doubles, a permutation, and random strings of 50 characters."""
    rng = _generator()
    return pa.table(
        {
            "number": rng.standard_normal(n_rows),
            "integer": _permutation(n_rows),
            "string": random_strings(n_rows, 50, rng),
        }
    )


def _permutation(n_rows: int) -> np.ndarray:
    values = np.arange(1, n_rows + 1, dtype=np.int32)
    _generator().shuffle(values)
    return values


def _generator() -> np.random.Generator:
    return np.random.default_rng(SEED)
