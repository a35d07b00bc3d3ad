"""`f.iloc[rows, columns]` by positions, and `f.loc[rows, columns]` by labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import shown
from entasis.errors import ArgumentError, ColumnNotFoundError, EntasisError, RowNotFoundError

from . import row_labels as _row_labels
from .column_labels import hint

if TYPE_CHECKING:
    from .file import File


class ILoc:
    """Rows and columns by their positions, as pandas' `iloc` takes them: `f.iloc[rows]`, `f.iloc[rows, columns]`.

    Parameters
    ----------
    rows, columns
        An integer, a slice, a range, or integers or a boolean mask in a list or array. Negative numbers count from
        the end.

    Returns
    -------
    File
        A view, also of one row or one cell. Nothing is read.

    Raises
    ------
    RowsOutOfRangeError, ColumnsOutOfRangeError
        There is no such position. Slices are cut to what there is.

    Examples
    --------
    >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "table.entasis")
    >>> en.open("table.entasis").iloc[-2:, 0].read()
       a
    1  2
    2  3
    """

    __slots__ = ("_file",)

    def __init__(self, file: File) -> None:
        self._file = file

    def __getitem__(self, key: Any) -> File:
        rows, columns = _axes(key)
        file = self._file
        chosen = _rows.resolve(_without_pair(columns, "column"), file.n_columns, noun="column")
        return file._view(_numbers(file, chosen), file._compose(_without_pair(rows, "row")))


class Loc:
    """Rows and columns by their labels, as pandas' `loc` takes them: `f.loc[rows]`, `f.loc[rows, columns]`.

    Only the labels are read, once for a file and its views. Rows of files without an index have the labels 0, 1, 2 ...

    Parameters
    ----------
    rows, columns
        A label, a slice of labels with both ends, labels in a list or array, or a boolean mask. A label that occurs
        several times selects all of them. Keys of a `MultiIndex` may be tuples, in `f.loc[key, :]`.

    Returns
    -------
    File
        A view, also of one row or one cell.

    Raises
    ------
    RowNotFoundError, ColumnNotFoundError
        There is no such label.
    ArgumentError
        pandas can't look for such a key, or a mask has another index.

    Examples
    --------
    >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}, index=["x", "y", "z"]), "table.entasis")
    >>> en.open("table.entasis").loc["y":, "b"].read()
       b
    y  5
    z  6
    """

    __slots__ = ("_file",)

    def __init__(self, file: File) -> None:
        self._file = file

    def __getitem__(self, key: Any) -> File:
        rows, columns = _axes(key)
        file = self._file
        return file._view(_loc_columns(file, columns), _rows.compose(file._rows, _loc_rows(file, rows)))


def _axes(key: Any) -> tuple[Any, Any]:
    if not isinstance(key, tuple):
        return key, slice(None)
    if len(key) == 2:
        return key
    if len(key) == 1:
        return key[0], slice(None)
    raise ArgumentError(f"a file has rows and columns, not {len(key)} axes")


def _without_pair(key: Any, noun: str) -> Any:
    """A key of `iloc`, in which a tuple is no (start, stop)."""
    if isinstance(key, tuple) and not _rows.is_mask(key):
        raise ArgumentError(f"{noun}s in f.iloc[...] can't be a tuple: use a slice or a list")
    if key is None:
        raise ArgumentError(f"{noun}s in f.iloc[...] can't be None: use a slice")
    return key


def _numbers(file: File, chosen: Any) -> list[int] | None:
    """Numbers of columns, by their places in a view."""
    if chosen is None:
        return file._columns
    places = chosen if isinstance(chosen, range) else chosen.tolist()
    view = file._columns
    return list(places) if view is None else [view[place] for place in places]


def _loc_rows(file: File, key: Any) -> Any:
    if isinstance(key, slice) and key == slice(None):
        return None
    labels = file._frame.index(file._rows)
    try:
        return _row_labels.places(labels, key, file._has_index, "row")
    except EntasisError:
        raise
    except KeyError as error:
        message = f"there is no row with the label {_missing(key, error)}: f.iloc[...] takes positions"
        raise RowNotFoundError(message) from error


def _loc_columns(file: File, key: Any) -> list[int] | None:
    if isinstance(key, slice) and key == slice(None):
        return file._columns
    frame, view = file._frame, file._columns
    if isinstance(key, str) and frame.labels.are_text and view is None:
        found = frame.labels.find(key)
        if len(found) == 1:
            return found
    labels = file._pandas_labels()
    try:
        return _numbers(file, _row_labels.places(labels, key, lambda index: index.equals(labels), "column"))
    except EntasisError:
        raise
    except KeyError as error:
        level = ""
        if not isinstance(key, (slice, list)) and getattr(key, "__hash__", None) and frame.levels.find(key) is not None:
            level = "; it is the name of the index: f.select(...) takes it"
        close = hint(key, frame.labels, frame.levels, view) if not level and isinstance(key, str) else ""
        message = f"there is no column with the label {_missing(key, error)}{level or close}"
        raise ColumnNotFoundError(message) from error


def _missing(key: Any, error: KeyError) -> str:
    """What pandas says of a label that isn't there, when it was one of several."""
    if isinstance(key, (str, int, float, tuple)):
        return shown(key)
    text = "".join(letter if letter.isprintable() else "?" for letter in str(error.args[0] if error.args else key))
    return text if len(text) <= 200 else text[:197] + "..."
