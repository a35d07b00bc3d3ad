"""pandas.DataFrame: equality, and the bytes of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .base import Host, WrongData, as_bytes, named, same_bits

WIDE = 64  # frames with this many columns: those of one NumPy type are compared as one array


class Pandas(Host):
    """The frame with its index and types."""

    key = "pandas"
    label = "pandas"

    def head(self, frame: pd.DataFrame, n_rows: int) -> pd.DataFrame:
        return frame.iloc[:n_rows].copy()

    def buffers(self, frame: pd.DataFrame) -> list[np.ndarray]:
        together = _together(frame)  # one by one they would be copied each
        found = [as_bytes(frame.iloc[:, those].to_numpy()) for those in together.values()]
        for i in _apart(frame, together):
            found += _of_array(frame.iloc[:, i].array)
        if not isinstance(frame.index, pd.RangeIndex | pd.MultiIndex):
            found += _of_array(frame.index.array)
        return [part for part in found if part.nbytes]

    def differences(self, expected: pd.DataFrame, got: pd.DataFrame) -> list[str]:
        if not isinstance(got, pd.DataFrame):
            raise WrongData(f"a {type(got).__name__} came back")
        if got.shape != expected.shape:
            raise WrongData(f"shape {expected.shape} came back as {got.shape}")
        notes: list[str] = []
        if list(expected.columns) != list(got.columns):
            raise WrongData("the column labels differ")
        if not expected.columns.identical(got.columns):
            notes.append("column labels of another type")
        notes += _index(expected.index, got.index)
        if expected.attrs != got.attrs:
            notes.append("attrs lost")
        together = _same_together(expected, got)
        kinds: dict[str, list[str]] = {}
        for i in _apart(expected, together):
            label = str(expected.columns[i])
            for note in _column(label, expected.iloc[:, i].array, got.iloc[:, i].array):
                kinds.setdefault(note, []).append(label)
        return notes + [f"{note} ({named(labels)})" for note, labels in kinds.items()]


def _together(frame: pd.DataFrame) -> dict[Any, list[int]]:
    """Positions of the columns by NumPy type, if there are many columns."""
    found: dict[Any, list[int]] = {}
    if frame.shape[1] >= WIDE:
        for i, dtype in enumerate(frame.dtypes):
            if isinstance(dtype, np.dtype) and dtype.kind != "O":
                found.setdefault(dtype, []).append(i)
    return found


def _same_together(expected: pd.DataFrame, got: pd.DataFrame) -> dict[Any, list[int]]:
    """The columns that are the same when compared as one array."""
    if not (expected.dtypes.to_numpy() == got.dtypes.to_numpy()).all():
        return {}
    return {
        dtype: positions
        for dtype, positions in _together(expected).items()
        if same_bits(expected.iloc[:, positions].to_numpy(), got.iloc[:, positions].to_numpy())
        == (True, [])
    }


def _apart(frame: pd.DataFrame, together: dict[Any, list[int]]) -> list[int]:
    done = {i for positions in together.values() for i in positions}
    return [i for i in range(frame.shape[1]) if i not in done]


def _index(expected: pd.Index, got: pd.Index) -> list[str]:
    if expected.identical(got) and type(expected) is type(got):
        return []
    if expected.equals(got):
        return ["index: its type, name or frequency lost"]
    if got.equals(pd.RangeIndex(len(expected))):
        return ["index lost"]
    raise WrongData("the index differs")


def _column(label: str, expected: Any, got: Any) -> list[str]:
    """Notes on one column; the arrays are pandas' own."""
    if isinstance(expected.dtype, pd.CategoricalDtype):
        same, notes = _categories(expected, got)
    elif expected.dtype != got.dtype:
        notes = [f"{expected.dtype} back as {got.dtype}"]
        try:
            turned = pd.Series(got).astype(expected.dtype)
            back = turned.astype(got.dtype)  # the cast itself must not have changed anything
        except (TypeError, ValueError) as error:
            raise WrongData(f"column {label}: {notes[0]}: {error}") from error
        same = _same(expected, turned.array)[0] and _same(back.array, got)[0]
    else:
        same, notes = _same(expected, got)
    if not same:
        raise WrongData(f"column {label}: values differ")
    return notes


def _categories(expected: Any, got: Any) -> tuple[bool, list[str]]:
    notes = []
    if not isinstance(got.dtype, pd.CategoricalDtype):
        notes.append(f"category back as {got.dtype}")
    else:
        if expected.ordered != got.ordered:
            notes.append("ordered lost")
        if not expected.categories.identical(got.categories):
            same = expected.categories.equals(got.categories)
            notes.append("type of the categories" if same else "order of the categories lost")
    unknown = ~np.asarray(pd.isna(got)) & ~np.asarray(pd.Series(got).isin(expected.categories))
    codes = pd.Categorical(got, dtype=expected.dtype).codes
    return not unknown.any() and np.array_equal(expected.codes, codes), notes


def _same(expected: Any, got: Any) -> tuple[bool, list[str]]:
    """Whether two arrays of one type are the same."""
    if not isinstance(expected, pd.arrays.NumpyExtensionArray):
        return bool(expected.equals(got)), []
    left, right = expected.to_numpy(), got.to_numpy()
    if left.dtype.kind == "f":
        return same_bits(left, right)
    return pd.Series(left).equals(pd.Series(right)), []


def _of_array(array: Any) -> list[np.ndarray]:
    if isinstance(array.dtype, pd.CategoricalDtype):
        return [as_bytes(array.codes)]
    if hasattr(array, "_mask"):
        return [as_bytes(array._data), as_bytes(array._mask)]
    if hasattr(array, "__arrow_array__") and not hasattr(array, "_ndarray"):
        import pyarrow as pa

        arrow = pa.array(array)
        chunks = arrow.chunks if isinstance(arrow, pa.ChunkedArray) else [arrow]
        return [
            np.frombuffer(buffer, np.uint8)
            for chunk in chunks
            for buffer in chunk.buffers()
            if buffer is not None
        ]
    return [as_bytes(getattr(array, "_ndarray", array))]
