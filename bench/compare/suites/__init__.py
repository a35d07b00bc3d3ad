"""The experiments. A suite is a module with `run(context)`; name it here to add one."""

from __future__ import annotations

from collections.abc import Callable

from ..context import Context
from . import headline, realfile, sweep

SUITES: dict[str, Callable[[Context], None]] = {
    "headline": headline.run,
    "file": realfile.run,
    "sweep": sweep.run,
}
GROUPS = {"demo": ["headline", "file"], "all": list(SUITES)}
