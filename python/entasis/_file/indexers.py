"""`f.iloc[rows, columns]` by positions, and `f.loc[rows, columns]` by labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from entasis._arguments import rows as _rows
from entasis._arguments.options import shown
from entasis._view import row_labels as _row_labels
from entasis._view.column_labels import hint
from entasis.errors import ArgumentError, ColumnNotFoundError, EntasisError, RowNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._view.view import View


# The type of open files, which are above this module.
File = TypeVar("File")


class ILoc(Generic[File]):
    """Views by positions, like `iloc` of pandas: `f.iloc[rows]`, `f.iloc[rows, columns]`.

    Parameters
    ----------
    rows, columns
        An integer, a slice, a range, or a list or array of integers or booleans. Negative numbers
        count from the end.

    Returns
    -------
    File
        A view, even of a single row or value. Nothing is read.

    Raises
    ------
    RowsOutOfRangeError, ColumnsOutOfRangeError
        A position is out of range. Slices are clipped instead.

    Examples
    --------
    >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
    >>> en.open("table.entasis").iloc[-2:, 0].read()
       a
    1  2
    2  3
    """

    __slots__ = ("_file_of", "_view")

    def __init__(self, view: View, file_of: Callable[[View], File]) -> None:
        self._view, self._file_of = view, file_of

    def __getitem__(self, key: Any) -> File:
        rows, columns = _axes(key)
        view = self._view
        chosen = _rows.resolve(_without_pair(columns, "column"), view.n_columns, noun="column")
        selected = view.select(_key(columns), _numbers(view, chosen), view.compose(_without_pair(rows, "row")))
        return self._file_of(selected)


class Loc(Generic[File]):
    """Views by labels, like `loc` of pandas: `f.loc[rows]`, `f.loc[rows, columns]`.

    Only labels are read. A label or a slice of labels is found by bisection if the file has a
    sorted index of pandas with one level. Otherwise all labels are read, once for a file and all
    its views. Rows of a file without an index have the labels 0, 1, 2 ...

    Parameters
    ----------
    rows, columns
        A label, a slice of labels including both ends, a list or array of labels, or a boolean
        mask. A label that occurs several times selects all its rows. Keys of a `MultiIndex` may be
        tuples, in `f.loc[key, :]`.

    Returns
    -------
    File
        A view, even of a single row or value.

    Raises
    ------
    RowNotFoundError, ColumnNotFoundError
        No row or column has such a label.
    ArgumentError
        pandas can't look up such a key, or a mask has another index.

    Examples
    --------
    >>> df = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}, index=["x", "y", "z"])
    >>> en.write(df, "table.entasis")
    >>> en.open("table.entasis").loc["y":, "b"].read()
       b
    y  5
    z  6
    """

    __slots__ = ("_file_of", "_view")

    def __init__(self, view: View, file_of: Callable[[View], File]) -> None:
        self._view, self._file_of = view, file_of

    def __getitem__(self, key: Any) -> File:
        rows, columns = _axes(key)
        view = self._view
        numbers = _loc_columns(view, columns)
        selected = view.select(_key(columns), numbers, _rows.compose(view.rows, _loc_rows(view, rows)))
        return self._file_of(selected)


def _axes(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple):
        return key, slice(None)
    if len(key) == 2:
        return key
    if len(key) == 1:
        return key[0], slice(None)
    raise ArgumentError(f"a file has rows and columns, not {len(key)} axes")


def _key(columns: Any) -> Any:
    """The key of columns; None for all columns."""
    return None if isinstance(columns, slice) and columns == slice(None) else columns


def _without_pair(key: Any, noun: str) -> Any:
    """Refuse keys that `iloc` does not take: None, and a tuple (start, stop)."""
    if isinstance(key, tuple) and not _rows.is_mask(key):
        raise ArgumentError(f"{noun}s in f.iloc[...] can't be a tuple: use a slice or a list")
    if key is None:
        raise ArgumentError(f"{noun}s in f.iloc[...] can't be None: use a slice")
    return key


def _numbers(view: View, chosen: Any) -> list[int] | None:
    """The numbers of columns at these positions of a view."""
    if chosen is None:
        return view.columns
    positions = chosen if isinstance(chosen, range) else chosen.tolist()
    return list(positions) if view.columns is None else [view.columns[i] for i in positions]


def _loc_rows(view: View, key: Any) -> Any:
    if isinstance(key, slice) and key == slice(None):
        return None
    try:
        # Loaded on demand, because it needs the modules of filters.
        from entasis._view import sorted_labels as _sorted_labels

        found = _sorted_labels.find(view, key)
        if found is not None:
            return found
        labels = view.table.index(view.rows)
        return _row_labels.positions(labels, key, view.has_index, "row")
    except EntasisError:
        raise
    except KeyError as error:
        message = f"no row has the label {_missing(key, error)}: f.iloc[...] takes positions"
        raise RowNotFoundError(message) from error


def _loc_columns(view: View, key: Any) -> list[int] | None:
    if isinstance(key, slice) and key == slice(None):
        return view.columns
    table = view.table
    if isinstance(key, str) and table.labels.are_text and view.columns is None:
        found = table.labels.find(key)
        if len(found) == 1:
            return found
    labels = view.pandas_labels()
    try:
        return _numbers(view, _row_labels.positions(labels, key, lambda index: index.equals(labels), "column"))
    except EntasisError:
        raise
    except KeyError as error:
        level = ""
        if not isinstance(key, (slice, list)) and getattr(key, "__hash__", None) and table.levels.find(key) is not None:
            level = "; it is the name of the index: f.select(...) takes it"
        close = hint(key, table.labels, table.levels, view.columns) if not level and isinstance(key, str) else ""
        message = f"no column has the label {_missing(key, error)}{level or close}"
        raise ColumnNotFoundError(message) from error


def _missing(key: Any, error: KeyError) -> str:
    """The missing label for the error: the key, or the message of pandas for several labels."""
    if isinstance(key, (str, int, float, tuple)):
        return shown(key)
    text = "".join(letter if letter.isprintable() else "?" for letter in str(error.args[0] if error.args else key))
    return text if len(text) <= 200 else text[:197] + "..."
