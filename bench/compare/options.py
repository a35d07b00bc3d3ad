"""The command line."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m bench.compare",
        description="Entasis against other file formats: equality first, then times.",
    )
    add = made.add_argument
    add("suites", nargs="*", default=["demo"], help="suites or groups of them; see --list")
    add("--list", action="store_true", help="list the groups, suites and formats")
    add("--rows", type=int, default=10_000_000, help="rows of the headline frame")
    add("--file", type=Path, help="a .parquet, .feather, .arrow, .csv or .tsv file of yours")
    add("--scale", type=float, default=1.0, help="shrink all sizes: 0 < scale <= 1")
    add("--tpch", type=float, default=1.0, help="TPC-H scale factor (times --scale)")
    add("--large", action="store_true", help="also nine of 10^8 elements, appends to 10^8 rows")
    add("--rounds", type=int, default=5, help="measurements of each format")
    add("--threads", type=int, help="threads of each format (default: the CPUs)")
    add("--peers", help="comma-separated formats, such as entasis,entasis-80,feather-lz4")
    add(
        "--sets",
        help="comma-separated data sets of the suites shootout and csv, such as taxi,loans",
    )
    add("--memory", action="store_true", help="also peak memory, each in a process of its own")
    add("--sweep", action="store_true", help="also the time per row from 10^4 to 10^8 rows")
    add("--data", type=Path, default=Path(".demo"), help="folder for inputs and files under test")
    add(
        "--join",
        type=Path,
        nargs="+",
        default=[],
        help="JSON of earlier runs, to report with this one",
    )
    add("--json", type=Path, help="write all results there")
    add("--csv", type=Path, help="write the measurements of each round there")
    add("--html", type=Path, help="write a report with charts there")
    add(
        "--document",
        type=Path,
        nargs="+",
        default=[],
        help="Markdown files to put tables into, as their marks say",
    )
    return made


def complaint(options: argparse.Namespace) -> str | None:
    """An error message about the options, or None."""
    if options.rows < 1 or options.rounds < 1 or (options.threads or 1) < 1:
        return "--rows, --rounds and --threads must be positive"
    if not 0 < options.scale <= 1:
        return "--scale must be over 0 and at most 1; --tpch sets the scale factor of TPC-H"
    if options.tpch <= 0:
        return "--tpch must be positive"
    if options.sets is not None:
        from .datasets.shootout import SETS
        from .datasets.texts import TEXTS

        known = list(dict.fromkeys([*SETS, *TEXTS]))
        unknown = [name for name in options.sets.split(",") if name not in known]
        if unknown:
            return f"no such sets: {', '.join(unknown)}; there are {', '.join(known)}"
    for path in [*options.join, *options.document]:
        if not path.is_file():
            return f"no such file: {path}"
    if options.html is not None and find_spec("matplotlib") is None:
        return "--html needs matplotlib; bench/requirements-peers.txt lists it"
    if options.file is not None and not options.file.is_file():
        return f"no such file: {options.file}"
    return None
