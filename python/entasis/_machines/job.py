"""A job whose files are written by tasks of other processes, and that is committed as a whole."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from contextlib import nullcontext, suppress
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from entasis._arguments.options import shown
from entasis._arguments.secrets import known, of_tasks
from entasis._dataset import manifest as _manifest
from entasis._dataset import write as _write
from entasis._dataset.files import on_store
from entasis._dataset.files_of_job import Job
from entasis._dataset.secrets import of_manifest
from entasis._grow import hosts as _hosts_of
from entasis._write import destination
from entasis.errors import ArgumentError, ColumnNotFoundError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from entasis._dataset.part import FileFacts
    from entasis._entasis import Destination


_ADVICE = re.compile("; widen=|: fill=|: leave it out, or fill=")


class Written(NamedTuple):
    """The files of a task.

    Attributes
    ----------
    files
        The facts of its files.
    columns
        The names and types of the columns of its files; None if it wrote none.
    types
        The types of the keys, as far as its rows have values.
    n_rows
        The number of rows.
    counts_from
        The first label if labels count rows, and 0 without labels; None for labels that are stored.
    """

    files: list[FileFacts]
    columns: list[tuple[str, str]] | None
    types: dict[str, str]
    n_rows: int
    counts_from: int | None


class TaskJob:
    """A job that tasks write. It can be pickled: the tasks have a copy.

    A task returns what it wrote, and the commit names these files. Files of a task that ran twice,
    or that was killed, have other names, and are in no table.
    """

    def __init__(
        self,
        folder: Any,
        *,
        partition_by: str | Iterable[str] | None,
        rows_per_file: int | None,
        mode: str,
        compression: Any,
        threads: int | None,
        durable: bool | None,
        wait: float,
        storage_options: Mapping[str, Any] | None,
        credentials: Callable[[], Any] | None,
        key: Any = None,
    ) -> None:
        path, self._store = _write.place(folder, storage_options, credentials)
        # Other processes may work in other folders.
        self._folder = path if self._store is not None else os.path.abspath(path)
        _write.check_mode(mode)
        self._mode, self._wait = mode, wait
        self._rows_per_file = _write.most_rows(rows_per_file)
        self._key = of_tasks(key)
        before = _write.before_job(self._folder, mode, self._store, self._key, replaces=key is not None)
        # Whether the files have the key of the table that is there.
        self._has_key = before is not None and before.secret is not None
        self._number = None if before is None else before.number
        durable = True if durable is None and before is not None else durable
        self._durable = durable if self._store is None else False
        self._to = destination(None, compression, threads, self._durable, wait)
        self._keys = _write.keys_of_job(partition_by, before, mode)
        self._types: dict[str, str] = {}
        self._declared: tuple[Any, str, list[str], bool] | None = None
        if before is not None and mode == "append":
            self._types = before.keys.typed()
            self._declared = _write.declaration(before)
        self._name = secrets.token_hex(8)
        self._is_new = self._store is None and not os.path.isdir(self._folder)

    @property
    def folder(self) -> str:
        """The folder, for messages."""
        return self._folder

    @property
    def library(self) -> str | None:
        """The library whose frames the table has; None if any will do."""
        return None if self._declared is None else self._declared[1]

    def write(
        self,
        frames: Iterable[Any],
        number: int,
        head: Any = None,
        *,
        stores_labels: bool = False,
        may_be_empty: bool = False,
    ) -> Written:
        """Write the rows of a task, which may be none.

        Parameters
        ----------
        number
            The number of the task, by which its files are ordered.
        head
            The columns that the rows have to fit, without rows; None for those of the first frame.
        stores_labels
            Whether labels that count rows are stored as they are.
        may_be_empty
            Whether frames without rows make a file, which has the columns.

        Raises
        ------
        ArgumentError
            The rows have other columns or types.
        """
        # Another attempt of the task may be writing too.
        prefix = f"{number:05}{secrets.randbelow(10**9):09}"
        with tempfile.TemporaryDirectory(prefix="entasis-") if self._store is not None else nullcontext() as local:
            job = Job(
                local or self._folder,
                self._name,
                self._keys,
                dict(self._types),
                self._destination(),
                self._rows_per_file,
                self._store,
                prefix,
                names_keys=not self._has_key and self._key is None,
            )
            n_rows = 0
            counts_from: int | None = 0
            try:
                for frame in frames:
                    host = "numpy" if type(frame) is dict else type(frame).__module__.partition(".")[0]
                    rules = _hosts_of.rules(host)
                    n = rules.length(frame)
                    if not n and not may_be_empty:
                        continue
                    if not n_rows:
                        counts_from = None if stores_labels else _counted_from(frame)
                        self._declare(job, frame, host, head, is_counted=counts_from is not None)
                    n_rows += job.add(frame)
                return Written(job.finish(), job.columns, job.types, n_rows, counts_from)
            except BaseException as error:
                job.abort()
                if isinstance(error, (ArgumentError, ColumnNotFoundError)):
                    # The advice of an append does not help here.
                    said = _ADVICE.split(str(error))[0]
                    raise ArgumentError(
                        f"part {number} of the rows does not fit the columns of the table: {said}"
                    ) from error
                raise

    def _before(self, number: int) -> _manifest.Manifest:
        """The manifest of the table before the job."""
        if self._mode == "overwrite" and not self._has_key and self._key is not None:
            # It need not open.
            found = _manifest.replaced(self._folder, self._store, self._key)
            assert found is not None, "the table was there"
            return found._replace(number=number)
        return _manifest.opened(self._folder, number, self._store, None, self._key)

    def _destination(self) -> Destination:
        """The options of a write, with the key, which no pickle has."""
        if self._has_key and self._number is not None:
            return {**self._to, "secret": of_manifest(self._before(self._number))}
        return self._to if self._key is None else {**self._to, "secret": known(self._key)}

    def _declare(self, job: Job, frame: Any, host: str, head: Any, *, is_counted: bool) -> None:
        if self._declared is not None:
            declared, of, free, counts = self._declared
            job.declare(declared, of, free, is_counted=counts and is_counted)
        else:
            first = _hosts_of.rules(host).head(frame)
            job.declare(first if head is None else _with_categories(head, first), host, [], is_counted=is_counted)

    def counts(self, written: Sequence[Written]) -> bool:
        """Whether labels of all tasks count rows: from 0 in each, or on from those before."""
        some = [one for one in written if one.n_rows]
        if any(one.counts_from is None for one in some):
            return False
        before = [0, *accumulate(one.n_rows for one in some)]
        each = [one.counts_from for one in some]
        return not any(each) or each == before[: len(some)]

    def commit(self, written: Sequence[Written]) -> None:
        """Create the manifest that names the files of tasks. A commit that is done twice counts once.

        Raises
        ------
        ConflictError
            Another job changed the table since this one began, and rows would be lost; or `wait` is
            over.
        ArgumentError
            Tasks wrote other columns or types than others.
        """
        types = dict(self._types)
        first: tuple[int, list[tuple[str, str]]] | None = None
        for number, one in enumerate(written):
            for key, kind in one.types.items():
                if types.setdefault(key, kind) != kind:
                    raise ArgumentError(f"the key {key!r} has values of types {types[key]} and {kind}: convert them")
            if one.columns is None:
                continue
            first = first or (number, one.columns)
            if one.columns != first[1]:
                raise _different(first, (number, one.columns))
        job = Job(self._folder, self._name, self._keys, types, self._destination(), None, self._store)
        files = [part for one in written for part in one.files]
        before = None if self._number is None else self._before(self._number)
        _write.commit(self._folder, job, files, before, self._mode, self._wait, self._durable, self._store)

    def remove(self, files: Iterable[FileFacts]) -> None:
        """Remove files that no commit names."""
        self._remove([part.path for part in files])

    def _remove(self, paths: list[str]) -> None:
        for path in paths:
            with suppress(OSError):
                if self._store is not None:
                    self._store.delete(path)
                else:
                    os.remove(os.path.join(self._folder, *path.split("/")))

    def abort(self) -> None:
        """Remove the files of all tasks. Those of a task that is still running stay until `clean`."""
        if self._store is not None:
            self._remove([entry.path for entry in on_store(self._store) if self._is_ours(entry.path)])
            return
        for folder, _, names in os.walk(self._folder, topdown=False):
            ours = [name for name in names if self._is_ours(name)]
            for name in ours:
                with suppress(OSError):
                    os.remove(os.path.join(folder, name))
            if self._is_new or (ours and folder != self._folder):
                # Other jobs may have files there.
                with suppress(OSError):
                    os.rmdir(folder)

    def _is_ours(self, name: str) -> bool:
        return f"part-{self._name}-" in name.rpartition("/")[2]


def _counted_from(frame: Any) -> int | None:
    """The first label of a frame whose labels count rows; 0 without labels, None for other labels."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return 0
    import pandas as pd

    index = frame.index
    return index.start if type(index) is pd.RangeIndex and index.step == 1 else None


def _with_categories(head: Any, first: Any) -> Any:
    """Columns without rows, with the categories of those in the place of unknown ones."""
    if not hasattr(head, "dtypes") or not hasattr(head, "astype"):
        return head
    own = {}
    for label, wanted, dtype in zip(head.columns, head.dtypes, first.dtypes, strict=False):
        if hasattr(wanted, "categories") and hasattr(dtype, "categories"):
            own[label] = dtype
    return head.astype(own).set_axis(first.index) if own else head.set_axis(first.index)


def _different(first: tuple[int, list[tuple[str, str]]], other: tuple[int, list[tuple[str, str]]]) -> ArgumentError:
    """The error for tasks whose columns differ."""
    known = dict(first[1])
    for name, kind in other[1]:
        if known.get(name) != kind:
            said = f"is {known[name]} in part {first[0]}" if name in known else f"is not in part {first[0]}"
            return ArgumentError(
                f"column {shown(name)} is {kind} in part {other[0]} of the rows, and {said}: convert it"
            )
    return ArgumentError(f"parts {first[0]} and {other[0]} of the rows have other columns, or in another order")
