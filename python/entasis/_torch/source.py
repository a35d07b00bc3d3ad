"""Rows of an open file: of a frame, of an array, or of a dict of arrays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from entasis._api import open
from entasis._arguments import rows as _rows
from entasis._arguments.options import shown
from entasis._file.file import File, Scan
from entasis._tree.part import a
from entasis._tree.tree import Tree
from entasis._view import reopen as _reopen
from entasis.errors import ArgumentError

from .shares import worker
from .tensors import ALONE

if TYPE_CHECKING:
    from entasis._arguments.secrets import AnyKey
    from entasis._arguments.sources import Source
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

    # Values by the name of a column or key. An array without a name has the name ALONE.
    Arrays = dict[Any, Any]

_ARRAYS = ("array", "array of objects")


class RowSource:
    """The selected rows of a file. Each process opens the file for itself.

    A process may be forked while another thread holds a lock of the open file, which nothing in the
    new process would release. A pickle opens the file at the first read, so that an error is raised
    by the dataset, and does not end a worker process at its start.

    Attributes
    ----------
    n_rows
        The number of rows.
    is_alone
        Whether the value is one array, without names.
    """

    def __init__(self, view: File | Tree, rows: Any, keys: list[Any] | None) -> None:
        self._view: File | Tree | None = view
        self._rows, self._keys, self._pid = rows, keys, os.getpid()
        # For pickles: the function that opens the view again, and its arguments.
        self._recipe: tuple[Any, ...] | None = None
        if isinstance(view, Tree):
            self.is_alone, n = keys is None, _n_rows(view, keys)
        else:
            # A series or an array of one axis is written as a frame.
            self.is_alone, n = not isinstance(self._read(range(0), None), dict), view.n_rows
        self.n_rows = _rows.count(rows, n)

    def read(self, rows: Any, threads: int | None) -> Arrays:
        """Read rows by a range or an array of positions."""
        if threads is None and worker()[1] > 1:
            threads = 1
        found = self._read(_rows.compose(self._rows, rows), threads)
        return {ALONE: found} if self.is_alone else found

    def _read(self, rows: Any, threads: int | None) -> Any:
        view = self._opened()
        if not isinstance(view, Tree):
            # Row labels are not among the values, unless `columns` names them.
            return view.read(rows=rows, to="numpy", threads=threads, index=view._view.columns is not None)
        if self._keys is None:
            return view.read(rows=rows, threads=threads)
        return {key: view[key].read(rows=rows, threads=threads) for key in self._keys}

    def _opened(self) -> File | Tree:
        view = self._view
        if view is None or (self._pid != os.getpid() and not _is_in_memory(view)):
            make, parts = self._how()
            if view is not None and (secret := _table(view).secret) is not None:
                parts = (_reopen.with_secret(parts[0], secret), *parts[1:])
            view = self._view = make(*parts)
            self._pid = os.getpid()
        return view

    def _how(self) -> tuple[Any, ...]:
        """The function that opens the view in another process, and its arguments."""
        if self._view is not None:
            self._recipe = self._view.__reduce__()
        assert self._recipe is not None, "a pickle has a recipe"
        return self._recipe

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_recipe": self._how(), "_view": None}


def _table(view: File | Tree) -> Any:
    """The open table of a view, or the cells of a tree."""
    return view._part.cells if isinstance(view, Tree) else view._view.table


def _is_in_memory(view: File | Tree) -> bool:
    return isinstance(_table(view).content, bytes)


def opened(
    source: Source | File | Tree | Scan,
    columns: Columns | None,
    rows: Rows | None,
    filter: Filter | None,
    key: AnyKey | None,
    password: str | None,
) -> RowSource:
    """Open the rows of a path, of an open file or view, or of a scan."""
    is_open = isinstance(source, (File, Tree, Scan))
    if is_open and (key is not None or password is not None):
        raise ArgumentError("key= and password= are for paths: an open file needs no key")
    if isinstance(source, Scan):
        source = source.view()
    view = source if isinstance(source, (File, Tree)) else open(source, key=key, password=password)
    if not isinstance(view, Tree):
        return RowSource(view.scan(columns, filter, rows).view(), None, None)
    if filter is not None:
        raise ArgumentError("filter= is for frames, and the file holds another value")
    keys = None
    if view.kind == "dict":
        keys = view.keys() if columns is None else _keys(columns)
    elif view.kind not in _ARRAYS:
        raise ArgumentError(
            f"rows are those of a frame, an array or a dict of arrays, and this value is {a(view.kind)}: "
            "open the file and pass a part of it"
        )
    elif columns is not None:
        raise ArgumentError("columns= is for frames and for dicts of arrays, not for an array")
    return RowSource(view, _rows.resolve(rows, _n_rows(view, keys), holder="array"), keys)


def _keys(columns: Columns) -> list[Any]:
    if isinstance(columns, list):
        return columns
    if isinstance(columns, (slice, range)):
        raise ArgumentError(f"columns={shown(columns)}: keys of a dict are selected by a list of them")
    return [columns]


def _n_rows(view: Tree, keys: list[Any] | None) -> int:
    """The length of the first axis of an array, or of all arrays of a dict."""
    lengths: dict[Any, int] = {}
    for key in [ALONE] if keys is None else keys:
        part = view if keys is None else view[key]
        what = "the array" if keys is None else f"the part {shown(key)}"
        if not isinstance(part, Tree) or part.kind not in _ARRAYS:
            kind = part.kind if isinstance(part, Tree) else "frame"
            raise ArgumentError(f"{what} is {a(kind)}, not an array: choose arrays with columns=[...]")
        if not part.shape:
            raise ArgumentError(f"{what} has no axes, and so no rows")
        lengths[key] = len(part)
    if len(set(lengths.values())) > 1:
        several = ", ".join(f"{shown(key)}: {n}" for key, n in list(lengths.items())[:5])
        raise ArgumentError(f"the arrays have different lengths ({several}): choose some with columns=[...]")
    if not lengths:
        raise ArgumentError("no arrays were chosen, so there are no rows")
    return next(iter(lengths.values()))
