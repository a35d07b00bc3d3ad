"""Rows of StaticFrame. An append gives the result of `from_concat`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

from .columns import check_length, check_lists, positions, refused, unreadable
from .numpy import common, missing
from .rules import Rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class StaticFrameRules(Rules):
    """The rules of StaticFrame.

    Row labels are stored anew: StaticFrame requires unique labels, and checks this itself.
    """

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

    def fit(self, old: Any, new: Any, fill: bool) -> tuple[Any, dict[int, Any]]:
        """The rows to append, their columns in the order of the file."""
        if hasattr(old, "columns") != hasattr(new, "columns"):
            raise ArgumentError(f"{shown(new)} can't be appended to this file: pass a {type(old).__name__}")
        _check_index(old.index, new.index)
        if not hasattr(old, "columns"):
            if common(old.dtype, new.dtype) is None:
                raise refused(f"column {shown(old.name)}", old.dtype, new.dtype)
            return new, {}
        part = _with_columns(old, new, positions(list(old.columns), list(new.columns), fill))
        dtypes = zip(old.columns, old.dtypes.values, part.dtypes.values, strict=True)
        for label, of_file, of_rows in dtypes:
            if common(of_file, of_rows) is None:
                raise refused(f"column {shown(label)}", of_file, of_rows)
        # The file is written anew: StaticFrame requires unique labels, and checks this itself.
        return part, {0: None}

    def grow(self, old: Any, grown: dict[int, Any]) -> Any:
        """The value of the file, unchanged, because `from_concat` widens the types."""
        return old

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


def _with_columns(old: Any, new: Any, positions: list[int | None]) -> Any:
    """The rows with the columns of the file. Columns that the rows lack get missing values."""
    import static_frame as sf

    if None not in positions:
        return new.iloc[:, positions]
    n = len(new.index)
    arrays = [
        missing(f"column {shown(label)}", dtype, n) if position is None else new.iloc[:, position].values
        for label, dtype, position in zip(old.columns, old.dtypes.values, positions, strict=True)
    ]
    return sf.Frame.from_items(enumerate(arrays), index=new.index, name=new.name).relabel(columns=old.columns)


def _check_index(old: Any, new: Any) -> None:
    """Check that row labels fit the file's index, as for columns. Objects hold all labels."""
    if old.depth != new.depth:
        raise ArgumentError(f"the index has {old.depth} levels in the file and {new.depth} in the rows to append")
    for i in range(old.depth if len(new) else 0):
        of_file, of_rows = (index.values_at_depth(i).dtype for index in (old, new))
        if of_file.kind != "O" and common(of_file, of_rows) is None:
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
