"""Runs scripts for tests of R, each in a forked child, so that libraries are imported once.

Each line of the standard input is the path of a script. Its output goes to the path with `.out`,
and then its exit status to the path with `.status`.
"""

import os
import runpy
import sys
import traceback
from pathlib import Path

# A process with threads must not fork: NumPy would start some, and the allocator of pyarrow.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"

import entasis  # noqa: F401
import numpy  # noqa: F401
import pandas  # noqa: F401


def run(script: str) -> int:
    """Return the exit status of a script that runs in this process."""
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return 1 if end.code else 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


for line in sys.stdin:
    script = line.rstrip("\n")
    child = os.fork()
    if child == 0:
        output = os.open(script + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = run(script)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    part = Path(script + ".part")
    part.write_text(f"{status}\n")
    part.rename(script + ".status")
