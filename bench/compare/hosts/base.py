"""A host: a kind of frame that formats write and read."""

from __future__ import annotations

from typing import Any

import numpy as np


class WrongData(Exception):
    """The values that were read differ from the written values."""


class Host:
    """One kind of frame: its size, its bytes, and equality."""

    key = ""
    label = ""

    def shape(self, frame: Any) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = frame.shape
        return int(n_rows), int(n_columns)

    def head(self, frame: Any, n_rows: int) -> Any:
        """The first rows, as a frame that shares nothing with the whole."""
        raise NotImplementedError

    def buffers(self, frame: Any) -> list[np.ndarray]:
        """The bytes that a frame consists of, as arrays of bytes."""
        raise NotImplementedError

    def differences(self, expected: Any, got: Any) -> list[str]:
        """Properties other than values that a format dropped. Empty: exact.

        Raises WrongData when a value differs.
        """
        raise NotImplementedError

    def touch(self, frame: Any) -> Any:
        """Look up one element, by its labels if the result has labels."""
        if not hasattr(frame, "loc"):
            return None
        return frame.loc[frame.index[0], frame.columns[0]]


def named(labels: list[str], kind: str = "columns") -> str:
    """Names for a note: a few names, or their number."""
    return ", ".join(labels) if len(labels) <= 4 else f"{len(labels)} {kind}"


def as_bytes(values: Any) -> np.ndarray:
    """An array's bytes, without a copy where it is contiguous (of objects only the pointers)."""
    array = np.asarray(values)
    if array.dtype == object:
        array = np.ones(array.size, np.intp)
    elif array.flags.f_contiguous:
        array = array.T
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def same_bits(expected: np.ndarray, got: np.ndarray) -> tuple[bool, list[str]]:
    """Whether two arrays of one type are the same, floats bit by bit (0.0 is not -0.0).

    Only a NaN may have other bits, with a note.
    """
    if expected.shape != got.shape:
        return False, []
    if expected.dtype.kind == "f" and expected.dtype.itemsize <= 8:
        bits = np.dtype(f"u{expected.dtype.itemsize}")
        left, right = np.ascontiguousarray(expected), np.ascontiguousarray(got)
        unequal = left.view(bits) != right.view(bits)
        if not unequal.any():
            return True, []
        same = bool(np.isnan(left[unequal]).all() and np.isnan(right[unequal]).all())
        return same, ["bits of NaN lost"]
    if expected.dtype.kind in "fcmM":
        return np.array_equal(expected, got, equal_nan=True), []
    return np.array_equal(expected, got), []
