"""A peer: one format with one setting, bound to one host."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from ..conditions import Condition

Rows = Callable[[list[str], int, int], "pd.DataFrame"]
Take = Callable[[list[str], "np.ndarray"], "pd.DataFrame"]


class Refused(Exception):
    """The format can't store this frame or do this operation."""


@dataclass
class Opened:
    """A file that is open for reads of some rows and columns, into pandas."""

    rows: Rows  # columns, first row, end
    take: Take | None = None  # columns, numbers of rows in ascending order


@dataclass
class Filters:
    """A file that is open for filters. Each member prepares a call, which alone is timed.

    The rows come as an Arrow table of the named columns.
    """

    count: Callable[[Condition], Callable[[], int]]
    rows: Callable[[Condition, list[str]], Callable[[], Any]]


class Peer:
    """One format with one setting.

    The timing covers `write` and `read`, as a user calls them, from and into the frames of
    `host`. `prepare` converts values that a format cannot take, and `restore` converts them
    back, both outside the timing. `notes` lists these conversions.
    """

    key = ""
    label = ""
    modules: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ("pandas",)
    host = "pandas"
    opened = ""  # how `open` opens, where that differs from `read`
    exact = False  # any difference is a failure, not a note
    has_threads = False  # `set_threads` works at any time
    is_read = True  # and not only written
    is_durable = False  # waits for the disk by itself where `append` is asked to
    is_always_durable = False  # and where it is not

    def at(self, host: str) -> Self | None:
        """The same peer for frames of another host; None if it can't handle them."""
        if host not in self.hosts:
            return None
        peer = copy.copy(self)
        peer.host = host
        return peer

    def missing(self) -> str | None:
        """The reason why it cannot be used here, or None."""
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ImportError as error:
                return f"{self.label}: {error}"
        return None

    def set_threads(self, threads: int) -> None:
        """Use so many threads, where the format has a setting."""

    def prepare(self, frame: Any) -> Any:
        """The argument of `write` (not timed)."""
        return frame

    def settle(self) -> None:
        """Wait until the background work of a write has ended (not timed)."""

    def write(self, value: Any, path: Path) -> None:
        raise NotImplementedError

    def read(self, path: Path) -> Any:
        raise NotImplementedError

    def restore(self, got: Any, frame: Any) -> Any:
        """Convert the result of `read` to the host's frame (not timed)."""
        return got

    def notes(self) -> list[str]:
        """The conversions of `prepare`, or the way in which `read` differs from other formats."""
        return []

    def append(self, value: Any, path: Path, *, durable: bool = False) -> None:
        """Open the file that `write` wrote by its path, and add rows to its end.

        A format without `is_durable` ignores `durable`, and its caller forces its files to the
        disk.
        """
        raise Refused("no appending")

    def add_columns(self, value: Any, path: Path) -> None:
        """Add the columns of a frame to the file that `write` wrote."""
        raise Refused("no adding of columns")

    def compact(self, path: Path) -> None:
        """Store the rows of many appends anew, and drop the remains of older versions."""
        raise Refused("no compacting")

    def stream(self, batches: Iterable[Any], path: Path) -> None:
        """Write one file from frames that arrive one after the other."""
        raise Refused("no writing of batches")

    def schema(self, path: Path) -> Any:
        """Open the file and return its columns and their types, without their values."""
        raise Refused("no schema without the columns")

    def column(self, path: Path, label: str) -> Any:
        """Open the file and read one column into the host's frame."""
        raise Refused("no reading of one column")

    def open(self, path: Path, frame: pd.DataFrame) -> Opened:
        """Open the file for reads of a few rows and columns."""
        raise Refused("no reading of some rows")

    def filters(self, path: Path, schema: Any) -> Filters:
        """Open the file for filters. `schema` is the schema of the Arrow table that was written."""
        raise Refused("no filters")


def nullable_types(frame: Any) -> Callable[[Any], Any]:
    """Arrow types to the nullable types of pandas, for readers that lost pandas' metadata.

    Without it a column of booleans with missing values comes back as Python objects.
    """
    import pandas as pd
    import pyarrow as pa

    types = {
        pa.from_numpy_dtype(dtype.numpy_dtype): dtype
        for dtype in frame.dtypes
        if isinstance(dtype, pd.api.extensions.ExtensionDtype)
        and not isinstance(dtype, pd.ArrowDtype)
        and hasattr(dtype, "numpy_dtype")
    }
    return types.get


class ArrowPeer(Peer):
    """A format whose library speaks Arrow: pandas frames go through Arrow tables."""

    hosts: tuple[str, ...] = ("pandas", "arrow")
    index_moved = False

    def __init__(self) -> None:
        self.mapper: Any = None

    def prepare(self, frame: Any) -> Any:
        if self.host == "pandas":
            self.mapper = nullable_types(frame)
        return frame

    def to_table(self, value: Any) -> Any:
        """The Arrow table to write; for pandas the conversion is part of the writing."""
        import pyarrow as pa

        return pa.Table.from_pandas(value) if self.host == "pandas" else value

    def from_table(self, table: Any) -> Any:
        """The host's frame out of the Arrow table that was read."""
        return table.to_pandas(types_mapper=self.mapper) if self.host == "pandas" else table

    def restore(self, got: Any, frame: Any) -> Any:
        if self.host != "pandas":
            return got
        known = set(frame.columns)
        extra = [label for label in got.columns if label not in known]
        self.index_moved = bool(extra) and len(extra) == frame.index.nlevels
        if not self.index_moved:
            return got
        return got.set_index(extra).rename_axis(frame.index.names)

    def notes(self) -> list[str]:
        return ["index back as a column"] if self.index_moved else []
