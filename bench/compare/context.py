"""What every suite is given: options, peers, folders; and where results are collected."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .floor import huge_pages
from .peers import Peer
from .run import Comparison, compare
from .table import comparison_text, records

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Context:
    """Options of the run and its results so far."""

    peers: list[Peer]
    data: Path  # kept between runs: generated inputs
    work: Path  # emptied at the end: the files under test
    rows: int
    rounds: int
    threads: int
    scale: float
    file: Path | None = None
    failed: bool = False
    sections: dict[str, list[Any]] = field(default_factory=dict)

    def compare(
        self, name: str, frame: pd.DataFrame, remarks: list[str] | None = None
    ) -> Comparison:
        """Compare all peers on one frame, print the table, keep the numbers."""
        outcome = compare(
            name, frame, self.peers, self.work, rounds=self.rounds, threads=self.threads
        )
        outcome.remarks = remarks or []
        print(comparison_text(outcome), end="\n\n", flush=True)
        self.keep("comparisons", records(outcome))
        self.failed |= any(r.failure for r in outcome.results if r.peer.exact)
        return outcome

    def keep(self, section: str, rows: list[Any]) -> None:
        self.sections.setdefault(section, []).extend(rows)


def machine(threads: int) -> dict[str, Any]:
    """What the numbers depend on."""
    versions: dict[str, str | None] = {}
    for package in (
        "entasis",
        "numpy",
        "pandas",
        "polars",
        "pyarrow",
        "static-frame",
        "vortex-data",
    ):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "processor": processor(),
        "cpus": cpus(),
        "threads": threads,
        "huge_pages": huge_pages(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
    }


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cpus() -> int:
    """The CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
