"""Codec of labels in host maps: names of indexes, levels and frames, of any hashable type."""

from __future__ import annotations

from typing import Any

from entasis._host_map import CellValue
from entasis.errors import UnsupportedTypeError

from .text import is_text

_NUMPY_KINDS = "biufcmMUS"


def encode_label(label: Any, what: str, tree: Any = None) -> Any:
    """Encode a label. A label of another type becomes a cell by `tree`, if given."""
    if tree is None:
        return _encode(label, what)
    try:
        return _encode(label, what)
    except (UnsupportedTypeError, RecursionError):
        return tree(label, f"{what}: a name")


def _encode(label: Any, what: str) -> Any:
    kind = type(label)
    if label is None or kind in (float, bool, bytes) or (kind is str and is_text(label)):
        return label
    if kind is int and label.bit_length() < 1 << 12:
        return label if -(1 << 63) <= label < 1 << 64 else {"integer": str(label)}
    if kind in (tuple, frozenset):
        return {kind.__name__: [_encode(part, what) for part in label]}
    if kind is complex:
        return {"complex": [label.real, label.imag]}
    module = kind.__module__
    if module == "datetime":
        found = _encode_time(label)
        if found is not None:
            return found
    elif module == "numpy":
        import numpy as np

        # The dtype records the unit of times.
        dtype = label.dtype if isinstance(label, np.generic) else None
        if dtype is not None and dtype.kind in _NUMPY_KINDS and dtype.isnative and dtype.char != "g":
            # An empty string has one character in memory and width 0 in its dtype.
            return {"numpy": [dtype.str, label.tobytes()[: dtype.itemsize]]}
    raise UnsupportedTypeError(f"{what}: a name of type {_called(kind)} is not supported yet")


def is_plain(value: Any) -> bool:
    """Whether a value is a small tree that a host map can hold without cells."""
    left = [256]

    def look(part: Any, depth: int) -> bool:
        left[0] -= 1
        kind = type(part)
        if left[0] < 0 or depth > 16:
            return False
        if part is None or kind in (bool, float, str, bytes):
            return kind is not str or not any("\ud800" <= c <= "\udfff" for c in part)
        if kind is int:
            return bool(-(1 << 63) <= part < 1 << 64)
        if kind is list:
            return all(look(item, depth + 1) for item in part)
        return kind is dict and all(type(k) is str and look(k, depth) and look(v, depth + 1) for k, v in part.items())

    return look(value, 0)


def _called(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _encode_time(label: Any) -> Any:
    import datetime

    kind = type(label)
    if kind is datetime.date:
        return {"date": label.isoformat()}
    if kind is datetime.timedelta:
        return {"timedelta": [label.days, label.seconds, label.microseconds]}
    if kind in (datetime.time, datetime.datetime) and label.tzinfo is None and label.fold == 0:
        return {kind.__name__: label.isoformat()}
    return None


def decode_label(value: Any) -> Any:
    """Decode a label. Raises for an unhashable value."""
    if type(value) is CellValue:
        value = value.get()
        hash(value)
        return value
    if type(value) is not dict:
        hash(value)
        return value
    ((key, inner),) = value.items()
    if key == "tuple":
        return tuple(decode_label(part) for part in inner)
    if key == "frozenset":
        return frozenset(decode_label(part) for part in inner)
    if key == "integer":
        return int(inner)
    if key == "complex":
        return complex(*inner)
    if key == "numpy":
        return _decode_numpy(*inner)
    import datetime

    if key == "timedelta":
        return datetime.timedelta(*inner)
    if key in ("date", "time", "datetime"):
        return getattr(datetime, key).fromisoformat(inner)
    raise ValueError(f"a label of kind {key!r} is not known")


def _decode_numpy(dtype: str, memory: bytes) -> Any:
    import numpy as np

    found = np.dtype(dtype)
    if type(memory) is not bytes or found.kind not in _NUMPY_KINDS or found.itemsize != len(memory):
        raise ValueError(f"a scalar of dtype {dtype!r} in {len(memory)} bytes")
    # Not `frombuffer`, which drops zero characters at the end of strings.
    if found.kind == "S":
        return np.bytes_(memory)
    if found.kind == "U":
        return np.str_(memory.decode("utf-32-le", "surrogatepass"))
    return np.frombuffer(memory, found)[0]
