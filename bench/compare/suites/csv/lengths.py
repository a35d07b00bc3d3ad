"""Texts of several lengths: the time for a byte, and the peak memory of a conversion.

The longer texts repeat the rows of the shortest.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from ... import files
from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...datasets import texts
from .convert import converted, copied, output
from .readers import entasis

NAME = "taxi"
LENGTHS = {"10 MB": 10**7, "100 MB": 10**8, "1 GB": 10**9}
LARGE = {"10 GB": 10**10}  # converted, not read
ROOT = Path(__file__).parents[4]
ROWS = 100  # of the text that loads code before the measurement


def run(context: Context) -> None:
    options = context.options
    if options.sets and NAME not in options.sets.split(","):
        return
    reads: dict[str, list[Call]] = {}
    writes: dict[str, list[Call]] = {}
    shapes: dict[str, tuple[int, int]] = {}
    sizes: dict[str, int] = {}
    for title, full in (LENGTHS | (LARGE if options.large else {})).items():
        path = texts.repeated(options.data, NAME, options.scale, context.scaled(full)).resolve()
        sizes[title] = path.stat().st_size
        if title in LENGTHS:
            reads[title] = [_read(path, options.threads)]
            in_turn(context, f"{title} into Arrow", reads[title])
        writes[title] = [converted(path, context.work, options.threads, None)]
        shapes[title] = _shape(output(context.work, "entasis"))
        in_turn(context, f"{title}: conversion", writes[title])
        if options.memory:
            writes[title] += _with_memory(context, path, writes[title][0])
        files.remove(output(context.work, "entasis"))
    for kind, found in (("length-read", reads), ("length-convert", writes)):
        speeds = [
            call.median_s / sizes[title]
            for title, calls in found.items()
            for call in calls
            if call.median_s is not None
        ]
        for title, calls in found.items():
            n = sizes[title]
            least = min(speeds) * n if speeds else None
            keep(context, title, kind, "arrow", calls, shapes[title], n, least_s=least)
    show("length of the text, read into Arrow", reads)
    show("length of the text, converted", writes)


def _read(path: Path, threads: int) -> Call:
    (way,) = entasis("arrow", threads).ways
    call = Call("entasis", "Entasis", lambda: way.read(path))
    call.checked(lambda _: [])
    return call


def _shape(path: Path) -> tuple[int, int]:
    """Rows and columns of a converted text."""
    import entasis as en

    with en.open(str(path)) as file:
        return file.shape


def _with_memory(context: Context, path: Path, mine: Call) -> list[Call]:
    """Set the peak of Entasis; return DuckDB with a peak and without times."""
    duckdb = Call("duckdb", "DuckDB, Parquet", lambda: None)
    calls = [mine, *([duckdb] if find_spec("duckdb") else [])]
    for call in calls:
        call.peak_bytes = _peak_of(context, path, call.key)
        if call.peak_bytes is not None:
            call.notes.append(f"peak memory {call.peak_bytes / 2**20:,.0f} MiB")
    return calls[1:]


def _peak_of(context: Context, path: Path, key: str) -> int | None:
    """Bytes that a conversion adds at its peak, in a process of its own."""
    job = {"key": key, "path": str(path), "folder": str(context.work)}
    job["threads"] = str(context.options.threads)
    done = subprocess.run(
        [sys.executable, "-m", "bench.compare.suites.csv.lengths", json.dumps(job)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return int(done.stdout) if done.returncode == 0 else None


def _measured(job: dict[str, str]) -> int:
    """In the child: convert a few rows, then the text, and return the growth of memory."""
    from ...memory import peak, reset

    path, folder, threads = Path(job["path"]), Path(job["folder"]), int(job["threads"])
    few = folder / "few.csv"
    with path.open("rb") as file:
        few.write_bytes(b"".join(file.readline() for _ in range(ROWS)))
    make = converted if job["key"] == "entasis" else copied
    make(few, folder, threads, None)
    before = reset()
    call = make(path, folder, threads, None)
    after = peak()
    if call.failure is not None:
        raise SystemExit(call.failure)
    files.remove(few)
    return max(0, after - before)


if __name__ == "__main__":
    print(_measured(json.loads(sys.argv[1])))
