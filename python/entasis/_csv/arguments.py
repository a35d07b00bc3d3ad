"""Checks the arguments of readings of text, and brings them into the form of the core."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from entasis._arguments import options as _options
from entasis._arguments import sources as _sources
from entasis._columns.text import is_text
from entasis.errors import ArgumentError, MissingFileError

from .dtypes import type_name
from .spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Handle
    from entasis._typing import Rows

    from .spec import Source

# Bytes of a copy of a stream that is read again when the type of a column changes late.
SPILL_LIMIT = 64 << 30
MAX_FIELD = 64 << 20


def of(
    *,
    spec: Spec | str | os.PathLike[str] | None = None,
    sep: str | None = None,
    quote: str | None = "auto",
    escape: str | None = "auto",
    comment: str | None = "auto",
    skip: int | None = None,
    header: bool | None = None,
    names: Iterable[str] | None = None,
    first_is_unnamed: bool = False,
    columns: str | Iterable[str] | None = None,
    drop: str | Iterable[str] | None = None,
    dtypes: Mapping[str, Any] | None = None,
    na: str | Iterable[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    dates: str
    | Iterable[str]
    | Mapping[str, str | Iterable[str]]
    | Mapping[str | None, str | Iterable[str]]
    | None = None,
    id: str | None = None,
    encoding: str | None = None,
    fill: bool = False,
    on_error: str = "error",
    rows: tuple[int, int] | None = None,
    filter: tuple[list[str], Callable[[Handle], tuple[Any, ...]]] | None = None,
    max_field: int = MAX_FIELD,
    max_bytes: int | None = None,
    spill_limit: int = SPILL_LIMIT,
    threads: int | None = None,
    views: bool = False,
    strings: str = "plain",
    chunk_len: int | None = None,
    window_len: int | None = None,
) -> dict[str, Any]:
    """The arguments as the core takes them."""
    if columns is not None and drop is not None:
        raise ArgumentError("pass columns= or drop=, not both")
    if on_error not in ("error", "missing", "skip"):
        raise ArgumentError(f"on_error={on_error!r}: one of 'error', 'missing', 'skip'")
    if strings not in ("plain", "categorical"):
        raise ArgumentError(f"strings={strings!r}: 'plain' or 'categorical'")
    if header not in (None, True, False):
        raise ArgumentError(f"header={header!r}: True, False, or None to be warned of a doubtful header")
    return {
        "spec": None if spec is None else Spec.of(spec).to_json(),
        "sep": _separator(sep),
        "quote": _optional_byte("quote", quote),
        "escape": _optional_byte("escape", escape),
        "comment": _optional_byte("comment", comment),
        "skip": None if skip is None else _options.integer_between("skip", skip, "a number of lines", 0, None),
        "header": None if header is None else bool(header),
        "names": None if names is None else _texts("names", names),
        "first_is_unnamed": first_is_unnamed,
        "columns": None if columns is None else _texts("columns", columns),
        "drop": None if drop is None else _texts("drop", drop),
        "dtypes": [(name, type_name(name, dtype)) for name, dtype in _pairs(dtypes)],
        "na": None if na is None else _texts("na", na),
        "decimal": _byte("decimal", decimal),
        "thousands": _byte("thousands", thousands),
        "dates": formats(dates),
        "id": None if id is None else _texts("id", id)[0],
        "encoding": encoding,
        "fill": bool(fill),
        "on_error": on_error,
        "rows": rows,
        "filter": filter,
        "max_field": _options.integer_between("max_field", max_field, "a number of bytes", 1, None),
        "max_bytes": max_bytes,
        "spill_limit": _options.integer_between("spill_limit", spill_limit, "a number of bytes", 0, None),
        "threads": _options.threads(threads),
        "views": views,
        "as_categories": strings == "categorical",
        "chunk_len": chunk_len,
        "window_len": window_len,
    }


def sources(value: Source | Iterable[Source]) -> list[tuple[Any, str]]:
    """The sources of a table as the core takes them, each with its name in messages."""
    if isinstance(value, (list, tuple)):
        found = [source(one) for one in value]
        if not found:
            raise ArgumentError("there are no texts to read: the list of sources is empty")
        return found
    one, name = source(value)  # type: ignore[arg-type]
    if isinstance(one, str) and any(mark in one for mark in "*?[") and not os.path.lexists(one):
        import glob

        paths = sorted(path for path in glob.glob(one, recursive=True) if not os.path.isdir(path))
        if not paths:
            raise MissingFileError(f"no file matches the pattern {one[:200]!r}")
        return [(path, path) for path in paths]
    return [(one, name)]


def source(value: Source) -> tuple[Any, str]:
    """A source as the core takes it, and its name in messages."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), "<bytes>"
    if _sources.is_address(value):
        remote = _sources.remote(value)
        return _sources.source(remote), remote.name
    read = getattr(value, "read", None)
    if read is None or hasattr(type(value), "__fspath__"):
        found = _sources.path(value)  # type: ignore[arg-type]
        return os.fspath(found), found
    name = getattr(value, "name", None)
    return value, name if isinstance(name, str) else f"<{type(value).__name__}>"


def limits(rows: Rows | None) -> tuple[int, int] | None:
    """The start and the end of consecutive rows; None for other selections."""
    if isinstance(rows, tuple) and len(rows) == 2:
        start, stop = rows
    elif isinstance(rows, (slice, range)) and rows.step in (None, 1):
        start, stop = rows.start, rows.stop
    else:
        return None
    first, end = _options.integer(0 if start is None else start), _options.integer((1 << 63) if stop is None else stop)
    if first is None or end is None or first < 0 or end < 0:
        return None
    return first, max(first, end)


def formats(
    dates: str | Iterable[str] | Mapping[str, str | Iterable[str]] | Mapping[str | None, str | Iterable[str]] | None,
) -> list[tuple[str | None, list[str]]]:
    """The formats of dates for columns by their names, and for None those of all columns."""
    if dates is None:
        return []
    pairs = dates.items() if isinstance(dates, Mapping) else [(None, dates)]
    found: list[tuple[str | None, list[str]]] = []
    for name, formats in pairs:
        texts = [formats] if isinstance(formats, str) or not isinstance(formats, Iterable) else list(formats)
        if not all(isinstance(text, str) for text in texts) or not (name is None or isinstance(name, str)):
            raise ArgumentError(
                "dates= is a format such as '%d/%m/%Y', a list of formats, or a dict from columns to them"
            )
        found.append((name, texts))
    return found


def _pairs(dtypes: Mapping[str, Any] | None) -> Iterable[tuple[str, Any]]:
    if dtypes is None:
        return []
    if not isinstance(dtypes, Mapping):
        raise ArgumentError("dtypes= is a dict with a type for each of some columns: {'zip': 'string'}")
    return dtypes.items()


def _texts(what: str, values: str | Iterable[str]) -> list[str]:
    found = [values] if isinstance(values, str) else list(values)
    for value in found:
        if not isinstance(value, str) or not is_text(value):
            raise ArgumentError(f"{what}= has {_options.shown(value)}, and columns of a text have strings as names")
    return found


def _separator(value: str | None) -> str | None:
    is_pair = isinstance(value, str) and len(value) == 2 and value[0] != " " == value[1]
    if value == "blanks" or (is_pair and value is not None and value.isascii()):
        return value
    if value is not None and (not isinstance(value, str) or len(value) != 1 or not value.isascii()):
        raise ArgumentError(f"sep={value!r}: one ASCII character, one and a blank, 'blanks', or None to be found out")
    return value


def _byte(what: str, value: str | None) -> str | None:
    if value is not None and (not isinstance(value, str) or len(value) != 1 or not value.isascii()):
        raise ArgumentError(f"{what}={value!r}: one ASCII character, or None to be found out")
    return value


def _optional_byte(what: str, value: str | None) -> str | None:
    """None for "auto", and an empty text for none."""
    if value is None:
        return ""
    if value == "auto":
        return None
    if not isinstance(value, str) or len(value) != 1 or not value.isascii():
        raise ArgumentError(f"{what}={value!r}: one ASCII character, None for none, or 'auto' to be found out")
    return value
