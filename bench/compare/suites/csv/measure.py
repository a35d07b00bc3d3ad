"""Readers of texts as calls, and the texts that the user chose."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa

from ...calls import Call
from ...context import Context
from ...datasets import texts
from ...run import SLOW
from ...timing import progress
from .equal import differences
from .readers import Reader

LIMIT = 20.0  # seconds of a reader, beyond which it does not read the text again


def of_reader(reader: Reader, path: Path, expected: pa.Table) -> Call:
    """The first way of a reader that gives the expected values; it is called and compared.

    A reader that took long for the same text is left out.
    """
    if (left := left_out(reader.key, reader.label, path)) is not None:
        return left
    lines: list[str] = []
    begin = time.perf_counter()
    for way in reader.ways:
        call = Call(reader.key, reader.label, partial(way.read, path))
        call.checked(lambda got: differences(expected, reader.table(got)))
        if call.failure is None:
            break
        lines.append(f"{way.title}: {call.failure}")
    seconds = time.perf_counter() - begin
    if call.failure is not None:
        call.failure = "; ".join(lines)
    elif lines:
        call.notes.insert(0, f"with {way.title}, as {'; '.join(lines)}")
    if reader.once and SLOW not in call.notes:
        call.notes.append(SLOW)
    if seconds > LIMIT and call.is_other:
        _long[reader.key, path] = seconds
    return call


def left_out(key: str, label: str, path: Path) -> Call | None:
    """A failure instead of a call that would take long; None if it would not."""
    seconds = _long.get((key, path))
    if seconds is None:
        return None
    failure = f"left out: it took {seconds:.0f} s before"
    return Call(key, label, lambda: None, failure=failure)


_long: dict[tuple[str, Path], float] = {}


def chosen(context: Context, names: Sequence[str] | None = None) -> dict[str, Path]:
    """The texts that the user chose, of `names` or of all, by their names."""
    options = context.options
    wanted = options.sets.split(",") if options.sets else list(texts.TEXTS)
    known = [name for name in names or texts.TEXTS if name in wanted]
    found = {}
    with progress() as say:
        for name in known:
            say(f"{name}: making the text")
            # TPC-H is part of a text's scale, so that a text has one size on the disk.
            path = texts.text(options.data, name, options.scale)
            found[name] = path.resolve()
            _load(found[name])
    return found


def _load(path: Path) -> None:
    """Bring a file into the page cache, and wait for the disk."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
        os.fsync(file.fileno())
