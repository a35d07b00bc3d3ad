"""Texts in gzip into Arrow, against the time that inflating alone takes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ...calls import INFLATE, Call, in_turn, keep, show
from ...context import Context
from ...datasets import texts
from ...hosts import WrongData
from ...inflate import inflated, library
from .measure import chosen, of_reader
from .read import reference
from .readers import readers

NAMES = ["lineitem", "taxi"]


def run(context: Context) -> None:
    found = {}
    for name, path in chosen(context, NAMES).items():
        packed = texts.zipped(path)
        expected = reference(path, context.options.threads)
        every = readers("arrow", context.options.threads, expected)
        calls = [of_reader(reader, packed, expected) for reader in every]
        calls.append(_alone(packed, path.stat().st_size))
        in_turn(context, f"{name} in gzip", calls)
        keep(context, name, "gzip", "arrow", calls, expected.shape, packed.stat().st_size)
        found[name] = calls
    if found:
        show("texts in gzip into Arrow", found)


def _alone(packed: Path, n_bytes: int) -> Call:
    """Inflate, and drop the pieces of the text."""

    def check(n: int) -> list[str]:
        if n != n_bytes:
            raise WrongData(f"{n} bytes instead of {n_bytes}")
        return []

    note = f"by {library().partition('.')[0]}"
    call = Call(INFLATE, "inflate alone", partial(inflated, packed), notes=[note])
    call.checked(check)
    return call
