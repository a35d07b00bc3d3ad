"""static_frame.Frame: equality of types and labels, and the bytes of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Host, WrongData, as_bytes, named, same_bits


class StaticFrame(Host):
    """The frame with its blocks, labels, names and classes."""

    key = "static_frame"
    label = "StaticFrame"

    def head(self, frame: Any, n_rows: int) -> Any:
        return type(frame)(frame.iloc[:n_rows])

    def buffers(self, frame: Any) -> list[np.ndarray]:
        arrays = [*frame._blocks._blocks, *_labels(frame.index), *_labels(frame.columns)]
        return [as_bytes(array) for array in arrays if array.nbytes]

    def differences(self, expected: Any, got: Any) -> list[str]:
        if not hasattr(got, "_blocks"):
            raise WrongData(f"a {type(got).__name__} came back")
        if got.shape != expected.shape:
            raise WrongData(f"shape {expected.shape} came back as {got.shape}")
        notes: list[str] = []
        if type(expected) is not type(got):
            notes.append(f"{type(expected).__name__} back as {type(got).__name__}")
        if expected.name != got.name:
            notes.append("name lost")
        for axis in ("index", "columns"):
            notes += _axis(axis, getattr(expected, axis), getattr(got, axis))
        columns = zip(expected._blocks.axis_values(0), got._blocks.axis_values(0), strict=True)
        kinds: dict[str, list[str]] = {}
        for label, (left, right) in zip(expected.columns, columns, strict=True):
            for note in _column(str(label), left, right):
                kinds.setdefault(note, []).append(str(label))
        return notes + [f"{note} ({named(labels)})" for note, labels in kinds.items()]


def _labels(axis: Any) -> list[np.ndarray]:
    if axis.depth == 1:
        return [axis.values]
    return [axis.values_at_depth(i) for i in range(axis.depth)]


def _axis(axis: str, expected: Any, got: Any) -> list[str]:
    if expected.equals(got, compare_name=True, compare_dtype=True, compare_class=True):
        return []
    if expected.equals(got):
        return [f"{axis}: its type, name or class lost"]
    if list(got) == list(range(len(expected))):
        return [f"{axis} lost"]
    raise WrongData(f"the {axis} differ")


def _column(label: str, expected: np.ndarray, got: np.ndarray) -> list[str]:
    notes = []
    if expected.dtype != got.dtype:
        notes.append(f"{expected.dtype} back as {got.dtype}")
        got = got.astype(expected.dtype)
    if expected.dtype == object:
        if expected.tolist() != got.tolist():
            raise WrongData(f"column {label}: values differ")
        return notes
    same, more = same_bits(expected, got)
    if not same:
        raise WrongData(f"column {label}: values differ")
    return notes + more
