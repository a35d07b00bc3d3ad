"""Fields of structs as columns."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

A, B, U = en.field("s", "a"), en.field("s", "b"), en.field("s", "t", "u")


def rows(n: int) -> list[Any]:
    """Structs. Some are missing, and so are some inner ones and some fields."""
    found: list[Any] = []
    for i in range(n):
        inner = None if i % 5 == 2 else {"u": i / 2, "list": [i] * (i % 3)}
        outer = {"a": None if i % 7 == 3 else i, "b": f"text {i % 10}", "t": inner, "e": "xyz"[i % 3]}
        found.append(None if i % 11 == 4 else outer)
    return found


def at(value: Any, *names: str) -> Any:
    for name in names:
        value = None if value is None else value[name]
    return value


VALUES = rows(1_000)
STRUCTS = pa.array(
    VALUES,
    pa.struct(
        [
            ("a", pa.int32()),
            ("b", pa.string()),
            ("t", pa.struct([("u", pa.float64()), ("list", pa.list_(pa.int64()))])),
            ("e", pa.dictionary(pa.int32(), pa.string())),
        ]
    ),
)
TABLE = pa.table({"x": range(1_000), "s": STRUCTS, "b": ["outer"] * 1_000})
NAMES = [("a",), ("b",), ("t",), ("t", "u"), ("t", "list"), ("e",)]


@pytest.fixture
def file(path: Path) -> en.File:
    en.write(TABLE, path)
    return en.open(path)


@pytest.mark.parametrize("names", NAMES, ids=".".join)
@pytest.mark.parametrize("selected", [None, slice(100, 300), slice(None, None, -3), [5, 4, 4, 999], [], slice(0, 1)])
def test_fields(names: tuple[str, ...], selected: Any, file: en.File) -> None:
    expected = [at(value, *names) for value in VALUES]
    if isinstance(selected, slice):
        expected = expected[selected]
    elif selected is not None:
        expected = [expected[i] for i in selected]
    field = en.field("s", *names)
    found = file.read(columns=[field], rows=selected)
    assert found.column_names == [names[-1]]
    assert found[names[-1]].to_pylist() == expected
    assert pa.types.is_dictionary(found.schema[0].type) == (names == ("e",))
    frame = file.read(columns=field, rows=selected, to="polars")
    assert frame[names[-1]].to_list() == expected
    series = file.read(columns=["x", field], rows=selected, to="pandas")[names[-1]]
    assert pa.chunked_array(pa.array(series)).to_pylist() == expected


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas", "numpy"])
def test_order_and_names(library: Any, file: en.File) -> None:
    # NumPy has no missing structs.
    found = file.read(columns=[U, "x", B] if library == "numpy" else [U, "x", B, "s"], to=library)
    names = {"pyarrow": "column_names", "numpy": "keys"}.get(library, "columns")
    labels = getattr(found, names)
    assert list(labels() if library == "numpy" else labels) == ["u", "x", "b", "s"][: 3 + (library != "numpy")]
    first = np.asarray(found["x"])
    np.testing.assert_array_equal(first, np.arange(1_000))


def test_only_the_field_is_read(path: Path) -> None:
    """The values of another field are damaged, and are not looked at."""
    random = np.random.default_rng(0).random((2, 100_000))
    en.write(pa.table({"s": pa.StructArray.from_arrays(list(random), ["a", "b"])}), path, compression=0)
    content = bytearray(path.read_bytes())
    at = content.find(random[1][50_000].tobytes())
    assert at > 0
    content[at] ^= 1
    path.write_bytes(content)
    np.testing.assert_array_equal(en.read(path, columns=A)["a"], random[0])
    for columns in (B, "s"):
        with pytest.raises(en.CorruptFileError):
            en.read(path, columns=columns)


def test_views(file: en.File) -> None:
    view = file.select("x", U, A)[100:200]
    expected = [at(value, "t", "u") for value in VALUES[100:200]]
    assert view.column_names == ["x", "u", "a"]
    assert view.shape == (100, 3)
    assert [kind for _, kind in view.schema.pairs] == ["i64", "f64", "i32"]
    assert view.dtypes == [pa.int64(), pa.float64(), pa.int32()]
    for part in (
        view,
        view.select("u"),
        view.select(U),
        view.iloc[:, 1],
        view.loc[:, "u"],
        file[100:200, U],
        file.select("s").select(U)[100:200],
        pickle.loads(pickle.dumps(view)),
        file.scan(U, rows=(100, 200)),
    ):
        assert part.to_pyarrow()["u"].to_pylist() == expected
    assert view.head(3).column_names == ["x", "u", "a"]
    assert "u" in repr(view)
    batches = list(view.batches(30))
    assert [value for batch in batches for value in batch["u"].to_pylist()] == expected
    assert file.select(*["x"] * 3, *["s"] * 20, U).column_names[-1] == "u"


@pytest.mark.parametrize("condition", [en.col("x") < 900, U > 100, ~A.is_missing()])
@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
def test_filters(library: Any, condition: Any, file: en.File) -> None:
    kept = file.read(filter=condition, to="pyarrow")
    found = file.read(columns=["x", U], filter=condition, to=library)
    assert list(found["x"] if library != "pyarrow" else found["x"].to_pylist()) == kept["x"].to_pylist()
    values = [at(value, "t", "u") for value in kept["s"].to_pylist()]
    assert len(values) > 0
    frame = found if library == "pyarrow" else pa.table(found) if library == "polars" else pa.Table.from_pandas(found)
    assert frame["u"].to_pylist() == values
    scan = file.filter(condition).select("x", U)
    assert scan.read()["u"].to_pylist() == values
    assert scan.head(3)["u"].to_pylist() == values[:3]
    assert file.scan(U, condition, limit=5).read()["u"].to_pylist() == values[:5]


def test_pandas_with_an_index(path: Path) -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=pd.Index(["p", "q", "r"], name="k"))
    structs = [{"a": 1, "b": "u"}, None, {"a": 3, "b": None}]
    frame["s"] = pd.array(structs, dtype=pd.ArrowDtype(pa.struct([("a", pa.int64()), ("b", pa.string())])))
    en.write(frame, path)
    expected = frame["s"].struct.field("a")
    found = en.read(path, columns=[A, "x"])
    pd.testing.assert_frame_equal(found, pd.DataFrame({"a": expected, "x": frame["x"]}))
    pd.testing.assert_frame_equal(en.read(path, columns=A), pd.DataFrame({"a": expected}))
    pd.testing.assert_frame_equal(en.read(path, columns=B), pd.DataFrame({"b": frame["s"].struct.field("b")}))
    pd.testing.assert_frame_equal(
        en.read(path, columns=["x", "k", A, B], rows=[2, 1])[["a"]], found[["a"]].iloc[[2, 1]]
    )
    assert en.read(path, columns=A, index=False).index.tolist() == [0, 1, 2]
    assert en.read(path, columns=["x", A, "k"], to="polars").columns == ["x", "a", "k"]
    f = en.open(path)
    assert f.select("x", A, "k").columns.tolist() == ["x", "a"]
    assert f.select("x", A).loc["q":, "a"].read()["a"].tolist() == expected.tolist()[1:]
    assert f.select("x", A, "k").column_names == ["x", "a", "k"]


def test_numpy(path: Path) -> None:
    present = pa.table({"x": [1, 2], "s": [{"a": 1, "b": "u"}, {"a": 2, "b": "v"}]})
    en.write(present, path)
    found = en.read(path, columns=[A, B, "x"], to="numpy")
    assert {name: array.tolist() for name, array in found.items()} == {"a": [1, 2], "b": ["u", "v"], "x": [1, 2]}
    assert np.asarray(en.open(path).select(A, "x")).tolist() == [[1, 1], [2, 2]]
    en.write(TABLE, path)
    with pytest.raises(en.UnsupportedTypeError, match="column 'a': int32 with missing values"):
        en.read(path, columns=A, to="numpy")
    floats = en.read(path, columns=U, to="numpy")["u"]
    np.testing.assert_array_equal(floats, [np.nan if (u := at(v, "t", "u")) is None else u for v in VALUES])
    np.testing.assert_array_equal(np.asarray(en.open(path).select(U)), floats)


@pytest.mark.parametrize("compression", [0, 50])
def test_mapped_files(compression: int, path: Path) -> None:
    en.write(TABLE, path, compression=compression)
    found = en.read(path, columns=["x", U], memory_map="auto", rows=(10, 500))
    assert found["u"].to_pylist() == [at(value, "t", "u") for value in VALUES[10:500]]


POLARS = {
    "int": pl.Series([1, None, 3, 4], dtype=pl.Int8),
    "enum": pl.Series(["x", "y", None, "x"], dtype=pl.Enum(["y", "x", "z"])),
    "categorical": pl.Series(["x", "y", None, "x"], dtype=pl.Categorical),
    "enums": pl.Series([["x"], [], None, ["y", "x"]], dtype=pl.List(pl.Enum(["y", "x"]))),
    "int128": pl.Series([1, None, 2**100, 4], dtype=pl.Int128),
    "array": pl.Series([[1, 2]] * 4, dtype=pl.Array(pl.Int8, 2)),
    "duration": pl.Series([1, None, 3, 4], dtype=pl.Duration("ms")),
    "text": pl.Series(["a", None, "a longer text than views hold", ""]),
}


@pytest.mark.parametrize("name", POLARS)
def test_types_of_polars(name: str, path: Path) -> None:
    inner = pl.struct(pl.lit(POLARS[name]).alias(name))
    kept = pl.int_range(4) != 3
    frame = pl.select(pl.when(kept).then(pl.struct(inner.alias("t"), pl.lit(1).alias("one"))).alias("s"))
    en.write(frame, path)
    found = en.read(path, columns=en.field("s", "t", name))
    expected = frame.select(pl.col("s").struct.field("t").struct.field(name))
    assert found.dtypes == expected.dtypes
    assert found.equals(expected)
    assert found.to_series().null_count() >= 1


ARROW = {
    "string": pa.array(["x", "y", None]),
    "large": pa.array(["x", "y", None], pa.large_string()),
    "view": pa.array(["x", "y", None], pa.string_view()),
    "binary view": pa.array([b"x", b"y", None], pa.binary_view()),
    "zone": pa.array([1, 2, None], pa.timestamp("us", "Europe/Oslo")),
    "decimal": pa.array([1, 2, None], pa.decimal128(5, 2)),
    "dictionary": pa.array(["x", "y", None]).dictionary_encode(),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16, b"1" * 16, None], pa.binary(16))),
    "map": pa.array([[("k", 1)], [], None], pa.map_(pa.string(), pa.int8())),
    "fixed": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int8(), 2)),
    "null": pa.nulls(3),
}


@pytest.mark.parametrize("name", ARROW)
def test_types_of_pyarrow(name: str, path: Path) -> None:
    structs = pa.StructArray.from_arrays([ARROW[name]], ["a"], mask=pa.array([False, True, False]))
    en.write(pa.table({"s": structs}), path)
    found = en.read(path, columns=A)
    assert found["a"].type == ARROW[name].type
    first, _, last = ARROW[name].to_pylist()
    assert found["a"].to_pylist() == [first, None, last]


def test_runs_in_missing_structs_are_refused(path: Path) -> None:
    runs = pa.RunEndEncodedArray.from_arrays([1, 2], [5, 6])
    for mask in ([False, False], [False, True]):
        structs = pa.StructArray.from_arrays([runs], ["a"], mask=pa.array(mask))
        en.write(pa.table({"s": structs}), path)
        if any(mask):
            with pytest.raises(en.UnsupportedTypeError, match=r"'a' of type run_end.* select the struct"):
                en.read(path, columns=A)
        else:
            assert en.read(path, columns=A)["a"].to_pylist() == [5, 6]


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([en.field("s", "z")], en.ArgumentError, "no field .*z.*its fields are"),
        ([en.field("x", "a")], en.ArgumentError, "only structs have fields"),
        ([en.field("q", "a")], en.ColumnNotFoundError, "no column 'q'"),
        ([en.field("s", "t", "z")], en.ArgumentError, "no field"),
        ([en.field("s", "t", "list", "z")], en.ArgumentError, "only structs have fields"),
        ([B, "b"], en.DuplicateColumnError, "two columns would have the name 'b'"),
        ([A, A], en.DuplicateColumnError, "two columns would have the name 'a'"),
    ],
)
def test_errors(columns: Any, error: type[Exception], message: str, file: en.File) -> None:
    with pytest.raises(error, match=message):
        file.read(columns=columns)


def test_a_name_of_two_fields(path: Path) -> None:
    """Neither of them is selected silently, in columns and in conditions."""
    structs = pa.StructArray.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "b"])
    en.write(pa.table({"s": structs}), path)
    for options in ({"columns": A}, {"filter": A == 1}):
        with pytest.raises(en.ArgumentError, match=r"several fields of the column have the name .*a"):
            en.read(path, **options)
    assert en.read(path, columns=B)["b"].to_pylist() == [3]


def test_more_errors(file: en.File) -> None:
    with pytest.raises(en.ColumnNotFoundError, match="the view has no column 's'"):
        file.select("x").read(columns=A)
    with pytest.raises(en.ArgumentError, match="field takes the label"):
        en.field("s")
    with pytest.raises(en.ArgumentError, match="the name of a field"):
        en.field("s", 1)  # type: ignore[arg-type]
    with pytest.raises(en.ArgumentError, match="StaticFrame has no structs"):
        file.read(columns=A, to="static_frame")
    with pytest.raises(en.ArgumentError, match="on_unsupported='skip'"):
        file.read(columns=A, on_unsupported="skip")
    for use in (lambda view: view.lazy(), lambda view: view.to_dataset(), pa.table, lambda view: view.scan().lazy()):
        with pytest.raises(en.ArgumentError, match="engines and streams take whole columns"):
            use(file.select("x", A))
    with pytest.raises(en.ArgumentError, match="search takes the label"):
        file.search(A, 3)


def test_damaged_blocks_are_missing(path: Path) -> None:
    random = np.random.default_rng(0).random((2, 100_000))
    en.write(pa.table({"s": pa.StructArray.from_arrays(list(random), ["a", "b"])}), path, compression=0)
    content = bytearray(path.read_bytes())
    content[content.find(random[0][99_000].tobytes())] ^= 1
    with pytest.warns(en.DamageWarning):
        found = en.read(content, columns=[A, B], on_damage="missing")
    assert found["a"].null_count > 0
    assert found["b"].null_count == 0
    assert found["a"][:1_000].to_pylist() == random[0][:1_000].tolist()


def test_fields_are_columns_and_conditions() -> None:
    assert repr(A) == "col('s').field('a')"
    assert repr(U > 3) == "col('s').field('t').field('u') > 3"
    content = en.to_bytes(TABLE)
    assert en.read(content, columns=[en.col("x")], filter=A == 5)["x"].to_pylist() == [5]
