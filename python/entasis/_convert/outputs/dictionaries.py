"""Dictionaries that all batches of a table share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Unified:
    """Gives the batches of a table one dictionary per column, as files of Arrow need it.

    The dictionaries are collected first, in another pass over the columns that have them.
    """

    def __init__(self, source: Callable[[], Iterator[Any]], schema: Any) -> None:
        import pyarrow as pa

        self._source, self._schema = source, schema
        self._numbers = [i for i, field in enumerate(schema) if pa.types.is_dictionary(field.type)]
        self._values: dict[int, Any] | None = None

    def _collect(self) -> dict[int, Any]:
        import pyarrow as pa

        found: dict[int, Any] = {}
        for batch in self._source():
            for i in self._numbers:
                name = self._schema.field(i).name
                column = batch.column(batch.schema.get_field_index(name))
                for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                    before = found.get(i)
                    if before is None:
                        found[i] = chunk.dictionary
                    elif not before.equals(chunk.dictionary):
                        parts = [
                            pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), d)
                            for d in (before, chunk.dictionary)
                        ]
                        whole = pa.chunked_array(parts).unify_dictionaries()
                        found[i] = whole.chunk(0).dictionary
        return found

    def batch(self, batch: Any) -> Any:
        """A batch with the common dictionaries."""
        import pyarrow as pa

        if not self._numbers:
            return batch
        if self._values is None:
            self._values = self._collect()
        for i in self._numbers:
            values = self._values[i]
            column = batch.column(i)
            chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
            if all(chunk.dictionary.equals(values) for chunk in chunks):
                continue
            parts = [self._mapped(chunk, values) for chunk in chunks]
            batch = batch.set_column(
                i, batch.schema.field(i), pa.chunked_array(parts) if isinstance(column, pa.ChunkedArray) else parts[0]
            )
        return batch

    def _mapped(self, chunk: Any, values: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        codes = pc.index_in(chunk.dictionary, values).take(chunk.indices).cast(chunk.type.index_type)
        return pa.DictionaryArray.from_arrays(codes, values, ordered=chunk.type.ordered)
