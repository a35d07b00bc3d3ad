"""Periods, intervals, sparse columns, and Arrow's extension types."""

from __future__ import annotations

import uuid
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from forge import write_builder

import entasis as en
from entasis._entasis import Builder, ColumnRef

pa = pytest.importorskip("pyarrow")

N = 12
TWICE = N // 2


def half(*values):
    return list(values) * TWICE


PANDAS = {
    "months": pd.period_range("2020", periods=N, freq="M"),
    "days, some missing": pd.array([pd.NaT, *pd.period_range("1950", periods=N - 1, freq="D")], dtype="period[D]"),
    "weeks": pd.period_range("2020", periods=N, freq="W-MON"),
    "two quarters": pd.period_range("2020", periods=N, freq="2Q"),
    "hours": pd.period_range("2020", periods=N, freq="h"),
    "nanoseconds": pd.period_range("2020", periods=N, freq="ns"),
    "left": pd.interval_range(0, N, closed="left"),
    "floats": pd.interval_range(0.5, N + 0.5),
    "no interval": pd.arrays.IntervalArray.from_arrays(half(np.nan, 1.0), half(np.nan, 2.0), closed="neither"),
    "times": pd.interval_range(pd.Timestamp("2020"), periods=N, closed="both"),
    "zoned": pd.interval_range(pd.Timestamp("2020", tz="Europe/Zurich"), periods=N),
    "spans": pd.interval_range(pd.Timedelta("1D"), periods=N),
    "sparse": pd.arrays.SparseArray([0, 1] + [0] * (N - 2)),
    "sparse, NaN": pd.arrays.SparseArray(half(np.nan, 1.0)),
    "sparse, blocks": pd.arrays.SparseArray(half(True, False), fill_value=True, kind="block"),
    "sparse, 7": pd.arrays.SparseArray(np.array(half(7, 1), "i2"), fill_value=7),
    "sparse, 8": pd.arrays.SparseArray(np.array(half(7, 1), "i2"), fill_value=8),
    "sparse, complex": pd.arrays.SparseArray(np.array(half(7, 1j)), fill_value=7),
    "sparse, times": pd.arrays.SparseArray(np.array(half("2020", "NaT"), "M8[ns]")),
    "cut": pd.cut(pd.Series(range(N)), [0, 3, 6, 20]),
    "categories": pd.Categorical(pd.period_range("2020", periods=N, freq="M")),
}
INDEXES = [
    pd.period_range("2021", periods=N, freq="Q", name="i"),
    pd.interval_range(0, N, name="i"),
    pd.MultiIndex.from_arrays([pd.period_range("2021", periods=N, freq="Q"), pd.interval_range(0, N)]),
    pd.IntervalIndex.from_breaks(pd.date_range("2020", periods=N + 1, tz="UTC")),
    pd.CategoricalIndex(pd.interval_range(0, N)),
]


def equal(left, right):
    pd.testing.assert_frame_equal(left, right)
    assert left.dtypes.tolist() == right.dtypes.tolist()
    assert type(left.index) is type(right.index)


@pytest.mark.parametrize("name", PANDAS)
def test_pandas(name, path):
    frame = pd.DataFrame({"n": range(N), name: PANDAS[name]})
    for compression in (0, 50, 90):
        en.write(frame, path, compression=compression)
        equal(frame, en.read(path))
        equal(frame.iloc[[3, 0, 3]], en.read(path, rows=[3, 0, 3]))
        equal(frame[[name]].iloc[2:9:2], en.read(path, columns=[name], rows=slice(2, 9, 2)))
        en.verify(path)
    equal(frame.iloc[:0], en.read(path, rows=(0, 0)))
    en.write(frame.iloc[:0], path)
    equal(frame.iloc[:0], en.read(path))


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: type(index).__name__)
def test_labels(index, path, round_trip):
    frame = pd.DataFrame(PANDAS, index=None)
    frame.index = index
    equal(frame, round_trip(frame))
    equal(frame.iloc[3:5], en.read(path, rows=(3, 5)))
    if index.nlevels == 1:
        wide = pd.DataFrame(np.arange(2.0 * N).reshape(2, N), columns=index)
        pd.testing.assert_frame_equal(wide, round_trip(wide))
        pd.testing.assert_frame_equal(wide.iloc[:, [2, 0]], en.open(path).iloc[:, [2, 0]].read())


def test_many_rows(round_trip):
    """Bounds and periods over many blocks, some missing."""
    n = 200_000
    left = np.arange(n) * 0.5
    left[::7] = np.nan
    frame = pd.DataFrame(
        {
            "interval": pd.arrays.IntervalArray.from_arrays(left, left + 1),
            "period": pd.arrays.PeriodArray(np.arange(n), dtype=pd.PeriodDtype("D")),
            "sparse": pd.arrays.SparseArray(np.where(np.arange(n) % 100 == 0, 1.5, 0.0), fill_value=0.0),
        }
    )
    frame.loc[5, "period"] = pd.NaT
    equal(frame, round_trip(frame))


def test_pandas_elsewhere(path):
    frame = pd.DataFrame(PANDAS)
    en.write(frame, path)
    table = en.read(path, to="pyarrow", columns=["months", "left", "sparse, 7"])
    field = table.schema.field("months")
    # pandas may have registered its type with Arrow.
    told = getattr(field.type, "extension_name", None) or field.metadata[b"ARROW:extension:name"].decode()
    assert told == "pandas.period"
    assert table["months"].to_pylist()[0] in (600, pd.Period("2020-01"))
    assert table["left"].to_pylist()[1] == {"left": 1, "right": 2}
    assert table["sparse, 7"].to_pylist() == half(7, 1)
    for to in ("polars", "numpy"):
        with pytest.raises(en.UnsupportedTypeError, match=r"column 'months': .*period\[M\]"):
            en.read(path, to=to)
        assert list(en.read(path, to=to, columns=["sparse, 7"])["sparse, 7"]) == half(7, 1)


TABLE = pa.table(
    {
        "uuid": pa.array([uuid.UUID(int=5).bytes, None, uuid.UUID(int=2**127).bytes], pa.uuid()),
        "json": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None, "[1]"])),
        "large json": pa.ExtensionArray.from_storage(
            pa.json_(pa.large_string()), pa.array(["{}", None, "[1]"], pa.large_string())
        ),
        "bool8": pa.array([True, None, False]).cast(pa.bool8()),
        "opaque": pa.ExtensionArray.from_storage(pa.opaque(pa.int32(), "a", "b"), pa.array([1, 2, None], pa.int32())),
        "interval": pa.array([(1, 2, 3), None, (-1, 2, 10**12)], pa.month_day_nano_interval()),
    }
)


class Unknown(pa.ExtensionType):
    """An extension type that nobody else knows, on any storage."""

    def __init__(self, storage):
        super().__init__(storage, "test.unknown")

    def __arrow_ext_serialize__(self):
        return b"\x00\xff"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        assert serialized == b"\x00\xff"
        return cls(storage)


@pytest.fixture
def unknown():
    pa.register_extension_type(Unknown(pa.int8()))
    yield Unknown
    pa.unregister_extension_type("test.unknown")


def test_pyarrow(path):
    for table in (TABLE, TABLE.slice(1), TABLE.slice(0, 0), pa.concat_tables([TABLE, TABLE])):
        en.write(table, path)
        back = en.read(path)
        assert back.schema.equals(table.schema, check_metadata=True)
        assert back.equals(table)
        back.validate(full=True)
        en.verify(path)
    assert en.read(path, rows=[5, 0]).equals(table.take([5, 0]))
    assert [column["type"] for column in en.info(path).columns] == [
        "uuid", "json", "json", "extension[arrow.bool8]", "extension[arrow.opaque]", "interval[months, days, ns]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "storage",
    [pa.int8(), pa.bool_(), pa.float64(), pa.string_view(), pa.binary(3), pa.null(), pa.timestamp("us", "UTC"),
     pa.decimal128(5), pa.date32(), pa.duration("s")],
    ids=str,
)  # fmt: skip
def test_any_storage(storage, unknown, path):
    kind = unknown(storage)
    table = pa.table({"x": pa.ExtensionArray.from_storage(kind, pa.nulls(3, storage)), "n": [1, 2, 3]})
    en.write(table, path)
    back = en.read(path)
    assert back.schema.equals(table.schema, check_metadata=True)
    assert back.equals(table)
    frame = pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(table["x"]))})
    if storage in (pa.timestamp("us", "UTC"), pa.decimal128(5), pa.date32(), pa.duration("s")):
        with pytest.raises(en.UnsupportedTypeError, match="column 'x': an extension type on such a storage"):
            en.write(frame, path)
        return
    en.write(frame, path)
    assert pa.chunked_array(en.read(path)["x"].array._pa_array).equals(table["x"])
    # Without the type there is the storage, and the name in the metadata.
    pa.unregister_extension_type("test.unknown")
    try:
        back = en.read(path, to="pyarrow")
        assert back.schema.field("x").metadata[b"ARROW:extension:metadata"] == b"\x00\xff"
        assert pa.types.is_null(storage) or back["x"].null_count == 3
    finally:
        pa.register_extension_type(Unknown(pa.int8()))


def test_pandas_of_arrow(path):
    en.write(TABLE, path)
    frame = en.read(path, to="pandas")
    assert [dtype.pyarrow_dtype for dtype in frame.dtypes] == [
        pa.json_(pa.large_string()) if kind == pa.json_() else kind for kind in TABLE.schema.types
    ]
    en.write(frame, path)
    back = en.read(path)
    for name in frame:
        assert pa.chunked_array(frame[name].array._pa_array).equals(pa.chunked_array(back[name].array._pa_array))
    assert en.read(path, to="pyarrow", columns=["uuid"]).schema.types == [pa.uuid()]


def test_polars(path):
    en.write(TABLE, path)
    frame = en.read(path, to="polars", columns=["uuid", "json", "bool8"])
    assert frame["uuid"].to_list()[0] == uuid.UUID(int=5).bytes
    en.write(frame, path)
    back = en.read(path)
    assert back.schema == frame.schema
    assert back.equals(frame)
    en.write(TABLE, path)
    with pytest.raises(en.UnsupportedTypeError, match=r"column 'interval': type interval.* in Polars"):
        en.read(path, to="polars")


def test_numpy(path):
    en.write(TABLE.slice(2), path)
    arrays = en.read(path, to="numpy", columns=["uuid", "json", "bool8"])
    assert arrays["uuid"].tobytes() == uuid.UUID(int=2**127).bytes
    assert arrays["json"].tolist() == ["[1]"]
    assert arrays["bool8"].tolist() == [0]
    with pytest.raises(en.UnsupportedTypeError, match="column 'interval': interval"):
        en.read(path, to="numpy")


def test_mapped(path):
    table = pa.table({"uuid": TABLE["uuid"].drop_null(), "interval": TABLE["interval"].drop_null()})
    en.write(table, path, compression=0)
    assert en.read(path, memory_map=True).equals(table)
    frame = en.read(path, memory_map=True, to="pandas")
    assert pa.chunked_array(frame["uuid"].array._pa_array).equals(table["uuid"])
    for name in ("months", "left", "sparse"):
        en.write(pd.DataFrame({name: PANDAS[name]}), path, compression=0)
        with pytest.raises(en.NotMappableError, match=f"column '{name}'"):
            en.read(path, memory_map=True)


DETAILS = [
    (0, "period", [None, 3, "", "no such frequency", {}, b"M"]),
    (10, None, [None, "x", {}, {"fill": 3, "kind": "integer"}, {"fill": {"bytes": b""}, "kind": "integer"},
                {"fill": {"bytes": bytes(8)}, "kind": "nothing"}, {"fill": {"bytes": bytes(16)}, "kind": "block"}]),
]  # fmt: skip
BOUNDS = [
    None, "x", {}, {"subtype": "int64"}, {"subtype": "O", "closed": "left"}, {"subtype": "int32", "closed": "left"},
    {"subtype": "int64", "closed": "nowhere"}, {"subtype": 3, "closed": "left"},
    {"subtype": "category", "closed": "left"}, {"subtype": "datetime64[ns, Nowhere]", "closed": "left"},
]  # fmt: skip


def hostile(path, array, **how):
    builder = Builder(len(array), ["x"])
    builder.words(array, 0, **how)
    host = {"host": "pandas", "columns": {"kind": "names", "dtype": "str", "name": None}}
    host["index"] = {"kind": "range", "start": 0, "stop": len(array), "step": 1, "name": None}
    write_builder(builder, path, host)


def test_details_that_make_no_sense(path):
    for host_variant, logical, details in DETAILS:
        for detail in details:
            of_type = {"detail": detail} if logical else {"host_detail": detail}
            hostile(path, np.arange(10), host_variant=host_variant, logical=logical, **of_type)
            with pytest.raises(en.CorruptFileError):
                en.read(path)
    bounds = np.arange(20).view("V16")
    for detail in BOUNDS:
        hostile(path, bounds, host_variant=9, logical="extension", detail=detail)
        with pytest.raises(en.CorruptFileError):
            en.read(path)
    # Bounds in no order.
    backwards = np.arange(20)[::-1].copy().view("V16")
    hostile(path, backwards, host_variant=9, logical="extension", detail={"subtype": "int64", "closed": "left"})
    with pytest.raises(en.CorruptFileError):
        en.read(path)
    # Host variants on types that they don't go with.
    for array in (
        np.arange(10),
        np.zeros(10, "V7"),
        np.zeros(10, "?"),
        np.zeros(10, "longdouble"),
        np.zeros(10, "M8[s]"),
    ):
        for host_variant in range(7, 16):
            hostile(path, array, host_variant=host_variant)
            with suppress(en.CorruptFileError, en.UnsupportedTypeError):
                en.read(path)


def test_extensions_without_a_name(path):
    for detail in (
        None,
        "x",
        {},
        {"name": 3},
        {"name": "a\0b", "metadata": b""},
        {"name": "arrow.uuid", "metadata": 3},
    ):
        hostile(path, np.zeros(10, "V16"), logical="uuid", detail=detail)
        for to in ("pyarrow", "pandas", "polars", "numpy"):
            with suppress(en.CorruptFileError, en.UnsupportedTypeError):
                assert len(en.read(path, to=to)) >= 1


def test_builder_takes_known_types_alone():
    builder = Builder(1, ["x"])
    with pytest.raises(ValueError, match="logical"):
        builder.words(np.zeros(1), 0, logical="nothing")
    assert ColumnRef(0).index == 0
