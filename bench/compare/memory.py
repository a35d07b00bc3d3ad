"""Peak memory of one call of a format, a write or a read, in a process of its own.

The child imports the format, writes and reads a few rows to load what it loads lazily,
prepares its input, and resets its high-water mark; the result is the growth of memory
during the measured call. Pages of mapped files count while they are mapped.
"""

from __future__ import annotations

import gc
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .hosts import Host
from .run import Comparison, Result
from .timing import release_memory

ROWS = 10  # of the small frame that warms up


def measure(outcome: Comparison, frame: Any, folder: Path) -> None:
    """Set `peak_bytes` of every format that fits; the format's files must still exist."""
    results = [result for result in outcome.results if result.peer.is_read]
    measure_calls(results, outcome.host, frame, folder, outcome.threads, ("write", "read"))


def measure_calls(
    results: Sequence[Result],
    host: Host,
    frame: Any,
    folder: Path,
    threads: int,
    directions: Sequence[str],
    batch: int = 0,
) -> None:
    """Set `peak_bytes` in these directions; "stream" writes batches of this many rows."""
    whole, few = folder / "memory-whole.pickle", folder / "memory-few.pickle"
    for path, value in ((whole, frame), (few, host.head(frame, ROWS))):
        with path.open("wb") as file:
            pickle.dump(value, file, protocol=5)
    for result in results:
        if result.failure is not None:
            continue
        for direction in directions:
            job = {
                "peer": result.peer.key,
                "host": host.key,
                "direction": direction,
                "threads": threads,
                "whole": str(whole),
                "few": str(few),
                "path": str(result.path),
                "folder": str(folder),
                "batch": batch,
            }
            found = _child(job)
            if found is not None:
                result.peak_bytes[direction] = found
    whole.unlink()
    few.unlink()


def _child(job: dict[str, Any]) -> int | None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.compare.memory", json.dumps(job)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    return int(done.stdout) if done.returncode == 0 else None


def _measured(job: dict[str, Any]) -> int:
    """In the child: bytes that the call adds at its peak."""
    from . import files, peers

    peer = peers.find(job["peer"]).at(job["host"])
    if peer is None or peer.missing() is not None:
        raise SystemExit(1)
    peer.set_threads(job["threads"])
    trial = Path(job["folder"]) / "memory-trial"
    files.remove(trial)
    few = _load(job["few"])
    peer.write(peer.prepare(few), trial)
    peer.read(trial)
    files.remove(trial)
    if job["direction"] == "stream":
        whole = _load(job["whole"])
        peer.stream(batches(few, len(few)), trial)  # loads the code of this call, too
        files.remove(trial)
        before = reset()
        peer.stream(batches(whole, job["batch"]), trial)
        after = peak()
        files.remove(trial)
    elif job["direction"] == "write":
        value = peer.prepare(_load(job["whole"]))
        before = reset()
        peer.write(value, trial)
        after = peak()
        files.remove(trial)
    else:
        before = reset()
        value = peer.read(Path(job["path"]))
        after = peak()
    return max(0, after - before)


def batches(frame: Any, n_rows: int) -> Iterator[Any]:
    """The frame in pieces of this many rows, which share its memory."""
    for first in range(0, len(frame), n_rows):
        yield frame.iloc[first : first + n_rows]


def _load(path: str) -> Any:
    with Path(path).open("rb") as file:
        return pickle.load(file)  # written by this program a moment ago


def reset() -> int:
    """Give unused memory back, set the high-water mark to the rest, and return it in bytes."""
    release_memory()
    gc.disable()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:  # not supported here, so the mark stays unchanged
        return peak()
    return peak()


def peak() -> int:
    """The high-water mark of resident memory in bytes."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(_measured(json.loads(sys.argv[1])))
