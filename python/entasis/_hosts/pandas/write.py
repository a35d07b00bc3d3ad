"""Frames of pandas to columns. Whole blocks are added at once."""

from __future__ import annotations

from typing import Any

from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns.labels import encode_label, is_plain
from entasis._columns.text import as_text, is_text
from entasis._entasis import Builder, ColumnRef
from entasis._hosts.numpy import objects as _objects

from . import compat as _compat
from . import index as _labels
from .encode import PandasBuilder, add_array
from .series import as_frame, is_table, restore
from .variants import OBJECT

# The interface of modules that write, see `registry`.
__all__ = ["build", "is_table", "restore"]

# In frames with more blocks than this, blocks of one column are added together.
_MANY = 64
# Dtypes of booleans, integers, floats and complex numbers.
_PLAIN = frozenset("?bhilqBHILQefdFD")


def build(frame: Any, called: str | None = None) -> tuple[Builder, dict[str, Any]]:
    """Return a builder with all columns of a frame, and the host map.

    Errors call the only column `called`.
    """
    import numpy as np
    import pandas as pd

    if type(frame) is not pd.DataFrame:
        frame, kept = as_frame(frame)
        found, map_ = build(frame, "series.iloc" if kept["class"] == "Series" else "array")
        name = {"name": encode_label(kept.pop("name"), "the series", found.tree)} if "name" in kept else {}
        return found, map_ | kept | name
    builder, are_names = _named(len(frame), frame.columns)
    host: dict[str, Any] = {"host": "pandas"}
    kinds: list[list[Any]] = []
    metadata = _dtype_metadata.Collector()
    for values, positions in _blocks(frame, builder):
        if _dtype_metadata.of(values.dtype) is not None and len(positions):
            metadata.add(values.dtype, positions.tolist())
        if type(values) is np.ndarray and values.dtype.kind == "O":
            labels = _listed(frame.columns)
            for row, position in zip(values, positions.tolist(), strict=True):
                _, mixed = _objects.add(builder, row, position, OBJECT, "", called or f"df[{labels[position]!r}].iloc")
                if mixed is not None:
                    kinds.append([position, ColumnRef(mixed)])
            continue
        first = builder.name(int(positions[0])) if len(positions) else ""
        add_array(builder, values, int(positions[0]) if getattr(values, "ndim", 1) == 1 else positions, first)
    host["index"] = _labels.encode_index(frame.index, "the index", builder)
    host["columns"] = _encode_columns(builder, frame.columns, are_names=are_names)
    host |= metadata.encode(builder)
    if builder.categories:
        host["categories"] = builder.categories
    if kinds:
        host["missing_kinds"] = kinds
    if frame.attrs:
        is_small = is_plain(frame.attrs)
        host["attrs"] = dict(frame.attrs) if is_small else builder.tree(frame.attrs, "the frame's attrs")
    if not frame.flags.allows_duplicate_labels:
        host["allows_duplicate_labels"] = False
    return builder, host


def _named(n_rows: int, labels: Any) -> tuple[PandasBuilder, bool]:
    """A builder with the column labels as names, and whether all labels are strings."""
    if len(labels) >= _MANY:
        strings = _labels.arrow_values(labels)
        if strings is not None and strings.null_count == 0 and str(strings.type) == "large_string":
            chunk = strings.combine_chunks() if strings.num_chunks != 1 else strings.chunk(0)
            _, ends, text = chunk.buffers()
            # The buffer may be missing if all strings are empty.
            parts = (ends, b"" if text is None else text, chunk.offset, chunk.offset + len(chunk))
            return PandasBuilder(n_rows, parts), True
    listed = _listed(labels)
    try:
        return PandasBuilder(n_rows, listed), True
    except (TypeError, UnicodeEncodeError):
        # A label is not a string, or has lone surrogates.
        return PandasBuilder(n_rows, [as_text(label) for label in listed]), False


def _listed(labels: Any) -> list[Any]:
    strings = _labels.arrow_values(labels)
    if strings is not None and strings.null_count == 0:
        return strings.to_pylist()  # type: ignore[no-any-return]
    return labels.tolist()  # type: ignore[no-any-return]


def encode_labels(builder: Any, labels: Any) -> tuple[list[str], dict[str, Any]]:
    """The names of columns with these labels, and the description of the labels."""
    listed = _listed(labels)
    are_names = all(type(label) is str and is_text(label) for label in listed)
    names = listed if are_names else [as_text(label) for label in listed]
    return names, _encode_columns(builder, labels, are_names=are_names)


def _encode_columns(builder: PandasBuilder, labels: Any, *, are_names: bool) -> dict[str, Any]:
    import pandas as pd

    dtype = str(labels.dtype) if type(labels) is pd.Index else ""
    python_storage = getattr(labels.dtype, "storage", "pyarrow") == "python"
    # The names of the columns determine string labels of the usual dtypes.
    if (dtype == "object" or (dtype == "str" and not python_storage)) and are_names:
        name = encode_label(labels.name, "the column labels", builder.tree)
        return {"kind": "names", "dtype": dtype, "name": name}
    return _labels.encode_index(labels, "the column labels", builder)


def _blocks(frame: Any, builder: PandasBuilder) -> list[tuple[Any, Any]]:
    """Arrays of columns with their positions. Many blocks of one column are added here, together."""
    found = _compat.blocks(frame, _MANY, lambda arrays, numbers: _without_rows(arrays, numbers, builder))
    if found is not None:
        return found
    import numpy as np

    found = []
    for i in range(frame.shape[1]):
        array = frame.iloc[:, i].array
        if type(array).__name__ in ("NumpyExtensionArray", "PandasArray"):
            array = array.to_numpy().reshape(1, -1)
        found.append((array, np.array([i])))
    return found


def _without_rows(arrays: list[Any], numbers: Any, builder: PandasBuilder) -> list[int]:
    """Add blocks of one row of numbers or booleans. Returns the numbers of the other blocks."""
    import numpy as np

    if type(numbers) is not np.ndarray or len(numbers) != builder.n_columns:
        return list(range(len(arrays)))
    first = np.empty(len(arrays), np.int64)
    first[numbers] = np.arange(len(numbers))
    rows, which, others = [], [], []
    # Keyed by address: blocks share few dtype objects, which live as long as the blocks.
    plain: dict[int, bool] = {}
    for i, values in enumerate(arrays):
        is_plain = False
        if type(values) is np.ndarray and len(values) == 1:
            dtype = values.dtype
            if id(dtype) not in plain:
                plain[id(dtype)] = dtype.char in _PLAIN and dtype.isnative and dtype.metadata is None
            is_plain = plain[id(dtype)]
        if is_plain:
            rows.append(values)
            which.append(i)
        else:
            others.append(i)
    builder.rows(rows, first[which])
    return others
