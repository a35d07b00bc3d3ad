"""Private names of libraries are in one module per host, and everything works without them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import static_frame as sf

import entasis as en
from entasis._columns import numpy_compat
from entasis._hosts.pandas import compat as pandas_compat
from entasis._hosts.static_frame import compat as static_frame_compat

PACKAGE = Path(en.__file__).parent
ROOT = PACKAGE.parents[1]
COMPAT = [pandas_compat, static_frame_compat, numpy_compat]


def attributes(path: Path) -> set[str]:
    """Private attributes that a module reads, of anything but its own `self` and `cls`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            owner = node.value
            if not (isinstance(owner, ast.Name) and owner.id in ("self", "cls")):
                found.add(node.attr)
    return found


@cache
def defined() -> set[str]:
    """Private names that the package gives to its own functions, modules and attributes."""
    found = {path.stem for path in PACKAGE.rglob("*") if path.stem.startswith("_")}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # The names of slots.
                found.add(node.value)
    return found


# Names of libraries. This package also uses some for its own attributes and functions.
PRIVATE = {
    "_blocks",
    "_cache",
    "_data",
    "_dtype",
    "_fill_value",
    "_freq",
    "_from_fastpath",
    "_from_mgr",
    "_from_type_blocks",
    "_indexers",
    "_indices",
    "_libs",
    "_map",
    "_mask",
    "_mgr",
    "_ndarray",
    "_pa_array",
    "_recache",
    "_simple_new",
    "_update_array_cache",
}


# Attributes of named tuples that Python documents.
DOCUMENTED = {"_field_defaults", "_fields", "_make"}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_names_are_in_compat(path: Path) -> None:
    if path.name.endswith("compat.py"):
        return
    assert attributes(path) & PRIVATE == set()
    assert attributes(path) - defined() - DOCUMENTED == set()


def frame() -> pd.DataFrame:
    """A frame with arrays of all classes that are made or read by private names."""
    found = pd.DataFrame({"f": [0.5, 1.5, np.nan], "i": [1, 2, 3], "o": [None, "x", (1,)], "b": [True, False, True]})
    found["c"] = pd.Categorical(["x", "y", "x"], ordered=True)
    found["s"] = pd.Series(["a", None, "b"], dtype="str")
    found["string"] = pd.Series(["a", None, "b"], dtype="string")
    found["python"] = pd.Series(["a", None, "b"], dtype=pd.StringDtype("python", na_value=np.nan))
    found["m"] = pd.array([1, None, 3], dtype="Int64")
    found["mf"] = pd.array([1.5, None, 3], dtype="Float32")
    found["mb"] = pd.array([True, None, False], dtype="boolean")
    found["t"] = pd.to_datetime(["2020-01-01", None, "2021-01-01"])
    found["z"] = pd.to_datetime(["2020-01-01", None, "2021-01-01"]).tz_localize("Europe/Oslo")
    found["z2"] = pd.to_datetime(["2020-03-01", None, "2021-01-01"]).tz_localize("Europe/Oslo")
    found["d"] = pd.to_timedelta([1, None, 3], unit="s")
    found["p"] = pd.period_range("2020-01", periods=3, freq="M")
    found["n"] = pd.interval_range(pd.Timestamp("2020"), periods=3)
    found.index = pd.date_range("2020", periods=3, freq="D", name="day")
    return found


def wide() -> pd.DataFrame:
    found = pd.DataFrame({f"c{i}": np.arange(4) + i for i in range(100)})
    for i in range(70):
        found[f"s{i}"] = np.arange(4) / (i + 1)
    return found.rename(columns={"c1": "ö"})


def static() -> Any:
    index = sf.IndexHierarchy.from_product(("a", "b"), (1, 2), name=("x", "y"))
    blocks = [np.arange(12).reshape(4, 3), np.array(["p", "q", "r", "s"])]
    return sf.Frame(sf.TypeBlocks.from_blocks(blocks), index=index, columns=list("abcd"), name="f")


def masked() -> Any:
    return np.ma.MaskedArray([1, 2, 3], [False, True, False], fill_value=-5)


def check() -> None:
    """Values of all hosts come back."""
    for value in (frame(), frame()[["z"]].iloc[:0], wide()):
        back = en.read(en.to_bytes(value))
        pd.testing.assert_frame_equal(back, value, check_freq=True)
        assert [type(array) for array in (back[c].array for c in back)] == [type(value[c].array) for c in value]
    for value in (static(), sf.Frame(np.arange(6).reshape(3, 2)), sf.FrameGO.from_dict({"a": (1, 2)})):
        back = en.read(en.to_bytes(value))
        assert back.equals(value, compare_name=True, compare_dtype=True, compare_class=True)
    for value in (masked(), np.ma.MaskedArray(["ab", "c"], [True, False], fill_value="N"), np.ma.MaskedArray([1.5])):
        back = en.read(en.to_bytes([value]))[0]
        assert back.dtype == value.dtype
        assert back.tolist() == value.tolist()
        assert back.fill_value == value.fill_value


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the modules look at the libraries again, before and after a test."""

    def forget() -> None:
        pandas_compat._block_types.clear()
        for found in vars(pandas_compat).values():
            if hasattr(found, "cache_clear"):
                found.cache_clear()

    forget()
    yield monkeypatch
    monkeypatch.undo()
    forget()


def test_with_private_names(fresh: Any) -> None:
    check()


def test_public_ways(fresh: Any) -> None:
    for module in COMPAT:
        fresh.setattr(module, "PUBLIC_ONLY", True)
    check()


def names(module: Any) -> list[str]:
    """The names that a module looks up by `_private`."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted({call.args[1].value for call in calls if call.func.id == "_private"})


NAMES = [pytest.param(module, name, id=f"{module.__name__} {name}") for module in COMPAT for name in names(module)]


def test_all_names_are_looked_up() -> None:
    assert {"_simple_new", "_mgr", "_from_fastpath", "_data", "_mask", "_ndarray"} <= set(names(pandas_compat))
    assert names(static_frame_compat) == ["_blocks", "_map"]
    assert names(numpy_compat) == ["_fill_value"]
    for module in COMPAT:
        own = attributes(Path(module.__file__)) - {"_freq"}
        assert own <= {"_libs"}, "look private names up by _private"


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_without_a_private_name(module: Any, name: str, fresh: Any) -> None:
    """A version of a library that lacks a name gets the public way."""

    def lacking(holder: Any, wanted: str) -> Any:
        if wanted == name:
            raise AttributeError(f"{type(holder).__name__!r} object has no attribute {wanted!r}")
        return getattr(holder, wanted)

    fresh.setattr(module, "_private", lacking)
    check()


def test_a_frequency_that_pandas_refuses(fresh: Any) -> None:
    """pandas has no public way for it: the index comes back without, with a warning."""
    index = pd.DatetimeIndex(["2020-01-01", "2020-01-02", "2020-01-04"])
    fresh.setattr(pandas_compat, "PUBLIC_ONLY", True)
    with pytest.warns(UserWarning, match="does not accept the frequency"):
        pandas_compat.set_freq(index, pd.offsets.Day())
    assert index.freq is None
    fresh.setattr(pandas_compat, "PUBLIC_ONLY", False)
    pandas_compat.set_freq(index, pd.offsets.Day())
    assert index.freq == pd.offsets.Day()


class Gone:
    """A library's object whose attributes are gone."""


def test_a_missing_attribute_is_no_damage(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """It is our defect: the error has the versions, and does not blame the file."""
    en.write(frame(), path)
    monkeypatch.setattr(pandas_compat, "string_dtype", lambda *_: Gone().storage)  # type: ignore[attr-defined]
    with pytest.raises(en.InternalError, match="has no attribute 'storage'") as error:
        en.read(path)
    assert not isinstance(error.value, en.CorruptFileError)
    text = str(error.value)
    assert f"entasis {en.__version__}" in text
    assert f"pandas {pd.__version__}" in text
    assert "not of the file" in text
    with pytest.raises(en.InternalError, match="'storage'"):
        en.read(en.to_bytes([frame()]))


def test_an_error_of_a_library_is_no_damage(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """Nor is an argument that a library of some version refuses, in frames and in trees."""

    def refuse(*_: Any) -> Any:
        raise TypeError("strings() takes 0 positional arguments")

    en.write(frame(), path)
    content = en.to_bytes([frame()])
    monkeypatch.setattr(pandas_compat, "frame", refuse)
    for source in (path, content):
        with pytest.raises(en.InternalError, match="takes 0 positional arguments"):
            en.read(source)


@pytest.mark.parametrize(
    ("holder", "name", "value"),
    [
        (pd, "MultiIndex", pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_product([["x"], [1, 2]]))),
        (pd.arrays, "PeriodArray", pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})),
        (pd.arrays.IntervalArray, "from_arrays", pd.DataFrame({"a": pd.interval_range(0, 2)})),
        (pd.arrays, "SparseArray", pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])})),
    ],
)
def test_a_changed_constructor_is_no_damage(
    holder: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    """A later pandas may drop an argument. The file is sound then."""
    for error in (TypeError, ValueError):

        def refuse(*_: Any, error: type[Exception] = error, **__: Any) -> Any:
            raise error(f"{name}() got an unexpected keyword argument")

        en.write(value, path)
        content = en.to_bytes([value])
        with monkeypatch.context() as patch:
            patch.setattr(holder, name, refuse)
            for source in (path, content):
                with pytest.raises(en.InternalError, match="unexpected keyword argument"):
                    en.read(source)


@pytest.mark.parametrize(
    "value", [sf.Series((1, 2), index=("a", "b")), sf.Series((1, 2), index=sf.Index(((), (1,)), name="n"))]
)
def test_a_changed_index_of_static_frame_is_no_damage(value: Any, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    en.write(value, path)

    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError("Index() got an unexpected keyword argument 'name'")

    monkeypatch.setattr(sf.Index, "__init__", refuse)
    with pytest.raises(en.InternalError, match="unexpected keyword argument"):
        en.read(path)


PANELS = """
import warnings
from bench.fidelity.cases import panel
from bench.fidelity.same import check
import entasis as en
from entasis._public_only import PUBLIC_ONLY

assert PUBLIC_ONLY
warnings.simplefilter("ignore")
n = 0
for library in ("pandas", "StaticFrame", "NumPy"):
    # There is no public way to the blocks of StaticFrame: columns come back one by one.
    layout = library != "StaticFrame"
    for case in panel(library):
        if case.refused is None:
            check(case.make(), en.read(en.to_bytes(case.make(), compression=0)), layout=layout)
            n += 1
print(n)
"""


@pytest.mark.slow
def test_panels_by_public_ways() -> None:
    """All named values of pandas, StaticFrame and NumPy come back."""
    environment = os.environ | {
        "ENTASIS_PUBLIC_ONLY": "1",
        "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(ROOT)]),
    }
    done = subprocess.run([sys.executable, "-c", PANELS], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1500
