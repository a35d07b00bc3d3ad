"""Opens, reads and drops files many times, and prints how much has grown: test_leaks.py runs this.

python leaks.py KIND N FOLDER
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable

warnings.simplefilter("ignore")


class _Mallinfo(ctypes.Structure):
    names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    _fields_ = [(name, ctypes.c_size_t) for name in names]


def allocated() -> int:
    """Bytes that the C library has handed out, to Rust too."""
    info = ctypes.CDLL(None).mallinfo2
    info.restype = _Mallinfo
    found = info()
    return found.uordblks + found.hblkhd


def measure() -> dict[str, int]:
    """Counts of all that a process may leak."""
    gc.collect()
    me = Path("/proc/self")
    return {
        "files": len(list((me / "fd").iterdir())),
        "threads": len(list((me / "task").iterdir())),
        "mappings": len((me / "maps").read_text().splitlines()),
        "objects": sys.getallocatedblocks(),
        "bytes": allocated(),
        "resident": int((me / "statm").read_text().split()[1]) * 4096,
    }


def frame(n: int = 50) -> Any:
    import pandas as pd

    return pd.DataFrame({"i": np.arange(n), "f": np.arange(n) / 3, "s": [f"s{i}" for i in range(n)]})


def tree() -> Any:
    return {"a": [1, "two", {"x": 3.5}], "array": np.arange(60).reshape(5, 12), "n": {str(i): i for i in range(30)}}


def damaged(content: bytes) -> bytes:
    """A file that opens, and whose first page is damaged."""
    changed = bytearray(content)
    changed[260] ^= 1
    return bytes(changed)


def calls(kind: str, folder: Path) -> Callable[[], object]:
    """The call of a kind that is repeated."""
    path = folder / "f.entasis"
    content = en.to_bytes(tree() if kind == "tree" else frame(), compression=0)
    path.write_bytes(content)
    if kind in ("pandas", "polars", "pyarrow", "numpy", "static_frame"):
        return lambda: en.read(path, to=kind)
    if kind == "tree":

        def part() -> None:
            with en.open(path) as file:
                file["array"][1:3].read()
                file["n"]["7"].read()
                file.read()

        return part
    if kind == "mapped":
        return lambda: en.read(path, columns=["i", "f"], to="numpy", memory_map=True)["f"].sum()
    if kind == "abandoned":
        return lambda: en.open(path)["i"].head()
    if kind == "stream":
        import pyarrow as pa

        return lambda: pa.table(en.open(path))
    if kind == "filter":
        cheap = (en.col("f") > 3) & en.col("s").starts_with("s1") | en.col("i").is_in([1, 2])

        def filtered() -> None:
            with en.open(path) as file:
                scan = file.filter(cheap)
                scan.count()
                scan.explain()
                scan.read()
                next(scan.batches(20))

        return filtered
    if kind == "wrong filter":
        return refused(lambda: en.open(path).count(en.col("s") > 1))
    if kind in ("append", "columns", "batches", "batches, given up"):
        return changes(kind, path)
    if kind == "wrong append":
        return refused(lambda: en.append({"q": np.arange(3)}, path))
    if kind == "no such file":
        return refused(lambda: en.open(folder / "none"))
    if kind == "damaged footer":
        path.write_bytes(content[:-100])
        return refused(lambda: en.open(path))
    if kind == "damaged page":
        path.write_bytes(damaged(content))
        return refused(lambda: en.read(path))
    if kind == "damaged page, mapped":
        path.write_bytes(content[:-100])
        return refused(lambda: en.open(path, memory_map=True))
    if kind == "wrong rows":
        return refused(lambda: en.read(path, rows=[1000]))
    if kind == "leak":
        kept: list[Any] = []
        return lambda: kept.append(en.open(path))
    assert kind == "leak of memory"
    held: list[Any] = []
    return lambda: held.append(en.open(content))


def changes(kind: str, path: Path) -> Callable[[], object]:
    """A call that changes the file, which begins anew now and then."""
    n_calls = 0

    def change() -> None:
        nonlocal n_calls
        if n_calls % 500 == 0:
            en.write(frame(), path, durable=False)
        n_calls += 1
        if kind == "append":
            en.append(frame(2), path, durable=False)
        elif kind == "columns":
            en.add_columns({"x": np.arange(50)}, path, durable=False)
            en.rename_columns(path, {"x": "y"}, durable=False)
            en.drop_columns(path, "y", durable=False)
            en.generations(path)
        else:
            writer = en.writer(path, durable=False)
            writer.write(frame())
            writer.write(frame())
            _ = writer.close() if kind == "batches" else writer.abort()

    return change


def refused(call: Callable[[], object]) -> Callable[[], object]:
    """A call that has to fail."""

    def run() -> None:
        with contextlib.suppress(en.EntasisError):
            call()
            raise AssertionError("the call did not fail")

    return run


def main() -> None:
    kind, n, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    call = calls(kind, folder)
    # Caches fill and allocators settle first.
    for _ in range(min(n, 500)):
        call()
    marks = [measure()]
    for _ in range(2):
        for _ in range(n // 2):
            call()
        marks.append(measure())
    # A leak grows in both halves. A table of the interpreter that is resized once does not.
    first, middle, last = marks
    print(json.dumps({name: 2 * min(middle[name] - first[name], last[name] - middle[name]) for name in first}))


if __name__ == "__main__":
    main()
