"""Chooses the plan for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import arrow as _arrow
from . import entasis_file as _entasis_file
from . import json_lines as _json_lines
from . import numpy as _numpy
from . import text as _text

if TYPE_CHECKING:
    from entasis._convert.inputs.base import Input

    from .base import Options, Plan


def plan(given: Input, form: str, path: str, options: Options) -> Plan:
    """Decide how a table is written in a format."""
    if form == "entasis":
        return _entasis_file.plan(given, options)
    if form in ("parquet", "arrow", "arrow_stream", "feather"):
        return _arrow.plan(given, form, options)
    if form == "csv":
        return _text.plan(given, path, options)
    if form == "jsonl":
        return _json_lines.plan(given, path, options)
    return _numpy.plan(given, form, options)
