"""A table that grows by the day: orders, ten columns of ten types, in the order of time."""

from __future__ import annotations

import numpy as np
import pandas as pd

SEED = 20251125
STEP = 1 << 17  # rows drawn at once: a longer frame begins with the rows of a shorter one
FIRST = 1_600_000_000_000_000  # microseconds since 1970
CITIES = pd.Index(["Atlanta", "Chicago", "Denver", "Houston", "Miami", "Seattle"], dtype="str")
PRODUCTS = 5_000


def orders(n_rows: int) -> pd.DataFrame:
    """Number, time, customer, price, tax, quantity, weight, paid, city and product."""
    columns: dict[str, np.ndarray] = {}
    for first in range(0, n_rows, STEP):
        part = slice(first, min(first + STEP, n_rows))
        for name, values in _part(first).items():
            if name not in columns:
                columns[name] = np.empty(n_rows, values.dtype)
            columns[name][part] = values[: part.stop - first]
    products = np.array([f"item-{i:x}" for i in range(PRODUCTS)], dtype=object)
    return pd.DataFrame(
        {
            "number": columns["number"],
            "time": columns["time"].view("datetime64[us]"),
            "customer": columns["customer"],
            "price": columns["price"],
            "tax": columns["tax"],
            "quantity": columns["quantity"],
            "weight": columns["weight"],
            "paid": columns["paid"],
            "city": pd.Categorical.from_codes(columns["city"], CITIES),
            "product": pd.Series(products[columns["product"]], dtype="str"),
        },
        copy=False,
    )


def _part(first: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([SEED, first])
    return {
        "number": np.arange(first, first + STEP),
        "time": FIRST + first * 1_000 + np.sort(rng.integers(0, STEP * 1_000, STEP)),
        "customer": rng.integers(0, 1_000_000, STEP, dtype=np.int32),
        "price": np.round(rng.random(STEP) * 1_000, 2),
        "tax": rng.integers(0, 4, STEP, dtype=np.int8),
        "quantity": rng.integers(1, 100, STEP, dtype=np.int16),
        "weight": rng.standard_normal(STEP, dtype=np.float32),
        "paid": rng.random(STEP) < 0.9,
        "city": rng.integers(0, len(CITIES), STEP, dtype=np.int8),
        "product": rng.integers(0, PRODUCTS, STEP, dtype=np.int16),
    }
