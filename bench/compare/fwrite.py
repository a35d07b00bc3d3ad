"""data.table's fwrite, where R and data.table are installed: seconds to write a CSV.

`fwrite` writes a frame, and `fwritten` the table of a text. A frame goes to R as a file of Entasis
where its package for R is installed, else as CSV, which takes minutes for large frames. One R
process reads it, and writes it on request, in turn with the other formats and with as many threads.
The host does not read the CSV back.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import entasis as en

from . import files
from .peers import Peer
from .run import Result, failure

if TYPE_CHECKING:
    import pandas as pd

SCRIPT = """
suppressMessages(library(data.table))
given <- commandArgs(TRUE)
setDTthreads(as.integer(given[3]))
factors <- strsplit(given[4], "\\t", fixed = TRUE)[[1]]
if (endsWith(given[1], ".entasis")) {
  frame <- entasis::read_entasis(given[1], as.data.table = TRUE)
  # The package creates strings on first access. Create them now.
  for (column in names(frame)) if (is.character(frame[[column]])) unique(frame[[column]])
} else {
  frame <- fread(given[1], colClasses = if (length(factors)) list(factor = factors) else NULL)
}
asked <- file("stdin")
open(asked)
repeat {
  # Free garbage outside of the timed call.
  invisible(gc())
  cat("ready\\n")
  if (length(readLines(asked, n = 1)) == 0) break
  fwrite(frame, given[2])
  cat("written\\n")
}
"""
NOTE = "R: the frame read there, then written by a process of its own; no reading"


class DataTable(Peer):
    key = "fwrite"
    label = "data.table fwrite"
    is_read = False

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def write(self, value: Any, path: Path) -> None:
        """Ask the process to write, and wait until it has written. It is not ready again yet."""
        print("write", file=opened(self.process.stdin), flush=True)
        self._expect("written")

    def settle(self) -> None:
        """Wait until the process is ready to write."""
        self._expect("ready")

    def _expect(self, word: str) -> None:
        if opened(self.process.stdout).readline().strip() != word:
            lines = opened(self.process.stderr).read().strip().splitlines()
            raise RuntimeError(lines[-1] if lines else "Rscript ended")


@contextmanager
def fwrite(name: str, frame: pd.DataFrame, folder: Path, threads: int) -> Iterator[list[Result]]:
    """Its measurements; silently nothing where R lacks data.table."""
    program = rscript("data.table")
    if program is None:
        yield []
        return
    # The name of another peer is "csv".
    path, script = folder / f"{name}.fwrite.csv", folder / "fwrite.R"
    if rscript("entasis"):
        source = folder / "fwrite-source.entasis"
        en.write(frame.reset_index(drop=True), source)
    else:
        source = folder / "fwrite-source.csv"
        frame.to_csv(source, index=False)
    script.write_text(SCRIPT)
    factors = "\t".join(str(c) for c in frame.columns if frame[c].dtype == "category")
    command = [program, "--vanilla", str(script), str(source), str(path), str(threads), factors]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    try:
        peer = DataTable(process)
        result = Result(peer, path, notes=[NOTE])
        with failure(result):
            peer.settle()
            # Like the other formats, fwrite writes once before it is measured.
            peer.write(None, path)
            peer.settle()
            result.n_bytes = path.stat().st_size
        yield [result]
    finally:
        process.communicate()
        for file in (source, script, path):
            files.remove(file)


@contextmanager
def fwritten(
    source: Path, target: Path, folder: Path, threads: int
) -> Iterator[Callable[[], float] | None]:
    """A call that writes the table of a text, read by fread, and returns its seconds.

    The end of the target says whether it is compressed. None where R lacks data.table.
    """
    program = rscript("data.table")
    if program is None:
        yield None
        return
    script = folder / "fwrite.R"
    script.write_text(SCRIPT)
    command = [program, "--vanilla", str(script), str(source), str(target), str(threads), ""]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    peer = DataTable(process)

    def write() -> float:
        peer.settle()
        target.unlink(missing_ok=True)
        begin = time.perf_counter()
        peer.write(None, target)
        return time.perf_counter() - begin

    try:
        yield write
    finally:
        process.communicate()
        files.remove(script)


def opened(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "all streams of the process are pipes"
    return stream


@cache
def rscript(package: str) -> Any:
    """Rscript, if it has this package."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    test = [program, "--vanilla", "-e", f"library({package})"]
    done = subprocess.run(test, capture_output=True, check=False)
    return program if done.returncode == 0 else None
