"""Reads files of other formats for `entasis.read`, and names them in errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import sources as _sources
from entasis._dataset.scan import scan
from entasis._filter import bind as _bind
from entasis._open import read_value
from entasis.errors import (
    ArgumentError,
    CorruptFileError,
    DirectoryError,
    EntasisError,
    NotEntasisError,
    UnsupportedTypeError,
)

from . import formats as _formats
from .in_memory import staged
from .inputs.arrow import ArrowInput
from .inputs.open import opened

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._arguments.secrets import Secret
    from entasis._filter.conditions import Filter
    from entasis._libraries.registry import Host
    from entasis._typing import Columns, OnRefused, Rows

# Formats that `entasis.read` reads. Texts have too many options of their own.
_READ = ("entasis", "parquet", "arrow", "arrow_stream", "feather", "npy", "npz", "jsonl")


def other_format(path: Any, error: EntasisError) -> str | None:
    """The format of a file that is not an Entasis file; None if it is not read.

    A format that is refused by name raises its own error.
    """
    if not isinstance(error, (NotEntasisError, DirectoryError, CorruptFileError)):
        return None
    try:
        found = _formats.of_source(_sources.source(path), None)
    except UnsupportedTypeError as other:
        if isinstance(error, NotEntasisError):
            refused = NotEntasisError(f"not an Entasis file: {other}")
            refused.file = error.file
            raise refused from None
        return None
    except EntasisError:
        return None
    # Only folders of such files: a damaged file is one of its own format.
    is_folder = isinstance(error, DirectoryError)
    return found if found in _READ and (found != "entasis" or is_folder) else None


def advice(path: Any, error: EntasisError) -> EntasisError:
    """The error about a file that can't be opened, with the functions that read it."""
    form = other_format(path, error)
    if form is None:
        return error
    others = (
        "scan its files with en.scan(path)" if form == "entasis" else "convert it with en.convert(path, 'x.entasis')"
    )
    found = type(error)(f"{str(error).partition('; ')[0]}; read it with en.read(path), or {others}")
    found.__dict__.update({name: value for name, value in vars(error).items() if name != "args"})
    return found


def read(
    path: Any,
    form: str,
    columns: Columns | None,
    rows: Rows | None,
    filter: Filter | None,
    to: Host | None,
    threads: int | None,
    index: bool,
    nan_to_null: bool | None,
    on_unsupported: OnRefused,
    progress: bool | Callable[..., Any] | None,
    secret: Secret | None = None,
) -> Any:
    """Read a file of another format, or some columns and rows of it."""
    if form == "entasis":
        if nan_to_null is not None or on_unsupported != "error":
            raise ArgumentError("nan_to_null= and on_unsupported= are for files: read those of the folder")
        found = scan(path, columns=columns, filter=filter, rows=rows, key=secret)  # type: ignore[arg-type]
        return found.read(to=to, threads=threads, index=index, progress=progress)
    if secret is not None:
        raise ArgumentError(f"key= and password= are for encrypted Entasis files, and this is a file of {form}")
    given = opened(_sources.source(path), form, threads)
    if isinstance(given, ArrowInput) and given.host != "pandas":
        # Only the columns that are needed, and the rows that pass, are read.
        if filter is not None:
            _bind.condition(filter)
        given = given.selected(columns, rows, filter)
        columns = rows = filter = None
    value = given.whole()
    chosen = columns is not None or rows is not None or filter is not None
    if not chosen and index and nan_to_null is None and to in (None, given.host):
        return value
    file = staged(value)
    return read_value(file, columns, rows, filter, to, threads, index, nan_to_null, on_unsupported)
