"""`python -m bench.fidelity`: write and read named values with each format."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from . import across, golden
from .cases import LIBRARIES, panel
from .formats import LABELS, formats, missing_module
from .page import CASES, PAGE, Found, lists, replace, tables
from .run import ROOT, results


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.fidelity",
        description="Write and read every value of the panels with each format.",
    )
    parser.add_argument("--library", choices=LIBRARIES, action="append", help="only this one")
    parser.add_argument("--format", choices=list(LABELS), action="append", help="only this one")
    parser.add_argument(
        "--why", action="store_true", help="print the first difference, or the error, of each value"
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"put the tables into docs/{PAGE.name}, and the names into target/{CASES.name}",
    )
    parser.add_argument(
        "--golden",
        metavar="VERSION",
        help="only write the golden files of a format version, such as v0.1",
    )
    given = parser.parse_args()
    if given.golden:
        for path in golden.write(given.golden):
            print(path.relative_to(ROOT))
        return 0
    if given.write and (given.library or given.format):
        parser.error("--write is for all libraries and formats")
    libraries = given.library or LIBRARIES
    offered = {library: formats(library) for library in libraries}
    for key in given.format or (LABELS if given.write else ()):
        if not any(key in keys for keys in offered.values()):
            parser.error(f"{', '.join(libraries)}: no format {key}")
        if module := missing_module(key):
            parser.error(f"{LABELS[key]} needs the module {module}, which is not installed")
    found: Found = {}
    for library, keys in offered.items():
        for key in keys:
            if missing_module(key) or (given.format and key not in given.format):
                continue
            got = found.setdefault(library, {})[key] = results(library, key)
            counts = Counter(outcome for outcome, _ in got.values())
            told = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
            print(f"{library}, {LABELS[key]}: {len(panel(library))} values: {told}", flush=True)
            if given.why:
                for case, (outcome, why) in got.items():
                    if outcome != "same":
                        print(f"  {outcome}: {case}: {why.splitlines()[0] if why else ''}")
    if given.write:
        replace(PAGE, "panels", tables(found))
        replace(PAGE, "across", across.tables())
        CASES.parent.mkdir(exist_ok=True)
        CASES.write_text(lists(found), encoding="utf-8")
        print(f"names of the values that differ: {CASES.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
