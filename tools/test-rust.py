#!/usr/bin/env python3
"""Build the Rust tests with one profile, and run their programs side by side.

Cargo runs one program after the other, so a program that waits for a lock or a killed process
blocks the rest. Here as many programs run at once as there are cores, the longest first, and the
output of each is printed when it ends. Tests of whole files run once more on the baseline
instruction set: unit tests run each kernel on every set by themselves. Examples in docs run last.

Usage: tools/test-rust.py [--profile NAME] [--jobs N] [--no-run]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO = os.environ.get("CARGO", "cargo")
# Includes the Python package, which has no Rust tests: Cargo unites the features of all selected
# packages, so the wheel shares the built crates.
PACKAGES = ["--workspace"]

# Crate, program, and the tests that run on the baseline instruction set too. `make test-release`
# runs whole modules.
IS_RELEASE = bool(os.environ.get("ENTASIS_TEST_RELEASE"))
ROUND_TRIPS = "round_trip::" if IS_RELEASE else "round_trip::tables_come_back_at_every_compression"
TABLES = "differential::" if IS_RELEASE else "differential::types"
BASELINE = [
    ("entasis", "it", [ROUND_TRIPS]),
    ("entasis-query", "model", []),
    ("entasis-testkit", "it", ["golden::", TABLES, "forged::"]),
]
# Programs that take longest, in this order. The rest is short, as are those on the baseline.
LONGEST = [
    ("entasis-testkit", "it"),
    ("entasis", "it"),
    ("entasis-testkit", "hostile"),
    ("entasis-cli", "it"),
    ("entasis-convert", "it"),
    ("entasis-csv", "unit tests"),
    ("entasis-csv", "it"),
    ("entasis-testkit", "out_of_memory"),
]

CLOSING = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)


@dataclass
class Program:
    """A program of tests."""

    crate: str
    name: str
    path: str
    folder: Path
    filters: list[str] = field(default_factory=list)
    isa: str | None = None

    def title(self) -> str:
        return f"{self.crate} {self.name}" + (f", {self.isa}" if self.isa else "")

    def rank(self) -> int:
        """The place in the order of the programs."""
        of = (self.crate, self.name)
        return LONGEST.index(of) if of in LONGEST and not self.isa else len(LONGEST)


def built(profile: str) -> list[Program]:
    """Build all programs of tests; the errors of the compiler are shown as they come."""
    command = [CARGO, "test", *PACKAGES, "--profile", profile, "--no-run"]
    command += ["--message-format=json-render-diagnostics"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(run.returncode)
    programs = []
    for line in run.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] != "compiler-artifact" or not message["profile"]["test"]:
            continue
        manifest = Path(message["manifest_path"])
        target = message["target"]
        name = "unit tests" if target["kind"] != ["test"] else target["name"]
        crate = re.search(r'^name = "(.*)"', manifest.read_text(), re.M)
        assert crate
        programs.append(Program(crate[1], name, message["executable"], manifest.parent))
    return programs


def on_baseline(programs: list[Program]) -> list[Program]:
    """The programs of `BASELINE`; each of them must be there."""
    found = {(program.crate, program.name): program for program in programs}
    return [
        replace(found[crate, name], filters=filters, isa="baseline")
        for crate, name, filters in BASELINE
    ]


def run(program: Program) -> tuple[Program, int, str, float]:
    """Run a program as Cargo does: in the folder of its crate."""
    env = os.environ | {"CARGO_MANIFEST_DIR": str(program.folder)}
    if program.isa:
        env["ENTASIS_ISA"] = program.isa
    start = time.monotonic()
    done = subprocess.run(
        [program.path, *program.filters],
        cwd=program.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    return program, done.returncode, done.stdout, time.monotonic() - start


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--profile", default="gate")
    options.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--no-run", action="store_true", help="build the programs alone")
    wanted = options.parse_args()

    programs = built(wanted.profile)
    if wanted.no_run:
        return 0
    programs += on_baseline(programs)
    programs.sort(key=Program.rank)

    passed = broken = ignored = 0
    failed = []
    with ThreadPoolExecutor(wanted.jobs) as workers:
        for each in as_completed([workers.submit(run, program) for program in programs]):
            program, code, output, seconds = each.result()
            # A program that dies has no closing line.
            closing = CLOSING.search(output)
            n_passed, n_broken, n_ignored = map(int, closing.groups()) if closing else (0, 0, 0)
            passed, broken, ignored = passed + n_passed, broken + n_broken, ignored + n_ignored
            # One whose filters match nothing tests nothing.
            if code or not closing or (program.filters and not n_passed):
                failed.append(f"{program.title()} (exit code {code})")
                print(output)
            print(f"{program.title()}: {n_passed} passed in {seconds:.1f} s", flush=True)

    command = [CARGO, "test", *PACKAGES, "--profile", wanted.profile, "--doc", "--quiet"]
    if subprocess.run(command, cwd=ROOT).returncode:
        failed.append("examples in docs")
    print(f"{passed} passed, {broken} failed, {ignored} skipped")
    for name in failed:
        print(f"error: failed: {name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
