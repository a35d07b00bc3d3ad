"""Is what came back what went in? Wrong values are an error, lost kinds are noted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


class WrongData(Exception):
    """What was read differs in its values from what was written."""


def differences(expected: pd.DataFrame, got: pd.DataFrame) -> list[str]:
    """What a format did not keep: types, categories, index, attributes. Empty: exact.

    Raises WrongData when a value differs.
    """
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
    kinds: dict[str, list[str]] = {}
    for i, label in enumerate(expected.columns):
        for note in _column(str(label), expected.iloc[:, i].array, got.iloc[:, i].array):
            kinds.setdefault(note, []).append(str(label))
    return notes + [f"{note} ({_names(labels)})" for note, labels in kinds.items()]


def _names(labels: list[str]) -> str:
    return ", ".join(labels) if len(labels) <= 4 else f"{len(labels)} columns"


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
    """Are two arrays of one type the same?"""
    if not isinstance(expected, pd.arrays.NumpyExtensionArray):
        return bool(expected.equals(got)), []
    left, right = expected.to_numpy(), got.to_numpy()
    if left.dtype.kind == "f":
        return _floats(left, right)
    return pd.Series(left).equals(pd.Series(right)), []


def _floats(expected: np.ndarray, got: np.ndarray) -> tuple[bool, list[str]]:
    """Compared bit by bit (0.0 is not -0.0); only a NaN may have other bits, with a note."""
    bits = np.dtype(f"u{expected.dtype.itemsize}") if expected.dtype.itemsize <= 8 else None
    if bits is not None:
        unequal = expected.view(bits) != got.view(bits)
        if not unequal.any():
            return True, []
        same = bool(np.isnan(expected[unequal]).all() and np.isnan(got[unequal]).all())
        return same, ["bits of NaN lost"]
    return np.array_equal(expected, got, equal_nan=True), []
