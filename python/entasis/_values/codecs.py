"""The codecs for values whose types the native module does not know.

The list is closed: a name in a file selects one of these functions. Nothing is imported by a name
from a file.
"""

from __future__ import annotations

import datetime
from typing import Any

from entasis import _register
from entasis._values.r.decode import decode as decode_r
from entasis.errors import UnsupportedTypeError

from . import classes as _classes
from . import numpy as _numpy
from . import pandas as _pandas
from . import scipy as _scipy
from . import standard as _standard
from . import static_frame as _static_frame
from .parts import ELLIPSIS

_ENCODE = {
    "numpy": _numpy.encode,
    "pandas": _pandas.encode,
    "scipy": _scipy.encode,
    "static_frame": _static_frame.encode,
}
_DECODE: dict[str, Any] = _standard.DECODE | _numpy.DECODE | _pandas.DECODE | _scipy.DECODE | _static_frame.DECODE


def encode(value: Any) -> tuple[Any, ...]:
    """Take a value apart, in a form for `CellBuilder`. The value is not a frame."""
    kind = type(value)
    of_library = None
    if _register.functions(kind) is None:
        of_library = _ENCODE.get(kind.__module__.partition(".")[0])
    if of_library is not None:
        return of_library(value)
    found = _classes.encode(value, kind)
    if found is not None:
        return found
    if value is Ellipsis:
        return ("unit", ELLIPSIS)
    return _standard.encode(value, kind)


def decode(name: str, parts: list[Any], types: dict[str, type]) -> Any:
    """Make a value from the name of its codec and its parts.

    `types` are classes to use for records.
    """
    if name == "record":
        return _classes.decode(parts, types)
    if name.startswith("r."):
        return decode_r(name, parts)
    make: Any = _DECODE.get(name)
    if make is None:
        raise UnsupportedTypeError(f"an object of kind {name!r} is not known here: update Entasis")
    return make(*parts)


def decode_kind(kind: str, parts: list[Any], types: dict[str, type]) -> Any:
    """Make the value of a cell with parts."""
    if kind == "object":
        name, *rest = parts
        return decode(name, rest, types)
    if kind == "timedelta":
        return datetime.timedelta(*parts)
    plain, zone, fold = parts
    return plain.replace(tzinfo=_standard.decode_zone(zone), fold=fold)
