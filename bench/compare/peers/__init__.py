"""The formats to compare, one module per family, and the choice among them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from .base import Filters, Opened, Peer, Refused
from .duckdb import DuckDb, DuckParquet
from .entasis import Entasis, EntasisInMemory
from .lance import Lance
from .numpy import Npy, Npz
from .pickle import Pickle
from .polars import IpcPolars, ParquetPolars
from .pyarrow import Feather, Parquet, ParquetFolder
from .pytables import PyTables
from .static_frame import StaticFrameNpz
from .text import CsvEntasis, CsvPolars, CsvPyarrow
from .vortex import Vortex

__all__ = ["Filters", "Opened", "Peer", "Pool", "Refused", "every", "find", "more"]


def every() -> list[Peer]:
    """The default peers, in the order of the table."""
    return [
        Entasis(),
        Feather("uncompressed"),
        Feather("lz4"),
        Feather("zstd"),
        Parquet("snappy"),
        Parquet("zstd"),
        ParquetPolars("snappy"),
        ParquetPolars("zstd"),
        IpcPolars("uncompressed"),
        IpcPolars("lz4"),
        IpcPolars("zstd"),
        Pickle(),
        StaticFrameNpz(),
        Npy(),
        Npz(),
        Vortex(),
        Lance(),
        DuckDb(),
    ]


def more() -> list[Peer]:
    """Peers that are used only when they are named; and `entasis-N`, N from 0 to 100."""
    return [
        Parquet("none"),
        ParquetFolder(),
        DuckParquet("snappy"),
        DuckParquet("zstd"),
        PyTables(),
        EntasisInMemory(),
        CsvEntasis(),
        CsvPolars(),
        CsvPyarrow(),
    ]


def find(key: str) -> Peer:
    """The peer of that key."""
    if match := re.fullmatch(r"entasis-(\d{1,3})", key):
        compression = int(match[1])
        if compression <= 100:
            return Entasis(compression)
    known = {peer.key: peer for peer in every() + more()}
    if key not in known:
        names = ", ".join(["entasis-0 .. entasis-100", *known])
        raise ValueError(f"unknown peer {key}; known: {names}")
    return known[key]


class Pool:
    """Peers that are available here, each checked once."""

    def __init__(self, keys: str | None, threads: int) -> None:
        self.threads = threads
        self.chosen = [key.strip() for key in (keys or "").split(",") if key.strip()]
        self.ready: dict[str, Peer | None] = {}
        for key in self.chosen:
            find(key)

    def get(
        self, keys: Iterable[str] | None = None, *, host: str = "pandas", fixed: bool = False
    ) -> list[Peer]:
        """The peers for a suite: the user's choice, else `keys`, else the usual peers.

        With `fixed` the user's choice does not matter.
        """
        named = list(keys) if keys is not None else [peer.key for peer in every()]
        wanted = self.chosen if self.chosen and not fixed else named
        found = [self._usable(key) for key in wanted]
        bound = [peer.at(host) for peer in found if peer is not None]
        return [peer for peer in bound if peer is not None]

    def set_threads(self, threads: int) -> None:
        """Set the number of threads of all peers; 0 restores the number of the run."""
        for peer in self.ready.values():
            if peer is not None:
                peer.set_threads(threads or self.threads)

    def _usable(self, key: str) -> Peer | None:
        if key not in self.ready:
            peer = find(key)
            reason = peer.missing()
            if reason is not None:
                print(f"note: left out: {reason}", file=sys.stderr)
            else:
                peer.set_threads(self.threads)
            self.ready[key] = peer if reason is None else None
        return self.ready[key]
