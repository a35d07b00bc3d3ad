"""The formats that are compared: how each writes a pandas frame and reads it back.

What is timed is `write` and `read`, as a user calls them, into pandas. What a format
can't take is converted by `prepare` and turned back by `restore`, both outside the
timing, and `notes` says what that was.
"""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Slice = Callable[[list[str], int, int], "pd.DataFrame"]


class Refused(Exception):
    """The format can't hold this frame."""


class Peer:
    """One format with one setting."""

    key = ""
    label = ""
    modules: tuple[str, ...] = ()
    opened = ""  # how `open` opens, where that differs from `read`
    exact = False  # anything that is not kept is a failure, not a note

    def missing(self) -> str | None:
        """What stands in the way of using it here, or None."""
        for module in self.modules:
            try:
                importlib.import_module(module)
            except ImportError as error:
                return f"{self.label}: {error}"
        return None

    def set_threads(self, threads: int) -> None:
        """Use so many threads, where the format has a setting."""

    def prepare(self, frame: pd.DataFrame) -> Any:
        """What is given to `write` (not timed)."""
        return frame

    def write(self, value: Any, path: Path) -> None:
        raise NotImplementedError

    def read(self, path: Path) -> Any:
        raise NotImplementedError

    def restore(self, got: Any, frame: pd.DataFrame) -> pd.DataFrame:
        """The pandas frame in what `read` gave (not timed)."""
        return got

    def notes(self) -> list[str]:
        """What `prepare` changed, or how the reading differs from that of the others."""
        return []

    def open(self, path: Path, frame: pd.DataFrame) -> Slice | None:
        """Open the file for reads of a few rows and columns; None: it has no such reads."""
        return None


class Entasis(Peer):
    modules = ("entasis",)
    exact = True

    def __init__(self, compression: int | None = None) -> None:
        self.key = "entasis" if compression is None else f"entasis-{compression}"
        self.label = "Entasis" if compression is None else f"Entasis {compression}"
        self.options: dict[str, Any] = {} if compression is None else {"compression": compression}

    def set_threads(self, threads: int) -> None:
        import entasis

        entasis.set_threads(threads)

    def write(self, value: Any, path: Path) -> None:
        import entasis

        entasis.write(value, str(path), **self.options)

    def read(self, path: Path) -> Any:
        import entasis

        return entasis.read(str(path))

    def open(self, path: Path, frame: pd.DataFrame) -> Slice:
        import entasis

        file = entasis.open(str(path))
        return lambda columns, start, stop: file.read(columns=columns, rows=(start, stop))


class Arrow(Peer):
    """What the formats of pyarrow share."""

    modules = ("pyarrow",)

    def set_threads(self, threads: int) -> None:
        import pyarrow

        pyarrow.set_cpu_count(threads)


class Feather(Arrow):
    opened = "(memory-mapped)"

    def __init__(self, codec: str) -> None:
        self.codec = codec
        short = "raw" if codec == "uncompressed" else codec
        self.key = f"feather-{short}"
        self.label = f"Feather {short}"

    def write(self, value: Any, path: Path) -> None:
        from pyarrow import feather

        feather.write_feather(value, str(path), compression=self.codec)

    def read(self, path: Path) -> Any:
        from pyarrow import feather

        return feather.read_feather(str(path))

    def open(self, path: Path, frame: pd.DataFrame) -> Slice | None:
        if self.codec != "uncompressed":
            return None
        from pyarrow import feather

        table = feather.read_table(str(path), memory_map=True)
        return lambda columns, start, stop: (
            table.select(columns).slice(start, stop - start).to_pandas()
        )


class ParquetArrow(Arrow):
    def __init__(self, codec: str) -> None:
        self.codec = codec
        self.key = f"parquet-{codec}"
        self.label = f"Parquet {codec} (pyarrow)"

    def write(self, value: Any, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pandas(value), str(path), compression=self.codec)

    def read(self, path: Path) -> Any:
        import pyarrow.parquet as pq

        return pq.read_table(str(path)).to_pandas()


class ParquetPolars(Peer):
    modules = ("polars", "pyarrow")

    def __init__(self, codec: Any) -> None:
        self.codec = codec
        self.key = f"polars-{codec}"
        self.label = f"Parquet {codec} (Polars)"
        self.mapper: Any = None

    def prepare(self, frame: pd.DataFrame) -> Any:
        self.mapper = nullable_types(frame)
        return frame

    def write(self, value: Any, path: Path) -> None:
        import polars as pl

        pl.from_pandas(value).write_parquet(path, compression=self.codec)

    def read(self, path: Path) -> Any:
        import polars as pl

        return pl.read_parquet(path).to_pandas(types_mapper=self.mapper)

    def open(self, path: Path, frame: pd.DataFrame) -> Slice:
        import polars as pl

        mapper = nullable_types(frame)
        scan = pl.scan_parquet(path)
        return lambda columns, start, stop: (
            scan.select(columns).slice(start, stop - start).collect().to_pandas(types_mapper=mapper)
        )


class Pickle(Peer):
    key = "pickle"
    label = "pickle 5"

    def write(self, value: Any, path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(value, file, protocol=5)

    def read(self, path: Path) -> Any:
        with path.open("rb") as file:
            return pickle.load(file)  # written by this program a moment ago


class StaticFrameNpz(Peer):
    key = "npz"
    label = "StaticFrame NPZ"
    modules = ("static_frame",)

    def __init__(self) -> None:
        self.changed: list[str] = []

    def prepare(self, frame: pd.DataFrame) -> Any:
        import static_frame as sf

        from .plain import plain_columns

        columns, self.changed = plain_columns(frame)
        return sf.Frame.from_items(columns.items())

    def write(self, value: Any, path: Path) -> None:
        value.to_npz(str(path))

    def read(self, path: Path) -> Any:
        import static_frame as sf

        return sf.Frame.from_npz(str(path))

    def restore(self, got: Any, frame: pd.DataFrame) -> pd.DataFrame:
        from .plain import from_plain

        return from_plain({label: got[label].values for label in got.columns}, frame)

    def notes(self) -> list[str]:
        return [*self.changed, "written from and read into a StaticFrame, not pandas"]


class Vortex(Peer):
    key = "vortex"
    label = "Vortex"
    modules = ("vortex", "pyarrow")

    def __init__(self) -> None:
        self.mapper: Any = None
        self.index_moved = False

    def set_threads(self, threads: int) -> None:
        import vortex

        if hasattr(vortex, "set_worker_threads"):
            vortex.set_worker_threads(threads)

    def prepare(self, frame: pd.DataFrame) -> Any:
        self.mapper = nullable_types(frame)
        return frame

    def write(self, value: Any, path: Path) -> None:
        import pyarrow as pa
        import vortex

        vortex.io.write(pa.Table.from_pandas(value), str(path))

    def read(self, path: Path) -> Any:
        import vortex

        table = vortex.open(str(path)).to_arrow().read_all()
        return table.to_pandas(types_mapper=self.mapper)

    def restore(self, got: Any, frame: pd.DataFrame) -> pd.DataFrame:
        extra = [label for label in got.columns if label not in frame.columns]
        self.index_moved = bool(extra) and len(extra) == frame.index.nlevels
        if not self.index_moved:
            return got
        return got.set_index(extra).rename_axis(frame.index.names)

    def notes(self) -> list[str]:
        return ["index back as a column"] if self.index_moved else []

    def open(self, path: Path, frame: pd.DataFrame) -> Slice:
        import vortex

        file = vortex.open(str(path))
        mapper = nullable_types(frame)
        scans: dict[tuple[str, ...], Any] = {}

        def read(columns: list[str], start: int, stop: int) -> pd.DataFrame:
            scan = scans.get(tuple(columns))
            if scan is None:
                scan = scans[tuple(columns)] = file.to_repeated_scan(columns)
            rows = scan.execute(row_range=(start, stop)).read_all()
            return rows.to_arrow_table().to_pandas(types_mapper=mapper)

        return read


def nullable_types(frame: pd.DataFrame) -> Callable[[Any], Any]:
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


def every() -> list[Peer]:
    """All peers, in the order of the table."""
    return [
        Entasis(),
        Entasis(0),
        Entasis(100),
        Feather("uncompressed"),
        Feather("lz4"),
        Feather("zstd"),
        ParquetArrow("snappy"),
        ParquetArrow("zstd"),
        ParquetPolars("snappy"),
        ParquetPolars("zstd"),
        Pickle(),
        StaticFrameNpz(),
        Vortex(),
    ]


OPTIONAL = {"entasis-0", "entasis-100"}  # only when asked for


def choose(keys: str | None) -> list[Peer]:
    """The peers named in a comma-separated list; None: all that are not optional."""
    peers = every()
    if not keys:
        return [peer for peer in peers if peer.key not in OPTIONAL]
    known = {peer.key: peer for peer in peers}
    wanted = [key.strip() for key in keys.split(",") if key.strip()]
    unknown = [key for key in wanted if key not in known]
    if unknown:
        raise ValueError(f"unknown peer {', '.join(unknown)}; known: {', '.join(known)}")
    return [known[key] for key in wanted]
