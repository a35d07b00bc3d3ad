"""The frame of the fst articles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SEED = 20171216
STEP = 1 << 20  # rows drawn at once, to keep temporary arrays small
CITIES = (
    "Atlanta",
    "Chicago",
    "Denver",
    "Houston",
    "LosAngeles",
    "Miami",
    "NewYork",
    "SanFrancisco",
    "Seattle",
    "Washington.DC",
)


def headline(n_rows: int, seed: int = SEED) -> pd.DataFrame:
    """The frame of the fst articles: logical with missing values, integers, prices, cities.

    A longer frame begins with the rows of a shorter one.
    """
    import pandas as pd

    prices = np.random.default_rng(seed).choice(np.arange(1, 10_001), 20, replace=False) / 100
    truth = np.empty(n_rows, np.bool_)
    missing = np.empty(n_rows, np.bool_)
    integers = np.empty(n_rows, np.int32)
    reals = np.empty(n_rows, np.float64)
    codes = np.empty(n_rows, np.int8)
    for start in range(0, n_rows, STEP):
        rng = np.random.default_rng([seed, start])
        part = slice(start, min(start + STEP, n_rows))
        n = part.stop - part.start
        percent = rng.integers(0, 100, STEP, dtype=np.uint8)[:n]
        np.less(percent, 85, out=truth[part])
        np.greater_equal(percent, 95, out=missing[part])
        integers[part] = rng.integers(1, 101, STEP, dtype=np.int32)[:n]
        np.take(prices, rng.integers(0, 20, STEP, dtype=np.uint8)[:n], out=reals[part])
        codes[part] = rng.integers(0, 10, STEP, dtype=np.int8)[:n]
    cities = pd.Index(CITIES, dtype="str")
    columns = {
        "Logical": pd.arrays.BooleanArray(truth, missing),
        "Integer": integers,
        "Real": reals,
        "Factor": pd.Categorical.from_codes(codes, cities, validate=False),
    }
    return pd.DataFrame(columns, copy=False)
