"""The argument of every suite: options, peers and folders; it collects the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .hosts import host as find_host
from .memory import measure
from .peers import Pool
from .records import raw, records
from .run import Comparison, Result, compare
from .table import comparison_text


@dataclass
class Options:
    """The options of the command line."""

    data: Path  # kept between runs: generated inputs
    rows: int = 10_000_000  # of the headline frame
    rounds: int = 5
    threads: int = 1
    scale: float = 1.0  # all sizes are multiplied by it
    tpch: float = 1.0  # scale factor
    file: Path | None = None
    memory: bool = False
    large: bool = False
    sets: str | None = None  # of the suites shootout and csv, with commas between; None: all


@dataclass
class Context:
    """Options of the run and its results so far."""

    options: Options
    pool: Pool
    work: Path  # emptied at the end: the files under test
    suite: str = ""
    failed: bool = False
    sections: dict[str, list[Any]] = field(default_factory=dict)
    raw: list[dict[str, Any]] = field(default_factory=list)

    def scaled(self, size: int, *, least: int = 1) -> int:
        """A size of a suite, shrunk as the user asked."""
        return max(least, round(size * self.options.scale))

    def compare(
        self,
        name: str,
        frame: Any,
        remarks: list[str] | None = None,
        *,
        host: str = "pandas",
        peers: Iterable[str] | None = None,
        fixed: bool = False,
        rounds: int | None = None,
        threads: int | None = None,
        repeats: int | None = 1,
        touch: bool = False,
        section: str | None = "comparisons",
        quiet: bool = False,
        written: Sequence[Result] = (),
    ) -> Comparison:
        """Compare peers on one frame, print the table, and record the numbers.

        The peers are the user's choice, else `peers`; with `fixed` always `peers`. `written` are
        results whose files other code wrote. The numbers go to `section`; None drops them.
        """
        outcome = compare(
            name,
            frame,
            find_host(host),
            self.pool.get(peers, host=host, fixed=fixed),
            self.work,
            rounds=self.options.rounds if rounds is None else rounds,
            threads=threads or self.options.threads,
            repeats=repeats,
            touch=touch,
            written=written,
        )
        outcome.remarks = remarks or []
        if self.options.memory:
            measure(outcome, frame, self.work)
        if not quiet:
            print(comparison_text(outcome), end="\n\n", flush=True)
        if section is not None:
            self.keep(section, records(self.suite, outcome))
            self.raw += raw(self.suite, outcome)
        self.failed |= any(result.broken for result in outcome.results)
        return outcome

    def keep(self, section: str, rows: list[Any]) -> None:
        self.sections.setdefault(section, []).extend(rows)

    def keep_raw(
        self, frame: str, host: str, peer: str, direction: str, seconds: list[float]
    ) -> None:
        """Record single measurements of a suite with its own way to measure."""
        same: dict[str, Any] = {"suite": self.suite, "frame": frame, "host": host, "format": peer}
        same |= {"threads": self.options.threads, "direction": direction}
        self.raw += [{**same, "round": i + 1, "seconds": s} for i, s in enumerate(seconds)]
