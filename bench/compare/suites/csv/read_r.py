"""Reading of whole texts into R."""

from __future__ import annotations

from ...calls import Call, in_turn, keep, show
from ...context import Context
from ...fwrite import rscript
from . import fread
from .measure import chosen
from .read import reference

PACKAGES = {
    "entasis": "entasis",
    "entasis-created": "entasis",
    "readr": "readr",
    "base": "utils",
}


def run(context: Context) -> None:
    if rscript("entasis") is None or rscript("data.table") is None:
        return
    threads = context.options.threads
    found: dict[str, list[Call]] = {}
    for name, path in chosen(context).items():
        expected = reference(path, threads)
        with fread.process(context.work, threads) as process:
            if process is None:
                return
            keys = [key for key, package in PACKAGES.items() if rscript(package)]
            calls = [process.call(path, expected, key) for key in (*keys, "fread")]
            in_turn(context, f"{name} into R", calls)
        keep(context, name, "read-r", "r", calls, expected.shape, path.stat().st_size)
        found[name] = calls
    if found:
        show("texts into data.table", found)
