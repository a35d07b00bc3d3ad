"""Damaged files: `on_damage="missing"` and `repair` save what is intact."""

from __future__ import annotations

import datetime
import decimal
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from frames_same import assert_frame_equal

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 200_000
BLOCK = 65_536


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "i": rng.integers(0, 1 << 40, N),
            "u": rng.integers(0, 200, N).astype("u1"),
            "f": rng.random(N),
            "b": rng.random(N) > 0.5,
            "s": [f"text {i}" for i in rng.integers(0, 1 << 30, N)],
            "t": pd.to_datetime(rng.integers(0, 1 << 40, N), unit="s"),
            "c": pd.Categorical.from_codes(rng.integers(0, 50, N), [f"c{i}" for i in range(50)]),
            "n": pd.array(rng.integers(0, 1 << 30, N), "Int32"),
            "o": pd.Series([f"object {i}" for i in range(N)], dtype=object),
            "interval": pd.arrays.IntervalArray.from_breaks(np.arange(N + 1)),
            "sparse": pd.arrays.SparseArray(rng.integers(0, 3, N)),
            "period": pd.PeriodIndex.from_ordinals(rng.integers(0, 1000, N), freq="D").array,
        }
    )


@pytest.fixture(scope="module")
def original() -> pd.DataFrame:
    return frame()


@pytest.fixture(scope="module")
def damageable(original: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, int]]:
    """The content of the file, and a byte in the second block of each column."""
    path = tmp_path_factory.mktemp("damage") / "file"
    en.write(original, path)
    content = path.read_bytes()
    found: dict[str, int] = {}
    every = bytearray(content)
    # One damaged byte in each 1,000 finds a byte of each column at once.
    for at in range(12_288, len(content) - 20_000, 1000):
        every[at] ^= 1
    with pytest.raises(en.CorruptFileError) as caught:
        en.verify(bytes(every))
    for one in caught.value.damages:
        if one.column is not None and one.start == BLOCK:
            offset = one.message.rpartition("offset ")[2].rstrip(")").replace(",", "")
            found.setdefault(one.column, int(offset))
    return content, found


COLUMNS = ["i", "u", "f", "b", "s", "t", "c", "n", "o", "interval", "period"]
LOST = slice(BLOCK, 2 * BLOCK)


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("name", COLUMNS)
def test_pandas(name: str, original: pd.DataFrame, damageable: tuple[bytes, dict[str, int]], path: Path) -> None:
    content, at = damageable
    damaged = bytearray(content)
    damaged[at[name] + 1] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(en.CorruptFileError, match=f'"{name}"'):
        en.read(path)
    with pytest.warns(en.DamageWarning, match=f'1 place is damaged.*"{name}", rows 65,536 to') as caught:
        read = en.read(path, on_damage="missing")
    (one,) = caught[0].message.damages  # type: ignore[union-attr]
    assert one[:3] == (name, BLOCK, 2 * BLOCK)
    rest = original.drop(columns=name)
    assert_frame_equal(read.drop(columns=name), rest)
    assert read[name].isna().to_numpy().nonzero()[0].tolist() == list(range(N))[LOST]
    wanted = original[name].drop(index=range(*LOST.indices(N)))
    got = read[name].drop(index=range(*LOST.indices(N)))
    if name == "interval":
        # Bounds of integers become floats, which can be missing.
        wanted = wanted.astype("interval[float64, right]")
    pd.testing.assert_series_equal(got, wanted, check_dtype=False)
    kinds = {"i": "Int64", "u": "UInt8", "b": "boolean", "f": "float64", "c": "category", "n": "Int32"}
    assert str(read[name].dtype) == kinds.get(name, str(read[name].dtype))
    # Damage of other columns and rows does not matter.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part = en.read(path, columns=list(rest), on_damage="missing")
        assert_frame_equal(part, rest)
        en.read(path, rows=(0, 100), on_damage="missing")
        en.open(path).read(rows=(2 * BLOCK, None), on_damage="missing")
    with pytest.warns(en.DamageWarning):
        view = en.open(path)[BLOCK - 5 : BLOCK + 5].read(columns=[name], on_damage="missing")
    assert view[name].isna().tolist() == [False] * 5 + [True] * 5
    out = path.with_suffix(".out")
    (one,) = en.repair(path, out)
    assert one[:3] == (name, BLOCK, 2 * BLOCK)
    en.verify(out)
    assert_frame_equal(en.read(out), read)
    assert path.read_bytes() == damaged


KEYS = np.random.default_rng(5).integers(1, 100, BLOCK + 100)
TEXTS = [f"t{key}" for key in KEYS]
BYTES = [b"%03d" % key for key in KEYS]
DAYS = pd.to_datetime(KEYS, unit="D")
NUMBERS = [
    "i1",
    "i2",
    "i4",
    "i8",
    "u1",
    "u2",
    "u4",
    "u8",
    "f2",
    "f4",
    "f8",
    "longdouble",
    "c8",
    "c16",
    "clongdouble",
    ">i4",
    ">f8",
]
NULLABLE = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"]
ZONES = ("UTC", "Europe/Zurich", datetime.timezone(datetime.timedelta(hours=2)))
OF_ARROW = ["int8", "int64", "uint64", "float", "double", "date32[day]", "time32[s]", "time64[us]", "duration[ms]"]


def every_dtype() -> dict[str, Any]:
    """A column of every dtype of pandas whose values can be lost one block at a time."""
    found: dict[str, Any] = {dtype: KEYS.astype(dtype) for dtype in NUMBERS}
    found |= {f"{kind}8[{unit}]": KEYS.astype(f"{kind}8[{unit}]") for kind in "mM" for unit in ("s", "ms", "us", "ns")}
    found |= {f"zone {zone}": DAYS.tz_localize(zone) for zone in ZONES}
    found |= {dtype: pd.array(KEYS).astype(dtype) for dtype in NULLABLE}
    found |= {"bool": KEYS > 50, "boolean": pd.array(KEYS > 50, "boolean"), "object": np.array(TEXTS, object)}
    for storage in ("python", "pyarrow"):
        for na in (pd.NA, np.nan):
            found[f"string {storage} {na}"] = pd.array(TEXTS, pd.StringDtype(storage, na_value=na))
    found |= {f"category {name}": pd.Categorical(of) for name, of in (("str", TEXTS), ("i8", KEYS), ("M8", DAYS))}
    found["ordered"] = pd.Categorical(TEXTS, ordered=True)
    found["period"] = pd.PeriodIndex.from_ordinals(KEYS, freq="M").array
    for left in (KEYS, KEYS * 1.5, DAYS, DAYS.tz_localize("UTC"), pd.to_timedelta(KEYS, unit="D")):
        interval = pd.arrays.IntervalArray.from_arrays(left, left)
        found[str(interval.dtype)] = interval
    for dtype in ("bool", "i1", "i8", "u8", "f4", "f8", "c16", "M8[ns]", "m8[s]"):
        found[f"Sparse {dtype}"] = pd.arrays.SparseArray(KEYS > 50 if dtype == "bool" else KEYS.astype(dtype))
    found["Sparse beyond floats"] = pd.arrays.SparseArray(KEYS + 2**60)
    return found | of_arrow()


def of_arrow() -> dict[str, Any]:
    try:
        import pyarrow as pa
    except ImportError:
        return {}
    keys = pa.array(KEYS)
    arrays = [pa.array(KEYS > 50), pa.array(TEXTS), pa.array(TEXTS, pa.large_string()), pa.array(BYTES)]
    arrays += [pa.array(BYTES, pa.binary(3)), pa.array(TEXTS).dictionary_encode(), pa.array(KEYS.astype("f2"))]
    arrays += [
        pa.array([decimal.Decimal(int(key)) for key in KEYS], of) for of in (pa.decimal128(9), pa.decimal256(50))
    ]
    arrays += [keys.cast(pa.timestamp("us")), keys.cast(pa.timestamp("ns", "UTC")), pa.array(KEYS.astype("i4"))]
    arrays += [keys.cast("int32").cast(of) if of.endswith(("[s]", "[day]")) else keys.cast(of) for of in OF_ARROW]
    return {f"{a.type} of Arrow": pd.arrays.ArrowExtensionArray(pa.chunked_array([a])) for a in arrays}


EVERY_DTYPE = every_dtype()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", EVERY_DTYPE)
def test_every_dtype_of_pandas(name: str, path: Path) -> None:
    value = pd.DataFrame({"x": pd.Series(EVERY_DTYPE[name]), "other": KEYS})
    en.write(value, path, compression=0)
    content = path.read_bytes()
    for at in range(300, len(content), 997):
        damaged = bytearray(content)
        damaged[at] ^= 1
        try:
            en.verify(bytes(damaged))
        except en.CorruptFileError as error:
            damages = [one for one in error.damages if one.column == "x" and one.start is not None]
            if damages:
                break
    (damage,) = damages
    path.write_bytes(damaged)
    with pytest.warns(en.DamageWarning):
        read = en.read(path, on_damage="missing")
    assert read["other"].equals(value["other"])
    is_lost = np.zeros(len(KEYS), bool)
    is_lost[damage.start : damage.stop] = True
    assert (read["x"].isna().to_numpy() == is_lost).all()
    # `tolist`, because pandas has no selection of arrays in the other byte order.
    pairs = zip(read["x"].tolist(), value["x"].tolist(), is_lost, strict=True)
    assert all(lost or found == wanted for found, wanted, lost in pairs)


def test_intervals_that_floats_do_not_hold(path: Path) -> None:
    bounds = KEYS + 2**60
    en.write(pd.DataFrame({"x": pd.arrays.IntervalArray.from_arrays(bounds, bounds)}), path, compression=0)
    content = bytearray(path.read_bytes())
    content[20_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(en.UnsupportedTypeError, match=r"'x'.*2\^53"):
        en.read(path, on_damage="missing")


@pytest.mark.parametrize("to", ["polars", "pyarrow", "numpy", "static_frame"])
def test_other_libraries(to: Any, original: pd.DataFrame, path: Path) -> None:
    pytest.importorskip(to)
    values = original[["i", "f", "b", "s"]]
    en.write(values, path, compression=0)
    content = bytearray(path.read_bytes())
    for at in range(12_288 + BLOCK * 8 + 1000, 12_288 + 2 * BLOCK * 8, 8192):
        content[at] ^= 1
    path.write_bytes(content)
    if to in ("numpy", "static_frame"):
        with pytest.raises(en.UnsupportedTypeError, match=r"'i'.*leave it out"):
            en.read(path, to=to, on_damage="missing")
        with pytest.warns(en.DamageWarning):
            left = en.read(path, to=to, on_damage="missing", on_unsupported="skip")
        assert "i" not in left
        return
    with pytest.warns(en.DamageWarning):
        read = en.read(path, to=to, on_damage="missing")
    column = read["i"]
    n_missing = column.null_count() if to == "polars" else column.null_count
    assert n_missing == BLOCK
    found = column.to_numpy() if to == "polars" else column.to_pandas().to_numpy()
    assert (found[:BLOCK] == original["i"][:BLOCK]).all()
    assert (found[2 * BLOCK :] == original["i"][2 * BLOCK :]).all()


def test_own_arrays(path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {"f": rng.random(N), "c": rng.random(N) + 1j, "u": np.array(["abc", "de"])[rng.integers(0, 2, N)]}
    en.write(arrays, path, compression=0)
    content = bytearray(path.read_bytes())
    content[12_288 + BLOCK * 8 + 1000] ^= 1
    path.write_bytes(content)
    with pytest.warns(en.DamageWarning):
        read = en.read(path, on_damage="missing")
    assert np.isnan(read["f"]).nonzero()[0].tolist() == list(range(N))[LOST]
    assert (read["f"][:BLOCK] == arrays["f"][:BLOCK]).all()
    for name in ("c", "u"):
        assert (read[name] == arrays[name]).all()


def labels(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    value = change(pd.DataFrame({"a": np.random.default_rng(0).random(N)}))
    en.write(value, path)
    return value


def test_damaged_labels_are_an_error(path: Path) -> None:
    value = labels(path, lambda df: df.set_index(pd.Index(np.random.default_rng(1).permutation(N), name="key")))
    content = path.read_bytes()
    for at in range(13_000, len(content), 5000):
        damaged = bytearray(content)
        damaged[at] ^= 1
        with pytest.raises(en.CorruptFileError) as caught:
            en.verify(bytes(damaged))
        if caught.value.damages[0].column not in ("a", None):
            break
    path.write_bytes(damaged)
    with pytest.raises(en.CorruptFileError):
        en.read(path, on_damage="missing")
    with pytest.raises(en.CorruptFileError, match="cannot be missing"):
        en.repair(path, path.with_suffix(".out"))
    assert not path.with_suffix(".out").exists()
    got = en.read(path, index=False, on_damage="missing")
    assert (got["a"].to_numpy() == value["a"].to_numpy()).all()


def test_a_frame_in_a_tree(original: pd.DataFrame, path: Path) -> None:
    en.write({"name": "x", "frame": original[["i", "f"]]}, path, compression=0)
    content = bytearray(path.read_bytes())
    content[12_288 + BLOCK * 8 + 1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(en.CorruptFileError):
        en.read(path)
    with pytest.warns(en.DamageWarning):
        read = en.read(path, on_damage="missing")
    assert read["name"] == "x"
    assert read["frame"].isna().to_numpy().sum() == BLOCK
    with pytest.warns(en.DamageWarning):
        pd.testing.assert_frame_equal(en.open(path)["frame"].read(on_damage="missing"), read["frame"])
    with pytest.raises(en.ArgumentError, match="on_damage"):
        en.open(path)["name"].read(on_damage="missing")


def test_arguments(path: Path) -> None:
    en.write({"a": np.arange(3)}, path, compression=0)
    with pytest.raises(en.ArgumentError, match="on_damage='skip'"):
        en.read(path, on_damage="skip")  # type: ignore[arg-type]
    with pytest.raises(en.ArgumentError, match="memory_map"):
        en.read(path, on_damage="missing", memory_map=True)
    with pytest.raises(en.ArgumentError, match="in place"):
        en.repair(path, path)
    assert en.repair(path, path.with_suffix(".out")) == []
    assert en.read(path.with_suffix(".out"))["a"].tolist() == [0, 1, 2]
    assert en.repair(path.read_bytes(), path.with_suffix(".out"), durable=False) == []
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(en.CorruptFileError):
        en.read(path, on_damage="missing")


def test_rows_of_a_changed_file_are_verified_again(tmp_path: Path) -> None:
    path = tmp_path / "t.entasis"
    values = np.random.default_rng(0).random(N)
    en.write({"x": values}, path, compression=0)
    f = en.open(path)
    for rows in ([5, 100_000], [7, 100_001]):
        np.testing.assert_array_equal(f.read(rows=rows)["x"], values[rows])
    offset = path.read_bytes().index(values[3].tobytes())
    time.sleep(0.05)  # Systems count the time of a change in steps of up to 10 ms.
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xff")
    with pytest.raises(en.CorruptFileError, match="checksum"):
        f.read(rows=[7])
    np.testing.assert_array_equal(f.read(rows=[100_002])["x"], values[[100_002]])
