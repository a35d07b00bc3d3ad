"""The tables of types in `docs/guides/append.md`: each line is appended and compared.

After an append the file holds the library's own concatenation in the types that the line names, and
the generation before stays readable. After an error the bytes of the file are unchanged.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import forks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import static_frame as sf
from pandas.api.types import union_categoricals

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable

GUIDE = Path(__file__).parents[2] / "docs/guides/append.md"


class Line(NamedTuple):
    """A line of a table."""

    host: str
    old_type: str
    old: str
    new_type: str
    new: str
    result: str

    @property
    def wider(self) -> str | None:
        """The type with `widen=True`."""
        found = re.fullmatch(r"error; `widen=True`: `(.*)`", self.result)
        return found and found[1]

    @property
    def anew(self) -> str | None:
        """The type of a column that had no values."""
        found = re.fullmatch(r"anew as `(.*)`", self.result)
        return found and found[1]


def lines() -> list[Line]:
    """The lines of all tables of types."""
    found, host = [], ""
    for line in GUIDE.read_text().splitlines():
        if line.startswith("### "):
            host = line[4:]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[0].startswith("`"):
            plain = [cell.removeprefix("`").removesuffix("`") for cell in cells[:4]]
            found += [Line(one, *plain, cells[4]) for one in host.split(" and ")]
    assert len({line.host for line in found}) == 5
    return found


LINES = lines()
IDS = [f"{line.host}: {line.old_type} {line.old} + {line.new_type} {line.new}" for line in LINES]


def values(text: str) -> list[Any]:
    return eval(f"[{text}]", {"D": Decimal, "nan": float("nan")})  # type: ignore[no-any-return]


class Host:
    """Frames with the columns `k` and `a` of a library."""

    def type_of(self, text: str) -> Any:
        return np.dtype(text)

    def column(self, text: str, kind: str) -> Any:
        return np.array(values(text), self.type_of(kind))

    def frame(self, column: Any) -> Any:
        return {"k": np.arange(len(column)), "a": column}

    def cast(self, column: Any, kind: str) -> Any:
        dtype = self.type_of(kind)
        if "M" in (column.dtype.kind, dtype.kind) and dtype.kind != column.dtype.kind:
            # All values are missing.
            return np.full(len(column), np.nan if dtype.kind == "f" else np.datetime64("NaT"), dtype)
        return column.astype(self.type_of(kind))

    def joined(self, old: Any, new: Any) -> Any:
        return np.concatenate([old, new])

    def check(self, frame: Any, column: Any) -> None:
        assert frame["a"].dtype == column.dtype
        np.testing.assert_array_equal(frame["a"], column)


class StaticFrame(Host):
    def frame(self, column: Any) -> Any:
        return sf.Frame.from_items(super().frame(column).items())

    def check(self, frame: Any, column: Any) -> None:
        super().check({"a": frame["a"].values}, column)


class Pandas(Host):
    def type_of(self, text: str) -> Any:
        return eval(f"pd.{text}", {"pd": pd}) if text.startswith("Cat") else pd.api.types.pandas_dtype(text)

    def column(self, text: str, kind: str) -> Any:
        found = values(text)
        if kind == "category":
            return pd.Series(pd.Categorical(found, list(dict.fromkeys(found))))
        return pd.Series(found, dtype=self.type_of(kind))

    def frame(self, column: Any) -> Any:
        return pd.DataFrame({"k": np.arange(len(column)), "a": column})

    def cast(self, column: Any, kind: str) -> Any:
        dtype = self.type_of(kind)
        if len(column) and column.isna().all():
            return pd.Series([None] * len(column), dtype=dtype)
        return column if column.dtype == dtype else column.astype(dtype)

    def joined(self, old: Any, new: Any) -> Any:
        if isinstance(old.dtype, pd.CategoricalDtype):
            return pd.Series(union_categoricals([old, new]))
        return pd.concat([old, new], ignore_index=True)

    def check(self, frame: Any, column: Any) -> None:
        pd.testing.assert_series_equal(frame["a"], column, check_names=False, check_freq=False)


class Index(Pandas):
    """The column is the index."""

    def frame(self, column: Any) -> Any:
        return pd.DataFrame({"k": np.arange(len(column))}, index=pd.Index(column, dtype=column.dtype))

    def check(self, frame: Any, column: Any) -> None:
        pd.testing.assert_index_equal(frame.index, pd.Index(column, dtype=column.dtype), exact=True)


class Polars(Host):
    def type_of(self, text: str) -> Any:
        return eval(text, vars(pl).copy())

    def column(self, text: str, kind: str) -> Any:
        dtype = self.type_of(kind)
        if dtype in (pl.Datetime, pl.Duration):
            return pl.Series("a", values(text), dtype=pl.Int64).cast(dtype)
        return pl.Series("a", values(text), dtype=dtype)

    def frame(self, column: Any) -> Any:
        return pl.DataFrame({"k": pl.Series(range(len(column)), dtype=pl.Int64), "a": column})

    def cast(self, column: Any, kind: str) -> Any:
        dtype = self.type_of(kind)
        if column.null_count() == len(column):
            return pl.Series("a", [None] * len(column), dtype=dtype)
        return (
            column.cast(pl.String).cast(dtype)
            if isinstance(column.dtype, pl.Enum)
            else column.cast(dtype, strict=dtype != pl.Struct)
        )

    def joined(self, old: Any, new: Any) -> Any:
        return pl.concat([old, new])

    def check(self, frame: Any, column: Any) -> None:
        assert frame["a"].dtype == column.dtype
        assert frame["a"].equals(column, null_equal=True)


class Arrow(Host):
    def type_of(self, text: str) -> Any:
        return eval(text, vars(pa).copy())

    def column(self, text: str, kind: str) -> Any:
        return pa.chunked_array([pa.array(values(text), self.type_of(kind))])

    def frame(self, column: Any) -> Any:
        return pa.table({"k": pa.array(range(len(column)), pa.int64()), "a": column})

    def cast(self, column: Any, kind: str) -> Any:
        dtype = self.type_of(kind)
        if column.null_count == len(column):
            return pa.chunked_array([pa.nulls(len(column), dtype)])
        return column.cast(dtype)

    def joined(self, old: Any, new: Any) -> Any:
        return pa.chunked_array([*old.chunks, *new.chunks], old.type)

    def check(self, frame: Any, column: Any) -> None:
        assert frame["a"].type == column.type
        assert frame["a"].to_pylist() == column.to_pylist()


HOSTS: dict[str, Host] = {
    "pandas": Pandas(),
    "Polars": Polars(),
    "pyarrow": Arrow(),
    "NumPy": Host(),
    "StaticFrame": StaticFrame(),
    "index": Index(),
}


def by_append(rows: Any, path: Path, widen: bool) -> Any:
    return en.append(rows, path, widen=widen)


def by_writer(rows: Any, path: Path, widen: bool) -> None:
    with en.writer(path, append=True, widen=widen) as writer:
        writer.write(rows)


def by_command(rows: Any, path: Path, widen: bool) -> Any:
    """Append a file of rows with the command."""
    other = path.with_name("rows.entasis")
    en.write(rows, other)
    done = forks.command("append", "--json", *(["--widen"] if widen else []), path, other)
    other.unlink()
    if done.returncode:
        raise en.ArgumentError(done.stderr.decode().replace("--widen makes", "widen=True makes").replace('"a"', "'a'"))
    return json.loads(done.stdout)["stored_anew"]


def check_line(line: Line, host: Host, path: Path, change: Callable[..., Any], label: str | None = "a") -> None:
    """Append the rows of a line, and compare."""
    old, new = host.column(line.old, line.old_type), host.column(line.new, line.new_type)
    en.write(host.frame(old), path)
    # The first change of a small file copies it.
    en.append(host.frame(old[:0]), path)
    if line.result.startswith("error"):
        before = path.read_bytes()
        for widen in (False, True) if line.wider is None else (False,):
            with pytest.raises(en.ArgumentError, match=f"the index |column '{label}'") as error:
                change(host.frame(new), path, widen)
            assert line.wider is None or "widen=True" in str(error.value)
            assert path.read_bytes() == before
        if line.wider is None:
            return
    else:
        assert line.anew is not None or line.result == "in place"
    n_before = len(en.generations(path))
    anew = change(host.frame(new), path, line.wider is not None)
    kind = line.wider or line.anew or line.old_type
    host.check(en.read(path), host.joined(host.cast(old, kind), host.cast(new, kind)))
    en.verify(path)
    if isinstance(host, StaticFrame):
        return
    if change is not by_writer:
        assert anew == ([] if kind == line.old_type else [label])
    # Columns of objects are written anew as a whole.
    if line.old_type != "object":
        assert len(en.generations(path)) == n_before + 1
        host.check(en.open(path, generation=en.generations(path)[-2].number).read(), old)


@pytest.mark.sampled(3)
@pytest.mark.core
@pytest.mark.parametrize("change", [by_append, by_writer])
@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_types_of_columns(path: Path, line: Line, change: Callable[..., Any]) -> None:
    check_line(line, HOSTS[line.host], path, change)


# Types that the command does not append: nested ones, and categories that are stored anew.
NOT_BY_COMMAND = ("Struct", "List", "struct", "list_", "map_", "Enum", "CategoricalDtype")


@pytest.mark.sampled(3)
@pytest.mark.core
@pytest.mark.parametrize("line", LINES, ids=IDS)
def test_types_of_columns_by_command(path: Path, line: Line) -> None:
    if line.old_type.startswith(NOT_BY_COMMAND) and line.result != "in place":
        pytest.skip("not by the command")
    if line.old_type.startswith(NOT_BY_COMMAND[:5]):
        pytest.skip("nested")
    check_line(line, HOSTS[line.host], path, by_command)


# Objects hold all labels, and the labels of no rows take any type.
INDEXES = [line for line in LINES if line.host == "pandas" and line.old_type != "object" and line.new]


@pytest.mark.core
@pytest.mark.parametrize("change", [by_append, by_writer])
@pytest.mark.parametrize("line", INDEXES, ids=lambda line: f"{line.old_type} {line.old} + {line.new_type} {line.new}")
def test_types_of_indexes(path: Path, line: Line, change: Callable[..., Any]) -> None:
    check_line(line, HOSTS["index"], path, change, None)


def two(host: str, **columns: Any) -> Any:
    """A frame of a library."""
    if host == "pandas":
        return pd.DataFrame(columns)
    if host == "Polars":
        return pl.DataFrame(columns)
    if host == "pyarrow":
        return pa.table(columns)
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    return arrays if host == "NumPy" else sf.Frame.from_items(arrays.items())


@pytest.mark.core
@pytest.mark.parametrize("host", list(HOSTS)[:5])
@pytest.mark.parametrize("n", [2, 9_000])
def test_new_columns_are_filled(path: Path, host: str, n: int) -> None:
    first = two(host, k=[1] * n, f=[0.5] * n)
    en.write(first, path)
    en.append(two(host, k=[1], f=[1.5]), path)
    before = path.read_bytes()
    rows = two(host, new=[2.5], k=[2])
    with pytest.raises(en.ColumnNotFoundError, match=r"the file has no column 'new'.*fill=True adds it"):
        en.append(rows, path)
    assert path.read_bytes() == before
    added = en.append(rows, path, fill=True)
    assert added == ([] if host != "StaticFrame" else ["k", "f", "new"])
    found = pa.table(en.open(path))
    assert found.column_names[:3] == ["k", "f", "new"]
    assert found["k"].to_pylist() == [1] * n + [1, 2]
    assert found["new"].to_pandas().isna().tolist() == [True] * (n + 1) + [False]
    assert found["f"].to_pandas().isna().tolist() == [False] * (n + 1) + [True]
    en.verify(path)
    if host != "StaticFrame":
        generations = en.generations(path)
        assert [g.operation for g in generations][-2:] == ["append", "add columns"]
        assert en.open(path, generation=generations[-2].number).column_names == ["k", "f"]
    with en.writer(path, append=True, fill=True) as writer:
        writer.write(two(host, k=[3], newer=[0.5]))
        writer.write(two(host, k=[4], newer=[1.5], newest=[2.5]))
    found = pa.table(en.open(path))
    assert found.column_names[:5] == ["k", "f", "new", "newer", "newest"]
    assert found["k"].to_pylist()[-2:] == [3, 4]
    assert found["newer"].to_pandas().isna().sum() == n + 2


@pytest.mark.core
def test_new_columns_without_missing_values(path: Path) -> None:
    for host in ("pandas", "NumPy", "StaticFrame"):
        for column, dtype in ([7], "float64"), ([True], "boolean"), ([(1 << 53) + 1], "Int64"):
            en.write(two(host, k=[1, 2]), path)
            before = path.read_bytes()
            with pytest.raises(en.ArgumentError, match=r"column 'new' is new, and (int64|bool) has no missing value"):
                en.append(two(host, k=[1], new=column), path, fill=True)
            assert path.read_bytes() == before
            if host == "pandas":
                en.append(two(host, k=[1], new=column), path, fill=True, widen=True)
                found = en.read(path)["new"]
                assert (found.dtype, found.isna().tolist()) == (dtype, [True, True, False])
                assert found[2] == column[0]
                # The rows lack a column that has no missing value.
                en.write(two(host, k=[1], new=column), path)
                assert en.append(two(host, k=[1]), path, fill=True, widen=True) == ["new"]
                assert en.read(path)["new"].dtype == dtype
    en.write(pa.table({"k": [1]}), path)
    required = pa.schema([pa.field("k", pa.int64()), pa.field("new", pa.int64(), nullable=False)])
    with pytest.raises(en.ArgumentError, match="column 'new' is new, and int64 not null has no missing value"):
        en.append(pa.table({"k": [1], "new": [2]}, schema=required), path, fill=True)


@pytest.mark.core
def test_series_and_labels_that_are_not_text(path: Path) -> None:
    levels = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")], names=["l", "m"])
    more = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "z")], names=["l", "m"])
    cases: list[tuple[Any, Any, list[Any], Any]] = [
        (pd.Series([1, 2], name="s"), pd.Series([1.5]), ["s"], pd.Series([1, 2, 1.5], name="s")),
        (pl.Series("s", [1, 2]), pl.Series([1.5]), ["s"], pl.Series("s", [1.0, 2.0, 1.5])),
        (pd.Index([1, 2]), pd.Index([1.5]), [None], pd.Index([1, 2, 1.5])),
        (
            pd.DataFrame({1: [1], 2: [3]}),
            pd.DataFrame({3: [0.5], 1: [1.5], 2: [3]}),
            [1],
            pd.DataFrame({1: [1, 1.5], 2: [3, 3], 3: [None, 0.5]}),
        ),
        (
            pd.DataFrame([[1, 2]], columns=levels),
            pd.DataFrame([[1, 2.5, 0.5]], columns=more),
            [("a", "y")],
            pd.DataFrame([[1, 2, None], [1, 2.5, 0.5]], columns=more),
        ),
    ]
    for old, new, anew, wanted in cases:
        en.write(old, path)
        en.append(old[:0], path)
        assert en.append(new, path, widen=True, fill=True) == anew
        found = en.read(path)
        assert type(found) is type(wanted)
        assert found.equals(wanted)
        assert [g.operation for g in en.generations(path)] == ["write", "append", "replace columns"]
        assert en.open(path, generation=en.generations(path)[0].number).read().equals(old)
        assert en.append(new, path, fill=True) == []


EMPTY: list[Callable[[], Any]] = [
    lambda: pd.DataFrame(columns=["a"]),
    lambda: pd.DataFrame({"a": [None, None]}),
    lambda: pd.DataFrame({"a": [np.nan, np.nan]}),
    lambda: pd.DataFrame({"a": pd.Series([pd.NaT, pd.NaT])}),
    lambda: pd.DataFrame({"a": pd.array([None], dtype="null[pyarrow]")}),
    lambda: pl.DataFrame({"a": [None, None]}),
    lambda: pl.DataFrame(schema={"a": pl.Int64}),
    lambda: pa.table({"a": pa.nulls(2)}),
    lambda: pa.table({"a": pa.nulls(2, pa.int64())}),
    lambda: {"a": np.array([np.nan, np.nan])},
    lambda: {"a": np.array([], object)},
]


@pytest.mark.core
@pytest.mark.parametrize("first", EMPTY)
def test_first_frames_without_values(path: Path, first: Callable[[], Any]) -> None:
    is_numpy = isinstance(first(), dict)
    rows = (
        {"a": np.array(["2024-01-01"], "M8[s]")}
        if is_numpy
        else type(first())({"a": ["x"]})
        if not isinstance(first(), pa.Table)
        else pa.table({"a": ["x"]})
    )

    def by_create() -> None:
        en.append(first(), path, create=True)
        en.append(rows, path)

    def by_batches() -> None:
        with en.writer(path) as writer:
            writer.write(first())
            writer.write(rows)
            writer.write(rows)

    def by_long_batches() -> None:
        with en.writer(path) as writer:
            for _ in range(3):
                writer.write(first())
            writer.write(rows)

    for change in (by_create, by_batches, by_long_batches):
        path.unlink(missing_ok=True)
        change()
        column, found = pa.table(en.open(path))["a"], en.read(path)["a"]
        assert getattr(found, "dtype", found).__class__ is getattr(rows["a"], "dtype", rows["a"]).__class__
        assert column.drop_null().to_pylist()[0] == (column.drop_null()[0].as_py() if is_numpy else "x")
        en.verify(path)


@pytest.mark.core
def test_the_types_of_a_schema_hold(path: Path) -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.null())])
    with en.writer(path, schema) as writer:
        with pytest.raises(en.ArgumentError, match=r"column 'a' is int64 .* does not hold 1\.5 in row 0; widen=True"):
            writer.write(pa.table({"a": [1.5], "b": ["x"]}))
        writer.write(pa.table({"a": [2.0], "b": ["x"]}))
    assert en.read(path).equals(pa.table({"a": [2], "b": ["x"]}))
    with en.writer(path, schema, widen=True) as writer:
        writer.write(pa.table({"a": [1.5], "b": ["x"]}))
    assert en.read(path).equals(pa.table({"a": [1.5], "b": ["x"]}))


@pytest.mark.core
def test_a_writer_widens_stored_rows(path: Path) -> None:
    n = 200_000
    for host in ("pandas", "Polars", "pyarrow", "NumPy"):
        with en.writer(path, widen=True) as writer:
            writer.write(two(host, a=np.arange(n, dtype="i4"), b=np.arange(n)))
            writer.write(two(host, a=np.array([1], "i4"), b=np.array([2])))
            writer.write(two(host, a=np.array([1 << 40]), b=np.array([3])))
            with pytest.raises(en.ArgumentError, match="column 'b'"):
                writer.write(two(host, a=np.array([1]), b=np.array(["x"])))
            writer.write(two(host, a=np.array([2], "i4"), b=np.array([4])))
        found = en.read(path, to="numpy")
        assert found["a"].dtype == "int64"
        assert found["a"].tolist() == [*range(n), 1, 1 << 40, 2]
        assert found["b"].tolist() == [*range(n), 2, 3, 4]
        assert [(g.operation, g.rows) for g in en.generations(path)] == [("write", n + 3)]
        en.verify(path)


@pytest.mark.parametrize("host", ["pandas", "Polars", "pyarrow", "NumPy"])
def test_widening_is_advised_only_if_it_helps(path: Path, host: str) -> None:
    of, kinds = HOSTS[host], {"Polars": ("Int64", "Float64"), "pyarrow": ("int64()", "float64()")}
    ints, floats = kinds.get(host, ("int64", "float64"))
    for old, new in [("(1 << 53) + 1", "1.5"), ("1", "1.5")]:
        en.write(of.frame(of.column(old, ints)), path)
        with pytest.raises(en.ArgumentError) as error:
            en.append(of.frame(of.column(new, floats)), path)
        helps = old == "1"
        assert ("widen=True" in str(error.value)) == helps
        assert ("9007199254740993 in row 0: convert one of them" in str(error.value)) != helps
