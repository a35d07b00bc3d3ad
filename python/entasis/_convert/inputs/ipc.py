"""Files and streams of Arrow, and Feather."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from entasis._convert import libraries as _libraries

from .arrow import ArrowInput, pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entasis._convert.left_out import Loss

# The last bytes of a stream of Arrow.
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class IpcInput(ArrowInput):
    """A file of Arrow, or Feather, which is mapped."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self._source, self.name = source, name
        with _libraries.reading(name):
            self._opened = self._open(None)
            self._begin()

    def _open(self, columns: list[str] | None) -> Any:
        import pyarrow as pa

        fields = None if columns is None else [self._opened.schema.get_field_index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(_mapped(self._source), options=options)

    def _schema(self) -> Any:
        return self._opened.schema

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        found = self._open(columns)
        for i in range(found.num_record_batches):
            batch = found.get_batch(i)
            # Damage of offsets would end the process.
            batch.validate(full=True)
            yield from pieces(batch if columns is None else batch.select(columns))

    def _pandas(self) -> Any:
        import pandas as pd

        return pd.read_feather(self._source if isinstance(self._source, str) else io.BytesIO(self._source))


class StreamInput(ArrowInput):
    """A stream of Arrow in a file."""

    def __init__(self, source: str | bytes, name: str) -> None:
        self._source, self.name = source, name
        with _libraries.reading(name):
            self._found = self._open(None).schema
            self._begin()

    def _open(self, columns: list[str] | None) -> Any:
        import pyarrow as pa

        fields = None if columns is None else [self._found.get_field_index(name) for name in columns]
        return pa.ipc.open_stream(_mapped(self._source), options=pa.ipc.IpcReadOptions(included_fields=fields))

    def _schema(self) -> Any:
        return self._found

    def _raw(self, columns: list[str] | None) -> Iterator[Any]:
        for batch in self._open(columns):
            batch.validate(full=True)
            yield from pieces(batch if columns is None else batch.select(columns))

    def losses(self) -> list[Loss]:
        if isinstance(self._source, str):
            with open(self._source, "rb") as file:
                file.seek(0, os.SEEK_END)
                file.seek(max(file.tell() - len(_END_OF_STREAM), 0))
                end = file.read()
        else:
            end = self._source[-len(_END_OF_STREAM) :]
        # Writers may leave it out, so its absence is not damage.
        return [] if end == _END_OF_STREAM else [(None, "the stream lacks the mark of its end, and may be cut")]


def _mapped(source: str | bytes) -> Any:
    import pyarrow as pa

    return pa.memory_map(source) if isinstance(source, str) else pa.BufferReader(source)
