"""Codec of structured arrays whose dtype has objects, titles or metadata, and of record arrays."""

from __future__ import annotations

from typing import Any

from entasis.errors import UnsupportedTypeError

# Limits the gaps between fields: a record is at most this many times as long as its fields.
_GAPS = 64


def is_plain(dtype: Any) -> bool:
    """Whether bytes and a description of the dtype determine an array."""
    if dtype.metadata is not None or dtype.type.__name__ == "record":
        return False
    if dtype.subdtype is not None:
        return is_plain(dtype.subdtype[0])
    if dtype.names is None:
        return not dtype.hasobject and dtype.kind != "T"
    return all(len(dtype.fields[name]) == 2 and is_plain(dtype.fields[name][0]) for name in dtype.names)


def encode(array: Any) -> tuple[Any, ...]:
    """Take an array with fields apart: layout, shape, and an array for each field."""
    import numpy as np

    dtype = array.dtype
    fields = [dtype.fields[name] for name in dtype.names]
    if _has_gaps(dtype.itemsize, [field[0] for field in fields]):
        raise UnsupportedTypeError(f"records of {dtype.itemsize:,} bytes, most of them between the fields")
    layout = {
        "names": list(dtype.names),
        "titles": [field[2] if len(field) > 2 else None for field in fields],
        "offsets": [field[1] for field in fields],
        "itemsize": dtype.itemsize,
        "aligned": bool(dtype.isalignedstruct),
        "metadata": None if dtype.metadata is None else dict(dtype.metadata),
        "is_record": dtype.type is np.record,
        "is_recarray": type(array) is np.recarray,
    }
    # As a plain array, because fields of a record array are record arrays again.
    plain = array.view(np.ndarray)
    return layout, array.shape, *(plain[name] for name in dtype.names)


def _has_gaps(itemsize: int, formats: list[Any]) -> bool:
    """Whether records are much longer than their fields, so that a small file takes much memory."""
    import numpy as np

    own = sum(np.dtype(of).itemsize for of in formats)
    return bool(itemsize > _GAPS * own)


def decode(layout: Any, shape: Any, *arrays: Any) -> Any:
    """Make an array from its layout and fields."""
    import numpy as np

    formats = []
    for array in arrays:
        if type(array) is not np.ndarray or array.shape[: len(shape)] != tuple(shape):
            raise TypeError("fields must be arrays of equal shape")
        of_each = array.shape[len(shape) :]
        formats.append((array.dtype, of_each) if of_each else array.dtype)
    if len(layout["titles"]) != len(arrays):
        raise ValueError("the layout has other fields")
    parts: Any = {key: layout[key] for key in ("names", "offsets", "itemsize")}
    if any(title is not None for title in layout["titles"]):
        parts["titles"] = layout["titles"]
    if type(parts["itemsize"]) is not int or _has_gaps(parts["itemsize"], formats):
        raise ValueError(f"records of {parts['itemsize']} bytes, most of them between the fields")
    metadata = layout["metadata"]
    kept = {} if metadata is None else {"metadata": metadata}
    dtype: Any = np.dtype(parts | {"formats": formats}, align=layout["aligned"], **kept)
    if len(dtype.names) != len(arrays):
        raise ValueError("the layout has other fields")
    if layout["is_record"]:
        dtype = np.dtype((np.record, dtype))
    make: Any = np.recarray if layout["is_recarray"] else np.ndarray
    found = make(tuple(shape), dtype=dtype)
    for name, array in zip(dtype.names, arrays, strict=True):
        found[name] = array
    return found
