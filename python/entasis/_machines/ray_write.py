"""Writes a dataset of Ray into a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._memory import reported

from .job import TaskJob
from .ray_library import blocks, data

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from entasis._arguments.secrets import KeyBytes

    from .job import Written


@reported
def datasink(
    folder: str | os.PathLike[str],
    *,
    partition_by: str | Iterable[str] | None = None,
    rows_per_file: int | None = None,
    mode: Literal["error", "append", "overwrite"] = "error",
    compression: int | Mapping[str, int] | Mapping[str | None, int] | None = None,
    threads: int = 1,
    durable: bool | None = None,
    wait: float = 10,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: Callable[[], KeyBytes] | None = None,
) -> Any:
    """Return a data sink of Ray, which writes a dataset into a folder, with one commit.

    Each task writes files of its own. After the last one, the driver creates the manifest with the
    files of the tasks that finished: a task that ran twice counts once.

    Parameters
    ----------
    folder
        The folder, which all nodes reach by this path; or its address on a store.
    partition_by, rows_per_file, mode, compression, durable, wait
        As for `entasis.write_dataset`.
    threads
        The number of threads of a task. Ray itself runs a task for each processor.
    storage_options, credentials
        As for `entasis.dask.read`.
    key
        A function of a module that returns the key of the table, which is encrypted. Tasks call it
        where they run.

    Returns
    -------
    ray.data.Datasink
        For `ray.data.Dataset.write_datasink`, once. That call raises a `ConflictError` if another
        job changed the table since the data sink was made, and rows would be lost. After an error
        the table is unchanged.

    Raises
    ------
    ExistingFileError
        The folder has files, and `mode="error"`.
    MissingLibraryError
        Ray is not installed, or is too old.

    Examples
    --------
    >>> import ray
    >>> import entasis.ray
    >>> ray.data.range(1000).write_datasink(entasis.ray.datasink("numbers"))
    >>> en.scan("numbers").count()
    1000
    """
    return EntasisDatasink(
        TaskJob(
            folder,
            partition_by=partition_by,
            rows_per_file=rows_per_file,
            mode=mode,
            compression=compression,
            threads=threads,
            durable=durable,
            wait=wait,
            storage_options=storage_options,
            credentials=credentials,
            key=key,
        )
    )


class EntasisDatasink(data.Datasink):  # type: ignore[misc]
    """A job whose tasks Ray runs."""

    def __init__(self, job: TaskJob) -> None:
        self._job = job

    def get_name(self) -> str:
        """Return the name of the tasks."""
        return "Entasis"

    def write(self, blocks_of_task: Iterable[Any], ctx: Any) -> tuple[int, Written]:
        """Write the blocks of a task."""
        tables = (blocks.BlockAccessor.for_block(block).to_arrow() for block in blocks_of_task)
        return ctx.task_idx, self._job.write(tables, ctx.task_idx)

    def on_write_complete(self, write_result: Any) -> None:
        """Commit the job."""
        found = sorted(write_result.write_returns, key=lambda one: one[0])
        self._job.commit([written for _, written in found])

    def on_write_failed(self, error: Exception) -> None:
        """Remove the files of the job."""
        self._job.abort()
