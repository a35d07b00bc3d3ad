"""Any cells and labels."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
I64 = st.integers(-(1 << 63), (1 << 63) - 1)
ZONES = st.sampled_from(["UTC", "Europe/Oslo", "America/St_Johns", "Asia/Kolkata", "UTC+01:30"])

# Scalars that have a hash: also labels and names.
HASHABLE: Any = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    TEXT,
    st.text(max_size=5),
    st.binary(max_size=8),
    st.dates(),
    st.times(),
    st.datetimes(),
    st.timedeltas(),
    # A signalling NaN has no hash.
    st.decimals().filter(lambda x: not x.is_snan()),
    st.uuids(),
    I64.map(np.int64),
    st.integers(0, 255).map(np.uint8),
    st.floats(width=32).map(np.float32),
    st.sampled_from([pd.NA, pd.NaT, np.bool_(True), np.str_("x"), np.datetime64("2020-01"), datetime.UTC]),
    st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
    st.integers(-(10**6), 10**6).map(lambda n: pd.Period(ordinal=n, freq="D")),
)


def _more(inner: Any) -> Any:
    keys = st.one_of(TEXT, st.integers(), st.booleans(), st.tuples(TEXT, st.integers()))
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
        st.sets(st.one_of(TEXT, st.integers()), max_size=4),
        st.frozensets(st.one_of(TEXT, st.integers()), max_size=4),
        st.lists(I64, max_size=4).map(np.array),
        st.binary(max_size=5).map(bytearray),
        st.lists(st.floats(), min_size=1, max_size=3).map(lambda x: pd.Series(x, name="s")),
        st.lists(TEXT, min_size=1, max_size=3).map(lambda x: pd.DataFrame({"t": x})),
    )


CELL: Any = st.recursive(HASHABLE, _more, max_leaves=6)
NAME: Any = st.one_of(st.none(), TEXT, HASHABLE, st.tuples(HASHABLE, HASHABLE))
