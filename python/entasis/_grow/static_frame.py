"""Rows of StaticFrame. An append gives the result of `from_concat`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, positions, refused, unreadable
from .fitting import Fitted, Options, added, converted, fit, missing
from .numpy_types import TYPES, wider
from .rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StaticFrameRules(Rules):
    """The rules of StaticFrame.

    Row labels are stored anew: StaticFrame requires unique labels, and checks this itself.
    """

    HOST = "static_frame"
    IS_WHOLE = True
    types = TYPES

    def collect(self, value: Any) -> Any:
        """The value as a frame or series."""
        import static_frame as sf

        if isinstance(value, (sf.Frame, sf.Series)):
            return value
        raise unreadable(value, "StaticFrame", "a Frame or a Series")

    def head(self, value: Any) -> Any:
        """No rows of a value."""
        return value.iloc[:0]

    def labels(self, value: Any) -> list[Any]:
        """The labels of its columns."""
        return list(value.columns) if hasattr(value, "columns") else [value.name]

    def length(self, value: Any) -> int:
        """The number of rows of a value."""
        return len(value.index)

    def column(self, value: Any, key: int) -> Any:
        """The array of a column."""
        return value.iloc[:, key].values if hasattr(value, "columns") else value.values

    def fit(self, old: Any, new: Any, options: Options) -> Fitted:
        """The rows to append with the file's types, and wider types that columns of the file need."""
        import static_frame as sf

        if hasattr(old, "columns") != hasattr(new, "columns"):
            raise ArgumentError(f"{shown(new)} can't be appended to this file: pass a {type(old).__name__}")
        _check_index(old.index, new.index)
        grown: dict[int, Any] = {}
        if not hasattr(old, "columns"):
            array = fit(TYPES, f"column {shown(old.name)}", old.dtype, new.values, options, 0)
            if array.dtype != old.dtype:
                grown[0] = array.dtype
            return Fitted(new if array is new.values else sf.Series(array, index=new.index, name=new.name), grown)
        labels = list(new.columns)
        found, more = positions(list(old.columns), labels, options.fill)
        like = _empty(len(new.index))
        arrays = []
        for i, (label, dtype, position) in enumerate(zip(old.columns, old.dtypes.values, found, strict=True)):
            what = f"column {shown(label)}"
            if position is None:
                arrays.append(missing(TYPES, what, dtype, like, options, i))
            else:
                arrays.append(fit(TYPES, what, dtype, new.iloc[:, position].values, options, i))
            if arrays[i].dtype != dtype:
                grown[i] = arrays[i].dtype
        for i in more:
            arrays.append(added(TYPES, f"column {shown(labels[i])}", new.iloc[:, i].values, options))
        columns = _index(old.columns, [*old.columns, *(labels[i] for i in more)]) if more else old.columns
        return Fitted(_frame(arrays, new, columns), grown, len(more))

    def grow(self, value: Any, dtypes: list[Any], part: Any, n: int) -> Any:
        """A value with wider types, and new columns of the rows to append."""
        import static_frame as sf

        if not hasattr(value, "columns"):
            array = converted(TYPES, f"column {shown(value.name)}", value.values, dtypes[0])
            return sf.Series(array, index=value.index, name=value.name)
        arrays = [
            converted(TYPES, f"column {shown(label)}", value.iloc[:, i].values, of_file if dtype is None else dtype)
            for i, (label, of_file, dtype) in enumerate(zip(value.columns, value.dtypes.values, dtypes, strict=True))
        ]
        arrays += [TYPES.missing(dtype, _empty(n)) for dtype in part.dtypes.values]
        new = list(part.columns)
        columns = _index(value.columns, [*value.columns, *new]) if new else value.columns
        return type(value)(_frame(arrays, value, columns))

    def take(self, value: Any, positions: list[int]) -> Any:
        """Some columns of a frame."""
        return value.iloc[:, positions]

    def concat(self, old: Any, new: Any) -> Any:
        """The value of the file after the append."""
        import static_frame as sf

        is_auto = type(old.index) is sf.Index and type(new.index) is sf.Index and _is_auto(old) and _is_auto(new)
        index = sf.IndexAutoFactory if is_auto else None
        try:
            return type(old).from_concat((old, new), index=index, name=old.name)
        except sf.ErrorInit as error:
            raise ArgumentError(f"labels of the rows to append are in the file already: {error}") from error

    def columns(self, value: Any, file: Any) -> Any:
        """New columns of a file, with its number of rows.

        Their index equals the file's index, or positions.
        """
        import static_frame as sf

        if isinstance(value, dict):
            check_lists(value)
            value = sf.Frame.from_dict(value)
        if isinstance(value, sf.Series):
            value = value.to_frame()
        if not isinstance(value, sf.Frame):
            raise ArgumentError(f"{shown(value)} has no columns: pass a Frame")
        check_length(len(value.index), file.n_rows)
        index = file[:, []].read().index
        if not _is_default(value.index) and not value.index.equals(index, compare_dtype=False):
            raise ArgumentError("the index of the new columns differs from that of the file: reindex them")
        return value

    def nothing(self) -> Any:
        """A frame without columns and rows."""
        import static_frame as sf

        return sf.Frame()

    def joined_labels(self, old: Any, new: Any, sources: list[tuple[bool, int]]) -> Any:
        """The labels of columns of the file and of new ones."""
        if new is None:
            return old.columns.iloc[[position for _, position in sources]]
        of_old, of_new = list(old.columns), list(new.columns)
        return _index(old.columns, [(of_new if is_new else of_old)[position] for is_new, position in sources])

    def renamed_labels(self, old: Any, labels: list[Any], names: Any) -> Any:
        """The labels of the columns of the file, some of them renamed."""
        return _index(old.columns, labels) if names else old.columns

    def encode_labels(self, builder: Any, labels: Any) -> tuple[list[str], Any]:
        """The names of columns, and the description of their labels."""
        from entasis._hosts.static_frame.index import encode_index, texts

        return texts(labels), encode_index(builder, labels, "the column labels", are_names=True)

    def with_levels(self, value: Any, dropped: Sequence[int], names: Mapping[int, Any]) -> Any:
        """The frame without levels of its index, and with other names of levels."""
        import static_frame as sf

        n, name = value.index.depth, value.index.name
        old_names = name if n > 1 and type(name) is tuple and len(name) == n else (name,) if n == 1 else (None,) * n
        kept = [i for i in range(n) if i not in dropped]
        if not kept:
            return value.relabel(index=sf.IndexAutoFactory)
        new_names = tuple(names.get(i, old_names[i]) for i in kept)
        if not dropped:
            return value.rename(index=new_names if n > 1 else new_names[0])
        levels = [value.index.values_at_depth(i) for i in kept]
        try:
            if len(kept) == 1:
                index = type(value.index.index_at_depth(kept[0]))(levels[0], name=new_names[0])
            else:
                classes = [type(value.index.index_at_depth(i)) for i in kept]
                rows = zip(*levels, strict=True)
                index = sf.IndexHierarchy.from_labels(rows, name=new_names, index_constructors=classes)
        except sf.ErrorInit as error:
            raise ArgumentError(f"the labels without {len(dropped)} of {n} levels are not unique: {error}") from error
        return value.relabel(index=index)

    def with_columns(self, old: Any, new: Any, sources: list[tuple[bool, int]], labels: Any) -> Any:
        """The frame with columns of the file and new ones."""
        found = [(new if is_new else old).iloc[:, position].values for is_new, position in sources]
        return type(old).from_items(enumerate(found), index=old.index, name=old.name).relabel(columns=labels)

    def rows(self, value: Any, start: int, stop: int) -> Any:
        """Some rows of a value."""
        return value.iloc[start:stop]

    def joined(self, parts: list[Any]) -> Any:
        """Parts that follow each other, as one."""
        whole = parts[0]
        for part in parts[1:]:
            whole = self.concat(whole, part)
        return whole

    def size(self, value: Any) -> int:
        """Bytes of a value, about."""
        return int(value.nbytes)


def _empty(n: int) -> Any:
    """An array of a length, for columns of missing values."""
    import numpy as np

    return np.empty(n)


def _frame(arrays: list[Any], like: Any, columns: Any) -> Any:
    """A frame of arrays with the index and the name of another one."""
    import static_frame as sf

    return sf.Frame.from_items(enumerate(arrays), index=like.index, name=like.name).relabel(columns=columns)


def _check_index(old: Any, new: Any) -> None:
    """Check that row labels fit the file's index, as for columns. Objects hold all labels."""
    if old.depth != new.depth:
        raise ArgumentError(f"the index has {old.depth} levels in the file and {new.depth} in the rows to append")
    for i in range(old.depth if len(new) else 0):
        of_file, of_rows = (index.values_at_depth(i).dtype for index in (old, new))
        is_known = of_file == of_rows or (of_file.kind == of_rows.kind and wider(of_file, of_rows) is not None)
        if of_file.kind != "O" and not is_known:
            raise refused("the index" if old.depth == 1 else f"level {i} of the index", of_file, of_rows)


def _is_auto(value: Any) -> bool:
    """Whether the labels are positions."""
    return list(value.index.values[:1]) in ([], [0]) and value.index.dtype.kind == "i"


def _is_default(index: Any) -> bool:
    """Whether the labels are positions."""
    return bool(index.depth == 1 and index.dtype.kind == "i" and (index.values == range(len(index))).all())


def _index(like: Any, labels: list[Any]) -> Any:
    import static_frame as sf

    try:
        return type(like).from_labels(labels, name=like.name)
    except (sf.ErrorInit, ValueError, TypeError) as error:
        raise ArgumentError(f"the labels of the columns don't fit a {type(like).__name__}: {error}") from error


RULES = StaticFrameRules()
