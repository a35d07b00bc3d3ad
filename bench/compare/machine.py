"""The machine and the versions that the numbers depend on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
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
    """Processor, threads, system, package versions (None for a missing package), and commit."""
    return {
        "processor": processor(),
        "cpus": cpus(),
        "threads": threads,
        "memory_bytes": memory_bytes(),
        "huge_pages": huge_pages(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "commit": commit(Path(__file__).parent),
    }


def commit(folder: Path) -> str | None:
    """The commit of the checkout around `folder`, None outside of a checkout or without git.

    It ends in `-dirty` if a file that git knows was changed. The package is built from the
    checkout, so its version and this commit name a build.
    """
    try:
        named = _git(folder, "rev-parse", "--short", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{named}-dirty" if changes else named


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


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
