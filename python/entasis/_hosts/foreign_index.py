"""Indexes in host maps of StaticFrame and R, converted to the form that pandas records."""

from __future__ import annotations

from typing import Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._host_map import interpretation


def of_static_frame(host: dict[str, Any]) -> dict[str, Any]:
    """The indexes in a host map of StaticFrame, in the form of pandas; empty for other hosts."""
    if host.get("host") != "static_frame":
        return {}
    with interpretation():
        found = {
            "index": host["index"],
            "columns": host.get("columns", {"kind": "names", "dtype": "str", "name": None}),
        }
        # Metadata of dtypes are only restored for StaticFrame.
        return {
            axis: spec and {key: spec[key] for key in spec if key != _dtype_metadata.KEY}
            for axis, spec in found.items()
        }


def of_r(host: dict[str, Any]) -> dict[str, Any]:
    """The indexes in a host map of R, in the form of pandas; empty without row names."""
    if host.get("host") != "r" or "index" not in host:
        return {}
    return {"index": host["index"], "columns": {"kind": "names", "dtype": "str", "name": None}}
