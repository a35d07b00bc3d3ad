"""Texts that are compared with times: the error names the column, the text, and a form that is read."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import forks
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import entasis as en
from entasis import col

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "t": ("soon", r'"soon" is not a time: write 2024-01-31 or 2024-01-31T12:30:00'),
    "z": ("soon", r'"soon" is not a time with a zone: write 2024-01-31T12:30:00Z or 2024-01-31T12:30:00\+01:00'),
    "d": ("31.1.2024", r'"31.1.2024" is not a time: write 2024-01-31'),
    "o": ("noon", r'"noon" is not a time of day: write 12:30:00'),
    "c": ("2024-13-01", r'"2024-13-01" is not a time: write 2024-01-31'),
    "s": ("1 day", r'does not compare with "1 day": give a duration'),
}


def table() -> pa.Table:
    days = pd.date_range("2024-01-01", periods=3)
    return pa.table(
        {
            "t": pa.array(days),
            "z": pa.array(days.tz_localize("UTC")),
            "d": pa.array(days.date),
            "o": pa.array([datetime.time(1), datetime.time(12, 30), datetime.time(23)]),
            "c": pa.array(days).dictionary_encode(),
            "s": pa.array([datetime.timedelta(days=i) for i in range(3)]),
        }
    )


@pytest.mark.parametrize("label", TEXTS)
def test_texts_that_are_no_times(tmp_path: Path, label: str) -> None:
    path = tmp_path / "a.entasis"
    en.write(table(), path)
    text, problem = TEXTS[label]
    f = en.open(path)
    for condition in (col(label) > text, col(label).is_in([text]), ~(col(label) == text), (label, "==", text)):
        if label == "c" and isinstance(condition, en.Condition) and ">" in repr(condition):
            # Categories without an order.
            continue
        with pytest.raises(en.ArgumentError, match=problem) as caught:
            f.filter(condition).count()
        assert f'column "{label}"' in str(caught.value)
        assert "a.entasis" in str(caught.value)
    done = forks.command("count", path, "--where", f"{label} = '{text}'")
    assert done.returncode == 1
    assert problem.replace("\\", "") in done.stderr.decode()
    assert f'column "{label}"' in done.stderr.decode()


def test_texts_that_are_times(tmp_path: Path) -> None:
    en.write(table(), tmp_path / "a.entasis")
    f = en.open(tmp_path / "a.entasis")
    for condition, wanted in [
        (col("t") >= "2024-01-02", [1, 2]),
        (col("z") < "2024-01-02T01:00+01:00", [0]),
        (col("d").is_in(["2024-01-01", "2024-01-03"]), [0, 2]),
        (col("o") == "12:30", [1]),
        (col("c") == "2024-01-03T00:00", [2]),
    ]:
        assert f.filter(condition).row_numbers().tolist() == wanted, condition


def test_long_texts_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write(table(), path)
    with pytest.raises(en.ArgumentError) as caught:
        en.open(path).filter(col("t") > "x" * 100_000).count()
    assert len(str(caught.value)) < 700
    done = forks.command("count", path, "--where", f"t = '{'x' * 100_000}'")
    assert done.returncode == 1
    assert len(done.stderr) < 700


@pytest.mark.parametrize(
    ("zone", "time", "form"),
    [
        ("America/Denver", "2024-07-01 12:00", "'2024-07-01 12:00-06:00'"),
        ("America/Denver", "2024-01-01", "'2024-01-01T00:00-07:00'"),
        ("America/Denver", pd.Timestamp("2024-07-01"), "'2024-07-01 00:00:00-06:00'"),
        ("America/Denver", np.datetime64("2024-07-01T12"), "'2024-07-01T12:00-06:00'"),
        ("America/Denver", np.datetime64("2024-07-01T12:00"), "'2024-07-01T12:00-06:00'"),
        ("America/Denver", datetime.date(2024, 7, 1), "'2024-07-01T00:00-06:00'"),
        ("America/Denver", "2024-03-10 02:30", "the offset that America/Denver has then"),  # No such time.
        ("America/Denver", "2024-11-03 01:30", "the offset that America/Denver has then"),  # Twice.
        ("+05:30", "2024-07-01 12:00:00.123456789", r"'2024-07-01 12:00:00.123456789\+05:30'"),
        ("UTC", "2024-07-01", r"'2024-07-01T00:00\+00:00'"),
    ],
)
def test_times_without_a_zone_get_that_of_the_column(zone: str, time: Any, form: str, path: Path) -> None:
    """The form that the error proposes stands for the time that pandas means, and is read."""
    times = pd.date_range("2024", periods=9000, freq="h", tz=zone)
    en.write(pa.table({"t": pa.array(times)}), path)
    f = en.open(path)
    for condition in (col("t") > time, col("t").is_in([time]), ("t", "==", time)):
        with pytest.raises(en.ArgumentError, match=f"'t'.*no time zone.*write {form}") as caught:
            f.count(condition)
    if form.startswith("'"):
        text = str(caught.value).partition("write '")[2].partition("'")[0]
        local = pd.Timestamp(time, tz=zone)
        assert f.count(col("t") > text) == (times > local).sum()
