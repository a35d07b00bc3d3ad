"""The rows that tasks make: one partition with other ids, again and again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...frames.headline import CITIES

if TYPE_CHECKING:
    from ...context import Context

SECTION = "machines"
SEED = 20171216
ROWS, LEAST = 100_000_000, 20_000
N_COLUMNS = 10
PART = 1_000_000
SUMMED = "price"
# Columns whose sums are compared.
NUMBERS = ("id", "quantity", "price", "x", "y", "k", "flag")


@lru_cache(1)
def base(n_rows: int) -> Any:
    """The first partition. Each process makes it once."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    words = np.array([f"text {i}" for i in range(500)], dtype=object)
    return pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "quantity": rng.integers(0, 1000, n_rows, dtype=np.int32),
            "price": np.round(rng.gamma(2, 50, n_rows), 2),
            "x": rng.normal(size=n_rows),
            "y": rng.random(n_rows, dtype=np.float32),
            "k": rng.integers(0, 100, n_rows),
            "flag": rng.random(n_rows) < 0.3,
            "city": pd.Categorical(
                np.array(CITIES)[rng.integers(0, len(CITIES), n_rows)], list(CITIES)
            ),
            "time": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n_rows), unit="s"),
            "word": pd.array(words[rng.integers(0, 500, n_rows)], dtype="str"),
        }
    )


def sizes(context: Context, n_processes: int) -> tuple[int, int]:
    """The number of partitions, and the number of rows of each."""
    n_rows = context.scaled(ROWS, least=LEAST)
    n_parts = max(n_rows // PART, 2 * n_processes)
    return n_parts, n_rows // n_parts


def prepare(n_rows: int) -> None:
    """Make the first partition in this process."""
    base(n_rows)


def partition(number: int, n_rows: int) -> Any:
    """The rows of a partition."""
    return base(n_rows).assign(id=np.arange(number * n_rows, (number + 1) * n_rows))


def expected(n_parts: int, n_rows: int) -> dict[str, float]:
    """The sums of all rows."""
    whole = base(n_rows)
    sums = {name: float(whole[name].astype("float64").sum()) * n_parts for name in NUMBERS}
    n = n_parts * n_rows
    return sums | {"id": n * (n - 1) / 2}
