"""Readers of R: data.table's fread, readr, read.csv and Entasis, where R has these packages.

An R process reads on request, in turn with the other readers, and times itself. For the comparison
it writes the values of each column as bytes.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...calls import Call
from ...fwrite import opened, rscript
from ...run import SLOW
from .equal import differences

SCRIPT = """
suppressMessages(library(data.table))
given <- commandArgs(TRUE)
setDTthreads(as.integer(given[1]))
asked <- file("stdin")
open(asked)
n_threads <- as.integer(given[1])
readers <- list(
  fread = function(path) fread(path, showProgress = FALSE, strip.white = FALSE),
  readr = function(path) {
    readr::read_csv(path, show_col_types = FALSE, progress = FALSE, num_threads = n_threads,
                    trim_ws = FALSE, lazy = FALSE)
  },
  base = function(path) {
    read.csv(path, na.strings = c("", "NA"), check.names = FALSE)
  },
  entasis = function(path) {
    entasis::read_csv_entasis(path, as = "data.table", strip.white = FALSE, nThread = n_threads)
  },
  created = function(path) {
    frame <- readers$entasis(path)
    # The package creates strings on first access. Create them now.
    for (column in frame) if (is.character(column)) anyNA(match(column, ""))
    frame
  }
)
dump <- function(frame, folder) {
  kinds <- character()
  for (i in seq_along(frame)) {
    column <- frame[[i]]
    kind <- class(column)[1]
    kinds <- c(kinds, kind)
    if (is.character(column)) {
      missing <- is.na(column)
      writeBin(as.integer(missing), file.path(folder, paste0(i, ".missing")))
      column[missing] <- ""
      column <- enc2utf8(column)
    }
    else if (kind %in% c("integer", "logical", "IDate")) column <- as.integer(column)
    else column <- as.double(unclass(column))
    writeBin(column, file.path(folder, paste0(i, ".values")))
  }
  writeLines(c(kinds, enc2utf8(names(frame))), file.path(folder, "columns"), useBytes = TRUE)
}
repeat {
  cat("ready\\n")
  wanted <- readLines(asked, n = 1)
  if (length(wanted) == 0) break
  wanted <- strsplit(wanted, "\\t", fixed = TRUE)[[1]]
  invisible(gc())
  begin <- as.double(Sys.time())
  frame <- tryCatch(readers[[wanted[1]]](wanted[2]), error = function(e) conditionMessage(e))
  seconds <- max(as.double(Sys.time()) - begin, 1e-6)
  if (is.character(frame)) cat("error", gsub("\\n", " ", frame), "\\n")
  else {
    if (length(wanted) > 2) dump(frame, wanted[3])
    cat(seconds, "\\n")
  }
  frame <- NULL
}
"""
NOTE = "R: read there, by a process of its own, blanks around text kept"
READERS = {  # by the keys of records
    "fread": ("fread", "fread"),
    "readr": ("readr", "readr"),
    "base": ("base", "read.csv"),
    "entasis": ("entasis", "Entasis"),
    "entasis-created": ("created", "with all strings"),
}
MISSING = {"integer": -(2**31), "logical": -(2**31), "IDate": -(2**31), "integer64": -(2**63)}


class Process:
    """An R process that reads texts on request."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder / "fread"
        self.folder.mkdir(exist_ok=True)
        script = self.folder / "fread.R"
        script.write_text(SCRIPT)
        command = [rscript("data.table"), "--vanilla", str(script), str(threads)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def call(self, path: Path, expected: pa.Table, key: str = "fread") -> Call:
        """A reader, called once and compared."""
        reader, label = READERS[key]
        table, seconds = partial(self._table, reader, path), partial(self._seconds, reader, path)
        call = Call(key, label, table, seconds)
        call.checked(partial(differences, expected))
        # The first call also writes the values, so its length says nothing.
        call.notes = [NOTE, *(note for note in call.notes if not note.startswith("slow"))]
        if key == "base":
            call.notes.append(SLOW)
        return call

    def close(self) -> None:
        self.process.communicate()
        shutil.rmtree(self.folder)

    def _ask(self, *words: str) -> float:
        answer = ""
        if opened(self.process.stdout).readline().strip() == "ready":
            print(*words, sep="\t", file=opened(self.process.stdin), flush=True)
            answer = opened(self.process.stdout).readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(answer.removeprefix("error ") or "Rscript ended")
        return float(answer)

    def _seconds(self, reader: str, path: Path) -> float:
        return self._ask(reader, str(path))

    def _table(self, reader: str, path: Path) -> pa.Table:
        values = self.folder / "values"
        values.mkdir()
        try:
            self._ask(reader, str(path), str(values))
            return table(values)
        finally:
            shutil.rmtree(values)


@contextmanager
def process(folder: Path, threads: int) -> Iterator[Process | None]:
    """A process that reads; None where R lacks data.table."""
    if rscript("data.table") is None:
        yield None
        return
    made = Process(folder, threads)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def none() -> Iterator[None]:
    yield None


def table(folder: Path) -> pa.Table:
    """The table whose columns R wrote as bytes."""
    lines = (folder / "columns").read_text(encoding="utf-8").split("\n")[:-1]
    kinds, names = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    return pa.table([_column(folder, i + 1, kind) for i, kind in enumerate(kinds)], names)


def _column(folder: Path, i: int, kind: str) -> pa.Array:
    path = folder / f"{i}.values"
    if kind == "character":
        missing = np.fromfile(folder / f"{i}.missing", np.int32).astype(bool)
        values = np.fromfile(path, np.uint8)
        ends = np.flatnonzero(values == 0)  # each text ends with a zero byte
        offsets = np.concatenate([[0], ends - np.arange(len(ends))]).astype(np.int64)
        texts = pa.LargeStringArray.from_buffers(
            len(ends), pa.py_buffer(offsets), pa.py_buffer(values[values != 0])
        )
        return pc.if_else(pa.array(missing), pa.scalar(None, texts.type), texts)
    if kind in ("integer", "logical", "IDate", "integer64"):
        numbers = np.fromfile(path, np.int64 if kind == "integer64" else np.int32)
        array = pa.array(numbers, mask=numbers == MISSING[kind])
        if kind == "IDate":
            return array.cast(pa.date32())
        return array.cast(pa.bool_()) if kind == "logical" else array
    doubles = np.fromfile(path, np.float64)
    absent = np.isnan(doubles)
    if kind == "Date":
        days = np.where(absent, 0, doubles).astype(np.int32)
        return pa.array(days, mask=absent).cast(pa.date32())
    if kind == "POSIXct":
        micros = np.rint(np.where(absent, 0, doubles) * 1e6).astype(np.int64)
        return pa.array(micros, mask=absent).cast(pa.timestamp("us"))
    return pa.array(doubles, mask=absent)
