"""What R keeps beside columns, as far as it means something here: the names of rows."""

from __future__ import annotations

from typing import Any


def for_pandas(host: dict[str, Any]) -> dict[str, Any]:
    """The indexes in a host map of R, as pandas keeps its own. Rows without names get pandas' usual index."""
    if host.get("host") != "r" or "index" not in host:
        return {}
    return {"index": host["index"], "columns": {"kind": "names", "dtype": "str", "name": None}}
