"""Missing cells of rows to append: missing in the file, or an error; never another value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf

import entasis as en


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "rows.entasis")


@pytest.mark.core
@pytest.mark.parametrize("n", [1, 9_000])
@pytest.mark.parametrize("dtype", ["bool", "Sparse[bool]", "int64", "uint8", "Sparse[int64]", "interval[int64]"])
def test_dtypes_of_pandas_without_missing_values(path: str, dtype: str, n: int) -> None:
    values = pd.interval_range(0, n) if dtype.startswith("interval") else [True] * n
    en.write(pd.DataFrame({"a": range(n), "x": pd.array(values, dtype=dtype)}), path)
    before = Path(path).read_bytes()
    with pytest.raises(en.ArgumentError, match=r"column 'x' is .*, which has no missing value: pass the column"):
        en.append(pd.DataFrame({"a": [3]}), path, fill=True)
    with pytest.raises(en.ArgumentError, match=r"column 'x' is .*, which has no missing value"):
        en.append(pd.DataFrame({"a": [3, 4], "x": [np.nan, np.nan]}), path)
    with pytest.raises(en.ArgumentError, match="column 'x' is "):
        en.append(pd.DataFrame({"a": [3, 4], "x": [None, True]}), path)
    assert Path(path).read_bytes() == before
    with pytest.raises(en.ArgumentError, match="column 'x'"), en.writer(path, append=True) as writer:
        writer.write(pd.DataFrame({"a": [3], "x": [None]}))
    assert Path(path).read_bytes() == before
    # No rows have no missing value.
    en.append(pd.DataFrame({"a": np.array([], "i8")}), path, fill=True)
    assert len(en.read(path)) == n


DTYPES = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "object",
    "str",
    "string",
    "boolean",
    "Int8",
    "UInt64",
    "Float32",
    "category",
    "M8[s]",
    "M8[ns]",
    "m8[us]",
    "datetime64[ns, UTC]",
    "period[M]",
    "interval[float64]",
    "Sparse[float64]",
    "Sparse[str]",
    "Sparse[M8[ns]]",
    "bool[pyarrow]",
    "int64[pyarrow]",
    "string[pyarrow]",
    "timestamp[us][pyarrow]",
]


@pytest.mark.core
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_of_pandas_with_missing_values(path: str, dtype: str) -> None:
    try:
        column = pd.Series(pd.array([None, None], dtype=dtype))
        old = pd.DataFrame({"a": [1, 2], "x": column})
        en.write(old, path)
    except (en.UnsupportedTypeError, ValueError, TypeError) as error:
        pytest.skip(str(error))
    en.append(pd.DataFrame({"a": [3]}), path, fill=True)
    en.append(pd.DataFrame({"a": [4], "x": [None]}), path)
    found = en.read(path)["x"]
    assert found.dtype == column.dtype
    assert found.isna().all()
    assert len(found) == 4


@pytest.mark.core
def test_objects_keep_the_kind_of_missing_cells(path: str) -> None:
    cells = pd.Series(["a", np.nan, None], dtype=object)
    batches = [
        pd.DataFrame({"i": [2], "o": [np.nan]}),
        pd.DataFrame({"i": [3], "o": pd.Series([pd.NaT])}),
        pd.DataFrame({"i": [4], "o": pd.Series([pd.NA], dtype="Int64")}),
        pd.DataFrame({"i": [5], "o": pd.Series([None], dtype=object)}),
        pd.DataFrame({"i": [6]}),
    ]
    old = pd.DataFrame({"i": range(3), "o": cells})
    wanted = pd.concat([old, *batches])["o"].tolist()
    en.write(old, path)
    for batch in batches:
        en.append(batch, path, fill=True)
    found = en.read(path)["o"].tolist()
    assert [type(cell) for cell in found] == [type(cell) for cell in wanted]
    assert found[0] == "a"
    assert pd.isna(found[1:]).all()


@pytest.mark.core
def test_fill_of_polars_and_pyarrow(path: str) -> None:
    kinds: list[Any] = [
        pl.Boolean,
        pl.Int8,
        pl.UInt64,
        pl.Float32,
        pl.String,
        pl.Binary,
        pl.Date,
        pl.Time,
        pl.Datetime("us", "UTC"),
        pl.Duration("ms"),
        pl.Decimal(10, 2),
        pl.Categorical,
        pl.Enum(["a"]),
        pl.Null,
        pl.List(pl.Int8),
        pl.Array(pl.Int8, 2),
        pl.Struct({"a": pl.Int8}),
        pl.Object,
    ]
    for kind in kinds:
        en.write(pl.DataFrame({"a": [1], "x": pl.Series([None], dtype=kind)}), path)
        en.append(pl.DataFrame({"a": [2, 3]}), path, fill=True)
        found = en.read(path)["x"]
        assert (found.dtype, found.null_count()) == (kind, 3)
    types = [
        pa.bool_(),
        pa.int8(),
        pa.float16(),
        pa.large_string(),
        pa.binary(3),
        pa.date32(),
        pa.time64("us"),
        pa.timestamp("ns", "UTC"),
        pa.decimal128(10, 2),
        pa.null(),
        pa.list_(pa.int8()),
        pa.list_(pa.int8(), 2),
        pa.map_(pa.string(), pa.int8()),
        pa.struct([("a", pa.int8())]),
        pa.dictionary(pa.int8(), pa.string()),
        pa.run_end_encoded(pa.int32(), pa.int64()),
        pa.uuid(),
    ]
    for kind in types:
        en.write(pa.table({"a": [1], "x": pa.nulls(1, kind)}), path)
        en.append(pa.table({"a": [2, 3]}), path, fill=True)
        found = en.read(path)["x"]
        assert (found.type, found.to_pylist()) == (kind, [None] * 3)


@pytest.mark.core
def test_fill_of_numpy_and_static_frame(path: str) -> None:
    arrays = {
        "float": np.array([1.5]),
        "complex": np.array([1j]),
        "time": np.array(["2024"], "M8[us]"),
        "span": np.array([3], "m8[s]"),
    }
    wanted = {"float": "nan", "complex": "(nan+0j)", "time": "NaT", "span": "NaT"}
    en.write({"a": np.array([1]), **arrays}, path)
    en.append({"a": np.array([2])}, path, fill=True)
    found = en.read(path)
    assert {name: str(found[name][1]) for name in wanted} == wanted
    assert {name: array.dtype for name, array in found.items()} == {"a": "i8"} | {n: a.dtype for n, a in arrays.items()}
    en.write(sf.Frame.from_items([("a", np.array([1])), *arrays.items(), ("o", np.array(["x"], object))]), path)
    en.append(sf.Frame.from_items([("a", np.array([2]))]), path, fill=True)
    frame = en.read(path)
    assert {name: str(frame[name].values[1]) for name in wanted} == wanted
    assert frame["o"].values.tolist() == ["x", None]
    for array in (np.array([True]), np.array([1]), np.array(["x"])):
        for value in ({"a": np.array([1]), "x": array}, sf.Frame.from_items([("a", np.array([1])), ("x", array)])):
            en.write(value, path)
            rows = {"a": np.array([2])} if isinstance(value, dict) else value[["a"]]
            with pytest.raises(en.ArgumentError, match=r"column 'x' is .*, which has no missing value"):
                en.append(rows, path, fill=True)


REQUIRED = [
    pa.field("x", pa.int64(), nullable=False),
    pa.field("x", pa.struct([pa.field("y", pa.int64(), nullable=False)])),
    pa.field("x", pa.list_(pa.field("item", pa.int64(), nullable=False))),
    pa.field("x", pa.list_(pa.field("item", pa.int64(), nullable=False), 1)),
    pa.field("x", pa.map_(pa.string(), pa.field("value", pa.int64(), nullable=False))),
    pa.field("x", pa.list_(pa.struct([pa.field("y", pa.int64(), nullable=False)]))),
]


def cell(kind: Any, value: int | None) -> Any:
    """A cell of a type with an integer in it."""
    if pa.types.is_struct(kind):
        return {"y": value}
    if pa.types.is_map(kind):
        return [("k", value)]
    return value if kind == pa.int64() else [cell(kind.value_type, value)]


@pytest.mark.core
@pytest.mark.parametrize("field", REQUIRED)
def test_nulls_of_fields_that_have_none(path: str, field: Any) -> None:
    schema = pa.schema([("a", pa.int64()), field])

    def table(numbers: list[Any], cells: list[Any]) -> pa.Table:
        arrays = [pa.array(numbers, pa.int64()), pa.array(cells, field.type)]
        return pa.Table.from_arrays(arrays, schema=schema)

    one = table([1], [cell(field.type, 7)])
    bad = table([2, 3], [cell(field.type, 8), cell(field.type, None)]).slice(1)
    en.write(one, path)
    for rows in (bad, pa.table({"a": [1], "x": pa.nulls(1, field.type)})) if not field.nullable else (bad,):
        with pytest.raises(en.ArgumentError, match=r"column 'x'.* not null"):
            en.append(rows, path)
        with pytest.raises(en.ArgumentError, match=r"column 'x'.* not null"), en.writer(path, append=True) as writer:
            writer.write(rows)
        with pytest.raises(en.ArgumentError, match=r"column 'x'.* not null"), en.writer(path, schema) as writer:
            writer.write(rows)
    with pytest.raises(en.ArgumentError, match=r"column 'x'.* not null"):
        en.write(pa.RecordBatchReader.from_batches(schema, [*one.to_batches(), *bad.to_batches()]), path)
    assert en.read(path).equals(one)
    if field.nullable:
        # A null has no fields.
        en.append(table([2], [None]), path)
        en.append(pa.table({"a": [3]}), path, fill=True)
        assert en.read(path)["x"].to_pylist()[1:] == [None, None]
    else:
        with pytest.raises(en.ArgumentError, match="column 'x' is int64 not null, which has no missing value"):
            en.append(pa.table({"a": [2]}), path, fill=True)
    good = table([4], [cell(field.type, 9)])
    en.append(good, path)
    assert en.read(path).schema == schema
    assert en.read(path).to_pylist()[-1] == good.to_pylist()[0]


def test_values_that_a_null_of_polars_hides(path: str) -> None:
    inner = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array(["x"]), mask=pa.array([True]))
    rows = pl.DataFrame({"s": pl.from_arrow(pa.StructArray.from_arrays([inner], names=["r"]))})
    en.write(rows, path)
    en.append(rows, path)
    with en.writer(path, append=True) as writer:
        writer.write(rows)
    assert en.read(path).rows() == [({"r": None},)] * 3


def test_a_panic_of_polars_is_an_exception(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from entasis._grow.polars import PolarsRules

    def panics(*_: Any) -> Any:
        raise pl.exceptions.PanicException("not yet implemented")

    en.write(pl.DataFrame({"a": [1]}), path)
    monkeypatch.setattr(PolarsRules, "fit", panics)
    with pytest.raises(en.InternalError, match=r"a library gave up.*not yet implemented.*Polars|polars"):
        en.append(pl.DataFrame({"a": [2]}), path)
    assert en.read(path).rows() == [(1,)]
