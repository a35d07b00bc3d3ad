"""A frame to filter, and conditions with the rows that pass."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd

from entasis import col

FLOATS = [0.0, -0.0, 1.0, 0.1, 2.5, -3.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1e300]
TEXTS = ["", "a", "ab", "b\0", "é", "x" * 14, "x" * 15, "x" * 15 + "a", "x" * 15 + "b", "\U0010ffff" * 5]


def frame() -> pd.DataFrame:
    """A row more than a block, with columns of many types."""
    rng = np.random.default_rng(7)
    n = 65_537
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "price": np.round(rng.normal(100, 20, n), 2),
            "small": rng.integers(-5, 5, n).astype("int8"),
            "float": rng.choice(np.array(FLOATS), n),
            "single": rng.choice(np.array([0.1, 0.2, -0.0], "float32"), n),
            "text": pd.Series(rng.choice(np.array(TEXTS, object), n), dtype="str"),
            "city": pd.Categorical(rng.choice(["Bern", "Basel", "Chur"], n)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "time": pd.date_range("2024", periods=n, freq="min"),
            "zoned": pd.date_range("2024", periods=n, freq="min", tz="Europe/Zurich"),
            "flag": rng.random(n) < 0.5,
            "number": pd.array(rng.integers(0, 4, n), "Int64").astype("Int64"),
        },
        index=pd.Index(rng.permutation(n), name="key"),
    )


def masks(df):
    day = datetime.datetime(2024, 1, 20)
    zoned = pd.Timestamp("2024-01-20", tz="UTC")
    return [
        (col("id") >= 65_000, df.id >= 65_000),
        (col("id") == 2**70, df.id < 0),
        (col("id") > -(2**70), df.id >= 0),
        (col("small") > 2.5, df.small > 2.5),
        ((col("price") > 90) & (col("price") <= 110.5), (df.price > 90) & (df.price <= 110.5)),
        (col("price").between(90, 95) | (col("small") == -5), df.price.between(90, 95) | (df.small == -5)),
        (~(col("small") < 0), ~(df.small < 0)),
        (col("float") == 0, df.float == 0),
        (col("float") != 0, df.float != 0),
        (~(col("float") > 0), ~(df.float > 0)),
        (col("float") < np.inf, df.float < np.inf),
        (col("float").is_nan(), df.float.isna()),
        (col("float").is_missing(), df.float.isna()),
        (col("single") == 0.1, df.single == np.float32(0.1)),
        (col("single") >= 0, df.single >= 0),
        (col("text") == "x" * 15, df.text == "x" * 15),
        (col("text") > "x" * 15, df.text > "x" * 15),
        (col("text").starts_with("x" * 15), df.text.str.startswith("x" * 15)),
        (col("text").ends_with("b"), df.text.str.endswith("b")),
        (col("text").contains("\0"), df.text.str.contains("\0", regex=False)),
        (col("text").like("_b"), df.text == "ab"),
        (~col("text").is_in(["a", "é", "nowhere"]), ~df.text.isin(["a", "é"])),
        (col("city") == "Bern", df.city == "Bern"),
        (col("city") != "nowhere", df.city != "nowhere"),
        (col("city").is_in(["Bern", "nowhere"]), df.city == "Bern"),
        (col("city").starts_with("B"), df.city.isin(["Bern", "Basel"])),
        (col("size") > "S", df["size"] > "S"),
        (col("size") <= "M", df["size"] <= "M"),
        (col("time") < day, df.time < day),
        (col("time") == np.datetime64("2024-01-20"), df.time == day),
        (col("time") >= "2024-02-01", df.time >= "2024-02-01"),
        (col("time") > datetime.date(2024, 2, 1), df.time > "2024-02-01"),
        (col("zoned") < zoned, df.zoned < zoned),
        (col("flag") == True, df.flag),  # noqa: E712
        (col("flag"), df.flag),
        (~col("flag") & col("flag") | (col("id") == 1), df.id == 1),
        ((col("id") < 100) & col("flag"), (df.id < 100) & df.flag),
        (("small", "in", [1, 2]), df.small.isin([1, 2])),
        ([("small", ">", 1), ("id", "<", 100)], (df.small > 1) & (df.id < 100)),
        ([[("small", "=", 1)], [("id", "not in", range(65_000))]], (df.small == 1) | (df.id >= 65_000)),
        (col("key") < 100, df.index < 100),
    ]
