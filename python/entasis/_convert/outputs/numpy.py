"""NPY and NPZ as targets."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from entasis import _npz
from entasis._convert import libraries as _libraries
from entasis._convert import losses as _losses
from entasis._convert.in_memory import are_same
from entasis._convert.left_out import LEFT_OUT, reason
from entasis._file.file import File
from entasis.errors import ArgumentError, UnsupportedTypeError

from .base import Options, Plan
from .tables import as_frame

if TYPE_CHECKING:
    from entasis._convert.inputs.base import Input
    from entasis._convert.left_out import Loss
    from entasis._convert.target import New


def plan(given: Input, form: str, options: Options) -> Plan:
    """Decide how a table or arrays are written to a file of NumPy."""
    if options.compression not in (None, "none"):
        raise ArgumentError(f"compression= is not for files of {form}")
    import numpy as np

    lost = _losses.of_file(given)
    given = as_frame(given)
    value: Any = given.whole() if given.host in ("tree", "static_frame", "numpy") else None
    if form == "npz" and given.host == "static_frame" and hasattr(value, "to_npz"):
        arrays = value
        lost += _of_static_frame(value)
    elif isinstance(value, np.ndarray):
        arrays = {"arr_0": value}
    elif type(value) is dict and value and all(isinstance(one, np.ndarray) for one in value.values()):
        arrays = value
    elif given.host == "tree":
        raise UnsupportedTypeError(f"{given.name} holds no table and no arrays, and the target holds nothing else")
    else:
        arrays, more = _as_arrays(given)
        lost += [*_losses.of_index(given), *more]
        if given.host == "static_frame":
            lost.append((None, f"the value of type {type(value).__name__} becomes arrays"))
    if type(arrays) is dict:
        for name, array in list(arrays.items()):
            if array.dtype.hasobject or array.dtype.kind == "T":
                texts = any(type(one) is str for one in array.flat)
                why = "NumPy has no text with missing values" if texts else "NumPy stores no objects"
                lost.append((name, f"{LEFT_OUT}: {why}"))
        arrays = {name: one for name, one in arrays.items() if not (one.dtype.hasobject or one.dtype.kind == "T")}
    if form == "npy" and len(arrays) != 1:
        raise UnsupportedTypeError(
            f"an NPY file holds one array, and there are {len(arrays)}: choose one with columns=, or use NPZ"
        )

    def write(new: New) -> None:
        with _libraries.writing(new.path), open(new.fd, "wb", closefd=False) as file:
            if form == "npy":
                np.lib.format.write_array(file, next(iter(arrays.values())), allow_pickle=False)
            elif type(arrays) is dict:
                _npz.write_arrays(arrays, file)
            else:
                _npz.write_frame(arrays, file)

    def compare(path: str) -> bool:
        if form == "npy":
            return are_same(next(iter(arrays.values())), np.load(path, allow_pickle=False))
        if type(arrays) is not dict:
            # The losses were found by reading it back.
            return True
        with np.load(path, allow_pickle=False) as archive:
            return are_same(arrays, {name: archive[name] for name in archive.files})

    return Plan(lost, write, compare=compare)


def _of_static_frame(frame: Any) -> list[Loss]:
    """Losses of StaticFrame's own NPZ: reads it back, and compares."""
    buffer = io.BytesIO()
    _npz.write_frame(frame, buffer)
    buffer.seek(0)
    try:
        back = type(frame).from_npz(buffer)
    except Exception as error:
        raise UnsupportedTypeError(f"StaticFrame can't read it back: {_libraries.said(error)}") from error
    lost: list[Loss] = []
    if type(frame).__name__ != "Frame":
        lost.append((None, f"the class {type(frame).__name__} becomes Frame"))
    if not frame.equals(back, compare_name=True, compare_dtype=True, compare_class=True):
        lost.append((None, "StaticFrame does not store all names and types of labels"))
    return lost


def _as_arrays(given: Input) -> tuple[dict[str, Any], list[Loss]]:
    """The columns of a table as arrays. Text gets the width of its longest value."""
    file = given.file()
    view = file._view
    every = list(range(view.handle.n_columns)) if view.columns is None else list(view.columns)
    found: dict[str, Any] = {}
    lost: list[Loss] = []
    if len(set(file.column_names)) < len(every):
        raise UnsupportedTypeError("columns with equal names have no place in an NPZ file: rename them")
    for number in every:
        part = File._of(view.narrow([number], view.rows))
        label = part.column_names[0]
        kind = part.schema.pairs[0][1]
        try:
            for name, array in part.read(to="numpy").items():
                found.setdefault(name, _fixed(array))
        except UnsupportedTypeError as error:
            lost.append((label, f"{LEFT_OUT}: {reason(error)}"))
            continue
        if kind.startswith("categorical") and not found[label].dtype.hasobject:
            lost.append((label, "its categories become text"))
        if part.written_by != "numpy" and "[" in kind and ", " in kind and kind.startswith("timestamp"):
            lost.append((label, "its time zone is lost"))
    return found, lost


def _fixed(array: Any) -> Any:
    """Text as an array of fixed width, if no value is missing; other arrays as they are."""
    import numpy as np

    if array.dtype.kind not in "OT" or not all(type(value) is str and not value.endswith("\0") for value in array):
        return array
    return array.astype("U") if len(array) else np.array([], "U1")
