"""Odd values come back the same in any holder, or are refused by path; `on_unsupported` works."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from odd_values import KEPT, REFUSED
from odd_values_same import same

import entasis as en

pytestmark = pytest.mark.filterwarnings("ignore:.*PeriodDtype|.*Period with BDay:FutureWarning")


def _objects(value):
    objects = np.empty(2, object)
    objects[0], objects[1] = value, 1
    return objects


def _frame(value):
    return pd.DataFrame({"o": pd.Series(_objects(value), dtype=object)})


def _with_attrs(value):
    frame = pd.DataFrame({"a": [1]})
    frame.attrs["x"] = value
    return frame


def _is_label(value):
    """Whether a value has a hash, so that it can be a label."""
    try:
        hash(value)
    except (TypeError, ValueError):
        return False
    # Of these pandas makes several labels.
    return not isinstance(value, (tuple, pd.Index, range, str, bytes))


# Holders of a value: a function that puts the value in, its path, and one that takes it out.
HOLDERS = {
    "value": (lambda v: (v, None), "^(value|column .a.): ", lambda value, _: value),
    "tree": (lambda v: ({"a": [v, v]}, None), r"value\['a'\]\[0\]", lambda value, _: value["a"][1]),
    "array": (lambda v: ([_objects(v)], None), r"value\[0\]", lambda value, _: value[0][0]),
    "column": (lambda v: (_frame(v), None), r"df\['o'\]\.iloc\[0\]", lambda value, _: value["o"].array[0]),
    "attrs": (lambda v: (_with_attrs(v), None), r"the frame's attrs\['x'\]", lambda value, _: value.attrs["x"]),
    "metadata": (lambda v: ([1], {"m": v}), r"metadata\['m'\]", lambda _, metadata: metadata["m"]),
}
LABELS = {
    "key": (lambda v: ({v: 1}, None), "value", lambda value, _: next(iter(value))),
    "label": (
        lambda v: (pd.DataFrame([[1, 2]], columns=pd.Index(_objects(v), dtype=object)), None),
        "the column labels",
        lambda value, _: value.columns.array[0],
    ),
    "name": (
        lambda v: (pd.DataFrame({"a": [1]}, index=pd.Index([5], name=v)), None),
        "the index: a name",
        lambda value, _: value.index.name,
    ),
}


def _holders(value):
    holders = HOLDERS | LABELS if _is_label(value) else HOLDERS
    for holder, (make, where, take) in holders.items():
        if holder == "column" and isinstance(
            value, (pd.Index, pd.Series, pd.DataFrame, pd.api.extensions.ExtensionArray)
        ):
            # pandas looks into what is given for a cell.
            continue
        yield holder, *make(value), where, take


@pytest.mark.parametrize("name", KEPT)
def test_kept(name, path):
    value = KEPT[name]
    for holder, whole, metadata, _, take in _holders(value):
        en.write(whole, path, metadata=metadata)
        found = en.read(path) if metadata is None else None
        got = take(found, en.open(path).metadata)
        assert same(got, value), (holder, got)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, path):
    value = REFUSED[name]
    for holder, whole, metadata, where, _ in _holders(value):
        with pytest.raises(en.UnsupportedTypeError, match=where):
            en.write(whole, path, metadata=metadata)
        assert not path.exists(), holder


@pytest.mark.parametrize("name", REFUSED)
def test_left_out_or_replaced(name, path):
    value = REFUSED[name]
    for holder, whole, metadata, where, take in _holders(value):
        if holder == "value":
            # Nothing would be left.
            continue
        if holder == "key":
            with pytest.raises(en.UnsupportedTypeError, match="a key can't be left out"):
                en.write(whole, path, on_unsupported="skip")
        else:
            with pytest.warns(UserWarning, match=where):
                en.write(whole, path, metadata=metadata, on_unsupported="skip")
            en.verify(path)
            en.read(path)
        seen = []

        def instead(of, at, seen=seen):
            seen.append((of, at))
            return "instead"

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            en.write(whole, path, metadata=metadata, on_unsupported=instead)
        assert all(of is value for of, _ in seen), holder
        assert take(en.read(path), en.open(path).metadata) == "instead", holder
