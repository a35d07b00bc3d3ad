"""Messages of exceptions: short and printable whatever they quote, and they say what to do."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import entasis as en

LONG = "n\n\x1b[31m" * 2_000
# User data of one message: at most so many characters of it, or of its escapes.
MOST = 420


class Frame(pd.DataFrame):
    pass


class Huge:
    def __repr__(self):
        return LONG


def _check(error):
    message = str(error)
    assert len(message) <= MOST, len(message)
    assert message.isprintable(), message
    assert str(pickle.loads(pickle.dumps(error))) == message
    assert str(copy.copy(error)) == message


def _wrong(path):
    def read(**options):
        return lambda: en.read(path, **options)

    f = en.open(path)
    return {
        "column": read(columns=[LONG]),
        "columns": read(columns=[LONG, LONG + "x"]),
        "label": lambda: f.select(Huge()),
        "rows": read(rows=Huge()),
        "row text": read(rows=LONG),
        "to": read(to=LONG),
        "threads": read(threads=LONG),
        "on_unsupported": read(on_unsupported=LONG),
        "path": lambda: en.read(str(path) + LONG[:200]),
        "long path": lambda: en.read(LONG),
        "address": lambda: en.read("s3://" + LONG),
        "level": lambda: en.write({"a": np.arange(2)}, path, compression={LONG: 5}),
        "compression": lambda: en.write(1, path, compression=Huge()),
        "key": lambda: en.write({LONG: object()}, path),
        "name of a column": lambda: en.write({"a" * 70_000: np.arange(2)}, path),
        "dtype": lambda: en.write({LONG: np.zeros(2, [("o", "O")])}, path),
        "polars": lambda: en.write(pl.DataFrame({LONG + "\0": [1]}), path),
        "npz": lambda: en.read_npz(LONG),
        "field": lambda: en.Record("dataclass", "C", {LONG: 1}).x,
        "types": lambda: en.open(path, types=[Huge()]),
    }


@pytest.mark.parametrize(
    "name",
    [
        "column",
        "columns",
        "label",
        "rows",
        "row text",
        "to",
        "threads",
        "on_unsupported",
        "path",
        "long path",
        "address",
        "level",
        "compression",
        "key",
        "name of a column",
        "dtype",
        "polars",
        "npz",
        "types",
        "field",
    ],
)
def test_messages_are_short_and_printable(name, path):
    en.write(pd.DataFrame({"a": [1, 2]}), path)
    call = _wrong(path)[name]
    with pytest.raises((en.EntasisError, TypeError, AttributeError)) as caught:
        call()
    _check(caught.value)


def test_attributes_stay_whole(path):
    name = "a" * 70_000
    with pytest.raises(
        en.UnsupportedTypeError, match=r'70000 bytes, more than the limit of 65536 .*column "aaa.*shorten'
    ) as caught:
        en.write({name: np.arange(2)}, path)
    assert caught.value.column == name
    long = str(path.parent / ("p\n" * 100))
    with pytest.raises(en.MissingFileError) as missing:
        en.read(long)
    assert missing.value.file == missing.value.filename == long
    assert missing.value.errno == 2


def test_texts_are_not_changed_without_need():
    text = "there is no column 'case'; close to it: 'cases' caf\xe9"
    assert str(en.ArgumentError(text)) == text
    assert en.ArgumentError().args == ("",)


def test_subclasses_of_frames(path):
    with pytest.raises(en.UnsupportedTypeError, match=r"Frame can't be kept; pass pd.DataFrame\(x\)"):
        en.write(Frame({"a": [1]}), path)


def test_duplicate_labels_are_asked_for(path):
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).set_flags(allows_duplicate_labels=False)
    en.write(frame, path)
    with pytest.raises(en.ArgumentError, match="forbids duplicate labels: ask for each row"):
        en.read(path, rows=[0, 0])
    assert en.read(path, rows=[1, 0]).index.tolist() == ["y", "x"]


@pytest.mark.parametrize(("value", "holder"), [([1, 2, 3], "list"), ((1, 2, 3), "tuple"), (np.arange(3), "array")])
def test_holders_have_their_names(value, holder, path):
    en.write(value, path)
    with pytest.raises(en.RowsOutOfRangeError, match=f"the {holder} has 3 rows"):
        en.read(path, rows=[5])
