"""Reads rows of many files into one frame."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis import _entasis
from entasis._grow.hosts import rules as rules_of
from entasis._libraries import registry as _hosts
from entasis._memory import reported
from entasis._view import sample as _sample
from entasis._view.query import Query as FileQuery
from entasis._view.read import read as read_view

from .together import Together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .query import Piece, Query
    from .table import Table


class _How(NamedTuple):
    """How rows are read: the library, the number of threads, and whether with an index.

    `is_counted` is whether the index counts rows. None is as in the first file. `is_followed` is
    whether the progress of this thread is shown, so that others don't read ahead.
    """

    host: str
    threads: int | None
    has_index: bool
    is_counted: bool | None = None
    is_followed: bool = False


@reported
def read(
    query: Query,
    to: str | None,
    threads: int | None,
    *,
    index: bool,
    show: Callable[[int, int | None], Any] | None = None,
) -> Any:
    """The rows that pass as a frame. `show` is called with the values that were read, and with all."""
    how = _How(_host(query, to), threads, index, is_followed=show is not None)
    is_whole = query.condition is None and query.limit is None and query.rows is None
    if show is None:
        return _whole(query, how, is_whole=is_whole)
    total = _n_values(query)
    with _entasis.Followed(show, total):
        found = _whole(query, how, is_whole=is_whole)
    show(total, total)
    return found


@reported
def read_to_store(query: Query, show: Callable[[int, int | None], Any] | None, *, is_counted: bool) -> Any:
    """The rows that pass as a frame, with the labels that they have in a file of their own.

    `show` is called as for `read`, and `is_counted` is whether labels count rows.
    """
    how = _How(
        _hosts.to_store_again(query.table.first.written_by), None, True, is_counted, is_followed=show is not None
    )
    if show is None:
        return _whole(query, how, is_whole=True)
    with _entasis.Followed(show, query.count() * len(query.stored())):
        return _whole(query, how, is_whole=True)


def _n_values(query: Query) -> int:
    """The values that a reading decodes at most, with the rows that a condition is tested on."""
    if query.condition is None:
        return query.count() * len(query.stored())
    return sum(piece.query.view.n_rows for piece in query.pieces()) * (len(query.stored()) + 1)


def _whole(query: Query, how: _How, *, is_whole: bool) -> Any:
    return _joined(query, how, _parts(query, how, are_numbered=_is_counted(query, how)), is_whole=is_whole)


@reported
def sample(query: Query, n: int | None, fraction: float | None, seed: int | None, by: str, to: str | None) -> Any:
    """Random rows of those that pass."""
    how = _How(_host(query, to), None, has_index=True)
    pieces = list(query.passing(are_numbered=_is_counted(query, how)))
    rows = _sample.draw(sum(piece.query.view.n_rows for piece in pieces), n, fraction, seed, by)

    def parts() -> Iterator[tuple[Piece, Any, int]]:
        first = 0
        for piece in pieces:
            view = piece.query.view
            drawn = rows[(rows >= first) & (rows < first + view.n_rows)] - first
            first += view.n_rows
            if len(drawn):
                yield piece, *_of_file(query, how, FileQuery(view.part(drawn), None, None))

    return _joined(query, how, parts(), is_whole=False)


def batches(query: Query, n: int, to: str | None) -> Iterator[Any]:
    """The rows that pass in frames, testing `n` rows of a file for each. Each frame has rows."""
    how, left = _How(_host(query, to), None, has_index=True), query.limit
    are_numbered = _is_counted(query, how)
    if left is None:
        for found, _ in query.from_parts(partial(_batches, query, how, n), are_numbered=are_numbered):
            yield found
        return
    if left == 0:
        return
    for piece in query.pieces(are_numbered=are_numbered):
        for found, n_rows in _batches(query, how, n, piece, left):
            left -= n_rows
            yield found
        # The next file need not be opened.
        if left == 0:
            return


def _batches(query: Query, how: _How, n: int, piece: Piece, left: int | None = None) -> Iterator[tuple[Any, int]]:
    """The rows of a file that pass, in frames with rows, and their numbers. At most `left` rows."""
    view = piece.query.view
    for start in range(0, view.n_rows, n):
        if left == 0:
            return
        rows = FileQuery(view.part(slice(start, start + n)), piece.query.condition, left)
        with reported:
            part, n_rows = _of_file(query, how, rows)
            found = _joined(query, how, iter([(piece, part, n_rows)]), is_whole=False) if n_rows else None
        if found is not None:
            left = None if left is None else left - n_rows
            yield found, n_rows


def _host(query: Query, to: str | None) -> str:
    return _hosts.host_of(to, query.table.first.written_by)


def _joined(query: Query, how: _How, parts: Iterator[tuple[Piece, Any, int]], *, is_whole: bool) -> Any:
    """The rows of files in one frame, with keys. `is_whole`: whether counted labels begin with 0."""
    table, host = query.table, how.host
    together = Together(host, fills=table.fills)
    is_counted = _is_counted(query, how)
    numbers: list[int] = []
    counts: list[int] = []
    for piece, part, n in parts:
        if not counts and piece.number:
            together.declare(_empty(query, how))
        if is_counted:
            assert piece.first is not None, "rows are numbered"
            label = table.first_label(piece.number)
            is_whole = is_whole and label is not None
            if label is not None and label != piece.first:
                part = _shifted(part, host, piece.first - label)
        together.add(part, table.files.paths[piece.number])
        numbers.append(piece.number)
        counts.append(n)
    whole = together.joined()
    if whole is None:
        whole = _empty(query, how)
    if (is_counted and is_whole) or not how.has_index:
        whole = _renumbered(whole, how)
    names = table.files.keys.names
    if names and (query.columns is None or set(query.columns) & set(names)):
        return _with_keys(whole, query, host, numbers, counts)
    return whole


def _empty(query: Query, how: _How) -> Any:
    """No rows of all columns that files store."""
    table = query.table
    stored = query.stored()
    together = Together(how.host, fills=True)
    numbers = dict.fromkeys(table.columns()[name] for name in stored) or {0: None}
    for number in numbers:
        view = table.view(number)
        of_file = [name for name in stored if table.columns()[name] == number]
        every = query.columns is None and len(numbers) == 1
        part = view.narrow(None if every else view.resolve(of_file), range(0))
        together.add(read_view(part, how.host, how.threads, how.has_index), table.files.paths[number])
    return together.joined()


def _parts(query: Query, how: _How, *, are_numbered: bool) -> Iterator[tuple[Piece, Any, int]]:
    """The rows of each file, and their number."""
    left = query.limit
    if left is None and not how.is_followed:
        yield from query.from_parts(partial(_part, query, how), are_numbered=are_numbered)
        return
    if left == 0:
        return
    for piece in query.pieces(are_numbered=are_numbered):
        part, n = _of_file(query, how, piece.query.limited(left))
        left = None if left is None else left - n
        if n:
            yield piece, part, n
        # The next file need not be opened.
        if left == 0:
            return


def _part(query: Query, how: _How, piece: Piece) -> list[tuple[Piece, Any, int]]:
    """The rows of a file that pass, and their number; empty without any."""
    part, n = _of_file(query, how, piece.query)
    return [(piece, part, n)] if n else []


def _of_file(query: Query, how: _How, rows: FileQuery) -> tuple[Any, int]:
    """Rows of a file, and their number."""
    names = None if query.columns is None else query.stored()
    if names is not None and query.table.fills:
        has = set(rows.view.names())
        names = [name for name in names if name in has]
    if names == []:
        # Frames without columns do not know their number of rows.
        view = rows.passing(how.threads)
        return read_view(view.narrow([], view.rows), how.host, how.threads, how.has_index), view.n_rows
    part = rows.read(columns=names, to=how.host, threads=how.threads, index=how.has_index)
    return part, rules_of(how.host).length(part)


def _is_counted(query: Query, how: _How) -> bool:
    """Whether a frame has an index that counts rows."""
    if how.is_counted is not None:
        return how.is_counted
    return how.has_index and is_counted(query.table, how.host)


def is_counted(table: Table, host: str) -> bool:
    """Whether a library has an index, and that of the first file counts rows."""
    if host not in ("pandas", "static_frame"):
        return False
    first = table.first
    spec = first.table.host.get("index") if first.written_by in ("pandas", "static_frame") else None
    if spec is None:
        return True
    if first.written_by == "static_frame":
        return spec.get("kind") in ("auto", "range")
    return rules_of("pandas").is_counted(spec)


def _shifted(part: Any, host: str, n: int) -> Any:
    """A frame whose labels are greater by `n`."""
    if host == "pandas":
        return part.set_axis(part.index + n)
    return part.relabel(part.index.values + n)


def _renumbered(whole: Any, how: _How) -> Any:
    """A frame whose labels are the numbers of its rows."""
    if how.host == "pandas":
        import pandas as pd

        return whole.set_axis(pd.RangeIndex(len(whole), name=whole.index.name if how.has_index else None))
    if how.host == "static_frame":
        import static_frame as sf

        return whole.relabel(sf.IndexAutoFactory)
    return whole


def _with_keys(whole: Any, query: Query, host: str, numbers: list[int], counts: list[int]) -> Any:
    """A frame with the keys of its rows, in the order of the query.

    Parameters
    ----------
    numbers, counts
        The numbers of the files, and how many rows of each the frame has.
    """
    import numpy as np

    wanted = query.names()
    keys = [name for name in query.table.files.keys.names if name in wanted]
    rows = np.repeat(np.asarray(numbers, np.int64), counts)
    view = query.table.keys._view.narrow(query.table.keys._view.resolve(keys), None)
    if host == "static_frame":
        import static_frame as sf

        # Its labels are unique, so rows can't be read twice.
        few = read_view(view, host, None, index=False)
        found: Any = sf.Frame.from_items((name, few[name].values[rows]) for name in keys)
    else:
        found = read_view(view.part(rows), host, None, index=False)
    if host == "polars":
        # A frame without columns takes the length of the first one.
        return (whole.hstack(found.get_columns()) if whole.width else found).select(wanted)
    if host == "pyarrow":
        for field in found.schema:
            whole = whole.append_column(field, found[field.name])
        return whole.select(wanted)
    if host == "numpy":
        both = {**whole, **found}
        return {name: both[name] for name in wanted}
    if query.columns is None:
        # Labels of columns need not be text.
        sources = [(False, i) for i in range(whole.shape[1])] + [(True, i) for i in range(len(keys))]
    else:
        stored = query.stored()
        sources = [(name in keys, keys.index(name) if name in keys else stored.index(name)) for name in wanted]
    rules = rules_of(host)
    return rules.with_columns(whole, found, sources, rules.joined_labels(whole.iloc[:0], found.iloc[:0], sources))
