"""RDS files are written from every source."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [0.5, float("nan"), -0.0],
            "s": pd.array(["a", None, "gr\u00fcn"], dtype="string"),
            "c": pd.Categorical(["u", None, "v"], categories=["v", "u"]),
            "t": pd.to_datetime(["2020-01-02 00:00:00", None, "2021-03-04 05:06:07"]),
            "b": pd.array([True, None, False], dtype="boolean"),
        }
    )


def lost(path: Path, target: Path, **options: Any) -> list[Any]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.convert(path, target, **options)
    return [loss for warned in caught for loss in warned.message.losses]  # type: ignore[union-attr]


@pytest.mark.parametrize("compression", [None, "gzip", "none", "xz"])
def test_a_frame_is_read_back(tmp_path: Path, compression: str | None) -> None:
    source, target = tmp_path / "x.entasis", tmp_path / "y.rds"
    en.write(frame(), source)
    assert lost(source, target, compression=compression, verify=True) == []
    start = target.read_bytes()[:4]
    assert start.startswith({None: b"\x1f\x8b", "gzip": b"\x1f\x8b", "none": b"X\n", "xz": b"\xfd7zX"}[compression])
    back = en.read(target, to="pandas")
    assert back["n"].tolist() == [1, 2, 3]
    assert back["s"].tolist()[2] == "gr\u00fcn"
    assert back["s"].isna().tolist() == [False, True, False]
    assert back["c"].astype(object).tolist()[::2] == ["u", "v"]
    assert sorted(os.listdir(tmp_path)) == ["x.entasis", "y.rds"]


def test_other_compressions_are_refused(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "x.entasis")
    with pytest.raises(en.ArgumentError, match="'gzip', 'none', 'xz'"):
        en.convert(tmp_path / "x.entasis", tmp_path / "y.rds", compression="zstd")
    assert not (tmp_path / "y.rds").exists()


def test_other_formats_are_sources(tmp_path: Path) -> None:
    target = tmp_path / "y.rds"
    (tmp_path / "x.csv").write_text("city,price\nOslo,3\nRome,5\n")
    frame().to_parquet(tmp_path / "x.parquet")
    np.save(tmp_path / "x.npy", np.arange(4))
    for name, n in (("x.csv", 2), ("x.parquet", 3), ("x.npy", 4)):
        en.convert(tmp_path / name, target, verify=True)
        assert len(en.read(target, to="pandas")) == n
    en.convert(tmp_path / "x.csv", target, filter=en.col("price") > 4)
    assert en.read(target, to="polars")["city"].to_list() == ["Rome"]
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.npy", "x.parquet", "y.rds"]


def test_columns_and_rows_are_chosen(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "x.entasis")
    en.convert(tmp_path / "x.entasis", tmp_path / "y.rds", columns=["n", "x"], rows=slice(1, 3))
    assert en.read(tmp_path / "y.rds", to="pandas")["n"].tolist() == [2, 3]


def test_losses_are_listed(tmp_path: Path) -> None:
    source, target = tmp_path / "x.entasis", tmp_path / "y.rds"
    table = pd.DataFrame(
        {
            "far": pd.array([2**60 + 1, 2**64 - 1], dtype="UInt64"),
            "ns": pd.to_datetime([0, 1_700_000_000_123_456_789]),
            "p": pd.period_range("2020-01", periods=2, freq="M"),
            "c": pd.Categorical([1.5, 2.5]),
        },
        index=pd.Index(["a", "b"], name="key"),
    )
    table.attrs["a"] = 1
    en.write(table, source)
    with pytest.raises(en.ConversionError) as caught:
        en.convert(source, target, strict=True)
    assert not target.exists()
    found = dict(caught.value.losses)
    assert found["far"].startswith("integers beyond 2^53 become doubles, the first is")
    assert found["ns"] == "times in ns are rounded to doubles"
    assert found["p"].startswith("it is left out")
    assert found["c"] == "its categories become text"
    reasons = [reason for column, reason in caught.value.losses if column is None]
    assert "the name of the labels of rows is lost" in reasons
    assert "the attributes of the frame are lost" in reasons
    assert lost(source, target) == caught.value.losses
    assert en.read(target, to="pandas").shape[1] == 3


def test_metadata_are_a_loss(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "x.entasis", metadata={"by": "me"})
    assert lost(tmp_path / "x.entasis", tmp_path / "y.rds") == [(None, "the metadata of the file are lost")]


def test_values_in_trees_are_refused_with_their_path(tmp_path: Path) -> None:
    from decimal import Decimal

    en.write({"a": [1, {"b": Decimal("1.5")}]}, tmp_path / "x.entasis")
    (tmp_path / "y.rds").write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=r"a Decimal at x\$a\[\[2\]\]\$b"):
        en.convert(tmp_path / "x.entasis", tmp_path / "y.rds")
    assert (tmp_path / "y.rds").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["x.entasis", "y.rds"]


def test_trees_are_written(tmp_path: Path) -> None:
    value = {"a": [1, 2.5, None, "text"], "b": {"c": np.arange(6).reshape(2, 3)}, "d": pl.DataFrame({"x": [1, 2]})}
    en.write(value, tmp_path / "x.entasis")
    en.convert(tmp_path / "x.entasis", tmp_path / "y.rds", verify=True)
    back = en.open(tmp_path / "y.rds")
    assert back["a"][3].read() == "text" if hasattr(back["a"][3], "read") else back["a"][3] == "text"


def test_errors_of_the_callback_leave_nothing(tmp_path: Path) -> None:
    en.write({"x": np.arange(10)}, tmp_path / "x.entasis")
    en.write(frame(), tmp_path / "f.entasis")

    def stop(*_: Any, unit: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        en.convert(tmp_path / "f.entasis", tmp_path / "y.rds", progress=stop)
    assert sorted(os.listdir(tmp_path)) == ["f.entasis", "x.entasis"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the length of files")
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    en.write(pd.DataFrame({"x": np.random.default_rng(1).random(300_000)}), tmp_path / "x.entasis")
    script = """
import resource, signal, sys, entasis as en
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    en.convert(sys.argv[1], sys.argv[2])
except en.FileError as error:
    print(error)
"""
    arguments = [sys.executable, "-c", script, str(tmp_path / "x.entasis"), str(tmp_path / "y.rds")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert "write" in done.stdout
    assert os.listdir(tmp_path) == ["x.entasis"]


def test_arrow_types_that_r_has(tmp_path: Path) -> None:
    table = pa.table(
        {
            "l": pa.array([[1, 2], None, []]),
            "s": pa.array([{"a": 1, "b": "x"}, None, {"a": 2, "b": "y"}]),
            "b": pa.array([b"ab", None, b""]),
            "d": pa.array([1, None, 3], pa.date32()),
        }
    )
    en.write(table, tmp_path / "x.entasis")
    assert lost(tmp_path / "x.entasis", tmp_path / "y.rds", verify=True, strict=True) == []


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_times_with_zones_in_trees(tmp_path: Path) -> None:
    zurich, kolkata = ZoneInfo("Europe/Zurich"), ZoneInfo("Asia/Kolkata")
    times = [
        datetime(2024, 7, 1, 12, 30, 5, 250_000, tzinfo=zurich),
        datetime(2024, 10, 27, 2, 30, tzinfo=zurich),
        datetime(2024, 10, 27, 2, 30, tzinfo=zurich, fold=1),
        datetime(2024, 3, 31, 2, 30, tzinfo=zurich),
        datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=kolkata),
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    ]
    en.write(times, tmp_path / "x.entasis")
    en.convert(tmp_path / "x.entasis", tmp_path / "y.rds")
    expected = ", ".join(repr(time.timestamp()) for time in times)
    zones = ", ".join(f"'{name}'" for name in [*4 * ["Europe/Zurich"], "Asia/Kolkata", "UTC", "Etc/GMT-2"])
    script = f"""
x <- readRDS(commandArgs(TRUE)[1])
stopifnot(identical(vapply(x, as.double, 0), c({expected})))
stopifnot(identical(vapply(x, attr, "", "tzone"), c({zones})))
stopifnot(identical(format(x[[1]], "%Y-%m-%d %H:%M:%OS2"), "2024-07-01 12:30:05.25"))
"""
    subprocess.run(["Rscript", "--vanilla", "-e", script, str(tmp_path / "y.rds")], check=True)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_it(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "x.entasis")
    en.convert(tmp_path / "x.entasis", tmp_path / "y.rds")
    script = """
x <- readRDS(commandArgs(TRUE)[1])
expected <- data.frame(n = 1:3, x = c(0.5, NA, -0), s = c("a", NA, "gr\\u00fcn"))
expected$c <- factor(c("u", NA, "v"), levels = c("v", "u"))
expected$t <- .POSIXct(c(1577923200, NA, 1614834367), "UTC")
expected$b <- c(TRUE, NA, FALSE)
stopifnot(identical(x, expected), 1 / x$x[3] == -Inf)
"""
    subprocess.run(["Rscript", "--vanilla", "-e", script, str(tmp_path / "y.rds")], check=True)
