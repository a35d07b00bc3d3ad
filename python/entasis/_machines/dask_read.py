"""Reads a folder into a data frame of Dask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from entasis._arguments.options import integer, shown
from entasis._dataset.read import read as read_query
from entasis._dataset.together import in_types_of
from entasis._memory import reported
from entasis.errors import ArgumentError, ColumnNotFoundError

from .dask_library import dask, frames, utils
from .labels import divided
from .rows import BLOCK, Source

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from entasis._arguments.secrets import KeyBytes
    from entasis._filter.conditions import Filter

    from .rows import Part

# The rows from which the bytes of a row are estimated.
_SAMPLE = 1000


@reported
def read(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: str | Iterable[str] | None = None,
    filter: Filter | None = None,
    index: str | Literal[False] | None = None,
    blocksize: int | str = "128 MiB",
    divisions: bool | None = None,
    threads: int = 1,
    storage_options: Mapping[str, Any] | None = None,
    credentials: Callable[[], Any] | None = None,
    key: Callable[[], KeyBytes] | None = None,
) -> Any:
    """Read a folder, or other files that are one table, into a data frame of Dask.

    The partitions are frames of pandas with the types, labels and categories that
    `en.read(..., to="pandas")` gives. A task reads rows of one file, and of the next ones if a
    label goes on there. It has paths and states of files, and opens them where it runs.

    Parameters
    ----------
    source
        As for `entasis.scan`: a folder, a pattern, a list of paths, or an address on a store.
    columns
        The names of columns and keys. Dask also hands over the columns that a computation needs.
    filter
        A condition on the rows, as for `entasis.scan`. It is tested where rows are read, and rules
        out files and blocks. Conditions on a data frame of Dask read all rows.
    index
        The column that becomes the index; False for numbers of rows. None is the index that the
        files have.
    blocksize
        About how many bytes of memory a partition takes: a number, or text such as "64 MiB".
    divisions
        Whether the divisions are found, for which labels have to ascend. True opens each file that
        can have rows. False takes none, except for labels that count rows, which need no file.
        None is True on the disk, and False on a store.
    threads
        The number of threads of a task. Dask itself runs several tasks at a time.
    storage_options, credentials
        As for `entasis.scan`. Tasks have the names of the options, and take their values from the
        environment of the worker, or call `credentials` there.
    key
        A function of a module that returns the key of encrypted files. Tasks call it where they
        run. Without it, ENTASIS_KEY_FILE names the key file of each worker.

    Returns
    -------
    dask.dataframe.DataFrame
        Categories are unknown to Dask if rows come from several files, whose categories may differ.
        The partitions have them.

    Raises
    ------
    MissingFileError
        No file is there.
    ColumnNotFoundError
        No column has a name of `columns`, or that of `index`.
    MissingLibraryError
        Dask or pandas is not installed, or is too old.
    ArgumentError
        A file has other columns than the first one. Its types are tested by the task that reads it.

    Notes
    -----
    With a manifest, the client opens one file for the types. Where the index is stored or a column,
    and `divisions` are looked for, it opens each file that the filter does not rule out, and reads
    a few labels of each partition. Without a manifest it opens all files, to number their rows.

    Equal labels are in one partition, so a partition ends where the label changes. Divisions are
    unknown if labels do not ascend, or if one label takes more than two partitions.

    Examples
    --------
    >>> import entasis.dask
    >>> frame = pd.DataFrame({"city": ["Oslo", "Rome", "Rome"], "price": [3, 5, 4]})
    >>> en.write_dataset(frame, "prices", partition_by="city")
    >>> rome = entasis.dask.read("prices", filter=en.col("city") == "Rome")
    >>> rome.npartitions, int(rome["price"].max().compute())
    (1, 5)
    """
    size = _bytes(blocksize)
    if index is not None and index is not False and not isinstance(index, str):
        raise ArgumentError(f"index={shown(index)}: the name of a column, False or None")
    rows = Source.of(source, columns, filter, storage_options, credentials, key)
    name = index if isinstance(index, str) else None
    if name is not None:
        known = [*rows.query.table.columns(), *rows.query.table.files.keys.names]
        if name not in known:
            raise ColumnNotFoundError(f"no column or key {shown(name)}, which is to be the index")
        if columns is not None and name not in rows.query.names():
            rows.query = rows.query.select([*rows.query.names(), name])
    most = max(size // _row_bytes(rows, index), 1)
    most = most // BLOCK * BLOCK or most
    starts, found = rows.starts(most), None
    if (index is None and rows.is_counted) or (index is False and rows.query.condition is None):
        if starts:
            last = rows.first_rows[-1] + rows.lengths[-1] - 1
            found = [*(rows.first_rows[number] + row for number, row in starts), last]
    elif index is not False and (name is not None or rows.is_counted is False):
        is_local = rows.query.table.files.store is None
        together = divided(rows, most, name) if divisions or (divisions is None and is_local) else None
        starts, found = (starts, None) if together is None else together
    parts = rows.parts(starts)
    head = _labelled(read_query(rows.query.limited(0), "pandas", 1, index=index is None), index, 0)
    meta = head if len(rows.lengths) == 1 else utils.clear_known_categories(head)
    # Other strings than those of the files would not be exact.
    with dask.config.set({"dataframe.convert-string": False}):
        return frames.from_map(
            _Reading(head, index, threads),
            parts,
            meta=meta,
            divisions=None if found is None else tuple(found),
            label="read-entasis",
        )


def _bytes(blocksize: int | str) -> int:
    """The bytes of a partition."""
    try:
        size = dask.utils.parse_bytes(blocksize) if isinstance(blocksize, str) else integer(blocksize)
    except ValueError:
        size = None
    if size is None or size < 1:
        raise ArgumentError(f"blocksize={shown(blocksize)}: a number of bytes, or text such as '64 MiB'")
    return int(size)


def _row_bytes(rows: Source, index: str | Literal[False] | None) -> int:
    """The bytes of memory of a row, estimated from the first ones."""
    query = rows.query._replace(condition=None)
    first = next((number for number, n in enumerate(rows.lengths) if n), None)
    if first is None:
        return 1
    at = sum(rows.lengths[:first])
    n = min(rows.lengths[first], _SAMPLE)
    frame = read_query(query._replace(rows=(at, at + n)), "pandas", 1, index=index is None)
    total = frame.index.memory_usage(deep=True) if index is not False else 0
    for i in range(frame.shape[1]):
        column = frame.iloc[:, i]
        is_category = hasattr(column.dtype, "categories")
        total += column.cat.codes.nbytes if is_category else column.memory_usage(index=False, deep=True)
    return max(int(total) // n, 1)


class _Reading:
    """The function of the tasks, in the form that lets Dask select columns."""

    def __init__(self, head: Any, index: str | Literal[False] | None, threads: int) -> None:
        self._head, self._index, self._threads = head, index, threads

    def __call__(self, part: Part, columns: list[str] | None = None) -> Any:
        """The rows of a part."""
        head, names = self._head, columns
        if columns is not None:
            head = head[columns]
            if isinstance(self._index, str):
                names = [*columns, self._index]
        shift = part.shift
        if self._index is False:
            shift = part.first_row if part.query.condition is None else 0
        frame = read_query(part.selected(names), "pandas", self._threads, index=self._index is None)
        return _conformed(head, _labelled(frame, self._index, shift), part.query.table.files.paths[0])

    def __dask_tokenize__(self) -> Any:
        return "entasis", dask.base.tokenize(self._head, self._index)


def _labelled(frame: Any, index: str | Literal[False] | None, shift: int) -> Any:
    """The rows with a column as their index, or with greater numbers."""
    if isinstance(index, str):
        return frame.set_index(index)
    return frame.set_axis(frame.index + shift) if shift else frame


def _conformed(head: Any, frame: Any, path: str) -> Any:
    """The rows with the types of the first file, and with the categories of their own files.

    Raises
    ------
    ArgumentError
        A column of the first file does not hold all values exactly, or a file has other columns.
    """
    if not head.columns.equals(frame.columns) and set(head.columns) == set(frame.columns):
        frame = frame[list(head.columns)]
    own = {}
    are_equal = head.columns.equals(frame.columns) and _is_same(head.index.dtype, frame.index.dtype)
    for label, first, dtype in zip(head.columns, head.dtypes, frame.dtypes, strict=False):
        are_equal = are_equal and _is_same(first, dtype)
        if first != dtype and _is_same(first, dtype):
            own[label] = dtype
    return frame if are_equal else in_types_of(head.astype(own), frame, "pandas", path)


def _is_same(first: Any, dtype: Any) -> bool:
    """Whether types are equal up to their categories."""
    if hasattr(first, "categories") and hasattr(dtype, "categories"):
        return bool(first.ordered == dtype.ordered)
    return bool(first == dtype)
