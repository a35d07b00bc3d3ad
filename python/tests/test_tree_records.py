"""Lists of dicts with equal keys: columns by key, and frames."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

N = 1_000
SCALARS = [{"i": i, "s": f"text {i}", "f": i / 2, "none": None, "mixed": [i, "x", 0.5, None][i % 4]} for i in range(N)]
NESTED = [{"i": i, "parts": [i] * (i % 3), "d": {"x": i}, "a": np.arange(i % 4)} for i in range(50)]
SHORT = [{"i": 1, "s": "a"}, {"i": 2, "s": "b"}]
ORDER = [{"i": 1, "s": "a"}, {"s": "b", "i": 2}]
KEYS = [{1: i, None: "x", ("a", 2): i} for i in range(20)]
LISTS = {"scalars": SCALARS, "nested": NESTED, "short": SHORT, "order": ORDER, "keys": KEYS, "tuple": tuple(SHORT)}


@pytest.fixture
def tree(path: Path) -> Any:
    en.write(LISTS, path)
    return en.open(path)


@pytest.mark.parametrize("name", LISTS)
def test_columns(name: str, tree: Any) -> None:
    items: Any = LISTS[name]
    for key in items[0]:
        found = tree[name].column(key)
        assert type(found) is list
        expected = [item[key] for item in items]
        assert [type(value) for value in found] == [type(value) for value in expected]
        assert str(found) == str(expected)


@pytest.mark.parametrize("rows", [slice(3, 40), slice(None, None, -7), [5, 5, 0], [], np.array([1, -1])])
def test_columns_of_parts(rows: Any, tree: Any) -> None:
    for name in ("scalars", "nested", "keys"):
        items: Any = LISTS[name]
        key = next(iter(items[0]))
        selected = range(len(items))[rows] if isinstance(rows, slice) else rows
        assert tree[name][rows].column(key) == [items[i][key] for i in selected]
    assert tree["scalars"][100:][::2].column("i") == list(range(100, N, 2))


def test_one_column_reads_no_other(path: Path) -> None:
    """The values of other keys are damaged, and are not looked at."""
    random = np.random.default_rng(0)
    rows = [{"n": int(i), "x": float(x)} for i, x in enumerate(random.random(50_000))]
    en.write(rows, path, compression=0)
    assert en.open(path).column("x") == [row["x"] for row in rows]
    content = bytearray(path.read_bytes())
    at = content.find(np.float64(rows[25_000]["x"]).tobytes())
    assert at > 0
    content[at] ^= 1
    path.write_bytes(content)
    tree = en.open(path)
    assert tree.column("n") == list(range(50_000))
    with pytest.raises(en.CorruptFileError) as error:
        tree.column("x")
    assert error.value.file == str(path)
    with pytest.raises(en.CorruptFileError):
        tree.read()
    assert tree.read(columns="n", to="pandas")["n"].tolist() == list(range(50_000))


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([{"a": 1}, {"b": 1}], en.ArgumentError, "item 1 has other keys than item 0 .it lacks 'a'."),
        ([{"a": 1}, {"a": 1}, {"a": 1, "b": 2}], en.ArgumentError, "item 2 has other keys .* also has 'b'"),
        ([{"a": 1}, 3], en.ArgumentError, "item 1 is not a dict, but 3"),
        ([{"b": 1}] * 2, en.ColumnNotFoundError, "have no key 'a'; their keys: 'b'"),
        ([{"b": i, "c": i} for i in range(50)], en.ColumnNotFoundError, "have no key 'a'; their keys: 'b', 'c'"),
        ([], en.ColumnNotFoundError, "have no key 'a'; their keys: none"),
        ([(i, i) for i in range(50)], en.ArgumentError, "value is a list of tuples"),
        ([1, 2], en.ArgumentError, "item 0 is not a dict, but 1"),
        ({"a": 1}, en.ArgumentError, "value is of type dict: only a list of dicts has a column for each key"),
        (np.zeros((2, 2)), en.ArgumentError, "value is of type array"),
        ("text", en.ArgumentError, "value is of type str"),
    ],
)
def test_values_without_columns(value: Any, error: type[Exception], message: str) -> None:
    tree = en.open(en.to_bytes(value))
    with pytest.raises(error, match=message):
        tree.column("a")  # type: ignore[attr-defined]


def test_rows_of_tuples_have_no_columns() -> None:
    tree: Any = en.open(en.to_bytes([(i, i) for i in range(50)]))
    with pytest.raises(en.ArgumentError, match="only a list of dicts"):
        tree[3].column(0)
    assert en.open(en.to_bytes([{"a": 1}, {"b": 1}]))[:1].column("a") == [1]  # type: ignore[attr-defined]
    with pytest.raises(en.ArgumentError, match="has a hash"):
        en.open(en.to_bytes([{"a": 1}])).column([1])  # type: ignore[attr-defined]


def test_pandas(tree: Any) -> None:
    for name in ("scalars", "nested", "short", "order"):
        found = tree[name].read(to="pandas")
        pd.testing.assert_frame_equal(found, pd.DataFrame(LISTS[name]))
    assert tree["keys"].read(to="pandas").columns.tolist() == [1, None, ("a", 2)]
    part = tree["scalars"][10:30].read(columns=["f", "i"], rows=[3, 0], to="pandas")
    pd.testing.assert_frame_equal(part, pd.DataFrame({"f": [6.5, 5.0], "i": [13, 10]}))


def test_other_libraries(tree: Any) -> None:
    columns = ["i", "s", "f", "none"]
    items = [{key: row[key] for key in columns} for row in SCALARS]
    scalars = tree["scalars"]
    assert scalars.read(columns=columns, to="polars").equals(pl.DataFrame(items))
    assert scalars.read(columns=columns, to="pyarrow").equals(pa.Table.from_pylist(items))
    arrays = scalars.read(to="numpy")
    assert [arrays[key].dtype.kind for key in arrays] == ["i", "O", "f", "O", "O"]
    assert arrays["mixed"].tolist() == [row["mixed"] for row in SCALARS]
    frame = scalars.read(to="static_frame")
    assert frame.equals(sf.Frame.from_dict_records(SCALARS), compare_dtype=True)
    assert tree["nested"].read(columns="parts", to="polars")["parts"].to_list() == [row["parts"] for row in NESTED]


ODD: list[list[Any]] = [
    [True, 1],
    [1, True],
    [1, "a"],
    [1, 0.5],
    [2**53 + 1, 0.5],
    [0.5, 2**53 + 1],
    [2**53 + 1, None],
    [1.5, None, 2**53 + 1],
    [2**63 + 1, -1],
    [2**70, None],
    [np.uint64(2**63), np.int64(-1)],
    [np.float32(0.1), 0.1],
    [datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3)],
    [decimal.Decimal("1.1"), decimal.Decimal("1.125")],
    ["a", b"a"],
    ["a", None],
    [(1, 2), (3, 4)],
    [[1], None],
    [float("inf"), -0.0],
]


def same(value: Any, expected: Any) -> bool:
    """Whether a value is the expected one, in a type that the library has for it."""
    if expected is None:
        return value is None or value != value
    if isinstance(expected, (list, tuple)):
        return list(value) == list(expected)
    if isinstance(expected, bool) or isinstance(value, (bool, np.bool_)):
        return isinstance(value, (bool, np.bool_)) and value == expected
    if isinstance(expected, float):
        return float(value) == expected
    # A float that equals a rounded integer is none.
    return bool(value == expected) and (not isinstance(expected, int) or int(value) == expected)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
@pytest.mark.parametrize("values", ODD, ids=str)
def test_no_value_changes(values: list[Any], library: Any) -> None:
    tree: Any = en.open(en.to_bytes([{"a": value, "n": i} for i, value in enumerate(values)]))
    try:
        frame = tree.read(to=library)
    except en.UnsupportedTypeError as error:
        assert library in ("polars", "pyarrow"), error  # noqa: PT017
        assert "the key 'a'" in str(error)  # noqa: PT017
        return
    column = frame["a"]
    convert = {"pyarrow": "to_pylist", "polars": "to_list"}.get(library, "tolist")
    found = getattr(column.values if library == "static_frame" else column, convert)()
    assert all(same(value, expected) for value, expected in zip(found, values, strict=True)), found


def test_root_of_a_file(path: Path) -> None:
    en.write(SHORT, path)
    pd.testing.assert_frame_equal(en.read(path, to="pandas"), pd.DataFrame(SHORT))
    assert en.read(path, columns=["s"], rows=(1, 2), to="polars").rows() == [("b",)]
    assert en.read(path) == SHORT
    with pytest.raises(en.ArgumentError, match="holds a tree"):
        en.read(path, columns=["s"])
    with pytest.raises(en.ArgumentError, match="filter"):
        en.read(path, to="pandas", filter=en.col("i") > 1)
    with pytest.raises(en.ArgumentError, match="'excel' is not known"):
        en.read(path, to="excel")  # type: ignore[call-overload]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "numpy", "static_frame"])
def test_empty_lists(library: Any) -> None:
    found = en.read(en.to_bytes([]), to=library)
    assert len(found) == 0
    none = en.open(en.to_bytes(SCALARS))[:0].read(to=library)
    assert list(none if library == "numpy" else getattr(none, "column_names", none.columns)) == list(SCALARS[0])


def test_errors_of_frames(tree: Any) -> None:
    with pytest.raises(en.ArgumentError, match="value is a dict: to= is for frames and for lists of dicts"):
        tree.read(to="pandas")
    with pytest.raises(en.ArgumentError, match=r"columns of polars have names .str., and the key 1 is none"):
        tree["keys"].read(to="polars")
    with pytest.raises(en.ColumnNotFoundError, match="no key 'z'"):
        tree["scalars"].read(columns=["i", "z"], to="pandas")
    with pytest.raises(en.ArgumentError, match="by a key or a list of keys"):
        tree["scalars"].read(columns=slice(1), to="pandas")
    with pytest.raises(en.RowsOutOfRangeError):
        tree["scalars"].read(rows=[N], to="pandas")
    with pytest.raises(en.UnsupportedTypeError, match=r"'mixed' have several types .float, int, str."):
        tree["scalars"].read(to="polars")


def test_types(path: Path) -> None:
    """Classes that `types` names are used in frames too."""
    point = dataclasses.make_dataclass("Point", [("x", float)])
    point.__module__ = __name__
    en.write([{"p": point(1.0)}, {"p": point(2.0)}], path)
    found = en.open(path).read(to="pandas", types=[point])  # type: ignore[call-arg]
    assert found["p"].tolist() == [point(1.0), point(2.0)]
