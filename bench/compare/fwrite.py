"""data.table's fwrite, where R and data.table are installed: seconds to write a CSV.

The frame goes to R as a file of Entasis where its package for R is installed, else as CSV, which
takes minutes for large frames; one R process reads it and writes it as often as there are rounds,
by as many threads. There is no reading back into the host: write only.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import entasis as en

from .peers import Peer
from .run import Comparison, Result

if TYPE_CHECKING:
    import pandas as pd

SCRIPT = """
suppressMessages(library(data.table))
given <- commandArgs(TRUE)
setDTthreads(as.integer(given[3]))
factors <- strsplit(given[5], "\\t", fixed = TRUE)[[1]]
if (endsWith(given[1], ".entasis")) {
  frame <- entasis::read_entasis(given[1], as.data.table = TRUE)
  # The package makes strings when they are looked at: now.
  for (column in names(frame)) if (is.character(frame[[column]])) unique(frame[[column]])
} else {
  frame <- fread(given[1], colClasses = if (length(factors)) list(factor = factors) else NULL)
}
for (i in 1:as.integer(given[4])) {
  unlink(given[2])
  cat(system.time(fwrite(frame, given[2]), gcFirst = TRUE)[["elapsed"]], "\\n")
}
"""
NOTE = "R: the frame read there, then written in a process of its own; no reading"


class DataTable(Peer):
    key = "fwrite"
    label = "data.table fwrite"


def add_fwrite(outcome: Comparison, frame: pd.DataFrame, folder: Path, rounds: int) -> None:
    """Add a row to a comparison; none, without a word, where R lacks data.table."""
    program = _program("data.table")
    if program is None or outcome.host.key != "pandas":
        return
    result = Result(DataTable(), folder / f"{outcome.name}.csv", notes=[NOTE])
    script = folder / "fwrite.R"
    if _program("entasis"):
        source = folder / "fwrite-source.entasis"
        en.write(frame.reset_index(drop=True), source)
    else:
        source = folder / "fwrite-source.csv"
        frame.to_csv(source, index=False)
    script.write_text(SCRIPT)
    factors = "\t".join(str(c) for c in frame.columns if frame[c].dtype == "category")
    arguments = [source, result.path, outcome.threads, rounds, factors]
    done = subprocess.run(
        [program, "--vanilla", str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        result.write_s = [float(line) for line in done.stdout.split()]
        result.n_bytes = result.path.stat().st_size
    else:
        result.failure = (done.stderr.strip().splitlines() or ["Rscript failed"])[-1]
    source.unlink()
    script.unlink()
    outcome.results.append(result)


@cache
def _program(package: str) -> Any:
    """Rscript, if it has this package."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    test = [program, "--vanilla", "-e", f"library({package})"]
    done = subprocess.run(test, capture_output=True, check=False)
    return program if done.returncode == 0 else None
