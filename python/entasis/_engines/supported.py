"""Columns whose types an engine lacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from entasis._arguments.options import on_refused
from entasis._hosts import leave_out
from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._file.scan import Scan
    from entasis._libraries.registry import Host
    from entasis._typing import OnRefused


def supported(scan: Scan, to: Host, on_unsupported: OnRefused) -> Scan:
    """A scan without the columns whose type a library lacks, after a warning about them.

    With "error" the scan stays as it is, and reading it raises the error.
    """
    on_refused(on_unsupported)
    if on_unsupported == "error":
        return scan
    file = scan._file

    def read(columns: list[int] | None) -> list[int] | None:
        file._view(columns, range(0)).read(to=to)
        return columns

    every = leave_out.every(file._handle, file._frame.host, file._columns, has_index=False)
    kept: list[int] | None = leave_out.read(read, file._columns, every, stacklevel=5)
    return type(scan)(file._view(kept, file._rows), scan._condition, scan._limit)


@contextmanager
def advising(way: str) -> Iterator[None]:
    """Tell in the error for an unsupported column how to scan the others by a call."""
    try:
        yield
    except UnsupportedTypeError as error:
        raise UnsupportedTypeError(
            f'{error}; choose others by open(path).select([...]).{way}, or pass on_unsupported="skip"'
        ) from error
