"""Frames that the tests of folders write."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

KEYS = ["k", "c", "d"]


def frame(n: int = 3000, seed: int = 0) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    words = ["a", "b/c", None, "é", "", "A", "a=b", "01", "x y%"]
    days = [datetime.date(2024, 1, 1), datetime.date(2023, 12, 31), None]
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "k": random.integers(-2, 3, n),
            "c": [words[i] for i in random.integers(0, len(words), n)],
            "d": [days[i] for i in random.integers(0, 3, n)],
            "x": random.normal(size=n),
            "t": [f"text {i % 50}" for i in range(n)],
        },
        schema_overrides={"c": pl.String, "d": pl.Date},
    )


def in_order(found: pl.DataFrame) -> pl.DataFrame:
    return found.select(sorted(found.columns)).sort("id")
