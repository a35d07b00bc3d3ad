"""Columns whose types an engine lacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from entasis._arguments.options import on_refused
from entasis._hosts import leave_out
from entasis._view.read import read as read_view
from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._libraries.registry import Host
    from entasis._typing import OnRefused
    from entasis._view.query import Query


def supported(query: Query, to: Host, on_unsupported: OnRefused) -> Query:
    """A query without the columns whose type a library lacks, after a warning about them.

    With "error" the query is returned unchanged, and reading it raises the error.
    """
    on_refused(on_unsupported)
    if on_unsupported == "error":
        return query
    view = query.view

    def read(columns: list[int] | None) -> list[int] | None:
        read_view(view.narrow(columns, range(0)), to)
        return columns

    every = leave_out.every(view.handle, view.table.host, view.columns, has_index=False)
    kept: list[int] | None = leave_out.read(read, view.columns, every, stacklevel=5)
    return query.of(view.narrow(kept, view.rows))


@contextmanager
def advising(way: str) -> Iterator[None]:
    """Add advice to the error for an unsupported column: the call that scans the other columns."""
    try:
        yield
    except UnsupportedTypeError as error:
        raise UnsupportedTypeError(
            f'{error}; choose others by open(path).select([...]).{way}, or pass on_unsupported="skip"'
        ) from error
