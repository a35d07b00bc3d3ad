"""Values of R in trees, by the table of `docs/fidelity.md`: golden files, and new ones with R.

`r/tests/testthat/test-python.R` asks the same from R.
"""

from __future__ import annotations

import datetime
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import entasis as en

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "r"


@pytest.fixture(scope="module")
def tree() -> dict[str, Any]:
    value = en.read(GOLDEN / "tree.entasis")
    assert type(value) is dict
    return value


def test_scalars_and_vectors(tree: dict[str, Any]) -> None:
    assert tree["null"] is None
    assert type(tree["one"]) is int
    assert tree["one"] == 1
    assert type(tree["two"]) is float
    assert tree["two"] == 2.5
    assert tree["yes"] is True
    assert tree["text"] == "é"
    assert isinstance(tree["none"], np.ma.MaskedArray)
    assert tree["none"].tolist() == [None, 1]
    assert tree["strings"].tolist() == ["café", "b", None]
    assert tree["raw"].dtype == np.uint8
    assert tree["raw"].tolist() == [0, 1, 2, 3]
    assert tree["matrix"].dtype == np.int32
    assert tree["matrix"].tolist() == [[1, 3, 5], [2, 4, 6]]


def test_named_vectors_factors_and_frames(tree: dict[str, Any]) -> None:
    assert list(tree["named"]) == ["a", "b"]
    assert tree["named"]["a"] == 1.0
    assert np.isnan(tree["named"]["b"])
    assert isinstance(tree["factor"], pd.Categorical)
    assert tree["factor"].categories.tolist() == ["x"]
    assert tree["factor"].codes.tolist() == [0, -1]
    assert type(tree["frame"]) is pd.DataFrame
    assert tree["frame"].a.tolist() == [1, 2]
    assert tree["frame"].l.iloc[0] == "x"
    assert tree["frame"].l.iloc[1].kind == "r"


def test_code_and_environments_are_records(tree: dict[str, Any]) -> None:
    for name in ("call", "symbol", "formula", "pairs", "steps", "family"):
        assert type(tree[name]) is en.Record, name
        assert tree[name].kind == "r", name
    assert tree["symbol"].fields["name"] == "s"
    assert [record.fields for record in tree["base"]] == [
        {"global": "global"},
        {"base": "base"},
        {"empty": "empty"},
        {"namespace": "stats"},
    ]


def test_an_environment_is_known_by_its_number() -> None:
    first, second = en.read(GOLDEN / "cycle.entasis")
    assert type(first) is en.Record
    assert first.name == "r.environment"
    assert first.fields == second.fields == {"number": 0}


def test_pointers_keep_their_tag_and_protected_value() -> None:
    values = en.read(GOLDEN / "pointers.entasis")
    assert values["data"].name == "r.data_pointer"
    assert values["data"].fields["tag"].tolist() == [1, 2, 3]
    assert values["data"].fields["protected"]["a"].tolist() == [1, 2]
    assert values["again"] is values["data"]
    assert values["tag"].fields["attributes"] == {"class": "of a package"}
    assert values["null"].name == "r.pointer"


# Written through the internals: only an environment holds promises, and Python identifies
# environments by their numbers.
SCRIPT = """
library(entasis)
args <- commandArgs(TRUE)
seconds <- function(x, zone) structure(x, class = c("POSIXct", "POSIXt"), tzone = zone)
int64 <- function(x) structure(x * 4.94065645841247e-324, class = "integer64")
holder <- new.env()
delayedAssign("late", stop("evaluated"), assign.env = holder)
values <- list(
  pointer = methods::new("externalptr"), env = holder,
  date = structure(18263, class = "Date"), dates = structure(c(18263, NA), class = "Date"),
  far = structure(1e7, class = "Date"),
  time = seconds(1500000000.25, "Europe/Oslo"), times = seconds(c(0, NA), "UTC"), utc = seconds(0.5, NULL),
  span = as.difftime(2.5, units = "mins"), spans = as.difftime(c(1, NA), units = "hours"),
  factor = factor(c("x", NA, "y")), ordered = factor(c("lo", "hi"), levels = c("lo", "hi"), ordered = TRUE),
  named = c(a = 1, b = NA), ints = c(a = 1L, b = NA), flags = c(a = TRUE, b = NA), words = c(a = "x", b = NA),
  births = structure(c(18263, NA), names = c("a", "b"), class = "Date"),
  same = c(a = 1, a = 2), unnamed = setNames(1:2, c("a", "")),
  int64 = int64(7), int64s = structure(c(unclass(int64(7)), -0), class = "integer64"),
  special = structure(1:2, class = "odd")
)
suppressMessages(write_entasis(values, args[1], functions = TRUE))
internal <- function(name) get(name, asNamespace("entasis"))
take <- function(holder, type) if (type == "environment") list("r.promise", quote(a + 1), list())
walker <- internal("core")(.Call(internal("C_walker"), take))
cell <- .Call(internal("C_walk"), walker, list(late = new.env(), x = 1))
none <- internal("NO_COLUMNS")
frame <- internal("core")(.Call(internal("C_frame"), 1, none, none, list(host = "r", form = "data.frame")))
internal("core")(.Call(internal("C_write"), args[2], list(frame), walker, c(cell, -1), 50L))
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed")
    if subprocess.run([rscript, "-e", "library(entasis)"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the R package entasis is not installed")
    folder = tmp_path_factory.mktemp("r")
    script = folder / "write.R"
    script.write_text(SCRIPT)
    paths = (folder / "values.entasis", folder / "promise.entasis")
    done = subprocess.run([rscript, str(script), *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return paths


@pytest.fixture(scope="module")
def values(written: tuple[Path, Path]) -> dict[str, Any]:
    value = en.read(written[0])
    assert type(value) is dict
    return value


def test_pointers_promises_and_environments_are_records(written: tuple[Path, Path], values: dict[str, Any]) -> None:
    assert type(values["pointer"]) is en.Record
    assert values["pointer"].name == "r.pointer"
    assert type(values["env"]) is en.Record
    assert values["env"].name == "r.environment"
    promise = en.read(written[1])["late"]
    assert type(promise) is en.Record
    assert (promise.kind, promise.name) == ("r", "r.promise")
    assert promise.fields["expression"].name == "r.call"
    assert promise.fields["expression"].items[0].fields == {"name": "+"}


def test_dates_and_times(values: dict[str, Any]) -> None:
    assert values["date"] == datetime.date(2020, 1, 2)
    np.testing.assert_array_equal(values["dates"], np.array(["2020-01-02", "NaT"], "M8[D]"))
    assert values["far"] == np.datetime64(10_000_000, "D")
    assert values["time"] == datetime.datetime(2017, 7, 14, 4, 40, 0, 250_000, ZoneInfo("Europe/Oslo"))
    assert values["time"].tzinfo == ZoneInfo("Europe/Oslo")
    assert values["times"].dtype == "M8[s]"
    np.testing.assert_array_equal(values["times"], np.array([0, "NaT"], "M8[s]"))
    assert values["utc"] == datetime.datetime(1970, 1, 1, 0, 0, 0, 500_000, datetime.UTC)
    assert values["span"] == datetime.timedelta(seconds=150)
    np.testing.assert_array_equal(values["spans"], np.array([3600, "NaT"], "m8[s]"))


def test_factors(values: dict[str, Any]) -> None:
    pd.testing.assert_extension_array_equal(values["factor"], pd.Categorical(["x", None, "y"]))
    pd.testing.assert_extension_array_equal(values["ordered"], pd.Categorical(["lo", "hi"], ["lo", "hi"], ordered=True))


def test_named_vectors(values: dict[str, Any]) -> None:
    assert values["named"]["a"] == 1.0
    assert np.isnan(values["named"]["b"])
    assert values["ints"] == {"a": 1, "b": None}
    assert values["flags"] == {"a": True, "b": None}
    assert values["words"] == {"a": "x", "b": None}
    assert values["births"]["a"] == datetime.date(2020, 1, 2)
    assert len(values["births"]) == 2
    # Names that are not keys stay attributes.
    for name, names in (("same", ["a", "a"]), ("unnamed", ["a", ""])):
        assert values[name].name == "r.vector"
        assert values[name].fields["attributes"]["names"].tolist() == names


def test_integers_of_64_bits_and_classes(values: dict[str, Any]) -> None:
    assert type(values["int64"]) is int
    assert values["int64"] == 7
    assert isinstance(values["int64s"], np.ma.MaskedArray)
    assert values["int64s"].tolist() == [7, None]
    assert values["special"].fields["attributes"] == {"class": "odd"}
