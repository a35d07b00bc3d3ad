"""The sound inputs that mutations begin with: golden files, and values of the panels."""

from __future__ import annotations

import io
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import entasis as en
import numpy as np

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
# Longer files cost more time than they find.
LONGEST = 70_000
# Every so many cases of a panel are seeds.
STEP = 12


def _golden(pattern: str) -> dict[str, bytes]:
    # Encrypted files need a key; the target `sealed` of the core has them.
    found = (path for path in GOLDEN.rglob(pattern) if path.parent.name != "sealed")
    paths = sorted(path for path in found if path.stat().st_size <= LONGEST)
    return {path.relative_to(GOLDEN).as_posix(): path.read_bytes() for path in paths}


@cache
def files(step: int = STEP) -> dict[str, bytes]:
    """Return golden files, and files of single values of the panels."""
    from bench.fidelity.cases import LIBRARIES, panel

    found = _golden("*.entasis")
    for library in LIBRARIES:
        for case in list(panel(library))[::step]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if case.refused is None:
                    # Without compression, more changes reach the values.
                    found[f"{library}: {case.key}"] = en.to_bytes(case.make(), compression=0)
    return {name: content for name, content in found.items() if len(content) <= LONGEST}


@cache
def buffers() -> dict[str, bytes]:
    """Return golden buffers, and some of other sizes."""
    found = _golden("*.enb")
    for n in (0, 1, 100, 5000):
        found[f"lz4, {n} bytes"] = en.compress(b"ab" * (n // 2) + b"c" * (n % 2))
        found[f"zstd, {n} bytes"] = en.compress(bytes(n), "zstd")
    return found


@cache
def archives() -> dict[str, bytes]:
    """Return archives of NumPy and StaticFrame, with and without compression."""
    import static_frame as sf

    arrays: dict[str, Any] = {
        "a": np.arange(5),
        "s": np.array([["x", "yz"]]),
        "v": np.zeros(3, "i4,f8"),
        "m": np.array(["2020"], "M8[D]"),
    }
    found = {}
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        out = io.BytesIO()
        save(out, **arrays)
        found[f"arrays, {name}"] = out.getvalue()
    index = sf.IndexHierarchy.from_product(("p", "q"), (1, 2))
    frames = (
        sf.Frame(np.arange(6).reshape(3, 2), index=list("abc"), name="f"),
        sf.Frame.from_dict({"a": (1, 2, 3, 4), "b": ("x", "y", "z", "w")}, index=index, name="h"),
        sf.Frame(np.eye(2), columns=sf.IndexDate(("2020-01-01", "2020-01-02")), name="d"),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.npz"
        for frame in frames:
            frame.to_npz(path)
            found[f"frame {frame.name}"] = path.read_bytes()
        path = Path(folder) / "bus.zip"
        bus = sf.Bus.from_frames(frames)
        bus.to_zip_npz(path)
        found["bus of npz"] = path.read_bytes()
        bus.to_zip_npy(path)
        found["bus of npy"] = path.read_bytes()
    return found
