"""Wide frames in which no two neighbours have the same type."""

from __future__ import annotations

import numpy as np
import pandas as pd

SEED = 20221001


def mixed(n_rows: int, n_columns: int) -> pd.DataFrame:
    """Columns of six types in turn: 64- and 32-bit integers and floats, booleans, times."""
    rng = np.random.default_rng([SEED, n_rows, n_columns])
    shape = (-(-n_columns // 6), n_rows)
    days = rng.integers(10_000, 20_000, shape)
    kinds = [
        rng.integers(-200_000, 200_000, shape),
        np.round(rng.random(shape) * 4000, 2),
        rng.random(shape) < 0.5,
        rng.integers(0, 1000, shape, dtype=np.int32),
        rng.standard_normal(shape).astype(np.float32),
        (days * 86_400_000_000).astype("datetime64[us]"),
    ]
    return pd.DataFrame({f"column_{i}": kinds[i % 6][i // 6] for i in range(n_columns)})
