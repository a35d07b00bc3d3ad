"""The indexes that StaticFrame and R record in a host map, in the form in which pandas records its own."""

from __future__ import annotations

from typing import Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._host_map import interpretation


def of_static_frame(host: dict[str, Any]) -> dict[str, Any]:
    """The indexes in a host map, as pandas keeps its own."""
    if host.get("host") != "static_frame":
        return {}
    with interpretation():
        found = {
            "index": host["index"],
            "columns": host.get("columns", {"kind": "names", "dtype": "str", "name": None}),
        }
        # What is beside a dtype stays with who wrote it.
        return {
            axis: spec and {key: spec[key] for key in spec if key != _dtype_metadata.KEY}
            for axis, spec in found.items()
        }


def of_r(host: dict[str, Any]) -> dict[str, Any]:
    """The indexes in a host map of R, as pandas keeps its own. Rows without names get pandas' usual index."""
    if host.get("host") != "r" or "index" not in host:
        return {}
    return {"index": host["index"], "columns": {"kind": "names", "dtype": "str", "name": None}}
