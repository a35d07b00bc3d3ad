"""Trees of lists, dicts and arrays, against pickle 5 and joblib.

Values are compared before anything is timed. Files are new each time. Each round writes all files
to the disk before reading any, and begins with another format. The floor of reading is the time in
which Python makes such objects from arrays in memory.
"""

from __future__ import annotations

import os
import pickle
import random
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import entasis as en
import numpy as np
import pandas as pd

from ..context import Context
from ..hosts import WrongData
from ..timing import progress, release_memory

Write = Callable[[Any, Path], object]
Read = Callable[[Path], Any]
HOST = "python"
LABELS = {"entasis": "Entasis", "pickle": "pickle 5", "joblib": "joblib"}
PART = "one array of 1 MB out of it"
# Scale at which the shootout sets take 1 GB of memory.
SETS_SCALE = 0.12
# Memory touched before each call: a multiple of the pickle file's size, and a limit. A file of 0.9
# GB fills 0.9 GB of page cache, and reading records needs twenty times the file's size. With less,
# the timing includes fetching pages from a virtual machine's host.
ROOM = 24
MOST = 3 << 30
# Memory touched before a floor is measured.
FLOOR = 1 << 27


def run(context: Context) -> None:
    formats = _formats()
    floors = _floors(context)
    heads = "".join(f"{name:>30}" for name in formats)
    shown = [f"{'':32}{heads}{'floor: objects made':>22}{'write, read / pickle':>24}"]
    for name, make in _values(context).items():
        value = make()
        cells = []
        times = _measure(context, value, formats)
        floor_s = None
        if name in floors:
            made = [_seconds(floors[name], FLOOR) for _ in range(context.options.rounds)]
            context.keep_raw(name, HOST, "floor", "read", made)
            floor_s = _median(made)
        for key, (write, read, n_bytes) in times.items():
            cells.append(
                f"{1e3 * _median(write):9.1f} {1e3 * _median(read):9.1f} {n_bytes / 1e6:7.2f} MB"
            )
            context.keep_raw(name, HOST, key, "write", write)
            context.keep_raw(name, HOST, key, "read", read)
            context.keep(
                "comparisons",
                [
                    {
                        "suite": context.suite,
                        "frame": name,
                        "host": HOST,
                        "format": key,
                        "label": LABELS[key],
                        "threads": context.options.threads,
                        "write_s": _median(write),
                        "read_s": _median(read),
                        "file_bytes": n_bytes,
                        "floor_s": floor_s,
                        "every_write_s": write,
                        "every_read_s": read,
                    }
                ],
            )
        ours, pickled = times["entasis"], times["pickle"]
        ratios = ", ".join(
            f"{_median(a) / _median(b):.2f}" for a, b in zip(ours[:2], pickled[:2], strict=True)
        )
        line = f"{name:32}" + "".join(f"{cell:>30}" for cell in cells)
        floor = "" if floor_s is None else f"{1e3 * floor_s:.1f}"
        shown.append(f"{line}{floor:>22}{ratios:>24}")
    print("objects: write ms, read ms, size\n" + "\n".join(shown))


def _median(seconds: list[float]) -> float:
    return float(np.median(seconds))


def _formats() -> dict[str, tuple[Write, Read]]:
    formats: dict[str, tuple[Write, Read]] = {
        "entasis": (en.write, en.read),
        "pickle": (_dump, _load),
    }
    try:
        import joblib
    except ImportError:
        return formats
    return formats | {"joblib": (joblib.dump, joblib.load)}


def _dump(value: Any, path: Path) -> None:
    with path.open("wb") as file:
        pickle.dump(value, file, 5)


def _load(path: Path) -> Any:
    with path.open("rb") as file:
        return pickle.load(file)


def _measure(
    context: Context, value: Any, formats: dict[str, tuple[Write, Read]]
) -> dict[str, tuple[list[float], list[float], int]]:
    """The seconds of each writing and reading, and the size, of each format."""
    paths = {key: context.work / f"objects.{key}" for key in formats}
    part = value.pop(PART, None) if isinstance(value, dict) else None
    if part is not None:
        value, part = part, "b"
    taken: dict[str, tuple[list[float], list[float]]] = {key: ([], []) for key in formats}
    takes = {
        key: read if part is None else _taker(key, read, part) for key, (_, read) in formats.items()
    }
    with progress() as say:
        for key, (write, _) in formats.items():
            # Values are compared before anything is timed.
            say(f"objects: {key}: equality")
            write(value, paths[key])
            if not equal(takes[key](paths[key]), value if part is None else value[part]):
                raise WrongData(f"objects: {key}: what came back differs")
        n_bytes = min(MOST, ROOM * paths["pickle"].stat().st_size)
        keys = list(formats)
        for turn in range(context.options.rounds):
            first = turn % len(keys)
            order = keys[first:] + keys[:first]
            for key in order:
                say(f"objects: round {turn + 1}: {key}: write")
                paths[key].unlink()
                action = partial(formats[key][0], value, paths[key])
                taken[key][0].append(_seconds(action, n_bytes))
            say(f"objects: round {turn + 1}: sync")
            os.sync()  # so that no file is on its way to the disk while another is read
            for key in order:
                say(f"objects: round {turn + 1}: {key}: read")
                taken[key][1].append(_seconds(partial(takes[key], paths[key]), n_bytes))
    sizes = {key: path.stat().st_size for key, path in paths.items()}
    for path in paths.values():
        path.unlink()
    return {key: (*seconds, sizes[key]) for key, seconds in taken.items()}


def _taker(key: str, read: Read, part: str) -> Read:
    if key == "entasis":
        return lambda path: en.open(path)[part].read()
    return lambda path: read(path)[part]


def _seconds(action: Callable[[], Any], n_bytes: int) -> float:
    """Seconds of a call in fresh memory, after making `n_bytes` available from the machine."""
    release_memory()
    # A virtual machine may have returned unused memory to its host.
    np.empty(n_bytes, np.uint8).fill(1)
    begin = time.perf_counter()
    got = action()
    taken = time.perf_counter() - begin
    del got
    return taken


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal, with their types."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(
            left, right, equal_nan=left.dtype.kind == "f"
        )
    if isinstance(left, pd.DataFrame):
        return bool(left.equals(right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def _values(context: Context) -> dict[str, Callable[[], Any]]:
    n = context.scaled(100_000, least=100)
    large = cache(partial(_large, context.options.scale))
    return {
        "list of int64 arrays of 100": lambda: [np.arange(i, i + 100) for i in range(n)],
        "dict of floats": lambda: {f"key{i}": i / 8 for i in range(n)},
        "list of integers": lambda: list(range(10 * n)),
        "records of 8 fields": lambda: [_record(i) for i in range(n)],
        "frames, arrays, scalars": lambda: _nested(n),
        "sets, arrays, scalars of 1 GB": large,
        PART: lambda: {PART: large()},
        "random tree": lambda: _tree(10 * n),
    }


def _floors(context: Context) -> dict[str, Callable[[], Any]]:
    """Functions that only make the objects of some of the values."""
    n = context.scaled(100_000, least=100)
    # Splitting one string is the fastest way to make many in Python.
    keys = "\n".join(f"key{i}" for i in range(n)).encode()
    floats, numbers = np.arange(n) / 8, np.arange(10 * n)
    fields = {key: np.array([_record(i)[key] for i in range(n)]) for key in ("id", "x", "y", "day")}
    texts = {key: "\n".join(_record(i)[key] for i in range(n)).encode() for key in ("name", "to")}

    def records() -> list[dict[str, Any]]:
        id, x, y, day = (values.tolist() for values in fields.values())
        name, to = (text.decode().split("\n") for text in texts.values())
        return [
            {"id": a, "name": b, "x": c, "y": d, "ok": True, "none": None, "day": e, "to": f}
            for a, b, c, d, e, f in zip(id, name, x, y, day, to, strict=True)
        ]

    return {
        "dict of floats": lambda: dict(
            zip(keys.decode().split("\n"), floats.tolist(), strict=True)
        ),
        "list of integers": numbers.tolist,
        "records of 8 fields": records,
    }


def _record(i: int) -> dict[str, Any]:
    name = f"name {i % 1000}"
    return {
        "id": i,
        "name": name,
        "x": i / 4,
        "y": -i,
        "ok": i % 2 == 0,
        "none": None,
        "day": i % 365,
        "to": str(i),
    }


def _large(scale: float) -> dict[str, Any]:
    """The shootout sets in nested dicts, with an array of numbers and scalars of each."""
    from ..datasets.shootout import SETS

    sets: dict[str, Any] = {}
    for name, make in SETS.items():
        frame = make(min(1.0, SETS_SCALE * scale))
        numbers = frame.select_dtypes("number").iloc[:, :4].astype("float64")
        scalars = {"rows": len(frame), "columns": list(map(str, frame.columns[:20])), "name": name}
        scalars |= {
            "means": {str(key): float(mean) for key, mean in numbers.mean().fillna(0.0).items()}
        }
        sets[name] = {"frame": frame, "corner": numbers[:10_000].to_numpy(), "about": scalars}
    return {"b": np.random.default_rng(1).standard_normal(131_072), "sets": sets, "version": (1, 2)}


def _nested(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.integers(0, 1000, n), "b": rng.standard_normal(n)})
    more = [rng.standard_normal((100, 100)) for _ in range(100)]
    scores = {f"s{i}": i / 3 for i in range(1000)}
    return {
        "b": rng.standard_normal(131_072),
        "frames": [frame, frame[: n // 2]],
        "more": more,
        "scores": scores,
    }


def _tree(n: int, depth: int = 12) -> list[Any]:
    """About n values in lists, tuples and dicts, down to this depth."""
    rng = random.Random(1)
    left = n

    def make(depth: int) -> Any:
        nonlocal left
        left -= 1
        kind = rng.random()
        if depth <= 1 or kind < 0.7:
            leaves = (
                rng.randrange(10**6),
                rng.random(),
                f"text {rng.randrange(5000)}",
                None,
                kind < 0.3,
            )
            return leaves[rng.randrange(len(leaves))]
        parts = [make(depth - 1) for _ in range(rng.randrange(12))]
        if kind < 0.8:
            return parts
        return tuple(parts) if kind < 0.85 else {f"k{i}": part for i, part in enumerate(parts)}

    tree = []
    while left > 0:
        tree.append(make(depth - 1))
    return tree
