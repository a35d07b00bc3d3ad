"""`python -m bench.many_machines`: what many machines over an object store would do.

Requests and sizes are measured here, with a server of S3 on this machine. The rest is computed from
them: requests of all machines, bytes of the manifest, and attempts of jobs that commit at a time.
The guide `docs/guides/many-machines.md` has the table.
"""

from __future__ import annotations

import argparse
import heapq
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Seconds between a request and its reply, in one region of a cloud.
ROUND_TRIP = 0.02
# The manifest is listed, opened and read, and the next one created.
TRIPS_OF_ATTEMPT = 4
N_COLUMNS = 10
# Files of the measurement.
N_FILES = 8


@dataclass
class Measured:
    """Requests by the server's count, and bytes.

    Attributes
    ----------
    plan, plan_key
        Requests of the client before the tasks, for all rows and for those of a key.
    task
        Requests of a task that reads one of ten columns of a file.
    write, commit
        Requests of a task that writes a file, and of the client before and after all tasks.
    manifest
        The bytes of a manifest, by its number of files.
    """

    plan: int
    plan_key: int
    task: int
    write: int
    commit: int
    manifest: dict[int, int]


def frame(n_rows: int) -> Any:
    """A frame of ten columns and a key."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{i}": rng.random(n_rows) for i in range(N_COLUMNS)}
    return pd.DataFrame({**columns, "key": np.arange(n_rows) % N_FILES})


def measured(sizes: list[int], n_rows: int) -> Measured:
    """Count requests of reading and writing a small folder on the store."""
    import dask
    import dask.dataframe as dd
    import entasis as en
    import entasis.dask

    from .compare.suites.remote import _make_bucket
    from .compare.suites.remote.server import BUCKET, server

    with server() as running, dask.config.set(scheduler="synchronous"):
        _make_bucket(running)
        options = {"storage_options": running.options}
        folder = f"s3://{BUCKET}/set"
        parts = dd.from_map(_part, range(N_FILES), whole=frame(n_rows * N_FILES))
        running.n_requests()
        entasis.dask.write(parts, folder, partition_by="key", **options)
        once = running.n_requests()
        entasis.dask.write(parts.partitions[:1], f"s3://{BUCKET}/one", **options)
        # Each more file takes the requests of a task.
        write = round((once - running.n_requests()) / (N_FILES - 1))
        whole = entasis.dask.read(folder, **options)
        plan = running.n_requests()
        if float(whole["x1"].sum().compute()) <= 0:
            raise AssertionError("the sum is wrong")
        task = round(running.n_requests() / N_FILES)
        entasis.dask.read(folder, filter=en.col("key") == 3, **options)
        plan_key = running.n_requests()
    sizes_of = {n: manifest_bytes(n, n_rows) for n in sizes}
    return Measured(plan, plan_key, task, write, once - N_FILES * write, sizes_of)


def _part(number: int, whole: Any) -> Any:
    """The rows of a key."""
    return whole[whole["key"] == number].reset_index(drop=True)


def manifest_bytes(n_files: int, n_rows: int) -> int:
    """The bytes of a manifest with so many files of ten columns."""
    from entasis._dataset import manifest
    from entasis._dataset.files_of_job import Job
    from entasis._write import destination

    with tempfile.TemporaryDirectory() as folder:
        job = Job(folder, "0" * 16, ["key"], {}, destination(None, None, 1, False, 0), None)
        job.add(frame(n_rows))
        found = job.finish()
        rng = random.Random(0)
        parts = []
        for i in range(n_files):
            one = found[i % len(found)]
            end = rng.randbytes(len(one.end))
            bounds = {
                name: of._replace(low=rng.random() / 100, high=1 - rng.random() / 100)
                for name, of in one.bounds.items()
            }
            path = f"key={i}/part-{'0' * 16}-{i:05}{rng.randrange(10**9):09}00000.entasis"
            length = one.length + rng.randrange(1000)
            parts.append(
                one._replace(path=path, end=end, length=length, texts=(str(i),), bounds=bounds)
            )
        assert job.columns is not None, "files were written"
        names, types = zip(*job.columns, strict=True)
        manifest.store(folder, 0, job.name, names, types, [("key", "int64")], parts, False, "error")
        return Path(manifest.path_of(folder, 0)).stat().st_size


def commits(n_jobs: int, round_trip: float) -> tuple[int, float]:
    """Append from so many jobs at a time, by the pauses of `write_dataset`.

    Returns
    -------
    tuple
        The attempts of all jobs, and the seconds until the last one has committed.
    """
    from entasis._dataset.write import _FIRST_PAUSE, _LONGEST_PAUSE

    rng = random.Random(0)
    reading = (TRIPS_OF_ATTEMPT - 1) * round_trip
    pauses, seen = [_FIRST_PAUSE] * n_jobs, [0] * n_jobs
    number, attempts, now = 0, 0, 0.0
    # The next step of each job, with its time: it lists the manifests, or creates one.
    events = [(0.0, job, False) for job in range(n_jobs)]
    while events:
        now, job, creates = heapq.heappop(events)
        if not creates:
            seen[job] = number
            heapq.heappush(events, (now + reading, job, True))
            continue
        attempts += 1
        if seen[job] == number:
            number += 1
            continue
        pause = pauses[job] * (0.5 + rng.random())
        pauses[job] = min(2 * pauses[job], _LONGEST_PAUSE)
        heapq.heappush(events, (now + round_trip + pause, job, False))
    return attempts, now + round_trip


def table(
    found: Measured, n_machines: int, n_files: int, round_trip: float
) -> list[tuple[str, str]]:
    """The requests, bytes and attempts of so many machines, as names and values."""
    per_machine = -(-n_files // n_machines)
    size = found.manifest[n_files]
    attempts, seconds = commits(n_machines, round_trip)
    return [
        ("requests of the client before a reading", f"{found.plan}"),
        ("the same, with a filter on a key", f"{found.plan_key}"),
        ("bytes of the manifest", f"{size / 1e6:.2f} MB, {size / n_files:.0f} for a file"),
        ("requests of a task that reads a column of a file", f"{found.task}"),
        ("requests of all tasks", f"{n_files * found.task:,}"),
        ("requests of a machine", f"{per_machine * found.task:,}"),
        ("requests of a task that writes a file", f"{found.write}"),
        ("requests of the client of a write", f"{found.commit}"),
        ("requests of a write", f"{n_files * found.write + found.commit:,}"),
        (f"one job of {n_machines} machines: attempts to commit", "1"),
        (f"{n_machines} jobs that append at once: attempts to commit", f"{attempts:,}"),
        (f"{n_machines} jobs that append at once: until the last one", f"{seconds:.1f} s"),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--machines", type=int, default=100)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--round-trip", type=float, default=ROUND_TRIP)
    parser.add_argument("--rows", type=int, default=20_000, help="rows of a file here")
    options = parser.parse_args(arguments)
    found = measured([options.files], options.rows)
    print(f"| {options.machines} machines, {options.files:,} files of {N_COLUMNS} columns | |")
    print("|---|---|")
    for name, value in table(found, options.machines, options.files, options.round_trip):
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
