"""An R process that reads RDS files on request, in turn with the other calls, and times itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ... import files
from ...fwrite import opened, rscript

SCRIPT = """
asked <- file("stdin")
open(asked)
repeat {
  invisible(gc())
  cat("ready\\n")
  wanted <- readLines(asked, n = 1)
  if (length(wanted) == 0) break
  # `proc.time` counts milliseconds, and short files take less.
  begin <- as.double(Sys.time())
  value <- readRDS(wanted)
  cat(max(as.double(Sys.time()) - begin, 1e-6), "\\n")
  value <- NULL
}
"""


class Process:
    """The process."""

    def __init__(self, script: Path) -> None:
        pipe = subprocess.PIPE
        command = [rscript("base"), "--vanilla", str(script)]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def seconds(self, path: Path) -> float:
        """Seconds that `readRDS` takes."""
        answer = ""
        if opened(self.process.stdout).readline().strip() == "ready":
            print(path, file=opened(self.process.stdin), flush=True)
            answer = opened(self.process.stdout).readline().strip()
        if not answer:
            raise RuntimeError("Rscript ended")
        return float(answer)


@contextmanager
def process(folder: Path) -> Iterator[Process]:
    script = folder / "read-rds.R"
    script.write_text(SCRIPT)
    made = Process(script)
    try:
        yield made
    finally:
        made.process.communicate()
        files.remove(script)


def run_script(text: str, *arguments: str) -> None:
    """Run a script of R to its end."""
    command = [rscript("base"), "--vanilla", "-e", text, *arguments]
    subprocess.run(command, check=True, capture_output=True)
