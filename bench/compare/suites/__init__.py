"""The experiments. A suite is a module with `run(context)`; name it here to add one."""

from __future__ import annotations

from collections.abc import Callable

from ..context import Context
from . import (
    access,
    compression,
    convert,
    csv,
    dataset,
    encryption,
    engines,
    grow,
    headline,
    machines,
    nine,
    objects,
    real,
    realfile,
    remote,
    scan,
    shootout,
    small,
    strings,
    sweep,
    threads,
    vectors,
    wide,
)

SUITES: dict[str, Callable[[Context], None]] = {
    "headline": headline.run,
    "headline-compression": compression.run,
    "headline-threads": threads.run,
    "file": realfile.run,
    "real": real.run,
    "nine": nine.run,
    "wide": wide.run,
    "strings": strings.run,
    "vectors": vectors.run,
    "shootout": shootout.run,
    "access": access.run,
    "objects": objects.run,
    "small": small.run,
    "grow": grow.run,
    "scan": scan.run,
    "engines": engines.run,
    "csv": csv.run,
    "convert": convert.run,
    "dataset": dataset.run,
    "remote": remote.run,
    "machines": machines.run,
    "encryption": encryption.run,
    "sweep": sweep.run,
}
TARGETS = [
    "headline",
    "real",
    "nine",
    "wide",
    "strings",
    "shootout",
    "access",
    "objects",
    "small",
    "grow",
    "scan",
    "engines",
    "csv",
    "convert",
    "dataset",
    "encryption",
]
GROUPS: dict[str, list[str]] = {
    "demo": ["headline", "file"],
    "targets": TARGETS,
    "all": list(SUITES),
    "none": [],  # only what other runs found
}
