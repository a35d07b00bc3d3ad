"""The headline frame at each compression: seconds and megabytes."""

from __future__ import annotations

from ..context import Context
from ..frames.headline import headline
from ..records import raw, records
from . import headline as experiment

LEVELS = range(0, 101, 10)


def run(context: Context) -> None:
    frame = headline(context.scaled(context.options.rows))
    keys = [f"entasis-{level}" for level in LEVELS]
    name = "headline-compression"
    outcome = context.compare(
        name, frame, [experiment.REMARK], peers=keys, fixed=True, section=None
    )
    found = records(context.suite, outcome)
    context.raw += raw(context.suite, outcome)
    for record in found:
        level = record["format"].removeprefix("entasis-")
        record["compression"] = int(level) if level.isdecimal() else None
    context.keep("compression", found)
    outcome.remove_files()
