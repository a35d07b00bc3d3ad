"""Results as plain records, and as JSON and CSV files."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from .run import Comparison

RAW = ("suite", "frame", "host", "format", "threads", "direction", "round", "seconds")


def records(suite: str, comparison: Comparison) -> list[dict[str, Any]]:
    """One record per format. Seconds of a call (medians), bytes."""
    return [
        {
            "suite": suite,
            "frame": comparison.name,
            "host": comparison.host.key,
            "format": result.peer.key,
            "label": result.peer.label,
            "n_rows": comparison.n_rows,
            "n_columns": comparison.n_columns,
            "threads": comparison.threads,
            "write_s": _number(result.write),
            "read_s": _number(result.read),
            "file_bytes": result.n_bytes if result.failure is None else None,
            "memory_bytes": comparison.memory_bytes,
            "floor_s": _number(comparison.floor),
            "write_peak_bytes": result.peak_bytes.get("write"),
            "read_peak_bytes": result.peak_bytes.get("read"),
            "notes": result.notes,
            "failure": result.failure,
            "every_write_s": result.write_s,
            "every_read_s": result.read_s,
        }
        for result in comparison.results
    ]


def raw(suite: str, comparison: Comparison) -> list[dict[str, Any]]:
    """One row per measurement, the floor's included."""
    found = []

    def add(name: str, direction: str, seconds: list[float]) -> None:
        same = {
            "suite": suite,
            "frame": comparison.name,
            "host": comparison.host.key,
            "format": name,
            "threads": comparison.threads,
            "direction": direction,
        }
        found.extend([{**same, "round": i + 1, "seconds": s} for i, s in enumerate(seconds)])

    for result in comparison.results:
        add(result.peer.key, "write", result.write_s)
        add(result.peer.key, "read", result.read_s)
    add("floor", "read", comparison.floor_s)
    return found


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def write_json(path: Path, machine: dict[str, Any], sections: dict[str, list[Any]]) -> None:
    path.write_text(json.dumps({"machine": machine, **sections}, indent=1) + "\n")


def join_json(path: Path, sections: dict[str, list[Any]]) -> dict[str, Any]:
    """Add the records of a run, except its targets, to `sections`; return its machine."""
    run = json.loads(path.read_text())
    for name, found in run.items():
        if name not in ("machine", "targets"):
            sections.setdefault(name, []).extend(found)
    return run["machine"]  # type: ignore[no-any-return]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, RAW)
        writer.writeheader()
        writer.writerows(rows)
