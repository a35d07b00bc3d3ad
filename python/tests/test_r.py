"""A file that R wrote (`r/tests/testthat/golden.R`), in the libraries of Python.

`r/tests/testthat/test-python.R` has more, with R itself.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import entasis as en

PATH = Path(__file__).parents[2] / "tests" / "golden" / "r" / "frame.entasis"


def test_pandas_is_the_default() -> None:
    frame = en.read(PATH)
    assert type(frame) is pd.DataFrame
    assert en.open(PATH).written_by == "r"
    assert frame.index.tolist() == ["p", "q", "r"]
    assert frame.logical.tolist() == [True, pd.NA, False]
    assert frame.integer.tolist() == [1, pd.NA, -3]
    assert str(frame.double.dtype) == "float64"
    assert frame.double.isna().tolist() == [False, True, True]
    assert frame["raw"].tolist() == [0, 1, 255]
    assert frame.character.fillna("missing").tolist() == ["a", "missing", "é"]
    assert frame.latin1.fillna("missing").tolist() == ["café", "x", "missing"]
    assert frame["factor"].cat.codes.tolist() == [0, -1, 1]
    assert frame.ordered.cat.ordered
    assert frame.ordered.cat.categories.tolist() == ["lo", "hi"]
    assert frame.Date.iloc[2] == pd.Timestamp("1960-05-05")
    assert frame.POSIXct.iloc[0] == pd.Timestamp("2017-07-14 02:40:00.25", tz="UTC")
    assert str(frame.POSIXct.dt.tz) == "Europe/Oslo"
    assert frame.difftime.iloc[2] == pd.Timedelta("150s")
    assert frame["matrix.2"].tolist() == [4, 5, 6]


def test_rows_and_columns_of_it() -> None:
    frame = en.read(PATH, columns=["integer", "character"], rows=[2, 0])
    assert frame.index.tolist() == ["r", "p"]
    assert frame.integer.tolist() == [-3, 1]


def test_arrow_tells_na_from_nan() -> None:
    pytest.importorskip("pyarrow")
    # Arrow has no complex numbers.
    table = en.read(PATH, to="pyarrow", columns=["row.names", "double", "integer"])
    assert table.column_names == ["row.names", "double", "integer"]
    double = table["double"].to_pylist()
    assert double[:2] == [1.5, None]
    assert np.isnan(double[2])


def test_polars() -> None:
    pytest.importorskip("polars")
    frame = en.read(PATH, to="polars", columns=["row.names", "factor"])
    assert frame["row.names"].to_list() == ["p", "q", "r"]
    assert frame["factor"].to_list() == ["x", None, "y"]


def test_static_frame_has_the_row_names() -> None:
    pytest.importorskip("static_frame")
    frame = en.read(PATH, to="static_frame", columns=["raw", "complex"])
    assert frame.index.values.tolist() == ["p", "q", "r"]
    assert frame["raw"].values.tolist() == [0, 1, 255]


def test_every_byte_of_it_is_checked() -> None:
    assert en.verify(PATH).checked_len > 0
