"""Objects of pandas that are made without constructors equal those made with them."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import entasis as en
from entasis._hosts.pandas import compat as make

if TYPE_CHECKING:
    from pathlib import Path

ARRAYS = [
    np.arange(3),
    np.array([1, 2, 3], "u1"),
    np.array([1, 2, 3], ">i4"),
    np.array([True, False, True]),
    np.array([0.5, np.nan, -0.0], "f4"),
    np.array([0.5, np.nan, -0.0]),
    np.array([1j, 2, 3]),
    np.array(["2020-01-01", "NaT", "1999-12-31"], "M8[s]"),
    np.array(["a", None, ("b", 1)], object),
    np.array([pd.Timestamp(0), 1, 2.5], object),
]


def parts(value: Any) -> set[str]:
    """Attributes of a value, without the cache of earlier look-ups."""
    return set(vars(value)) - {"_cache"}


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
@pytest.mark.parametrize("name", [None, "n", ("a", 1)])
def test_indexes_are_those_of_the_constructor(array: Any, name: Any) -> None:
    found, wanted = make.index(array, name), pd.Index(array, dtype=array.dtype, name=name, copy=False)
    pd.testing.assert_index_equal(found, wanted, exact=True)
    assert type(found) is type(wanted)
    assert parts(found) == parts(wanted)
    assert np.shares_memory(found.values, array) == np.shares_memory(wanted.values, array)


def test_indexes_that_pandas_refuses_are_refused() -> None:
    with pytest.raises(NotImplementedError):
        make.index(np.zeros(2, "f2"), None)


def frame() -> pd.DataFrame:
    """A frame with blocks of many classes, with one and several columns."""
    found = pd.DataFrame({f"f{i}": [0.5, i, np.nan] for i in range(3)} | {"i": [1, 2, 3], "o": [None, "x", (1,)]})
    found["c"] = pd.Categorical(["x", "y", "x"], ordered=True)
    found["ci"] = pd.Categorical([1, 2, 1])
    found["s"] = pd.Series(["a", None, "b"], dtype="str")
    found["string"] = pd.Series(["a", None, "b"], dtype="string")
    found["m"] = pd.array([1, None, 3], dtype="Int64")
    found["t"] = pd.to_datetime(["2020-01-01", None, "2021-01-01"])
    found["z"] = pd.to_datetime(["2020-01-01", None, "2021-01-01"]).tz_localize("Europe/Oslo")
    found["d"] = pd.to_timedelta([1, 2, 3], unit="s")
    found["p"] = pd.period_range("2020-01", periods=3, freq="M")
    found["n"] = pd.interval_range(0, 3)
    found["b"] = [True, False, True]
    return found


def use(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame after a little work, for which its blocks have to know their positions."""
    frame = frame.copy()
    frame.insert(1, "new", [1, 2, 3])
    del frame["i"]
    frame.iloc[0, 0] = 7.5
    return frame.iloc[::-1]


@pytest.mark.parametrize("columns", [None, ["f0", "i", "b"], ["i", "b"], ["c", "ci"], ["t"], ["z", "p", "n"], []])
def test_frames_are_those_of_the_public_function(
    tmp_path: Path, columns: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = frame() if columns is None else frame()[columns]
    path = tmp_path / "f.entasis"
    en.write(written, path)
    quick = en.read(path)
    monkeypatch.setattr(make, "_frame_parts", lambda: None)
    public = en.read(path)
    monkeypatch.setattr(make, "_public_frame", lambda: None)
    oldest = en.read(path)
    for found in (quick, public, oldest):
        pd.testing.assert_frame_equal(found, written)
        assert [type(array) for array in map(found.__getitem__, found)] == [pd.Series] * written.shape[1]
    assert parts(quick) == parts(public)
    blocks = [[(type(b), type(b.values), list(b.mgr_locs)) for b in f._mgr.blocks] for f in (quick, public)]
    assert blocks[0] == blocks[1]
    if columns is None:
        pd.testing.assert_frame_equal(use(quick), use(written))


def test_frames_of_many_columns(tmp_path: Path) -> None:
    """Plain columns are read by their types, the others by themselves."""
    written = pd.DataFrame({f"c{i}": np.arange(4) + i for i in range(100)})
    written.insert(50, "text", pd.Series(list("abcd"), dtype="str"))
    written.insert(3, "half", 0.5)
    written.index = pd.Index(list("wxyz"), dtype=object, name="label")
    path = tmp_path / "f.entasis"
    en.write(written, path)
    found = en.read(path)
    pd.testing.assert_frame_equal(found, written)
    pd.testing.assert_series_equal(found["half"] + found["c3"], written["half"] + written["c3"])


@pytest.mark.parametrize("is_enabled", [True, False])
def test_collections_while_many_columns_are_made(tmp_path: Path, is_enabled: bool) -> None:
    """The collector does not look at new columns again and again, and is left as it was."""
    path = tmp_path / "f.entasis"
    en.write(pd.DataFrame({f"c{i}": ["a", "b"] for i in range(5_000)}), path)
    starts = []

    def called(phase: str, info: dict[str, int]) -> None:
        starts.append(phase)

    gc.callbacks.append(called)
    try:
        if not is_enabled:
            gc.disable()
        en.read(path)
        assert gc.isenabled() is is_enabled
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(en.CorruptFileError):
            en.read(path)
        assert gc.isenabled() is is_enabled
    finally:
        gc.enable()
        gc.callbacks.remove(called)
    # Before and after the columns are made.
    assert starts.count("start") <= 4


def test_blocks_that_do_not_fit_are_left_to_pandas() -> None:
    rows, columns = pd.RangeIndex(2), pd.Index(["a", "b"])
    for blocks in ([(np.zeros((2, 3)), np.arange(2))], [(np.zeros((1, 2)), 0)]):
        with pytest.raises((AssertionError, ValueError)):
            make.frame(blocks, rows, columns)


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("categories", [["a", "b"], [1, 2], list(pd.to_datetime(["2020", "2021"]))])
def test_dtypes_of_categoricals_are_those_of_the_constructor(categories: list[Any], ordered: bool) -> None:
    index = pd.Index(categories)
    found, wanted = make.category_dtype(index, ordered), pd.CategoricalDtype(index, ordered)
    assert found == wanted
    assert hash(found) == hash(wanted)
    assert vars(found).keys() == vars(wanted).keys()
    assert found.categories is index
    assert found.ordered is ordered


@pytest.mark.parametrize("missing", [np.nan, pd.NA])
def test_arrays_of_strings_are_those_of_the_constructor(missing: Any) -> None:
    values = pa.array(["a", None, "b"], pa.large_string())
    dtype: Any = pd.StringDtype("pyarrow", na_value=missing)
    found = make.string_maker(missing)(values)
    wanted = pd.arrays.ArrowStringArray(pa.chunked_array([values]), dtype=dtype)
    pd.testing.assert_extension_array_equal(found, wanted)
    assert type(found) is type(wanted)
    assert vars(found).keys() == vars(wanted).keys()
    found[0] = missing
    assert found.isna().tolist() == [True, True, False]
    assert pd.Series(found).str.upper()[2] == "B"
