"""The tables of `docs/fidelity.md`, and the list of the values that do not come back the same."""

from __future__ import annotations

import re
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path

from .case import Case
from .cases import panel
from .formats import LABELS
from .run import ROOT, Results

PAGE = ROOT / "docs" / "fidelity.md"
# Outside of the repository, because each run makes its 300 lines of names anew.
CASES = ROOT / "target" / "fidelity-cases.md"
COMMAND = "python -m bench.fidelity"

# Results by the key of the format, by library.
Found = dict[str, dict[str, Results]]

_PACKAGES = ("pandas", "polars", "pyarrow", "numpy", "static-frame", "vortex-data")
_OUTCOMES = ("same", "changed", "refused", "ended")


def tables(found: Found) -> str:
    """A table for each library, and what Entasis refuses."""
    parts = [f"With {_versions()}.", ""]
    for library, by_format in found.items():
        parts += [*_table(library, by_format), ""]
    parts += ["Values of the panels that Entasis refuses. Each error names the value:", ""]
    for library in found:
        refused = [case for case in panel(library) if case.refused is not None]
        if refused:
            parts.append(f"- {library}: {'; '.join(case.key for case in refused)}")
    return "\n".join(parts)


def _versions() -> str:
    parts = []
    for name in _PACKAGES:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)


def _groups(library: str) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in panel(library):
        groups.setdefault(case.group, []).append(case)
    return groups


def _table(library: str, by_format: dict[str, Results]) -> list[str]:
    names = [LABELS[key] for key in by_format]
    lines = [
        f"| {library} | values | {' | '.join(names)} |",
        f"|{'---|' * (len(names) + 2)}",
    ]
    groups = _groups(library)
    for group, cases in groups.items():
        lines.append(_row(group, cases, by_format))
    every = [case for cases in groups.values() for case in cases]
    lines.append(_row("**all**", every, by_format))
    return lines


def _row(name: str, cases: list[Case], by_format: dict[str, Results]) -> str:
    cells = [cell([results[case.key][0] for case in cases]) for results in by_format.values()]
    return f"| {name} | {len(cases)} | {' | '.join(cells)} |"


def cell(outcomes: list[str]) -> str:
    """Counts: same, changed, refused, process ended; one number when all are the same."""
    counts = Counter(outcomes)
    if counts["same"] == len(outcomes):
        return str(len(outcomes))
    shown = _OUTCOMES if counts["ended"] else _OUTCOMES[:3]
    return " / ".join(str(counts[outcome]) for outcome in shown)


def expected(library: str) -> dict[str, tuple[int, str]]:
    """Number of values and cell of Entasis in the table of a library, by group."""

    def of(cases: list[Case]) -> tuple[int, str]:
        return len(cases), cell(["same" if case.refused is None else "refused" for case in cases])

    groups = _groups(library)
    every = [case for cases in groups.values() for case in cases]
    return {group: of(cases) for group, cases in groups.items()} | {"**all**": of(every)}


def written(library: str) -> dict[str, tuple[int, str]]:
    """The same numbers and cells, read from the page."""
    lines = iter(PAGE.read_text(encoding="utf-8").splitlines())
    rows: dict[str, tuple[int, str]] = {}
    for line in lines:
        if line.startswith(f"| {library} | values |"):
            next(lines)
            for row in lines:
                if not row.startswith("|"):
                    return rows
                name, n, entasis = [part.strip() for part in row.split("|")[1:4]]
                rows[name] = (int(n), entasis)
    return rows


def lists(found: Found) -> str:
    """A page with the names of all values that do not come back the same."""
    lines = [
        "# Values that don't come back the same",
        "",
        f"`{COMMAND} --write` counted these values in the tables of docs/fidelity.md,",
        f"with {_versions()}.",
        "*Changed*: something else came back, without an error. *Refused*: with an error.",
        "*Ended*: the process ended, or hung.",
    ]
    for library, by_format in found.items():
        lines += ["", f"## {library}"]
        for key, results in by_format.items():
            lines += ["", f"### {library}, {LABELS[key]}", ""]
            told = [_list(outcome, results) for outcome in _OUTCOMES[1:]]
            lines += [line for part in told for line in part] or ["All come back the same."]
    return "\n".join(lines) + "\n"


def _list(outcome: str, results: Results) -> list[str]:
    keys = [key for key, (found, _) in results.items() if found == outcome]
    lines = []
    for group, members in groupby(sorted(keys, key=_group), key=_group):
        names = [key.partition(": ")[2] for key in members]
        lines.append(f"- {outcome}, {group} ({len(names)}): {'; '.join(names)}")
    return lines


def _group(key: str) -> str:
    return key.partition(": ")[0]


def replace(page: Path, mark: str, text: str) -> None:
    """Replace the text between the marks of a page."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    old = page.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(old)) != 1:
        raise ValueError(f"{page}: needs the marks {begin} and {end} exactly once")
    new = pattern.sub(lambda _: f"{begin}\n{text}\n{end}", old)
    page.write_text(new, encoding="utf-8")
