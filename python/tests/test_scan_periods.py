"""Filters on periods of pandas give the rows of pandas in memory; intervals are refused."""

from __future__ import annotations

import datetime
import operator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

OPERATORS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.parametrize("freq", ["M", "D", "Q-NOV", "W-WED", "2M", "h", "s", "Y-DEC"])
def test_periods_compare_as_in_pandas(tmp_path: Path, freq: str) -> None:
    periods = pd.Series(pd.period_range("1969-06-01", periods=40, freq=freq))
    periods[5] = pd.NaT
    df = pd.DataFrame({"p": periods.array, "c": pd.Categorical(periods)}, index=pd.PeriodIndex(periods, name="k"))
    en.write(df, tmp_path / "a.entasis")
    f = en.open(tmp_path / "a.entasis")
    texts = ["1969-06-01", "1970-01", "1969-06-01 07:00", "1971"]
    for value in [periods[0], periods[7], periods[39], pd.Period("2030-01-01", freq), *texts]:
        for compare in OPERATORS:
            wanted = (compare(periods, value) & periods.notna()).to_numpy().nonzero()[0].tolist()
            for label in ("p", "k"):
                assert f.filter(compare(col(label), value)).row_numbers().tolist() == wanted, (freq, value)
        same = pd.Period(value, freq) if isinstance(value, str) else value
        wanted = (periods == same).to_numpy().nonzero()[0].tolist()
        assert f.filter(col("p").is_in([value, periods[39]])).row_numbers().tolist() == sorted({*wanted, 39})
        assert f.filter(col("c") == value).row_numbers().tolist() == wanted
    assert f.filter(col("p").is_missing()).row_numbers().tolist() == [5]
    assert f.filter(~(col("p") < periods[7])).count() == 33


def test_other_values_are_refused(tmp_path: Path) -> None:
    df = pd.DataFrame({"p": pd.period_range("2024-01", periods=3, freq="M"), "t": pd.date_range("2024", periods=3)})
    en.write(df, tmp_path / "a.entasis")
    f = en.open(tmp_path / "a.entasis")
    values: dict[Any, str] = {
        pd.Period(
            "2024-01-01", "D"
        ): r"column 'p': the period 2024-01-01 has frequency D, and the column M: give value",
        "soon": "column 'p': 'soon' is not a period of frequency M: write a time in it, such as '2024-01-31'",
        "NaT": "nothing equals a missing value",
        7: "periods of frequency M do not compare with 7: give a pandas.Period or a text",
        datetime.date(2024, 1, 1): "periods of frequency M do not compare",
    }
    for value, problem in values.items():
        with pytest.raises(en.ArgumentError, match=problem):
            f.filter(col("p") > value).count()
    with pytest.raises(en.ArgumentError, match=r"column 't': .*Period.* give a time, such as value.start_time"):
        f.filter(col("t") > pd.Period("2024-01", "M")).count()


def test_intervals_are_refused(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"i": pd.interval_range(0, 3)}), tmp_path / "a.entasis")
    f = en.open(tmp_path / "a.entasis")
    with pytest.raises(en.ArgumentError, match=r"column 'i': .* read the rows and compare them in pandas"):
        f.filter(col("i") == pd.Interval(0, 1)).count()
    for condition in (col("i") > 1, col("i").is_missing()):
        with pytest.raises(en.UnsupportedTypeError, match=r"columns of type interval .*filter the frame after reading"):
            f.filter(condition).count()
