"""Writes a data frame of Dask into a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import shown
from entasis._memory import reported
from entasis.errors import ArgumentError

from . import dask_compat
from .dask_library import frames, utils
from .job import TaskJob

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from entasis._arguments.secrets import KeyBytes

    from .job import Written


@reported
def write(
    frame: Any,
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
) -> None:
    """Write a data frame of Dask into a folder, with one commit.

    Each task writes the rows of a partition into files of its own. The commit, here, creates the
    manifest with the files of the tasks that finished: a task that ran twice counts once. Readers
    see the table before or after the call. Labels and categories are stored.

    Parameters
    ----------
    frame
        A data frame of Dask. Its partitions have the columns and types of its *meta*.
    folder
        The folder, which all workers reach by this path; or its address on a store.
    partition_by, rows_per_file, mode, compression, durable, wait
        As for `entasis.write_dataset`. Without them each partition is a file.
    threads
        The number of threads of a task. Dask itself runs several tasks at a time.
    storage_options, credentials
        As for `entasis.dask.read`.
    key
        A function of a module that returns the key of the table, which is encrypted. Tasks call it
        where they run.

    Raises
    ------
    ExistingFileError
        The folder has files, and `mode="error"`.
    ConflictError
        Another job changed the table since this one began, and rows would be lost; or `wait` is
        over.
    ArgumentError
        A partition has other columns or types than the data frame, or than the table.
    MissingLibraryError
        Dask is not installed, or is too old.

        After any error the table is unchanged, and the files of the tasks are removed. A task that
        still runs then, or a worker that was killed, leaves files that are in no table, which
        `entasis.clean` removes.

    Notes
    -----
    A worker needs memory for a partition and for its encoded columns. Labels that count the rows of
    the data frame, or of each partition, count those of the table. If only some partitions have
    such labels, these partitions are computed and written again, with their labels stored.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import entasis.dask
    >>> frame = dd.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), npartitions=2)
    >>> entasis.dask.write(frame, "numbers")
    >>> en.read("numbers")["a"].tolist()
    [1, 2, 3, 4]
    """
    if not isinstance(frame, frames.DataFrame):
        raise ArgumentError(f"{shown(frame)} is not a data frame of Dask: write_dataset writes other frames")
    job = TaskJob(
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
    try:
        written = _written(frame, job, stores_labels=False)
        if not job.counts(written):
            again = [number for number, one in enumerate(written) if one.n_rows and one.counts_from is not None]
            if again:
                stored = _written(frame.partitions[again], job, stores_labels=True)
                job.remove(part for number in again for part in written[number].files)
                for number, one in zip(again, stored, strict=True):
                    written[number] = one
        if not any(one.n_rows for one in written):
            written = [job.write([_without_unknown(dask_compat.head(frame))], 0, may_be_empty=True)]
        job.commit(written)
    except BaseException:
        job.abort()
        raise


def _written(frame: Any, job: TaskJob, *, stores_labels: bool) -> list[Written]:
    """Write all partitions, and return what the tasks wrote."""
    import pandas as pd

    # Dask would take a frame among the arguments for one with partitions.
    head = _Holder(dask_compat.head(frame))
    facts = frame.map_partitions(
        _write_partition, job, head, stores_labels, meta=pd.Series([], dtype=object), enforce_metadata=False
    )
    return [one.value for one in facts.compute()]


class _Holder:
    """A value that pandas and Dask keep as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _write_partition(
    part: Any, job: TaskJob, head: _Holder, stores_labels: bool, partition_info: Mapping[str, Any] | None = None
) -> Any:
    """Write a partition."""
    import pandas as pd

    number = 0 if partition_info is None else partition_info["number"]
    return pd.Series([_Holder(job.write([part], number, head.value, stores_labels=stores_labels))], dtype=object)


def _without_unknown(head: Any) -> Any:
    """Columns without rows, and without the categories by which Dask marks unknown ones."""
    unknown = [
        label
        for label, dtype in head.dtypes.items()
        if hasattr(dtype, "categories") and not utils.has_known_categories(head[label])
    ]
    return head.assign(**{label: head[label].cat.remove_unused_categories() for label in unknown})
