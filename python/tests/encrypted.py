"""Keys and frames of the tests of encryption."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import entasis as en

BYTES = bytes(range(32))
KEY = en.Key(BYTES)
OTHER = en.Key(bytes(32))
PASSWORD = "correct horse"


def key_of_module() -> en.Key:
    return KEY


def frame(n: int = 5) -> pd.DataFrame:
    return pd.DataFrame({"city": [f"Uppsala {i}" for i in range(n)], "price": np.arange(n) * 1.5, "n": range(n)})


def same(a: Any, b: Any) -> None:
    pd.testing.assert_frame_equal(a, b)
