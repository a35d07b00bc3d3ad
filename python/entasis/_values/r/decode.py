"""Values of R in trees that have no counterpart in Python."""

from __future__ import annotations

from typing import Any

from entasis._record import Record
from entasis.errors import UnsupportedTypeError

from . import frame as _r_frame
from . import values as _r_values

_FIELDS = {
    "r.vector": ("value", "attributes", "s4"),
    "r.symbol": ("name",),
    "r.expression": ("attributes",),
    "r.s4": ("attributes",),
    "r.family": ("family", "link"),
    "r.primitive": ("name",),
    "r.closure": ("formals", "body", "environment", "attributes", "s4"),
    "r.promise": ("expression", "environment"),
    "r.pointer": ("attributes",),
    "r.data_pointer": ("attributes", "tag", "protected"),
    "r.weakref": ("attributes",),
}


def decode(name: str, parts: list[Any]) -> Any:
    """Convert a value of R. Without a counterpart in Python it becomes a `Record` of its parts."""
    if name == "r.text":
        # The encodings that R marked are dropped.
        return parts[0]
    if name == "r.environment":
        kind = "number" if type(parts[0]) is int else str(parts[0])
        return Record("r", name, {kind: parts[1] if len(parts) > 1 else parts[0]})
    if name in ("r.call", "r.pairlist", "r.dots"):
        attributes, tags, *items = parts
        return Record("r", name, {"attributes": attributes, "tags": tags, "items": items})
    fields = _FIELDS.get(name)
    if fields is None:
        raise UnsupportedTypeError(f"an object of kind {name!r} is not known here: update Entasis")
    found = dict(zip(fields, parts, strict=False))
    if name == "r.vector" and type(parts[0]) is list and type(parts[1]) is dict:
        frame = _r_frame.frame_of(parts[0], parts[1])
        if frame is not None:
            return frame
    if name == "r.vector" and type(parts[1]) is dict and not (len(parts) > 2 and parts[2]):
        value = _r_values.value_of(parts[0], parts[1])
        if value is not None:
            return value
    if name == "r.expression":
        found["items"] = parts[1:]
    return Record("r", name, found)
