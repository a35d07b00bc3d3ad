"""pandas frames come back equal: values, dtypes, kinds of missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames_same import assert_frame_equal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import entasis as en

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def same(left, right):
    assert_frame_equal(left, right, check_freq=True, check_flags=True)
    assert left.attrs == right.attrs
    for (_, a), (_, b) in zip(left.items(), right.items(), strict=True):
        assert a.dtype == b.dtype
        if a.dtype == object:
            assert [type(x) for x in a] == [type(x) for x in b]
            assert [x for x in a if type(x) is str] == [x for x in b if type(x) is str]


def columns():
    rng = np.random.default_rng(1)
    n = 3000
    holes = rng.random(n) < 0.2
    words = np.array(["", "a", "éè", "a longer string of words", "\U0001f600", "x\0y"], dtype=object)
    text = rng.choice(words, n)
    out = {}
    for dtype in INTS:
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        out[dtype] = values
        nullable = dtype.replace("int", "Int").replace("u", "U")
        out[nullable] = pd.arrays.IntegerArray(values, holes.copy())
    for dtype in ["float16", "float32", "float64"]:
        out[dtype] = np.where(holes, np.nan, rng.standard_normal(n)).astype(dtype)
    out["Float32"] = pd.arrays.FloatingArray(out["float32"].copy(), holes[::-1].copy())
    out["Float64"] = pd.arrays.FloatingArray(out["float64"].copy(), holes[::-1].copy())
    out["complex64"] = (rng.random(n) + 1j * rng.random(n)).astype("complex64")
    out["complex128"] = rng.random(n) + 1j * rng.random(n)
    out["bool"] = rng.random(n) < 0.5
    out["boolean"] = pd.arrays.BooleanArray(out["bool"].copy(), holes.copy())
    for unit in ["s", "ms", "us", "ns"]:
        times = rng.integers(-(2**30), 2**31, n)
        times[holes] = np.iinfo("int64").min
        out[f"datetime64[{unit}]"] = times.view(f"M8[{unit}]")
        out[f"timedelta64[{unit}]"] = times.view(f"m8[{unit}]")
        for zone in ["UTC", "Europe/Berlin", "UTC+01:00"]:
            series = pd.Series(times.view(f"M8[{unit}]"))
            out[f"datetime64[{unit}, {zone}]"] = series.dt.tz_localize("UTC").dt.tz_convert(zone).array
    out["str"] = pd.array(np.where(holes, np.nan, text), dtype="str")
    out["str[python]"] = pd.array(np.where(holes, np.nan, text), dtype=pd.StringDtype("python", na_value=np.nan))
    out["string[python]"] = pd.array(np.where(holes, pd.NA, text), dtype="string[python]")
    out["string[pyarrow]"] = pd.array(np.where(holes, pd.NA, text), dtype="string[pyarrow]")
    out["object of str"] = text
    out["object with None"] = np.where(holes, None, text)
    out["object with NaN"] = np.where(holes, np.nan, text)
    out["object with NA"] = np.where(holes, pd.NA, text)
    mixed = text.copy()
    mixed[:4] = [None, np.nan, pd.NA, pd.NaT]
    out["object with all"] = mixed
    out["object of None"] = np.full(n, None, dtype=object)
    codes = np.where(holes, -1, rng.integers(0, 3, n))
    kinds = {
        "str": ["c", "a", "b"],
        "object": pd.Index(["c", "a", "b"], dtype=object),
        "int": [30, 10, 20],
        "float": [0.5, -1.0, 2.0],
        "datetime": pd.to_datetime(["2020", "2021", "2019"]),
        "zoned": pd.to_datetime(["2020", "2021", "2019"]).tz_localize("Asia/Tokyo"),
        "Int64": pd.array([3, 1, 2], dtype="Int64"),
    }
    for name, categories in kinds.items():
        for ordered in (False, True):
            out[f"category of {name}, {ordered}"] = pd.Categorical.from_codes(codes, categories, ordered=ordered)
    out["category of bool"] = pd.Categorical(out["bool"])
    out["category of many"] = pd.Categorical([f"k{i % 1000}" for i in range(n)])
    out["category of none"] = pd.Categorical([None] * n)
    for kind in [
        pa.int8(), pa.uint64(), pa.float32(), pa.bool_(), pa.string(), pa.large_string(),
        pa.binary(), pa.large_binary(), pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"),
        pa.timestamp("us"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("ms"), pa.null(),
        pa.dictionary(pa.int32(), pa.string()),
    ]:  # fmt: skip
        out[f"arrow {kind}"] = pd.arrays.ArrowExtensionArray(pa.chunked_array([arrow_array(kind, n)]))
    return out


def arrow_array(kind, n):
    none = [None] * n
    if pa.types.is_null(kind):
        return pa.array(none, kind)
    if pa.types.is_dictionary(kind):
        return pa.array([None if i % 5 == 0 else f"v{i % 7}" for i in range(n)]).dictionary_encode().cast(kind)
    if pa.types.is_boolean(kind):
        return pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(n)], kind)
    if pa.types.is_date64(kind):
        return pa.array([None if i % 5 == 0 else i * 86_400_000 for i in range(n)], pa.int64()).cast(kind)
    if any(f(kind) for f in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        return pa.array([None if i % 5 == 0 else f"text number {i}" for i in range(n)], kind)
    if any(f(kind) for f in (pa.types.is_binary, pa.types.is_large_binary)):
        return pa.array([None if i % 5 == 0 else bytes([i % 256]) * (i % 20) for i in range(n)], kind)
    small = pa.int32() if kind in (pa.date32(), pa.time32("s")) else pa.int64()
    return pa.array([None if i % 5 == 0 else i % 100 for i in range(n)], small).cast(kind)


COLUMNS = columns()


@pytest.mark.parametrize("name", COLUMNS)
def test_column(name, round_trip):
    frame = pd.DataFrame({name: pd.Series(COLUMNS[name], copy=False)})
    back = round_trip(frame)
    same(frame, back)
    if name.startswith("category"):
        pd.testing.assert_index_equal(frame[name].cat.categories, back[name].cat.categories)


def test_all_together_at_every_length_and_level(round_trip):
    frame = pd.DataFrame(COLUMNS)
    assert frame.shape == (3000, len(COLUMNS))
    for n in (0, 1, 2, 1023, 1025, 3000):
        same(frame.iloc[:n], round_trip(frame.iloc[:n]))
    for compression in (0, 1, 30, 60, 100):
        same(frame, round_trip(frame, compression=compression))
    same(frame.iloc[::-3], round_trip(frame.iloc[::-3]))


def test_bits_of_nan(round_trip):
    bits = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8DEADBEEF0000, 0x7FF0000000000001, 1 << 63], "u8")
    back = round_trip(pd.DataFrame({"x": bits.view("f8")}))
    np.testing.assert_array_equal(back["x"].to_numpy().view("u8"), bits)


def test_frame_in_several_blocks_and_strides(round_trip):
    frame = pd.DataFrame({"a": [1, 2, 3]})
    frame["b"] = [4, 5, 6]
    frame["c"] = np.arange(30, dtype="f8")[::-10]
    frame.insert(1, "d", np.broadcast_to(np.int32(7), 3))
    same(frame, round_trip(frame))
    same(frame.T.T, round_trip(frame.T.T))


def test_longer_than_blocks(round_trip):
    n = 200_003
    frame = pd.DataFrame(
        {
            "i": np.arange(n),
            "f": np.random.default_rng(0).random(n),
            "s": pd.array([f"s{i % 999}" for i in range(n)], dtype="str"),
            "c": pd.Categorical([f"c{i % 300}" for i in range(n)]),
            "m": pd.arrays.IntegerArray(np.arange(n), np.arange(n) % 7 == 0),
            "o": pd.Series([None if i % 3 == 0 else "x" * (i % 50) for i in range(n)], dtype=object),
        }
    )
    same(frame, round_trip(frame))


def test_attrs_and_flags(round_trip):
    frame = pd.DataFrame({"a": [1]})
    frame.attrs = {
        "s": "x",
        "i": -(2**63),
        "u": 2**64 - 1,
        "f": float("inf"),
        "n": None,
        "l": [True, {"é": []}],
    }
    frame.flags.allows_duplicate_labels = False
    back = round_trip(frame)
    same(frame, back)
    assert back.flags.allows_duplicate_labels is False


@pytest.mark.parametrize(
    "attrs",
    [{"a": (1,)}, {1: "a"}, {"a": np.float64(1)}, {"a": 2**64}, {"a": {"b": {1}}}, {"a": ["\ud800"]}, {"a": [1] * 999}],
)
def test_attrs_of_any_kind(attrs, round_trip, path):
    frame = pd.DataFrame({"a": [1]})
    frame.attrs = attrs
    back = round_trip(frame).attrs
    assert repr(back) == repr(attrs)
    en.verify(path)


def test_frames_in_attrs(round_trip):
    frame, inner = pd.DataFrame({"a": [1]}), pd.DataFrame({"b": ["x"]})
    inner.attrs = {"deeper": pd.DataFrame({"c": [2.5]})}
    frame.attrs = {"inner": [inner, inner], "series": pd.Series([1, None])}
    back = round_trip(frame).attrs
    assert_frame_equal(back["inner"][0], inner)
    assert back["inner"][0] is back["inner"][1]
    assert_frame_equal(back["inner"][0].attrs["deeper"], inner.attrs["deeper"])
    pd.testing.assert_series_equal(back["series"], frame.attrs["series"])


def test_attrs_that_cannot_be_kept(path):
    frame = pd.DataFrame({"a": [1]})
    frame.attrs = {"a": [1, len]}
    with pytest.raises(en.UnsupportedTypeError, match=r"the frame's attrs\['a'\]\[1\]: .*builtin_function"):
        en.write(frame, path)
    frame.attrs = {"a": [frame]}
    with pytest.raises(en.UnsupportedTypeError, match="contains itself"):
        en.write(frame, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.arrays.SparseArray(["a", "b"]), r"column 'x': dtype Sparse"),
        (pd.Series([1, len], dtype=object), r"df\['x'\].iloc\[1\]: a value of type builtin_function"),
        (
            pd.Series([{"a": [len]}, 1], dtype=object),
            r"df\['x'\].iloc\[0\]\['a'\]\[0\]: a value of type builtin_function",
        ),
    ],
)
def test_what_is_refused(values, message, path):
    path.write_bytes(b"old")
    frame = pd.DataFrame({"a": [1, 2], "x": values})
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(frame, path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


def test_other_objects_are_refused(path):
    class Frame(pd.DataFrame):
        pass

    for value in (Frame({"a": [1]}), len, object(), [Frame({"a": [1]})], pd.Series, np):
        with pytest.raises(en.UnsupportedTypeError):
            en.write(value, path)
    assert not path.exists()


values = st.one_of(
    st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=5, max_size=5).map(
        lambda x: pd.array(x, dtype="str")
    ),
    st.lists(st.floats(width=64), min_size=5, max_size=5).map(lambda x: np.array(x)),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=5, max_size=5).map(lambda x: np.array(x, "i8")),
    st.lists(st.sampled_from(["a", None]), min_size=5, max_size=5).map(lambda x: pd.Series(x, dtype=object)),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays=st.lists(values, max_size=6), level=st.integers(0, 100))
def test_any_frame(arrays, level, path):
    frame = pd.DataFrame({str(i): array for i, array in enumerate(arrays)})
    en.write(frame, path, compression=level)
    same(frame, en.read(path))
    en.verify(path)
