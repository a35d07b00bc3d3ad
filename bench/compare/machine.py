"""The machine and the versions that the numbers depend on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

from .floor import huge_pages

PACKAGES = (
    "entasis",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "static-frame",
    "vortex-data",
    "pylance",
    "duckdb",
    "tables",
)


def machine(threads: int) -> dict[str, Any]:
    """Processor, threads, system; the version of each package, None where it is missing."""
    return {
        "processor": processor(),
        "cpus": cpus(),
        "threads": threads,
        "memory_bytes": memory_bytes(),
        "huge_pages": huge_pages(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


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


def memory_bytes() -> int | None:
    """The memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
