"""Rows of pandas. An append gives the result of `pd.concat` in the dtypes of the file."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from . import pandas_index as _index
from .columns import INDEX, check_length, check_lists, is_records, positions, unreadable
from .fitting import Fitted, Options, added, converted, fit, missing
from .pandas_types import TYPES
from .rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from entasis._file.file import File

# For so few rows the conversions cost more than a failed attempt without them.
_FEW = 1024


class PandasRules(Rules):
    """The rules of pandas."""

    HOST = "pandas"
    IS_COPIED = True
    types = TYPES

    def collect(self, value: Any) -> Any:
        """The value as one of pandas."""
        import pandas as pd

        if isinstance(value, (pd.DataFrame, pd.Series, pd.Index)) or hasattr(value, "dtype"):
            return value
        if hasattr(value, "to_pandas"):
            return value.to_pandas()
        if isinstance(value, dict):
            check_lists(value)
        if isinstance(value, dict) or is_records(value):
            try:
                return pd.DataFrame(value)
            except (TypeError, ValueError) as error:
                raise ArgumentError(f"pandas makes no DataFrame of {shown(value)}: {error}") from error
        raise unreadable(value, "pandas", "a DataFrame")

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value.columns) if hasattr(value, "columns") else [getattr(value, "name", None)]

    def column(self, value: Any, key: int) -> Any:
        """A column of a frame, an index, or the value itself."""
        if key == INDEX:
            return getattr(value, "index", value)
        return value.iloc[:, key] if hasattr(value, "columns") else value

    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that parts of the file need."""
        import pandas as pd

        if type(old) is not type(new) and not (isinstance(old, pd.Index) and isinstance(new, pd.Index)):
            raise ArgumentError(f"{shown(new)} can't be appended to a file of a {type(old).__name__}: pass one like it")
        if isinstance(old, pd.DataFrame):
            return _fit_frame(old, new, options)
        grown: dict[int, Any] = {}
        if isinstance(old, pd.Index):
            new = new.set_names(old.names) if new.nlevels == old.nlevels else new
            return Fitted(_fit_index(old, new, grown, options), grown)
        name = getattr(old, "name", None)
        what = f"the {type(old).__name__.lower()}" if name is None else f"column {shown(name)}"
        part = fit(TYPES, what, old.dtype, new, options, 0)
        if isinstance(old, pd.Series):
            part = _with_index(old, part, grown, options).rename(old.name)
        if part.dtype != old.dtype and TYPES.grows(old.dtype, part.dtype, lambda: options.earlier.greatest_code(0)):
            grown[0] = part.dtype
        return Fitted(part, grown)

    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A value with wider types, and new columns of the rows to append."""
        import pandas as pd

        if isinstance(value, pd.Index):
            return value
        if not hasattr(value, "columns"):
            return value if dtypes[0] is None else _grown_column(value, getattr(value, "name", None), dtypes[0])
        whole = _grown_columns(value, {i: dtype for i, dtype in enumerate(dtypes) if dtype is not None})
        if not part.shape[1]:
            return whole
        like = pd.Series(float("nan"), index=value.index, dtype="float64")
        added = [TYPES.missing(dtype, like) for dtype in part.dtypes]
        new = pd.concat(added, axis=1, keys=range(len(added)))
        new.columns = part.columns
        labels = value.columns.append(part.columns.set_names(value.columns.names))
        n_old = len(dtypes)
        sources = [(i >= n_old, i - n_old if i >= n_old else i) for i in range(len(labels))]
        return self.with_columns(whole, new, sources, labels)

    def index_of(self, value: Any) -> dict[str, Any] | None:
        """The description of an index whose labels are a range."""
        import pandas as pd

        index = getattr(value, "index", None)
        return _index.described(index) if type(index) is pd.RangeIndex else None

    def grow_index(self, index: Any, dtype: Any) -> Any:
        """An index with a wider type."""
        return _index.grow(index, dtype)

    def with_index(self, value: Any, index: Any) -> Any:
        """A frame or series with another index."""
        return value.set_axis(index) if hasattr(value, "index") else index

    def encode_index(self, builder: Any, index: Any) -> dict[str, Any]:
        """The description of an index whose labels become columns of the builder."""
        from entasis._hosts.pandas.index import encode_index

        return encode_index(index, "the index", builder)

    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a frame."""
        return value.iloc[:, positions]

    def concat(self, old: Any, new: Any) -> Any:
        """The value of the file after the append."""
        import pandas as pd

        if isinstance(old, pd.Index):
            return _index.concat(old, new)
        if not hasattr(old, "index"):
            return pd.concat([pd.Series(old), pd.Series(new)], ignore_index=True).array
        whole = pd.concat([_with_categories(old, new), new])
        if hasattr(old, "columns"):
            whole = whole.__finalize__(old)
            whole.columns = old.columns
        else:
            whole.name = old.name
        whole.index = _index.concat(old.index, new.index)
        return whole

    def is_direct(self, file: File, new: Any) -> bool:
        """Whether rows need no conversion if their columns have the labels and types of the file.

        Few rows of a frame with a range as index. For many rows another attempt costs more.
        """
        import pandas as pd

        host = file._view.table.host
        index = host.get("index", {})
        has_range = index.get("kind") == "range" and index.get("name") is None and host.get("class") is None
        is_range = type(new) is pd.DataFrame and type(new.index) is pd.RangeIndex and new.index.name is None
        return has_range and is_range and 0 < len(new) <= _FEW

    def joined_index(self, old: dict[str, Any], new: dict[str, Any], file: Any, part: Any) -> dict[str, Any] | None:
        """The changes in the description of the index. None if its labels have to be stored anew."""
        return _index.joined(old, new, file, part)

    def columns(self, value: Any, file: Any) -> Any:
        """New columns of a file, with its number of rows.

        Their index equals the file's index, or 0 to n-1.
        """
        import pandas as pd

        if isinstance(value, pd.Series):
            value = value.to_frame()
        elif not isinstance(value, pd.DataFrame):
            value = self.collect(value)
        if not isinstance(value, pd.DataFrame):
            raise ArgumentError(f"{shown(value)} has no columns: pass a DataFrame")
        check_length(len(value), file.n_rows)
        if not value.index.equals(pd.RangeIndex(len(value))) and not value.index.equals(file._view.table.index(None)):
            raise ArgumentError(
                "the index of the new columns differs from that of the file: reindex them, or pass them with "
                "reset_index(drop=True) to take them in the order of the rows"
            )
        return value

    def nothing(self) -> Any:
        """A frame without columns and rows."""
        import pandas as pd

        return pd.DataFrame()

    def blank(self, n: int) -> Any:
        """A frame of rows without columns."""
        import pandas as pd

        return pd.DataFrame(index=pd.RangeIndex(n))

    def joined_labels(self, old: Any, new: Any, sources: list[tuple[bool, int]]) -> Any:
        """The labels of columns of the file and of new ones."""
        order = [len(old.columns) + position if is_new else position for is_new, position in sources]
        if new is None:
            return old.columns.take(order)
        added = new.columns
        if added.nlevels != old.columns.nlevels:
            raise ArgumentError(f"the labels of new columns have {added.nlevels} levels, those of the file differ")
        return old.columns.append(added.set_names(old.columns.names)).take(order)

    def renamed_labels(self, old: Any, labels: list[Any], names: Any) -> Any:
        """The labels of the columns of the file, some of them renamed."""
        import pandas as pd

        if not names:
            return old.columns
        if old.columns.nlevels > 1 and all(type(label) is tuple for label in labels):
            # pandas renames each part of such a label by itself.
            return pd.MultiIndex.from_tuples(labels, names=old.columns.names)
        return old.rename(columns=dict(names)).columns

    def encode_labels(self, builder: Any, labels: Any) -> tuple[list[str], Any]:
        """The names of columns, and the description of their labels."""

        from entasis._hosts.pandas.write import encode_labels

        return encode_labels(builder, labels)

    def encode_levels(
        self, builder: Any, file: Any, dropped: Sequence[int], names: Mapping[int, Any]
    ) -> tuple[dict[str, Any], list[tuple[int, str]]] | None:
        """The changes in the description of the index, and new names of its columns by their numbers.

        None if the labels have to be stored anew.
        """
        return _index.encode_levels(builder, file, dropped, names)

    def with_levels(self, value: Any, dropped: Sequence[int], names: Mapping[int, Any]) -> Any:
        """The frame without levels of its index, and with other names of levels."""
        return value.set_axis(_index.with_levels(value.index, dropped, names))

    def with_columns(self, old: Any, new: Any, sources: list[tuple[bool, int]], labels: Any) -> Any:
        """The frame with columns of the file and new ones."""
        import pandas as pd

        order = [old.shape[1] + position if is_new else position for is_new, position in sources]
        whole = old if new is None else pd.concat([old, new.set_axis(old.index)], axis=1)
        whole = whole.iloc[:, order]
        whole.columns = labels
        whole.attrs = old.attrs
        return whole.set_flags(allows_duplicate_labels=old.flags.allows_duplicate_labels)

    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a value."""
        return value.iloc[start:stop] if hasattr(value, "iloc") else value[start:stop]

    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""
        import pandas as pd
        from pandas.api.types import union_categoricals

        first = parts[0]
        if isinstance(first, pd.Index):
            return first.append(parts[1:])
        if isinstance(first, pd.Series):
            is_categorical = isinstance(first.dtype, pd.CategoricalDtype)
            if not is_categorical or all(TYPES.is_same(first.dtype, part.dtype) for part in parts):
                return pd.concat(parts)
            index = first.index.append([part.index for part in parts[1:]])
            return pd.Series(union_categoricals(parts), index=index, name=first.name)
        categorical = [
            i
            for i, dtype in enumerate(first.dtypes)
            if isinstance(dtype, pd.CategoricalDtype)
            and not all(TYPES.is_same(dtype, part.dtypes.iloc[i]) for part in parts)
        ]
        whole = pd.concat(parts)
        for i in categorical:
            whole.isetitem(i, pd.Series(union_categoricals([part.iloc[:, i] for part in parts]), index=whole.index))
        whole.attrs = first.attrs
        return whole

    def known(self, old: Any, new: Any) -> Any:
        """No rows with the categories of rows before and of new ones."""
        if not hasattr(old, "columns") or all(map(TYPES.is_same, old.dtypes, new.dtypes)):
            return old
        return self.head(new)

    def is_counted(self, index: dict[str, Any] | None) -> bool:
        """Whether an index, as a host map describes it, counts from 0."""
        return index is not None and (index.get("kind"), index.get("start"), index.get("step")) == ("range", 0, 1)

    def counted(self, part: Any, start: int) -> Any:
        """Rows whose index counts from 0, with an index from `start` on; other rows unchanged."""
        import pandas as pd

        if isinstance(part, pd.Index) or not part.index.equals(pd.RangeIndex(len(part))) or part.index.name is not None:
            return part
        return part.set_axis(pd.RangeIndex(start, start + len(part)))

    def size(self, value: Any) -> int:
        """Bytes of a value, about."""
        found = value.memory_usage(index=False) if hasattr(value, "iloc") else value.memory_usage()
        return int(found.sum()) if hasattr(found, "sum") else int(found)

    def own(self, value: Any) -> Any:
        """A copy of a value."""
        return value.copy()


def _fit_frame(old: Any, new: Any, options: Options) -> Fitted:
    import pandas as pd

    grown: dict[int, Any] = {}
    new = _with_index(old, new, grown, options)
    if old.columns.equals(new.columns) and all(map(TYPES.is_same, old.dtypes, new.dtypes)):
        return Fitted(new, grown)
    columns: list[Any] = []
    found, more = positions(list(old.columns), list(new.columns), options.fill)
    like = pd.Series(float("nan"), index=new.index, dtype="float64")
    for i, position in enumerate(found):
        dtype, what = old.dtypes.iloc[i], f"column {shown(old.columns[i])}"
        if position is None:
            column = missing(TYPES, what, dtype, like, options, i)
        else:
            column = fit(TYPES, what, dtype, new.iloc[:, position], options, i)
        if column.dtype is not dtype and TYPES.grows(dtype, column.dtype, partial(options.earlier.greatest_code, i)):
            grown[i] = column.dtype
        columns.append(column)
    columns += [added(TYPES, f"column {shown(new.columns[i])}", new.iloc[:, i], options) for i in more]
    labels = old.columns.append(new.columns[more].set_names(old.columns.names)) if more else old.columns
    if not columns:
        return Fitted(pd.DataFrame(index=new.index, columns=labels), grown)
    part = pd.concat(columns, axis=1, keys=range(len(columns)))
    part.columns = labels
    return Fitted(part, grown, len(more))


def _with_index(old: Any, new: Any, grown: dict[int, Any], options: Options) -> Any:
    """The rows with an index of the file's type."""
    index = _fit_index(old.index, new.index, grown, options)
    return new if index is new.index else new.set_axis(index)


def _fit_index(old: Any, new: Any, grown: dict[int, Any], options: Options) -> Any:
    """An index of the file's type. `grown` gets its type if the file's index is stored anew."""
    index = _index.fit(old, new, options)
    if _index.is_stored_anew(old, index, options):
        grown[INDEX] = index.dtype
        return _index.grow(index, index.dtype)
    return index


def _grown_columns(old: Any, grown: dict[int, Any]) -> Any:
    import pandas as pd

    if not grown:
        return old
    columns = [old.iloc[:, i] for i in range(old.shape[1])]
    for i, dtype in grown.items():
        columns[i] = _grown_column(columns[i], old.columns[i], dtype)
    whole = pd.concat(columns, axis=1, keys=range(len(columns)))
    whole.columns = old.columns
    return whole.__finalize__(old)


def _grown_column(column: Any, label: Any, dtype: Any) -> Any:
    return converted(TYPES, f"column {shown(label)}", column, dtype)


def _with_categories(old: Any, new: Any) -> Any:
    """A frame or series whose categoricals have the categories of the rows to append."""
    import pandas as pd

    if not hasattr(old, "columns"):
        is_categorical = isinstance(new.dtype, pd.CategoricalDtype)
        return _grown_column(old, old.name, new.dtype) if is_categorical else old
    dtypes = enumerate(zip(old.dtypes, new.dtypes, strict=True))
    is_other = {i: of for i, (own, of) in dtypes if hasattr(of, "categories") and not TYPES.is_same(own, of)}
    return _grown_columns(old, is_other)


RULES = PandasRules()
