"""Tables of R that are read from the memory where they were decoded equal those of their files."""

from __future__ import annotations

import math
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from frames_same import assert_frame_equal

import entasis as en

DATA = Path(__file__).resolve().parents[2] / "crates" / "convert" / "tests" / "data"
HOSTS = [None, "pandas", "polars", "pyarrow", "numpy", "static_frame"]
N = 70_001

# Values that no other library writes. The fixtures are repeated until they are long enough.
SCRIPT = """
to <- commandArgs(TRUE)[1]
n <- 70001
i <- seq_len(n)
save <- function(name, value) saveRDS(value, file.path(to, paste0(name, ".rds")), compress = FALSE)
latin <- iconv("gr\\u00fcn", "UTF-8", "latin1")
save("kinds", data.frame(
  int = ifelse(i %% 7L == 0L, NA, i), dbl = ifelse(i %% 5 == 0, NA, i / 3), both = c(NA, NaN, 1)[i %% 3 + 1],
  lgl = c(TRUE, NA, FALSE)[i %% 3 + 1], raw = as.raw(i %% 256), cplx = complex(real = i, imaginary = -1),
  txt = c("a", NA, "gr\\u00fcn")[i %% 3 + 1], latin = c(latin, "x", NA)[i %% 3 + 1],
  fac = factor(c("u", NA, "v")[i %% 3 + 1]), ord = factor(c("u", "w")[i %% 2 + 1], ordered = TRUE),
  date = as.Date(i, origin = "1970-01-01"), time = as.POSIXct(i / 4, origin = "1970-01-01", tz = "Asia/Tokyo"),
  local = as.POSIXct(i + 0.001, origin = "1970-01-01"), gap = as.difftime(i / 2, units = "hours"),
  seventh = as.POSIXct(i / 7, origin = "1970-01-01", tz = "UTC")
))
save("labelled", `rownames<-`(data.frame(x = i), paste("row", i)))
save("numbered", `rownames<-`(data.frame(x = i), rev(i)))
save("matrix", local({ d <- data.frame(x = i); d$m <- matrix(i / 2, n, 2, dimnames = list(NULL, c("a", "b"))); d }))
save("nested", local({ d <- data.frame(x = i); d$d <- data.frame(y = i, z = as.character(i)); d }))
save("listed", local({ d <- data.frame(x = i); d$l <- as.list(i); d }))
save("labels", structure(data.frame(x = structure(i, label = "an attribute")), note = "other"))
save("broken", as.POSIXlt(as.POSIXct(i, origin = "1970-01-01", tz = "UTC")))
save("twice", setNames(data.frame(i, as.character(i)), c("x", "x")))
save("integer", i)
save("named", setNames(c(i[-1], NA) / 2, i))
save("text", c(as.character(i[-1]), NA))
save("factor", factor(i %% 1000))
save("seventeen", matrix(i[1:70000], 10000, 7))
save("tree", list(a = data.frame(x = i), b = i))
"""


def frame() -> pd.DataFrame:
    i = np.arange(N)
    return pd.DataFrame(
        {
            "i1": (i % 100).astype("int8"),
            "i4": i.astype("int32"),
            "i8": i * 2**40,
            "u1": (i % 256).astype("uint8"),
            "x": np.where(i % 5 == 0, np.nan, i / 7),
            "b": i % 2 == 0,
            "masked": pd.array(np.where(i % 3 == 0, None, i), dtype="Int32"),
            "flag": pd.array(np.where(i % 3 == 0, None, i % 2 == 0), dtype="boolean"),
            "text": pd.array(
                np.where(i % 3 == 0, None, np.array([f"gr\u00fcn {k}" * (k % 3) for k in i])), dtype="string"
            ),
            "cat": pd.Categorical.from_codes(i % 4 - 1, ["u", "v", "w"]),
            "time": pd.Timestamp("2020-01-01", tz="Europe/Zurich") + pd.to_timedelta(i, "s"),
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(i, "D").astype("timedelta64[s]"),
            "gap": pd.to_timedelta(i, "ms"),
        },
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("held")
    values = {
        "frame": frame(),
        "labelled": frame().set_index("text"),
        "arrow": pa.table({"a": pa.array(range(N), pa.int32()), "b": pa.nulls(N, pa.int32())}),
        "polars": pl.DataFrame({"a": range(N), "b": ["x", None, "longer than twelve bytes"] * (N // 3) + ["y"] * 2}),
    }
    for name, value in values.items():
        en.write(value, folder / f"{name}.entasis")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", en.ConversionWarning)
            en.convert(folder / f"{name}.entasis", folder / f"of_{name}.rds", compression="none")
    if shutil.which("Rscript"):
        command = ["Rscript", "--vanilla", "-e", SCRIPT, str(folder)]
        subprocess.run(command, check=True, capture_output=True)
    return sorted(folder.glob("*.rds"))


def caught(path: Path, to: Any, **options: Any) -> tuple[Any, list[str]]:
    """The value or the error of a read, and its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            value = en.read(path, to=to, **options)
        except Exception as error:
            value = error
    return value, [f"{warned.category.__name__}: {warned.message}" for warned in found]


def assert_same(got: Any, wanted: Any) -> None:
    assert type(got) is type(wanted), (got, wanted)
    if isinstance(wanted, Exception):
        texts = [str(error).partition(" (")[0].partition("file ")[0] for error in (got, wanted)]
        assert texts[0] == texts[1]
    elif isinstance(wanted, pd.DataFrame):
        assert_frame_equal(got, wanted, check_exact=True, check_freq=True)
        assert got.attrs == wanted.attrs
        for i in range(wanted.shape[1]):
            one, other = got.iloc[:, i].array, wanted.iloc[:, i].array
            assert type(one) is type(other)
    elif isinstance(wanted, pd.Series):
        assert_same(got.to_frame(), wanted.to_frame())
    elif isinstance(wanted, pl.DataFrame):
        assert got.schema == wanted.schema
        assert got.equals(wanted, null_equal=True)
        assert got.null_count().equals(wanted.null_count())
    elif isinstance(wanted, pa.Table):
        assert got.schema.equals(wanted.schema, check_metadata=True)
        got.validate(full=True)
        for one, other in zip(got.columns, wanted.columns, strict=True):
            assert one.null_count == other.null_count
            if pa.types.is_floating(other.type):
                bits = [column.combine_chunks().fill_null(math.inf).to_numpy().view("u8") for column in (one, other)]
                assert np.array_equal(*bits)
            else:
                assert one.equals(other)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for name, value in wanted.items():
            assert_same(got[name], value)
    elif isinstance(wanted, np.ndarray):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if isinstance(wanted, np.ma.MaskedArray):
            np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(wanted))
            got, wanted = got.filled(), wanted.filled()
        np.testing.assert_array_equal(got, wanted, strict=True)
    elif type(wanted).__module__.startswith("static_frame"):
        assert got.equals(wanted, compare_name=True, compare_dtype=True, compare_class=True)
    else:
        assert got == wanted or str(got) == str(wanted)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("to", HOSTS)
def test_values_are_those_of_the_file(files: list[Path], to: Any) -> None:
    caught(files[0], to)  # Libraries warn while they are imported.
    for path in files:
        converted = path.with_suffix(".converted.entasis")
        if not converted.exists():
            en.convert(path, converted)
        for options in ({}, {"columns": [0]}, {"rows": (5, N - 5)}, {"rows": slice(None, None, 7)}, {"threads": 1}):
            got, heard = caught(path, to, **options)
            wanted, expected = caught(converted, to, **options)
            assert heard == expected, path
            assert_same(got, wanted)
        if to == "pandas":
            assert_same(caught(path, None, index=False)[0], caught(converted, None, index=False)[0])


@pytest.mark.parametrize("to", HOSTS)
def test_parts_of_fst_are_those_of_the_file(tmp_path: Path, to: Any) -> None:
    import lzma

    path, converted = tmp_path / "table.fst", tmp_path / "table.entasis"
    path.write_bytes(lzma.decompress((DATA / "table_050.fst.xz").read_bytes()))
    en.convert(path, converted)
    assert_same(caught(path, to)[0], caught(converted, to)[0])


def test_tables_are_held_until_a_file_is_needed(files: list[Path]) -> None:
    path = next(path for path in files if path.stem == "of_frame")
    with en.open(path) as file:
        handle = file._view.handle
        names, schema, host = handle.names(), handle.schema(), handle.host()
        assert handle.is_held
        assert (file.n_rows, file.shape, file.column_names) == (N, (N, 13), names)
        first = file.to_pyarrow()
        assert handle.is_held
        second = file.to_pyarrow()
        # Both tables share the memory of the values, which nothing writes to.
        assert first["i4"].chunk(0).buffers()[1].address == second["i4"].chunk(0).buffers()[1].address
        with pytest.raises(ValueError, match="read-only"):
            first["i4"].chunk(0).to_numpy()[0] = 7
        one, other = file.to_pandas(), file.to_pandas()
        one.loc[:, "i4"] = np.int32(9)
        assert not one["i4"].equals(other["i4"])
        assert handle.is_held
        assert file.filter(en.col("i4") < 3).read()["i4"].tolist() == [0, 1, 2]
        assert not handle.is_held
        assert file.to_pandas().equals(other)
        assert (handle.names(), handle.schema(), handle.host()) == (names, schema, host)
    assert first.equals(second)
    held = {path.stem for path in files if hasattr(found := en.open(path), "_view") and found._view.handle.is_held}
    assert held >= {"of_frame", "of_labelled", "of_polars"}
    assert not held & {"tree", "listed"}


def test_a_read_takes_the_memory_of_columns(files: list[Path]) -> None:
    path = next(path for path in files if path.stem == "of_frame")
    for to, columns in [
        ("pandas", None),
        ("pandas", ["x", "i4", "x"]),
        ("numpy", ["i4"]),
        ("static_frame", ["i4", "x"]),
    ]:
        one, other = en.read(path, columns=columns, to=to), en.read(path, columns=columns, to=to)
        wanted = en.open(path).read(columns=columns, to=to)
        assert_same(one, wanted)
        if to == "pandas" and columns is None:
            for name in ("i4", "x", "time", "cat"):
                one.loc[:, name] = one[name].iloc[0]
            one._mgr.arrays[0][0, :] = 0
        assert_same(other, wanted)
    one, other = en.read(path, to="pandas"), en.read(path, to="pandas")
    base = one["i8"].array._ndarray.base
    while isinstance(base, np.ndarray):
        base = base.base
    # The array of the only column of 64-bit integers is the vector that was decoded.
    assert type(base).__name__ == "Memory"
    one.loc[:, "i8"] = 7
    assert np.array_equal(one["i8"].array, np.full(N, 7))
    assert other["i8"].tolist() == [k * 2**40 for k in range(N)]


def test_limits_are_those_of_a_file(files: list[Path]) -> None:
    path = next(path for path in files if path.stem == "of_frame")
    for to in ("pandas", "pyarrow"):
        with pytest.raises(en.LimitError, match="decoded_len"):
            en.read(path, to=to, limits={"decoded_len": 100_000})
