"""Keys in the paths of files: columns with one value for each file."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._arguments.options import shown
from entasis._libraries import registry as _hosts
from entasis.errors import ArgumentError, MissingLibraryError

from .in_memory import in_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._file.file import File

TYPES = ("int64", "date", "string")
_INTEGER, _DATE = re.compile(r"0|-?[1-9][0-9]{0,18}"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Keys(NamedTuple):
    """The keys of files.

    Attributes
    ----------
    names
        The names of the keys.
    types
        The type of each key: "int64", "date" or "string".
    texts
        The texts of the values of each key by file; None is missing.
    """

    names: list[str]
    types: list[str]
    texts: list[list[str | None]]

    def of(self, numbers: Sequence[int]) -> Keys:
        """The keys of some of the files."""
        return self._replace(texts=[[values[i] for i in numbers] for values in self.texts])

    def typed(self) -> dict[str, str]:
        """The types of the keys that have a value. A key whose values are all missing takes any type."""
        every = zip(self.names, self.types, self.texts, strict=True)
        return {name: kind for name, kind, texts in every if any(text is not None for text in texts)}

    def table(self) -> File:
        """A table in memory with a row for each file."""
        columns = {
            name: [None if text is None else _value(text, kind, name) for text in texts]
            for name, kind, texts in zip(self.names, self.types, self.texts, strict=True)
        }
        return in_memory(_frame(columns, self.types))


NONE = Keys([], [], [])


def is_of(text: str, kind: str) -> bool:
    """Whether a text is one of a value of a key of a type, as writers of manifests have it."""
    if kind == "int64":
        return _INTEGER.fullmatch(text) is not None and -(1 << 63) <= int(text) < 1 << 63
    if kind == "date":
        try:
            return _DATE.fullmatch(text) is not None and bool(datetime.date.fromisoformat(text))
        except ValueError:
            return False
    return kind == "string"


def _value(text: str, kind: str, name: str) -> Any:
    if kind != "date":
        return int(text) if kind == "int64" else text
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        raise ArgumentError(
            f"the key {shown(name)} has {shown(text)}, and dates begin with the year 1: pass "
            f"hive={{{name!r}: 'string'}}"
        ) from None


def _frame(columns: dict[str, list[Any]], types: list[str]) -> Any:
    """A frame of a library that has integers with missing values, and dates."""
    if _hosts.is_installed("pyarrow"):
        import pyarrow as pa

        of = {"int64": pa.int64(), "date": pa.date32(), "string": pa.large_string()}
        arrays = [pa.array(values, of[kind]) for values, kind in zip(columns.values(), types, strict=True)]
        return pa.Table.from_arrays(arrays, names=list(columns))
    if _hosts.is_installed("polars"):
        import polars as pl

        kinds = {"int64": pl.Int64(), "date": pl.Date(), "string": pl.String()}
        return pl.DataFrame(columns, schema={name: kinds[kind] for name, kind in zip(columns, types, strict=True)})
    raise MissingLibraryError("keys in the names of folders need pyarrow or Polars: pip install pyarrow")
