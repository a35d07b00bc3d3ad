"""Files with valid checksums and invalid content, by a foreign or hostile writer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from forge import COLUMNS, Forge, write_builder
from forge import NAMES as NAMES_SECTION

import entasis as en
from entasis._entasis import Builder, ColumnRef

pytest.importorskip("pyarrow")

N = 5000
NAMES = {"kind": "names", "dtype": "str", "name": None}
RANGE = {"kind": "range", "start": 0, "stop": N, "step": 1, "name": None}
HOSTS = ("pandas", "polars", "pyarrow", "numpy")


def forge(path: Any, host: dict[str, Any], *extra: np.ndarray) -> None:
    """A file with columns `a` and `b`, a host map and columns outside the table."""
    builder = Builder(N, ["a", "b"])
    builder.words(np.arange(N), 0)
    builder.words(np.arange(N) * 7 % 11, 1)
    for array in extra:
        if array.dtype.kind == "O":
            builder.text(array, None, name="i")
        else:
            builder.words(array, None, name="i")
    write_builder(builder, path, host)


def metadata(*pairs: tuple[bytes, bytes]) -> bytes:
    parts = [struct.pack("=i", len(part)) + part for pair in pairs for part in pair]
    return struct.pack("=i", len(pairs)) + b"".join(parts)


WHOLE = metadata((b"k", b"v"), (b"", b"longer value"))
BROKEN = [
    b"",
    b"\x01",
    b"\x01\0\0\0",
    b"\x01\0\0\0\xff\xff\xff\x7f",
    b"\xff\xff\xff\x7f\xff\xff\0\0",
    b"\xff\xff\xff\xff",
    b"\x01\0\0\0\xff\xff\xff\xff" + bytes(64),
    WHOLE + b"\0",
    *(WHOLE[:n] for n in range(1, len(WHOLE), 3)),
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("host", ["pyarrow", "polars"])
def test_metadata(broken, host, path):
    for kept in ({"schema_metadata": broken}, {"field_metadata": [[0, WHOLE], [1, broken]]}):
        forge(path, {"host": host, **kept})
        with pytest.raises(en.CorruptFileError, match="metadata") as caught:
            en.read(path)
        assert caught.value.file == str(path)
        if host == "pyarrow":
            with pytest.raises(en.CorruptFileError):
                en.open(path).__arrow_c_stream__()
        assert en.read(path, to="numpy")["a"][-1] == N - 1
    forge(path, {"host": host, "schema_metadata": WHOLE, "field_metadata": [[0, WHOLE]]})
    assert en.read(path).shape == (N, 2)


def test_metadata_that_polars_cannot_read(path):
    forge(path, {"host": "polars", "field_metadata": [[0, metadata((b"\xff\xfe", b"v"))]]})
    with pytest.raises(en.CorruptFileError, match="metadata"):
        en.read(path)


@pytest.mark.parametrize("n", [0, 3, N - 1, N + 1])
@pytest.mark.parametrize("to", HOSTS)
def test_index_of_another_length(n, to, path):
    for values in (np.arange(n), np.array([f"s{i}" for i in range(n)], dtype=object)):
        spec = {"kind": "column", "column": ColumnRef(0), "name": None}
        forge(path, {"host": "pandas", "columns": NAMES, "index": spec}, values)
        for how in ({}, {"columns": ["i"]}, {"columns": ["b", "i"]}, {"rows": (0, 2)}):
            with pytest.raises(en.CorruptFileError, match=rf"{n} values"):
                en.read(path, to=to, **how)
        for how in ({"columns": []}, {"columns": ["b"]}):
            if to == "pandas":
                with pytest.raises(en.CorruptFileError, match=rf"{n} values"):
                    en.read(path, to=to, **how)
            else:
                # The labels of rows are columns there, and these were not asked for.
                en.read(path, to=to, **how)


@pytest.mark.parametrize("host", ["pandas", "numpy"])
def test_kinds_of_another_length(host, path):
    kept = {"host": host, "columns": NAMES, "index": RANGE, "missing_kinds": [[0, ColumnRef(0)]]}
    forge(path, kept, np.zeros(3, "u1"))
    with pytest.raises(en.CorruptFileError, match="3 values"):
        en.read(path)


def test_labels_of_another_length(path):
    labels = {"kind": "column", "column": ColumnRef(0), "name": None}
    forge(path, {"host": "pandas", "columns": labels, "index": RANGE}, np.arange(3))
    with pytest.raises(en.CorruptFileError, match="3 values"):
        en.read(path)
    for part in ("columns", "index"):
        short = {"columns": NAMES, "index": RANGE} | {part: RANGE | {"stop": 1}}
        forge(path, {"host": "pandas"} | short)
        with pytest.raises(en.CorruptFileError, match="1 labels"):
            en.read(path)


PANDAS = {"host": "pandas", "columns": NAMES, "index": RANGE}
COLUMN = {"kind": "column", "column": ColumnRef(0), "name": None}
MALFORMED: list[dict[str, Any]] = [
    {"host": "pandas"},
    {"host": "pandas", "columns": NAMES},
    PANDAS | {"columns": 3},
    PANDAS | {"columns": {"kind": "names"}},
    PANDAS | {"columns": NAMES | {"dtype": "object", "name": {"no": "tuple"}}},
    PANDAS | {"columns": NAMES | {"name": [1]}},
    PANDAS | {"index": "range"},
    PANDAS | {"index": []},
    PANDAS | {"index": {}},
    PANDAS | {"index": {"kind": ["range"]}},
    PANDAS | {"index": {"kind": "nothing"}},
    PANDAS | {"index": {"kind": "range"}},
    PANDAS | {"index": RANGE | {"step": 0}},
    PANDAS | {"index": RANGE | {"start": "0"}},
    PANDAS | {"index": RANGE | {"start": 2.5}},
    PANDAS | {"index": RANGE | {"name": {"tuple": 3}}},
    PANDAS | {"index": {"kind": "column"}},
    PANDAS | {"index": COLUMN | {"column": 0}},
    PANDAS | {"index": COLUMN | {"freq": "D"}},
    PANDAS | {"index": COLUMN | {"freq": 7}},
    PANDAS | {"index": COLUMN | {"missing_kinds": 7}},
    PANDAS | {"index": {"kind": "multi"}},
    PANDAS | {"index": {"kind": "multi", "columns": [], "names": []}},
    PANDAS | {"index": {"kind": "multi", "columns": [ColumnRef(0)], "names": [None]}},
    PANDAS | {"index": {"kind": "multi", "columns": [1], "names": [None]}},
    PANDAS | {"missing_kinds": 3},
    PANDAS | {"missing_kinds": [[0]]},
    PANDAS | {"missing_kinds": [[[0], ColumnRef(0)]]},
    PANDAS | {"missing_kinds": [[0, 1]]},
    PANDAS | {"attrs": 3},
    PANDAS | {"categories": 3},
    PANDAS | {"categories": [[0, RANGE]]},
    {"host": "numpy", "missing_kinds": 3},
    {"host": "numpy", "missing_kinds": [[0, "x"]]},
    {"host": "pyarrow", "schema_metadata": 3},
    {"host": "pyarrow", "schema_metadata": "text"},
    {"host": "pyarrow", "field_metadata": 3},
    {"host": "pyarrow", "field_metadata": [["a", WHOLE]]},
    {"host": "pyarrow", "field_metadata": [[-1, WHOLE]]},
    {"host": "pyarrow", "field_metadata": [[0, 1]]},
    {"host": "pyarrow", "empty_schema": 3},
    {"host": "polars", "schema_metadata": [1]},
]


@pytest.mark.parametrize("host", MALFORMED, ids=repr)
def test_host_map(host, path):
    forge(path, host, np.arange(N))
    with pytest.raises(en.CorruptFileError) as caught:
        en.read(path)
    assert caught.value.file == str(path)
    en.verify(path)


def test_first_columns_of_a_bundle(path):
    """Bundled columns are read together if they are the first ones, otherwise one by one."""
    frame = pd.DataFrame({f"c{i}": np.arange(10) * i for i in range(50)})
    frame["c3"] = [1.5, np.nan] * 5
    en.write(frame, path)
    names = list(frame.columns)
    for chosen in (names[:7], names[4:9], names[::-1], [names[0], names[2]], names[:50:2], names[4:]):
        pd.testing.assert_frame_equal(en.read(path, columns=chosen), frame[chosen])
        assert en.read(path, columns=chosen, to="polars").equals(pl.from_pandas(frame[chosen]))


@pytest.mark.parametrize(
    "value",
    [
        pl.DataFrame({"x": [1, 2, 3]}),
        pl.DataFrame({"x": [1, None]}),
        pl.DataFrame({"x": pl.Series([None, None], dtype=pl.Int64)}),
        pl.DataFrame({"s": [{"x": 1}]}),
        pd.DataFrame({"x": ["a", "b"]}),
        {"x": np.arange(3)},
    ],
    ids=["values", "some", "missing", "field", "text", "numpy"],
)
def test_a_type_that_was_changed_to_null(value, path):
    """All values of such a column would be missing."""
    en.write(value, path, compression=0)
    forged = Forge(path.read_bytes())
    names = forged.sections[NAMES_SECTION][0]
    for record in forged._records(COLUMNS):
        (at, length) = forged.unpack("QI", record + 8)
        if forged.bytes[names + at : names + at + length] == b"x":
            forged.bytes[record + 20 : record + 22] = b"\0\0"
    path.write_bytes(forged.repaired())
    for read in (en.read, lambda path: en.read(path, to="pandas"), en.verify, en.info, en.compact):
        with pytest.raises(en.CorruptFileError, match="type null has"):
            read(path)
    if "s" not in value:
        with pytest.raises(en.CorruptFileError, match="type null has"):
            en.open(path).count(en.col("x").is_missing())
