"""Encrypted files against plain ones of the same rows: whole reads and writes, rows, and appends.

The headline frame is written and read whole, single rows of an open file are read at random places,
and 1,000 rows are appended 50 times, with a raw key. The rate of AES-256-GCM on this machine is
that of OpenSSL, for chunks of the length that files have.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import partial
from typing import Any

import numpy as np

from .. import files
from ..calls import ENTASIS, Call, in_turn, keep, show
from ..context import Context
from ..frames.headline import headline

SECTION = "encryption"
KEY = bytes(range(32))
HOST = "pandas"
PLAIN, SEALED = "plain", ENTASIS
LABELS = {SEALED: "encrypted", PLAIN: "plain"}
APPENDED, APPENDS = 1_000, 50
LOOKED_UP = 200
CHUNK = 8_192


def run(context: Context) -> None:
    import entasis as en

    frame = headline(context.scaled(context.options.rows))
    paths = {key: context.work / f"encryption-{key}.entasis" for key in (SEALED, PLAIN)}
    keys = {SEALED: {"key": KEY}, PLAIN: {}}
    threads = context.options.threads
    for key, path in paths.items():
        en.write(frame, path, threads=threads, **keys[key])
    work: dict[str, list[Call]] = {}
    work["write"] = [
        Call(key, LABELS[key], partial(en.write, frame, path, threads=threads, **keys[key]))
        for key, path in paths.items()
    ]
    work["read"] = [
        Call(key, LABELS[key], partial(en.read, path, threads=threads, **keys[key]))
        for key, path in paths.items()
    ]
    rng = np.random.default_rng(1)
    places = [int(place) for place in rng.integers(0, len(frame), LOOKED_UP)]
    opened = {key: en.open(path, **keys[key]) for key, path in paths.items()}
    work["200 rows, one by one"] = [
        Call(key, LABELS[key], partial(_rows, file, places)) for key, file in opened.items()
    ]
    more = frame.iloc[:APPENDED]
    work["50 appends of 1,000 rows"] = []
    for key in paths:
        path = context.work / f"encryption-append-{key}.entasis"
        # Each call adds to the file.
        shutil.copyfile(paths[key], path)
        call = Call(key, LABELS[key], partial(_append, more, path, keys[key]))
        work["50 appends of 1,000 rows"].append(call)
    checks = {
        "read": partial(_same, frame),
        "200 rows, one by one": partial(_same_rows, frame, places),
    }
    shape = frame.shape
    titles = {"200 rows, one by one": "rows", "50 appends of 1,000 rows": "append"}
    for title, calls in work.items():
        kind = titles.get(title, title)
        for call in calls:
            call.checked(checks.get(title, lambda _: []))
        in_turn(context, f"encryption: {title}", calls)
        size = files.size(paths[SEALED])
        keep(context, "headline", kind, HOST, calls, shape, size, section=SECTION)
    show(f"{shape[0]:,} x {shape[1]}, encrypted and plain", work)
    plain, sealed = (files.size(paths[key]) for key in (PLAIN, SEALED))
    print(f"{sealed / plain - 1:.2%} more bytes; AES-256-GCM by one thread: {_rate()}\n")
    for key in paths:
        files.remove(paths[key])
        files.remove(context.work / f"encryption-append-{key}.entasis")


def _append(more: Any, path: Any, key: dict[str, bytes]) -> None:
    import entasis as en

    for _ in range(APPENDS):
        en.append(more, path, durable=False, **key)


def _rows(file: Any, places: list[int]) -> list[Any]:
    return [file[place : place + 1].to_pandas() for place in places]


def _same(frame: Any, got: Any) -> list[str]:
    return [] if frame.equals(got) else ["other values"]


def _same_rows(frame: Any, places: list[int], got: list[Any]) -> list[str]:
    found = [part.iloc[0, 0] for part in got]
    return [] if found == frame.iloc[places, 0].tolist() else ["other values"]


def _rate() -> str:
    """Bytes that OpenSSL encrypts in a second."""
    program = shutil.which("openssl")
    if program is None:
        return "unknown, without openssl"
    words = [program, "speed", "-seconds", "1", "-bytes", str(CHUNK), "-evp", "aes-256-gcm"]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    found = re.search(r"AES-256-GCM\s+([\d.]+)k", said, re.IGNORECASE)
    return "unknown" if found is None else f"{float(found[1]) / 1e6:.1f} GB/s"
