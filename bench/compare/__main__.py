"""`python -m bench.compare demo` and friends; `--help` tells the rest."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path


def main() -> int:
    options = _parser().parse_args()
    if options.rows < 1 or options.rounds < 1 or (options.threads or 1) < 1:
        print("error: --rows, --rounds and --threads must be positive", file=sys.stderr)
        return 2
    if options.file is not None and not options.file.is_file():
        print(f"error: no such file: {options.file}", file=sys.stderr)
        return 2
    threads = _set_threads(options.threads)

    # Only now: Polars reads its thread count when it is imported.
    from . import peers as formats
    from .context import Context, machine
    from .suites import GROUPS, SUITES
    from .table import write_csv, write_json

    try:
        peers = _available(formats.choose(options.peers), threads)
        names = [name for suite in options.suites for name in GROUPS.get(suite, [suite])]
        unknown = [name for name in names if name not in SUITES]
        if unknown:
            raise ValueError(f"unknown suite {unknown[0]}; known: {', '.join([*GROUPS, *SUITES])}")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not peers:
        return 1
    if options.sweep and "sweep" not in names:
        names.append("sweep")

    host = machine(threads)
    _print_machine(host, options.rounds)
    options.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="work-", dir=options.data) as work:
        context = Context(
            peers=peers,
            data=options.data,
            work=Path(work),
            rows=options.rows,
            rounds=options.rounds,
            threads=threads,
            scale=options.scale,
            file=options.file,
        )
        try:
            for name in dict.fromkeys(names):
                SUITES[name](context)
        except (FileNotFoundError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    if options.json:
        write_json(options.json, host, context.sections)
    if options.csv:
        write_csv(options.csv, context.sections.get("comparisons", []))
    if context.failed:
        print("error: entasis did not return what was written (see above)", file=sys.stderr)
    return 1 if context.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    add = parser.add_argument
    add("suites", nargs="*", default=["demo"], help="demo (default), all, headline, file, sweep")
    add("--rows", type=int, default=10_000_000, help="rows of the headline frame")
    add("--file", type=Path, help="a .parquet, .feather, .arrow, .csv or .tsv file of yours")
    add("--scale", type=float, default=1.0, help="TPC-H scale factor, without --file")
    add("--rounds", type=int, default=5, help="measurements of each format")
    add("--threads", type=int, help="threads of each format (default: the CPUs)")
    add("--peers", help="comma-separated formats, such as entasis,feather-lz4")
    add("--sweep", action="store_true", help="also the time per row from 10^5 to 5x10^7 rows")
    add("--data", type=Path, default=Path(".demo"), help="folder for inputs and files under test")
    add("--json", type=Path, help="write all results there")
    add("--csv", type=Path, help="write the comparisons there")
    return parser


def _set_threads(wanted: int | None) -> int:
    """Bind all formats to so many threads; those without a setting by the CPUs they see."""
    if hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        if wanted is not None and wanted < len(allowed):
            os.sched_setaffinity(0, allowed[:wanted])
        threads = wanted or len(allowed)
    else:
        threads = wanted or os.cpu_count() or 1
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    return threads


def _available(peers: list, threads: int) -> list:
    """Those that can be used here; without Entasis there is nothing to compare."""
    found = []
    for peer in peers:
        reason = peer.missing()
        if reason is None:
            peer.set_threads(threads)
            found.append(peer)
        elif peer.key == "entasis":
            message = f"error: the package can't be imported: {reason}"
            print(message, "       Build it with: make setup", sep="\n", file=sys.stderr)
            return []
        else:
            print(f"note: left out: {reason}", file=sys.stderr)
    return found


def _print_machine(host: dict, rounds: int) -> None:
    packages = ("entasis", "pandas", "numpy", "pyarrow", "polars", "static-frame", "vortex-data")
    versions = ", ".join(f"{name} {host[name]}" for name in packages if host[name])
    print(
        f"{host['processor']}, {host['cpus']} CPUs, {host['threads']} threads, "
        f"huge pages: {host['huge_pages']}, {host['system']}, Python {host['python']}"
    )
    print(f"{versions}")
    print(
        f"Medians of {rounds} interleaved rounds, files in the page cache, "
        "equality checked before any timing.",
        end="\n\n",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
