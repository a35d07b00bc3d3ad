"""Compares frames of pandas."""

from __future__ import annotations

from typing import Any

import pandas as pd


def assert_frame_equal(got: pd.DataFrame, wanted: pd.DataFrame, **options: Any) -> None:
    """pandas' assertion, which would look up the category of each value: the codes of equal
    categories are compared instead."""
    got, wanted = got.copy(deep=False), wanted.copy(deep=False)
    for i in range(min(got.shape[1], wanted.shape[1])):
        one, other = got.iloc[:, i].array, wanted.iloc[:, i].array
        if not (isinstance(one, pd.Categorical) and isinstance(other, pd.Categorical)):
            continue
        if one.ordered == other.ordered:
            pd.testing.assert_index_equal(one.categories, other.categories, exact=True)
            got.isetitem(i, one.codes)
            wanted.isetitem(i, other.codes)
    pd.testing.assert_frame_equal(got, wanted, **options)
