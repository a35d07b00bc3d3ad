"""The data source of Spark: tasks that read rows of a folder, and jobs that write one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from entasis._arguments.options import shown
from entasis._filter.where import where
from entasis.errors import ArgumentError

from .arrow_rows import batches, parts_of, schema_of
from .job import TaskJob
from .rows import Source
from .spark_library import datasource, pyspark
from .spark_types import fields_of, in_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from entasis._filter.conditions import Condition

    from .job import Written
    from .rows import Part

_READS = ("path", "columns", "filter", "keys")
_WRITES = ("path", "partition_by", "rows_per_file", "compression", "durable", "wait")
# Options that Spark itself adds or understands begin with these.
_OF_SPARK = ("spark.", "__")
# A task for each block of rows would be slow to plan.
_TASKS = 1


def register(spark: Any) -> None:
    """Add the data source `entasis` to a session of Spark.

    Parameters
    ----------
    spark
        A `pyspark.sql.SparkSession`. Its executors have this package installed.

    Raises
    ------
    MissingLibraryError
        PySpark is not installed, or is too old.

    Notes
    -----
    `spark.read.format("entasis").load(folder)` has the columns of the files and then the keys.

    | option of a reading | meaning |
    |---|---|
    | `columns` | names of columns and keys, separated by commas |
    | `filter` | a condition on columns of the files as text, as for `entasis select --where` |
    | `keys` | a condition on keys as text, which rules out files |

    Only these options spare reading. Spark hands neither columns nor limits over to data sources in
    Python. Conditions of a data frame are tested by Spark after all rows were read, because Spark
    keeps a reader with the conditions of one query for the next query.

    `frame.write.format("entasis").mode("append" or "overwrite").save(folder)` writes a folder with
    one commit, and has the options `partition_by` (names, separated by commas), `rows_per_file`,
    `compression`, `durable` and `wait` of `entasis.write_dataset`. Objects on a store take their
    options from the environment of the executors.

    Examples
    --------
    >>> import entasis.spark
    >>> entasis.spark.register(spark)
    >>> en.write_dataset(pl.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}), "numbers")
    >>> numbers = spark.read.format("entasis").option("columns", "b").option("filter", "a > 1")
    >>> [row.b for row in numbers.load("numbers").collect()]
    [5, 6]
    """
    spark.dataSource.register(EntasisDataSource)


class EntasisDataSource(datasource.DataSource):  # type: ignore[misc]
    """A folder of files."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "entasis"

    def schema(self) -> Any:
        """Return the columns and keys."""
        return fields_of(schema_of(_source(self.options)))[0]

    def reader(self, schema: Any) -> Any:
        """Return the reader of one query."""
        return _Reader(_source(self.options))

    def writer(self, schema: Any, overwrite: bool) -> Any:
        """Return the writer of one job."""
        _check(self.options, _WRITES)
        options = self.options
        return _Writer(
            TaskJob(
                _path(options),
                partition_by=_names(options.get("partition_by")),
                rows_per_file=_integer(options, "rows_per_file"),
                mode="overwrite" if overwrite else "append",
                compression=_integer(options, "compression"),
                threads=1,
                durable=_boolean(options, "durable"),
                wait=_integer(options, "wait") or 10,
                storage_options=None,
                credentials=None,
            )
        )


class _Reader(datasource.DataSourceReader):  # type: ignore[misc]
    """The tasks of one query."""

    def __init__(self, source: Source) -> None:
        self._parts = parts_of(source, _TASKS, None)
        self._schema = schema_of(source)

    def partitions(self) -> list[Any]:
        """Return a task for rows of each file."""
        return [_Task(part) for part in self._parts]

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """Read the rows of a task."""
        names = self._schema.names
        _, types = fields_of(self._schema)
        for batch in batches(partition.value, self._schema, names, None):
            yield in_types(batch, types)


class _Task(datasource.InputPartition):  # type: ignore[misc]
    """The rows of a task."""

    def __init__(self, part: Part) -> None:
        super().__init__(part)


@dataclass
class _Message(datasource.WriterCommitMessage):  # type: ignore[misc]
    """The files of a task."""

    number: int
    written: Written


class _Writer(datasource.DataSourceArrowWriter):  # type: ignore[misc]
    """A job whose tasks Spark runs."""

    def __init__(self, job: TaskJob) -> None:
        self._job = job

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
        """Write the rows of a task."""
        import pyarrow

        number = pyspark.TaskContext.get().partitionId()
        tables = (pyarrow.Table.from_batches([batch]) for batch in iterator)
        return _Message(number, self._job.write(tables, number))

    def commit(self, messages: list[Any]) -> None:
        """Commit the job."""
        found = sorted((one for one in messages if one is not None), key=lambda one: one.number)
        self._job.commit([one.written for one in found])

    def abort(self, messages: list[Any]) -> None:
        """Remove the files of the job."""
        self._job.abort()


def _source(options: Mapping[str, str]) -> Source:
    """The rows of a reading."""
    _check(options, _READS)
    condition: Condition | None = None
    for name in ("filter", "keys"):
        if (text := options.get(name)) is not None:
            condition = where(text) if condition is None else condition & where(text)
    return Source.of(_path(options), _names(options.get("columns")), condition, None, None)


def _check(options: Mapping[str, str], known: tuple[str, ...]) -> None:
    for name in options:
        if name.lower() not in known and not name.lower().startswith(_OF_SPARK):
            raise ArgumentError(f"option {shown(name)}: the options of entasis are {', '.join(known)}")


def _path(options: Mapping[str, str]) -> str:
    path = options.get("path")
    if path is None:
        raise ArgumentError("no folder is given: pass it to load() or save()")
    # Spark may add the scheme of local files.
    return path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _integer(options: Mapping[str, str], name: str) -> int | None:
    text = options.get(name)
    try:
        return None if text is None else int(text)
    except ValueError:
        raise ArgumentError(f"option {name}={shown(text)}: a number") from None


def _boolean(options: Mapping[str, str], name: str) -> bool | None:
    text = options.get(name)
    if text is not None and text.lower() not in ("true", "false"):
        raise ArgumentError(f"option {name}={shown(text)}: true or false")
    return None if text is None else text.lower() == "true"
