"""Peak memory of a call of Entasis that reads or converts a file, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ...memory import peak, reset

FOLDER = Path(__file__).parents[4]


def of_reading(path: Path, host: str, threads: int) -> int | None:
    """Bytes that reading adds at its peak, with the value; None if it failed."""
    return _child({"read": str(path), "to": host, "threads": threads})


def of_conversion(path: Path, target: Path, threads: int) -> int | None:
    """Bytes that converting adds at its peak; None if it failed."""
    return _child({"convert": str(path), "target": str(target), "threads": threads})


def _child(job: dict[str, Any]) -> int | None:
    command = [sys.executable, "-m", "bench.compare.suites.convert.peak", json.dumps(job)]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    return int(done.stdout) if done.returncode == 0 else None


def _measured(job: dict[str, Any]) -> int:
    """In the child: the growth of resident memory, without that of the libraries."""
    import entasis as en
    import pandas  # noqa: F401
    import polars  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    before = reset()
    if "read" in job:
        value = en.read(job["read"], to=job["to"], threads=job["threads"])
        after = peak()
        del value
    else:
        en.convert(job["convert"], job["target"], threads=job["threads"])
        after = peak()
    return max(0, after - before)


if __name__ == "__main__":
    print(_measured(json.loads(sys.argv[1])))
