"""Messages of exceptions: short and printable whatever they quote, and they say what to do."""

from __future__ import annotations

import copy
import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import entasis as en

LONG = "n\n\x1b[31m" * 2_000
# The most characters of user data, or of its escapes, in one message.
MOST = 420


class Frame(pd.DataFrame):
    pass


class Huge:
    def __repr__(self):
        return LONG


def _check(error):
    message = str(error)
    assert len(message) <= MOST, len(message)
    assert message.isprintable(), message
    assert str(pickle.loads(pickle.dumps(error))) == message
    assert str(copy.copy(error)) == message


def _wrong(path):
    def read(**options):
        return lambda: en.read(path, **options)

    f = en.open(path)
    return {
        "column": read(columns=[LONG]),
        "columns": read(columns=[LONG, LONG + "x"]),
        "label": lambda: f.select(Huge()),
        "rows": read(rows=Huge()),
        "row text": read(rows=LONG),
        "to": read(to=LONG),
        "threads": read(threads=LONG),
        "on_unsupported": read(on_unsupported=LONG),
        "path": lambda: en.read(str(path) + LONG[:200]),
        "long path": lambda: en.read(LONG),
        "address": lambda: en.read("s3://" + LONG),
        "level": lambda: en.write({"a": np.arange(2)}, path, compression={LONG: 5}),
        "compression": lambda: en.write(1, path, compression=Huge()),
        "key": lambda: en.write({LONG: object()}, path),
        "name of a column": lambda: en.write({"a" * 70_000: np.arange(2)}, path),
        "dtype": lambda: en.write({LONG: np.zeros(2, [("o", "O")])}, path),
        "polars": lambda: en.write(pl.DataFrame({LONG + "\0": [1]}), path),
        "npz": lambda: en.read_npz(LONG),
        "field": lambda: en.Record("dataclass", "C", {LONG: 1}).x,
        "types": lambda: en.open(path, types=[Huge()]),
    }


@pytest.mark.parametrize(
    "name",
    [
        "column",
        "columns",
        "label",
        "rows",
        "row text",
        "to",
        "threads",
        "on_unsupported",
        "path",
        "long path",
        "address",
        "level",
        "compression",
        "key",
        "name of a column",
        "dtype",
        "polars",
        "npz",
        "types",
        "field",
    ],
)
def test_messages_are_short_and_printable(name, path):
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    call = _wrong(path)[name]
    with pytest.raises((en.EntasisError, TypeError, AttributeError)) as caught:
        call()
    _check(caught.value)


def test_attributes_stay_whole(path):
    name = "a" * 70_000
    with pytest.raises(
        en.UnsupportedTypeError, match=r'70000 bytes, more than the limit of 65536 .*column "aaa.*shorten'
    ) as caught:
        en.write({name: np.arange(2)}, path)
    assert caught.value.column == name
    long = str(path.parent / ("p\n" * 100))
    with pytest.raises(en.MissingFileError) as missing:
        en.read(long)
    assert missing.value.file == missing.value.filename == long
    assert missing.value.errno == 2


def test_texts_are_not_changed_without_need():
    text = "there is no column 'case'; close to it: 'cases' caf\xe9"
    assert str(en.ArgumentError(text)) == text
    assert en.ArgumentError().args == ("",)


def test_subclasses_of_frames(path):
    with pytest.raises(en.UnsupportedTypeError, match=r"Frame can't be kept; pass pd.DataFrame\(x\)"):
        en.write(Frame({"a": [1]}), path)


def test_duplicate_labels_are_asked_for(path):
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).set_flags(allows_duplicate_labels=False)
    en.write(frame, path)
    with pytest.raises(en.ArgumentError, match="forbids duplicate labels: ask for each row"):
        en.read(path, rows=[0, 0])
    assert en.read(path, rows=[1, 0]).index.tolist() == ["y", "x"]


@pytest.mark.parametrize(("value", "holder"), [([1, 2, 3], "list"), ((1, 2, 3), "tuple"), (np.arange(3), "array")])
def test_holders_have_their_names(value, holder, path):
    en.write(value, path)
    with pytest.raises(en.RowsOutOfRangeError, match=f"the {holder} has 3 rows"):
        en.read(path, rows=[5])


def refused(value, path, **options):
    with pytest.raises(en.UnsupportedTypeError) as caught:
        en.write(value, path, **options)
    return str(caught.value)


def test_arrays_of_other_classes_are_named(path):
    """The class is refused, and not the dtype, which pandas' own class has too."""
    pa = pytest.importorskip("pyarrow")

    class Mine(pd.arrays.ArrowExtensionArray):
        pass

    series = pd.Series(Mine(pa.chunked_array([[1, 2]])))
    text = refused(pd.DataFrame({"a": series}), path)
    assert text.startswith("column 'a': arrays of ")
    assert "Mine (int64[pyarrow])" in text
    assert text.endswith("make an array of ArrowExtensionArray of it")


def test_refused_zones_name_the_column_of_categories_and_the_level(path):
    zone = datetime.timezone(datetime.timedelta(hours=9, minutes=18, seconds=59))
    times = pd.to_datetime(["2024-01-01"]).tz_localize(zone)
    assert refused(pd.DataFrame({"i": pd.Categorical(times)}), path).startswith("column 'i': the time zone")
    assert refused({"x": pd.DataFrame({"i": pd.Categorical(times)})}, path).startswith("value['x']: column 'i': ")
    assert refused(pd.DataFrame({"a": [1]}, index=times), path).startswith("the index: the time zone")
    levels = pd.MultiIndex.from_arrays([[1], times])
    assert refused(pd.DataFrame({"a": [1]}, index=levels), path).startswith("the index, level 1: the time zone")


def test_names_that_differ_in_case_are_close(path):
    en.write(pd.DataFrame({"c0": [1], "Größe": [2]}), path)
    f = en.open(path)
    for look in (lambda: f["C0"], lambda: f[["C0"]], lambda: f.loc[:, "C0"], lambda: en.read(path, columns="C0")):
        with pytest.raises(en.ColumnNotFoundError, match="close to it: 'c0'"):
            look()
    with pytest.raises(en.ColumnNotFoundError, match="close to it: 'Größe'"):
        f["GRÖSSE"]
    en.write({"Name": 1, "x": [1, 2]}, path)
    with pytest.raises(en.ColumnNotFoundError, match="has no key 'name'; close to it: 'Name'"):
        en.open(path)["name"]
    with pytest.raises(en.ColumnNotFoundError, match="a dict has no rows"):
        en.open(path)[0:5]


def test_the_first_level_of_labels_names_the_way(path):
    columns = pd.MultiIndex.from_tuples([("px", "a"), ("px", "b"), ("vol", "a")])
    en.write(pd.DataFrame([[1, 2, 3]], columns=columns), path)
    f = en.open(path)
    for look in (lambda: en.read(path, columns=["px"]), lambda: f["px"], lambda: f.select("px")):
        with pytest.raises(en.DuplicateColumnError, match=r"f.loc\[:, 'px'\] selects all of them"):
            look()
    assert f.loc[:, "px"].shape == (1, 2)
    assert f.select(("px", "b")).read().iloc[0, 0] == 2


class Price:
    def __init__(self, parts):
        self.parts = parts


class Discount(Price):
    pass


def test_registered_classes_show_the_way_to_their_parts(path):
    en.register(Price, encode=lambda price: {"parts": price.parts}, decode=lambda value: Price(value["parts"]))
    en.write({"p": Price([1, 2])}, path)
    tree = en.open(path)
    with pytest.raises(en.ColumnNotFoundError, match=r"\['value'\]\['parts'\]"):
        tree["p"]["parts"]
    assert tree["p"]["value"]["parts"].read() == [1, 2]
    assert "register takes Price alone: register Discount too" in refused({"p": Discount([1])}, path)


def test_objects_of_other_libraries_are_read_whole(path):
    sparse = pytest.importorskip("scipy.sparse")
    en.write({"m": sparse.csr_array(np.eye(3))}, path)
    part = en.open(path)["m"]
    for look in (lambda: part[0:2], lambda: part["data"], lambda: part.keys()):
        with pytest.raises(en.ArgumentError, match=r"a scipy.sparse object, which has no keys: read\(\)"):
            look()
    assert (part.read() != sparse.csr_array(np.eye(3))).nnz == 0


def test_hashes_of_other_values_show_the_way():
    for value in (pd.DataFrame({"a": [1]}), {"a": 1}):
        with pytest.raises(en.UnsupportedTypeError, match=r"entasis.to_bytes\(value\)"):
            en.hash(value)
        assert en.hash(en.to_bytes(value)) == en.hash(en.to_bytes(value))
    with pytest.raises(en.UnsupportedTypeError, match="encode it first"):
        en.hash("text")


def test_a_geo_data_frame_goes_through_arrow(path):
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    frame = geopandas.GeoDataFrame({"a": [1]}, geometry=[shapely.Point(1, 2)], crs=4326)
    assert "gdf.to_arrow()" in refused(frame, path)
    assert "gdf.to_arrow()" in refused(pd.DataFrame(frame), path)
    en.write(frame.to_arrow(), path)


def test_text_that_is_not_utf8_names_its_column(path):
    """Also where a dictionary or a block of several columns holds it."""
    pa = pytest.importorskip("pyarrow")
    offsets = pa.py_buffer(np.array([0, 2, 4], "int32").tobytes())
    bad = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ok\xff\xfe")])
    good, codes = pa.array(["a", "b"]), pa.array([0, 1], pa.int8())
    words = pa.DictionaryArray.from_arrays(codes, bad)
    for name, columns in {
        "city": {"x": [1, 2], "other": good.dictionary_encode(), "city": words},
        "b": {"a": good, "b": bad, "c": good},
        "d": {"d": bad},
        "s.inside": {"s": pa.StructArray.from_arrays([words], names=["inside"])},
        "l.item": {"l": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), bad)},
    }.items():
        with pytest.raises(en.ArgumentError, match=f'not UTF-8.*column "{name}"'):
            en.write(pa.table(columns), path)
    assert not path.exists()


def test_several_paths_are_read_one_by_one(path):
    for read in (en.read, en.open, en.scan_polars, en.verify):
        with pytest.raises(en.ArgumentError, match="not list: read several files one by one"):
            read([path, path])
