"""Random values come back the same: types, state of indexes, kinds of cells, bits of NaN."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from anything import arrow_arrays, numpy_arrays, pandas_values, polars_values
from bench.fidelity.same import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers import by_tier

import entasis as en

STRATEGIES = {
    "pandas frames": pandas_values.frames(),
    "pandas series": pandas_values.series(),
    "pandas indexes": st.integers(0, 5).flatmap(pandas_values.indexes),
    "Polars frames": polars_values.frames(),
    "pyarrow tables": arrow_arrays.tables(),
    "NumPy arrays": numpy_arrays.values(),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_anything(name: str, path: Any) -> None:
    @settings(max_examples=by_tier(30, 80, 5000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(value=STRATEGIES[name], compression=st.sampled_from([0, 50, 90]))
    def run(value: Any, compression: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            en.write(value, path, compression=compression)
            check(value, en.read(path))
        en.verify(path)

    run()
