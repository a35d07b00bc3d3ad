"""Reads a folder into a dataset of Ray."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from entasis._memory import reported
from entasis._view.query import checked_limit

from .arrow_rows import batches, parts_of, schema_of
from .ray_library import blocks, data
from .rows import Source

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    import pyarrow.compute as pc

    from entasis._arguments.secrets import KeyBytes
    from entasis._filter.conditions import Filter

    from .rows import Part


@reported
def datasource(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: str | Iterable[str] | None = None,
    filter: Filter | None = None,
    limit: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: Callable[[], KeyBytes] | None = None,
) -> Any:
    """Return a data source of Ray for a folder, or for other files that are one table.

    Ray hands over the columns that it needs, conditions of `ray.data.Dataset.filter(expr=...)`, and
    limits. Conditions rule out blocks of rows; those in `filter` rule out files too.

    Parameters
    ----------
    source
        As for `entasis.scan`: a folder, a pattern, a list of paths, or an address on a store.
    columns
        The names of columns and keys.
    filter
        A condition on the rows, as for `entasis.scan`.
    limit
        The greatest number of rows, the first ones. With a filter one task reads them.
    storage_options, credentials, key
        As for `entasis.dask.read`.

    Returns
    -------
    ray.data.Datasource
        For `ray.data.read_datasource`. Its blocks are tables of Arrow with the types of
        `entasis.FolderScan.to_dataset`.

    Raises
    ------
    MissingFileError
        No file is there.
    ColumnNotFoundError
        No column has a name of `columns`.
    MissingLibraryError
        Ray or pyarrow is not installed, or is too old.

    Notes
    -----
    With a manifest, this opens one file. A task reads rows of one file, 16 to 64 blocks of 65,536
    rows if the file has so many, and gives them to Ray batch by batch.

    Examples
    --------
    >>> import ray
    >>> import entasis.ray
    >>> en.write_dataset(pl.DataFrame({"a": [1, 2, 3]}), "numbers")
    >>> numbers = ray.data.read_datasource(entasis.ray.datasource("numbers"))
    >>> numbers.sum("a")
    6
    """
    rows = Source.of(source, columns, filter, storage_options, credentials, key)
    return EntasisDatasource(rows, checked_limit(limit))


class EntasisDatasource(data.Datasource):  # type: ignore[misc]
    """The rows of a folder, with what Ray hands over."""

    def __init__(self, source: Source, limit: int | None) -> None:
        super().__init__()
        self._source, self._limit = source, limit
        self._schema = schema_of(source)
        self._projection_map: dict[str, str] | None = None

    def get_name(self) -> str:
        """Return the name of the tasks."""
        return "Entasis"

    def supports_projection_pushdown(self) -> bool:
        """Return whether Ray hands over columns."""
        return True

    def supports_predicate_pushdown(self) -> bool:
        """Return whether Ray hands over conditions, which it does not test again."""
        # A limit comes before a condition that follows it.
        return self._limit is None

    def estimate_inmemory_data_size(self) -> int | None:
        """Return about how many bytes the columns take in memory."""
        return int(sum(self._source.lengths) * self._row_bytes())

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """Return the tasks. Ray may ask for fewer than there are files."""
        names = self._names()
        condition = self.get_current_predicate()
        expression = None if condition is None else condition.to_pyarrow()
        schema = self._schema
        is_known = expression is None and self._source.query.condition is None
        tasks = []
        for part in parts_of(self._source, parallelism, self._limit):
            n = part.n_rows if part.query.limit is None else min(part.n_rows, part.query.limit)
            metadata = blocks.BlockMetadata(
                num_rows=n if is_known else None,
                size_bytes=int(n * self._row_bytes()),
                exec_stats=None,
                input_files=tuple(part.query.table.files.paths),
            )
            function = partial(_read, part, schema, names, expression, per_task_row_limit)
            kinds = [schema.field(name) for name in names]
            tasks.append(data.ReadTask(function, metadata, _schema(kinds), per_task_row_limit))
        return tasks

    def _names(self) -> list[str]:
        columns = self._get_data_columns()
        names = list(self._schema.names) if columns is None else list(columns)
        # Ray loses the number of rows of tables without columns.
        return names or list(self._schema.names[:1])

    def _row_bytes(self) -> float:
        """The bytes of a row, with 20 for each value without a fixed width."""
        bits = 0
        for name in self._names():
            kind = self._schema.field(name).type
            try:
                bits += kind.bit_width
            except ValueError:
                bits += 160
        return max(bits / 8, 1 / 8)


def _schema(fields: list[Any]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(fields)


def _read(
    part: Part, schema: pa.Schema, names: list[str], filter: pc.Expression | None, limit: int | None
) -> Iterator[pa.Table]:
    """The blocks of a task."""
    import pyarrow as pa

    left = limit
    for batch in batches(part, schema, names, filter):
        table = pa.Table.from_batches([batch if left is None else batch[:left]])
        left = None if left is None else left - table.num_rows
        yield table
        if left == 0:
            return
