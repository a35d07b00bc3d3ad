"""Random frames of each host, and the changes of a file as the host makes them in memory."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import static_frame as sf
from pandas.api.types import union_categoricals

WORDS = ["Oslo", "Rome", "Bern", "Lima", "Nice", "Kyiv", "Graz"]
# The numbers of the rows. No step changes this column.
ID = "id"
KINDS = ("int", "small", "float", "text", "flag", "time", "kind")


def values(random: np.random.Generator, kind: str, n: int) -> list[Any]:
    """Random values, about one in seven missing where the kind has missing values."""
    found: list[Any]
    if kind in ("int", "small"):
        return random.integers(-9, 9, n).tolist()
    if kind == "flag":
        return (random.random(n) < 0.5).tolist()
    if kind == "float":
        found = (random.integers(-40, 40, n) / 4).tolist()
    elif kind == "time":
        found = [pd.Timestamp("2024-01-01") + pd.Timedelta(int(hours), "h") for hours in random.integers(0, 99, n)]
    else:
        words = random.permutation(WORDS)[: random.integers(1, len(WORDS) + 1)]
        found = random.choice(words, n).tolist()
    return [None if missing else value for missing, value in zip(random.random(n) < 0.15, found, strict=True)]


class Pandas:
    """Frames of pandas, with one of several indexes."""

    can_fill = ("float", "text", "time", "kind")

    def __init__(self, random: np.random.Generator) -> None:
        self.index = str(random.choice(["range", "text", "time", "number", "levels"]))
        self.unit = str(random.choice(["s", "us"]))
        # Writers refuse labels of a wider type than those of the first frame.
        self.is_first = True

    def column(self, random: np.random.Generator, kind: str, n: int) -> Any:
        found = values(random, kind, n)
        dtype = {
            "int": "int64",
            "small": "int8",
            "float": "float64",
            "text": "str",
            "flag": "bool",
            "time": "M8[us]",
        }
        if kind != "kind":
            return pd.Series(found, dtype=dtype[kind])
        known = sorted({word for word in found if word is not None})
        return pd.Series(pd.Categorical(found, pd.Index(random.permutation(np.array(known, object)), dtype="str")))

    def frame(self, random: np.random.Generator, kinds: dict[str, str], n: int, start: int) -> pd.DataFrame:
        columns = {ID: np.arange(start, start + n)} | {
            name: self.column(random, kind, n).array for name, kind in kinds.items()
        }
        return pd.DataFrame(columns, index=self.labels(random, n))

    def labels(self, random: np.random.Generator, n: int) -> Any:
        numbers = random.integers(0, 50, n)
        is_narrow, self.is_first = not self.is_first and random.random() < 0.3, False
        if self.index == "range":
            return pd.RangeIndex(n)
        if self.index == "text":
            return pd.Index([f"label {i}" for i in numbers], dtype="str", name="label")
        if self.index == "number":
            return pd.Index(numbers.astype("i4" if is_narrow else "i8"), name="label")
        times = pd.DatetimeIndex(pd.Timestamp("2024-01-01") + pd.to_timedelta(numbers, "h"), name="label")
        if self.index == "time":
            return times.as_unit("s" if is_narrow else self.unit)
        return pd.MultiIndex.from_arrays([numbers, times], names=["label", "other"])

    def append(self, old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
        whole = pd.concat([old, new])
        for i, dtype in enumerate(old.dtypes):
            if isinstance(dtype, pd.CategoricalDtype):
                missing = pd.Series(pd.Categorical([None] * len(new), dtype=dtype))
                joined = union_categoricals([old.iloc[:, i], new.get(old.columns[i], missing)])
                whole.isetitem(i, pd.Series(joined, index=whole.index))
        if isinstance(old.index, pd.RangeIndex):
            whole.index = pd.RangeIndex(len(whole))
        return whole

    def take(self, frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
        return frame[names]

    def rename(self, frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
        return frame.rename(columns=names)

    def put(self, frame: pd.DataFrame, name: str, column: Any) -> pd.DataFrame:
        return frame.assign(**{name: column.array})

    def new(self, name: str, column: Any) -> Any:
        return pd.DataFrame({name: column.array})

    def rows(self, frame: pd.DataFrame, start: int, stop: int) -> pd.DataFrame:
        return frame.iloc[start:stop]

    def check(self, found: Any, wanted: Any) -> None:
        pd.testing.assert_frame_equal(found, wanted, check_freq=False, check_index_type=True)

    def plain(self, frame: pd.DataFrame, name: str) -> list[Any]:
        return [None if pd.isna(value) else value for value in frame[name].tolist()]


class Polars:
    """Frames of Polars."""

    can_fill = KINDS

    def __init__(self, random: np.random.Generator) -> None:
        pass

    def column(self, random: np.random.Generator, kind: str, n: int) -> Any:
        dtype = {
            "int": pl.Int64,
            "small": pl.Int8,
            "float": pl.Float64,
            "text": pl.String,
            "flag": pl.Boolean,
            "time": pl.Datetime("us"),
            "kind": pl.Categorical,
        }
        found = values(random, kind, n)
        return pl.Series(
            [value.to_pydatetime() if kind == "time" and value else value for value in found], dtype=dtype[kind]
        )

    def frame(self, random: np.random.Generator, kinds: dict[str, str], n: int, start: int) -> pl.DataFrame:
        columns = {ID: pl.Series(range(start, start + n), dtype=pl.Int64)}
        return pl.DataFrame(columns | {name: self.column(random, kind, n) for name, kind in kinds.items()})

    def append(self, old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
        lacking = [pl.lit(None, dtype).alias(name) for name, dtype in old.schema.items() if name not in new.columns]
        return pl.concat([old, new.with_columns(lacking).select(old.columns)])

    def take(self, frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
        return frame.select(names)

    def rename(self, frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
        return frame.rename(names)

    def put(self, frame: pl.DataFrame, name: str, column: Any) -> pl.DataFrame:
        return frame.with_columns(column.alias(name))

    def new(self, name: str, column: Any) -> Any:
        return pl.DataFrame({name: column})

    def rows(self, frame: pl.DataFrame, start: int, stop: int) -> pl.DataFrame:
        return frame[start:stop]

    def check(self, found: Any, wanted: Any) -> None:
        assert found.schema == wanted.schema
        assert found.equals(wanted)

    def plain(self, frame: pl.DataFrame, name: str) -> list[Any]:
        return frame[name].to_list()


class Arrow:
    """Tables of pyarrow."""

    can_fill = KINDS

    def __init__(self, random: np.random.Generator) -> None:
        pass

    def column(self, random: np.random.Generator, kind: str, n: int) -> Any:
        kinds = {
            "int": pa.int64(),
            "small": pa.int8(),
            "float": pa.float64(),
            "text": pa.string(),
            "flag": pa.bool_(),
            "time": pa.timestamp("us"),
            "kind": pa.string(),
        }
        array = pa.array(values(random, kind, n), kinds[kind])
        return array.dictionary_encode() if kind == "kind" else array

    def frame(self, random: np.random.Generator, kinds: dict[str, str], n: int, start: int) -> pa.Table:
        columns = {ID: pa.array(range(start, start + n), pa.int64())}
        return pa.table(columns | {name: self.column(random, kind, n) for name, kind in kinds.items()})

    def append(self, old: pa.Table, new: pa.Table) -> pa.Table:
        for field in old.schema:
            if field.name not in new.column_names:
                new = new.append_column(field, pa.nulls(new.num_rows, field.type))
        return pa.concat_tables([old, new.select(old.column_names)])

    def take(self, frame: pa.Table, names: list[str]) -> pa.Table:
        return frame.select(names)

    def rename(self, frame: pa.Table, names: dict[str, str]) -> pa.Table:
        return frame.rename_columns([names.get(name, name) for name in frame.column_names])

    def put(self, frame: pa.Table, name: str, column: Any) -> pa.Table:
        if name in frame.column_names:
            return frame.set_column(frame.column_names.index(name), name, column)
        return frame.append_column(name, column)

    def new(self, name: str, column: Any) -> Any:
        return pa.table({name: column})

    def rows(self, frame: pa.Table, start: int, stop: int) -> pa.Table:
        return frame.slice(start, stop - start)

    def check(self, found: Any, wanted: Any) -> None:
        assert found.schema == wanted.schema
        assert found.to_pydict() == wanted.to_pydict()

    def plain(self, frame: pa.Table, name: str) -> list[Any]:
        return frame[name].to_pylist()


class Numpy:
    """Dicts of arrays."""

    can_fill = ("float", "time")

    def __init__(self, random: np.random.Generator) -> None:
        pass

    def column(self, random: np.random.Generator, kind: str, n: int) -> Any:
        found = values(random, kind, n)
        if kind == "float":
            return np.array(found, "f8")
        if kind == "time":
            return np.array(
                [np.datetime64("NaT") if value is None else np.datetime64(value) for value in found], "M8[us]"
            )
        if kind in ("text", "kind"):
            return np.array(["" if value is None else value for value in found], "U4")
        return np.array(found, {"int": "i8", "small": "i1", "flag": "?"}[kind])

    def frame(self, random: np.random.Generator, kinds: dict[str, str], n: int, start: int) -> dict[str, Any]:
        return {ID: np.arange(start, start + n)} | {name: self.column(random, kind, n) for name, kind in kinds.items()}

    def append(self, old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        n = len(new[ID])

        def rows(name: str, array: Any) -> Any:
            if name in new:
                return new[name]
            return np.full(n, "NaT" if array.dtype.kind == "M" else np.nan, array.dtype)

        return {name: np.concatenate([array, rows(name, array)]) for name, array in old.items()}

    def take(self, frame: dict[str, Any], names: list[str]) -> dict[str, Any]:
        return {name: frame[name] for name in names}

    def rename(self, frame: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
        return {names.get(name, name): array for name, array in frame.items()}

    def put(self, frame: dict[str, Any], name: str, column: Any) -> dict[str, Any]:
        return frame | {name: column}

    def new(self, name: str, column: Any) -> Any:
        return {name: column}

    def rows(self, frame: dict[str, Any], start: int, stop: int) -> dict[str, Any]:
        return {name: array[start:stop] for name, array in frame.items()}

    def check(self, found: Any, wanted: Any) -> None:
        assert list(found) == list(wanted)
        for name, array in wanted.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)

    def plain(self, frame: dict[str, Any], name: str) -> list[Any]:
        return [None if pd.isna(value) else value for value in frame[name].tolist()]


class StaticFrame(Numpy):
    """Frames of StaticFrame, whose columns are arrays."""

    can_fill = ("float", "time")

    def frame(self, random: np.random.Generator, kinds: dict[str, str], n: int, start: int) -> Any:
        return self._of(super().frame(random, kinds, n, start))

    @staticmethod
    def _of(arrays: dict[str, Any]) -> Any:
        return sf.Frame.from_items(arrays.items())

    @staticmethod
    def _arrays(frame: Any) -> dict[str, Any]:
        return {name: frame[name].values for name in frame.columns}

    def append(self, old: Any, new: Any) -> Any:
        return self._of(super().append(self._arrays(old), self._arrays(new)))

    def take(self, frame: Any, names: list[str]) -> Any:
        return frame[names]

    def rename(self, frame: Any, names: dict[str, str]) -> Any:
        return self._of(super().rename(self._arrays(frame), names))

    def put(self, frame: Any, name: str, column: Any) -> Any:
        return self._of(super().put(self._arrays(frame), name, column))

    def new(self, name: str, column: Any) -> Any:
        return self._of({name: column})

    def rows(self, frame: Any, start: int, stop: int) -> Any:
        return frame.iloc[start:stop]

    def check(self, found: Any, wanted: Any) -> None:
        assert (found.index.values == wanted.index.values).all()
        super().check(self._arrays(found), self._arrays(wanted))

    def plain(self, frame: Any, name: str) -> list[Any]:
        return [None if pd.isna(value) else value for value in frame[name].values.tolist()]


HOSTS = {"pandas": Pandas, "polars": Polars, "pyarrow": Arrow, "numpy": Numpy, "static_frame": StaticFrame}


def joined(host: Any, parts: list[Any]) -> Any:
    """Parts after each other, as the host joins them."""
    return reduce(host.append, parts)
