"""Sparse matrices and arrays of SciPy."""

from __future__ import annotations

from typing import Any

from .parts import UNSUPPORTED, object_parts


def encode(value: Any) -> tuple[Any, ...]:
    from scipy import sparse

    name = type(value).__name__
    if not sparse.issparse(value) or getattr(sparse, name, None) is not type(value):
        return UNSUPPORTED
    layout = value.format
    parts: tuple[Any, ...]
    if layout in ("csr", "csc", "bsr"):
        parts = (value.data, value.indices, value.indptr)
    elif layout == "coo":
        parts = (value.data, tuple(value.coords if hasattr(value, "coords") else (value.row, value.col)))
    elif layout == "dia":
        parts = (value.data, value.offsets)
    elif layout == "lil":
        parts = (value.dtype, value.rows, value.data)
    else:
        items = dict(value.items())
        parts = (value.dtype, list(items), list(items.values()))
    return object_parts("scipy.sparse", name, tuple(value.shape), *parts)


def _sparse(name: str, shape: tuple[int, ...], *parts: Any) -> Any:
    from scipy import sparse

    layout, _, form = name.partition("_")
    if layout not in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok") or form not in ("matrix", "array"):
        raise ValueError(f"a sparse matrix of class {name!r}")
    kind = getattr(sparse, name)
    if layout in ("csr", "csc", "bsr"):
        found = kind(parts, shape=shape)
        # Without this check, SciPy would use the file's indices unchecked.
        found.check_format(full_check=True)
        return found
    if layout == "coo":
        data, coords = parts
        return kind((data, tuple(coords)), shape=shape)
    if layout == "dia":
        return kind(parts, shape=shape)
    found = kind(shape, dtype=parts[0])
    if layout == "lil":
        for row, (columns, values) in enumerate(zip(parts[1], parts[2], strict=True)):
            if not all(type(column) is int and 0 <= column < shape[1] for column in columns):
                raise ValueError("a column number is out of range")
            if len(columns) != len(values) or len(parts[1]) != shape[0]:
                raise ValueError("rows have another length")
            found.rows[row], found.data[row] = columns, values
        return found
    for key, value in zip(parts[1], parts[2], strict=True):
        found[key] = value
    return found


DECODE = {"scipy.sparse": _sparse}
