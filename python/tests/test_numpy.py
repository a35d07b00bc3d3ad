"""Dicts of arrays come back equal."""

from __future__ import annotations

import numpy as np
import pytest
from forge import write_builder

import entasis as en
from entasis._entasis import Builder

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


def arrays():
    rng = np.random.default_rng(2)
    n = 2000
    numbers = rng.integers(0, 100, n)
    out = {
        dtype: numbers.astype(dtype)
        for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
    }
    for unit in UNITS:
        for letter in "Mm":
            times = numbers.copy()
            times[::7] = np.iinfo("i8").min
            out[f"{letter}8[{unit}]"] = times.view(f"{letter}8[{unit}]")
    out["m8"] = numbers.view("m8")
    out["U"] = np.array(["", "é\U0001f600", "abc"] * 700)[:n]
    out["U20"] = out["U"].astype("U20")
    out["S"] = np.array([b"", b"\xff\x00a", b"abc"] * 700)[:n]
    out["object"] = out["U"].astype(object)
    out["kinds"] = out["object"].copy()
    out["kinds"][:2] = [None, np.nan]
    out["strided"] = np.arange(3 * n)[::-3]
    for dtype in [
        ">i2",
        ">i4",
        ">u8",
        ">f2",
        ">f8",
        ">c8",
        ">c16",
        ">M8[us]",
        ">m8[h]",
        ">U5",
        "longdouble",
        "clongdouble",
    ]:
        out[dtype] = out["U"].astype(dtype) if "U" in dtype else (numbers / 7).astype(dtype)
    out[">f16"], out[">c32"] = out["longdouble"].astype(">f16"), out["clongdouble"].astype(">c32")
    out["?"] = out["?"].astype(">?")
    for width in (1, 3, 8, 16, 100):
        out[f"V{width}"] = np.frombuffer(rng.bytes(width * n), f"V{width}")
    out["V0"] = np.zeros(n, "V0")
    out["V9, strided"] = np.frombuffer(rng.bytes(18 * n), "V9")[::-2]
    out["units"] = np.array([0xD800, 65, 0x110000, 0] * (n // 2), "u4").view("U2")
    out[">units"] = out["units"].astype(">U2")
    out["U, strided"] = np.array([f"x{i}é" for i in range(3 * n)])[::-3]
    out["S, strided"] = np.arange(3 * n).astype("S")[::-3]
    out["U, all lengths"] = np.array(["é" * (i % 40) + "x" * (i % 3) for i in range(n)])
    fields = [("a", "<i4"), ("b", ">f8", (2, 3)), ("c", [("d", "S3"), ("e", "M8[ns]")]), ("f", "U2"), ("g", "?")]
    out["record"] = np.zeros(n, fields)
    out["record"]["a"], out["record"]["c"]["d"] = numbers, b"abc"
    out["aligned"] = np.zeros(n, np.dtype([("a", "i1"), ("b", "f8")], align=True))
    out["overlapping"] = np.zeros(n, {"names": ["b", "a"], "formats": ["<i4", "<i2"], "offsets": [2, 0], "itemsize": 9})
    out["no fields"] = np.zeros(n, [])
    string = getattr(np.dtypes, "StringDType", None)
    if string is not None:
        out["string"] = np.array(["", "é", "a longer one than fits"] * 700, string())[:n]
        out["string, None"] = np.array(["", None, "a"] * 700, string(na_object=None))[:n]
        out["string, NaN"] = np.array(["", np.nan, "a"] * 700, string(na_object=np.nan, coerce=False))[:n]
    return out


ARRAYS = arrays()


def same(left, right):
    assert list(left) == list(right)
    for name, array in left.items():
        assert array.dtype == right[name].dtype, name
        assert array.dtype.byteorder == right[name].dtype.byteorder, name
        if array.dtype.kind in "OT":
            assert list(map(repr, array)) == list(map(repr, right[name]))
        elif array.dtype.names:
            # Bytes between fields may differ.
            assert (array == right[name]).all(), name
        elif array.dtype.kind in "VU":
            assert array.tobytes() == right[name].tobytes(), name
        else:
            np.testing.assert_array_equal(array, right[name], err_msg=name)


@pytest.mark.parametrize("name", ARRAYS)
def test_column(name, round_trip):
    same({name: ARRAYS[name]}, round_trip({name: ARRAYS[name]}))


def test_all_together(round_trip, path):
    back = round_trip(ARRAYS)
    same(ARRAYS, back)
    assert back["kinds"][0] is None
    assert np.isnan(back["kinds"][1])
    rows = [3, -1, 0]
    same({k: v[rows] for k, v in ARRAYS.items()}, en.read(path, rows=rows))
    same({"kinds": ARRAYS["kinds"][:1], "i1": ARRAYS["i1"][:1]}, en.read(path, rows=0, columns=["kinds", "i1"]))


def test_shapes(round_trip):
    assert round_trip({}) == {}
    same({"a": np.empty(0), "U": np.empty(0, "U3")}, round_trip({"a": np.empty(0), "U": np.empty(0, "U3")}))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(2, "V262145"), "column 'x': dtype"),
        (np.zeros(2, [("a", "O")]), "column 'x': a field of dtype object"),
        (np.zeros(2, [(("title", "a"), "i4")]), "column 'x': dtype .* has titles"),
        (np.array(["a"], np.dtypes.StringDType(na_object=3)), "column 'x': strings with 3 for missing values"),
        (np.array([1, len], dtype=object), r"value\['x'\]\[1\]: a value of type builtin_function_or_method"),
    ],
)
def test_what_is_refused(array, message, path):
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write({"x": array}, path)
    assert not path.exists()


def test_raw_memory_never_becomes_objects(path):
    """Fields of a record are checked, since pointers would be read from wrong offsets."""
    n = 10
    bad = [
        "O", "|O", "T", "i4,O", "", "V999999999999", 3, None, [], {}, {"of": "O", "shape": [1]},
        {"of": "<i8", "shape": [2]}, {"of": "<i8", "shape": "x"},
        {"names": ["a"], "formats": ["O"], "offsets": [0], "itemsize": 8, "aligned": False},
        {"names": ["a"], "formats": ["<i8"], "offsets": [4], "itemsize": 8, "aligned": False},
        {"names": ["a"], "formats": ["<i8"], "offsets": [0], "itemsize": 16, "aligned": False},
        {"names": ["a", "a"], "formats": ["<i4", "<i4"], "offsets": [0, 4], "itemsize": 8, "aligned": False},
        {"names": ["a"], "formats": [], "offsets": [0], "itemsize": 8, "aligned": False},
        {"names": ["a"], "formats": ["<i8"]},
    ]  # fmt: skip
    for detail in bad:
        builder = Builder(n, ["x"])
        builder.words(np.arange(n).view("V8"), 0, host_variant=4, host_detail=detail)
        write_builder(builder, path, {"host": "numpy"})
        with pytest.raises(en.CorruptFileError):
            en.read(path)
    for dtype, host_variant in [("V8", 3), ("V7", 3), ("V8", 5), ("V32", 5), ("V8", 12), ("V6", 11), ("i8", 12)]:
        builder = Builder(n, ["x"])
        builder.words(np.zeros(n, dtype), 0, host_variant=host_variant)
        write_builder(builder, path, {"host": "numpy"})
        try:
            assert len(en.read(path)["x"]) == n
        except en.CorruptFileError:
            assert dtype != "V32"


def test_kinds_of_missing_strings_that_make_no_sense(path):
    for detail in ({}, {"coerce": True, "na_text": 3}, {"coerce": True, "na": "x"}, 3, None):
        builder = Builder(2, ["x"])
        builder.text(np.array(["a", "b"], dtype=object), 0, host_variant=6, host_detail=detail)
        write_builder(builder, path, {"host": "numpy"})
        with pytest.raises(en.CorruptFileError):
            en.read(path)


def test_dtypes_of_one_length(round_trip):
    """Columns whose values have as many bytes and other dtypes don't share an array."""
    n = 100
    words = np.arange(n)
    arrays = {
        "V8": words.view("V8"), "record": words.view([("a", "<i4"), ("b", "<i4")]),
        "V8 too": words[::-1].copy().view("V8"),
        "other record": words.view([("x", "<f8")]), "units": np.full((n, 2), 0xD800, "u4").view("U2")[:, 0],
        "big units": np.full((n, 2), 0xD800, "u4").view("U2")[:, 0].astype(">U2"),
        "c": np.arange(n).astype("clongdouble"), ">c": np.arange(n).astype("clongdouble").astype(">c32"),
        "V32": np.zeros(n, "V32"),
    }  # fmt: skip
    same(arrays, round_trip(arrays))
    same(arrays, round_trip(arrays, compression=0))


def test_strings_longer_than_their_dtype(path):
    builder = Builder(2, ["x"])
    builder.text(np.array(["a", "bcd"], dtype=object), 0, host_variant=1, host_detail=2)
    write_builder(builder, path, {"host": "numpy"})
    with pytest.raises(en.CorruptFileError, match="longer"):
        en.read(path)
    for detail in (-1, "2", None, 2.0, {}):
        builder = Builder(2, ["x"])
        builder.text(np.array(["a", "b"], dtype=object), 0, host_variant=1, host_detail=detail)
        write_builder(builder, path, {"host": "numpy"})
        with pytest.raises(en.CorruptFileError):
            en.read(path)


def test_fixed_bytes_elsewhere(path):
    pa = pytest.importorskip("pyarrow")
    en.write({"v": np.array([b"ab\0", b"c\0d"], "V3"), "u": np.array(["é", ""]), "s": np.array([b"x", b""])}, path)
    table = en.read(path, to="pyarrow")
    assert table.schema.types == [pa.binary(3), pa.large_string(), pa.large_binary()]
    assert table["v"].to_pylist() == [b"ab\0", b"c\0d"]
    assert table["u"].to_pylist() == ["é", ""]
    assert en.read(path, to="polars")["v"].to_list() == [b"ab\0", b"c\0d"]
    assert str(en.read(path, to="pandas")["v"].dtype) == "fixed_size_binary[3][pyarrow]"


def test_lengths_and_names(path):
    # These are dicts of arrays, not tables.
    for arrays in ({"a": np.zeros(1), "b": np.zeros(2)}, {1: np.zeros(1)}, {"a": np.zeros((2, 2))}):
        en.write(arrays, path)
        same({str(k): v for k, v in arrays.items()}, {str(k): v for k, v in en.read(path).items()})
        assert list(en.read(path)) == list(arrays)
        assert isinstance(en.open(path), en.Tree)


@pytest.mark.parametrize("n", [524_287, 524_288, 1_000_000])
@pytest.mark.parametrize("dtype", ["i8", "f8", "M8[s]", "U2"])
def test_large_arrays_begin_with_a_huge_page(tmp_path, n, dtype):
    path = tmp_path / "large.entasis"
    values = (np.arange(n) % 100).astype(dtype)
    en.write({"values": values}, path)
    back = en.read(path)["values"]
    assert back.dtype == values.dtype
    assert back.flags.writeable
    assert back.ctypes.data % (2 << 20) == 0 or back.nbytes < 4 << 20 or dtype == "U2"
    assert (back == values).all()


def test_fields_of_packed_records(round_trip):
    """Their elements are at odd addresses."""
    records = np.zeros(9, dtype=[("a", "i1"), ("o", "O"), ("s", "O"), ("f", "f8"), ("c", "c16"), ("t", "M8[ns]")])
    records["o"] = [1, "a", None, (1,), 2.5, b"b", 7, 8, 9]
    records["s"] = [*"abcdefgh", None]
    records["f"] = records["c"] = np.arange(9)
    assert not records["s"].flags.aligned
    for part in (records, records[::-2]):
        columns = {name: part[name] for name in "osfct"}
        back = round_trip(columns)
        for name, array in columns.items():
            assert back[name].dtype == array.dtype
            assert back[name].tolist() == array.tolist()
