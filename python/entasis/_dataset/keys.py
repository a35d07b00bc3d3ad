"""Keys in the paths of files: columns with one value for each file."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._file.file import File
from entasis._libraries import registry as _hosts
from entasis._open import open_value
from entasis._write import destination, write_whole
from entasis.errors import MissingLibraryError

if TYPE_CHECKING:
    from collections.abc import Sequence


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

    def table(self) -> File:
        """A table in memory with a row for each file."""
        columns = {
            name: [None if text is None else _value(text, kind) for text in texts]
            for name, kind, texts in zip(self.names, self.types, self.texts, strict=True)
        }
        content = write_whole(_frame(columns, self.types), destination(None, 0, 1, False, 0), None, "error")
        found: Any = open_value(content)  # type: ignore[arg-type]
        assert type(found) is File, "a frame was written"
        return found


NONE = Keys([], [], [])


def _value(text: str, kind: str) -> Any:
    return int(text) if kind == "int64" else datetime.date.fromisoformat(text) if kind == "date" else text


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
