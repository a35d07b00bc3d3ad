"""Finds out how a text file is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis import _entasis
from entasis._memory import reported
from entasis.errors import ArgumentError

from . import arguments as _arguments
from .spec import Reason, Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .spec import Source


def sniff_csv(
    source: Source,
    *,
    rows: Literal["all"] | None = None,
    dates: str
    | Iterable[str]
    | Mapping[str, str | Iterable[str]]
    | Mapping[str | None, str | Iterable[str]]
    | None = None,
    encoding: str | None = None,
) -> Spec:
    """Find out how a text file is written, and the types of its columns.

    Parameters
    ----------
    source
        As for `read_csv`. Of an object with `read` the start is read, and not given back.
    rows
        None takes types that hold for the first 10,000 rows. "all" reads the whole text, so that
        the types hold for all rows.
    dates, encoding
        As for `read_csv`. The spec keeps the formats of dates.

    Returns
    -------
    Spec
        What `read_csv(source, spec=spec)` needs. Its `reasons` say why.

    Raises
    ------
    ArgumentError
        The text is empty, or another format.
    FileError
        The operating system refused to read.

    Examples
    --------
    >>> spec = en.sniff_csv(b"id;price\\n1;2,5\\n2;3,25\\n")
    >>> spec.separator, spec.decimal, spec.types
    (';', ',', ['int64', 'float64'])
    """
    if rows not in (None, "all"):
        raise ArgumentError(f"rows={rows!r}: None or 'all'")
    with reported:
        found = _arguments.source(source)
        settings: dict[str, Any] = _arguments.of(dates=dates, encoding=encoding)
        text, reasons = _entasis.sniff_csv(found, settings, rows == "all")
        return Spec(Spec.of(text)._parts, [Reason(*reason) for reason in reasons])
