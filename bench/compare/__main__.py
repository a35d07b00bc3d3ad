"""`python -m bench.compare SUITE ...`; `--help` lists the options."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from .options import complaint, parser


def main() -> int:
    given = parser().parse_args()
    if wrong := complaint(given):
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    threads = _set_threads(given.threads)

    # Imported only now: Polars and Lance read their thread counts on import.
    from .context import Context, Options
    from .machine import machine
    from .peers import Pool, every, more
    from .records import join_json, write_csv, write_json
    from .suites import GROUPS, SUITES
    from .targets import evaluate, targets_text

    if given.list:
        print("groups:", *(f"{name} ({', '.join(them)})" for name, them in GROUPS.items()))
        print("suites:", *SUITES)
        print("formats:", *(peer.key for peer in every() + more()), "entasis-0 .. entasis-100")
        return 0
    try:
        pool = Pool(given.peers, threads)
        names = [name for suite in given.suites for name in GROUPS.get(suite, [suite])]
        unknown = [name for name in names if name not in SUITES]
        if unknown:
            raise ValueError(f"unknown suite {unknown[0]}; known: {', '.join([*GROUPS, *SUITES])}")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not _has_entasis(pool):
        return 1
    if given.sweep and "sweep" not in names:
        names.append("sweep")

    host = machine(threads)
    _print_machine(host, given.rounds)
    given.data.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="work-", dir=given.data) as work:
        options = Options(
            data=given.data,
            rows=given.rows,
            rounds=given.rounds,
            threads=threads,
            scale=given.scale,
            tpch=given.tpch,
            file=given.file,
            memory=given.memory,
            large=given.large,
            sets=given.sets,
        )
        context = Context(options, pool, Path(work).resolve())
        for name in dict.fromkeys(names):
            context.suite = name
            try:
                SUITES[name](context)
            except (FileNotFoundError, ImportError) as error:
                print(f"note: suite {name}: left out: {error}", file=sys.stderr)
            except ValueError as error:
                print(f"error: suite {name}: {error}", file=sys.stderr)
                return 1
    for path in given.join:
        joined = join_json(path, context.sections)
        if differ := [key for key in joined if joined[key] != host.get(key)]:
            print(
                f"note: {path} is of another machine or set-up: {', '.join(differ)}",
                file=sys.stderr,
            )
    found = evaluate(context.sections)
    if found:
        if given.scale < 1:
            print(f"At scale {given.scale:g} frames are smaller than the targets are for.")
        print(targets_text(found), end="\n\n", flush=True)
    context.keep("targets", found)
    if given.json:
        write_json(given.json, host, context.sections)
    if given.csv:
        write_csv(given.csv, context.raw)
    if given.html:
        from .report.page import write_html

        write_html(given.html, host, context.sections)
    for path in given.document:
        from .document import fill

        for what in fill(path, context.sections):
            print(f"note: {path}: nothing measured for the table: {what}", file=sys.stderr)
    if context.failed:
        print("error: entasis did not return what was written (see above)", file=sys.stderr)
    return 1 if context.failed else 0


def _set_threads(wanted: int | None) -> int:
    """Limit all formats to this many threads, by a setting or by their visible CPUs."""
    if hasattr(os, "sched_getaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        if wanted is not None and wanted < len(allowed):
            os.sched_setaffinity(0, allowed[:wanted])
        threads = wanted or len(allowed)
    else:
        threads = wanted or os.cpu_count() or 1
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    os.environ["LANCE_CPU_THREADS"] = str(threads)
    return threads


def _has_entasis(pool: Any) -> bool:
    """Without Entasis there is nothing to compare."""
    from .peers import find

    reason = find("entasis").missing()
    if reason is not None:
        message = f"error: the package can't be imported: {reason}"
        print(message, "       Build it with: make setup", sep="\n", file=sys.stderr)
    return reason is None


def _print_machine(host: dict[str, Any], rounds: int) -> None:
    from .machine import PACKAGES

    versions = ", ".join(f"{name} {host[name]}" for name in PACKAGES if host[name])
    print(
        f"{host['processor']}, {host['cpus']} CPUs, {host['threads']} threads, "
        f"huge pages: {host['huge_pages']}, {host['system']}, Python {host['python']}"
    )
    print(f"{versions}, commit {host['commit'] or 'unknown'}")
    print(
        f"Medians of {rounds} interleaved rounds, files in the page cache, "
        "equality checked before any timing.",
        end="\n\n",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
