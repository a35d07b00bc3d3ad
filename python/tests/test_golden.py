"""The golden files, read through Arrow and compared with the index that all languages share."""

from __future__ import annotations

import csv
import itertools
import json
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import entasis as en

pa = pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parents[2] / "tests" / "golden"
FILES = [
    (version.parent, file)
    for version in FOLDER.glob("*/index.json")
    for file in json.loads(version.read_text())["files"]
]


def put(cell: bytes | None) -> bytes:
    """A cell among others: 0 for a missing one, else 1, the length of its bytes and the bytes."""
    return b"\0" if cell is None else b"\1" + struct.pack("<I", len(cell)) + cell


def nested(array: Any, n_types: int) -> list[bytes | None]:
    """The cells of a nested array (`docs/testing.md`); those of a type beyond `n_types` are missing."""
    kind, valid = array.type, array.is_valid().to_pylist()
    if pa.types.is_run_end_encoded(kind):
        values, ends = cells(array.values), array.run_ends.to_pylist()
        return [values[int(np.searchsorted(ends, i, side="right"))] for i in range(len(array))]
    if pa.types.is_union(kind):
        types = [kind.type_codes.index(code) for code in array.type_codes.to_pylist()]
        is_dense = kind.mode == "dense"
        offsets = array.offsets.to_pylist() if is_dense else range(len(array))
        fields = [cells(array.field(k)) for k in range(kind.num_fields)]
        pairs = zip(types, offsets, strict=True)
        return [None if k >= n_types else bytes([k]) + put(fields[k][at]) for k, at in pairs]
    if pa.types.is_struct(kind):
        fields = [cells(array.field(k)) for k in range(kind.num_fields)]
        made = [b"".join(put(field[i]) for field in fields) for i in range(len(array))]
    elif pa.types.is_fixed_size_list(kind):
        items, n = cells(array.values), kind.list_size
        made = [b"".join(map(put, items[i * n : (i + 1) * n])) for i in range(len(array))]
    else:
        if pa.types.is_map(kind):
            entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        else:
            entries = array.values
        items, ends = cells(entries), array.offsets.to_pylist()
        spans = itertools.pairwise(ends)
        made = [struct.pack("<I", end - start) + b"".join(map(put, items[start:end])) for start, end in spans]
    return [cell if there else None for cell, there in zip(made, valid, strict=True)]


def cells(array: Any, n_types: int = 256) -> list[bytes | None]:
    """The bytes of each value; none of a missing one."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.indices
    if pa.types.is_nested(array.type) or pa.types.is_run_end_encoded(array.type):
        return nested(array, n_types)
    valid = array.is_valid().to_pylist()
    if pa.types.is_null(array.type):
        values = [b""] * len(array)
    elif pa.types.is_boolean(array.type):
        values = [bytes([bool(value)]) for value in array.to_pylist()]
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        values = [(value or "").encode() for value in array.to_pylist()]
    elif pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        values = [value or b"" for value in array.to_pylist()]
    else:
        width = array.type.bit_width // 8
        words = np.frombuffer(array.buffers()[1], np.uint8)[array.offset * width :]
        stored = width
        if pa.types.is_decimal(array.type):
            stored = next(n for n, digits in ((4, 9), (8, 18), (16, 38), (32, 76)) if array.type.precision <= digits)
        values = [words[i * width : i * width + stored].tobytes() for i in range(len(array))]
    return [value if there else None for value, there in zip(values, valid, strict=True)]


def crc(column: Any, n_types: int) -> str:
    """CRC-32 over all values."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.chunks else pa.array([], array.type)
    total = 0
    for cell in cells(array, n_types):
        total = zlib.crc32(put(cell), total)
    return f"{total:08x}"


@pytest.mark.parametrize(("folder", "file"), FILES, ids=lambda value: value["file"] if isinstance(value, dict) else "")
def test_golden(folder: Path, file: dict[str, Any]) -> None:
    path = folder / file["file"]
    en.verify(path)
    with en.open(path) as opened:
        assert opened.n_rows == file["n_rows"]
        assert opened.n_columns == len(file["columns"])
        assert list(opened.column_names) == [column["name"] for column in file["columns"]]
        for position, column in enumerate(file["columns"]):
            try:
                table = opened[:, position].to_pyarrow()
            except en.UnsupportedTypeError:
                # Arrow lacks complex numbers, some units of times, and names with a zero.
                is_without = re.search("[iu]128|i256", column["type"]) or column["type"].startswith(
                    ("value column", "complex", "date", "time", "duration", "long double")
                )
                assert "\0" in column["name"] or is_without, column
                continue
            assert table.num_rows == file["n_rows"]
            # Missing values of a value column have the last type id of the union.
            is_union = column["type"].startswith("value column")
            n_types = table.schema.types[0].num_fields - (column["n_missing"] > 0) if is_union else 256
            assert table.column(0).null_count == (0 if is_union else column["n_missing"])
            if re.search(r"\[(Y|M|W|D|h|m|ps|fs|as)\]$", column["type"]):
                # Units that Arrow lacks become others (docs/guides/other-libraries.md).
                continue
            if column["type"] in ("interval[months]", "interval[days, ms]"):
                # pyarrow passes them on and shows none of them.
                continue
            assert crc(table.column(0), n_types) == column["crc32"], column["name"]


def test_there_are_golden_files() -> None:
    assert len(FILES) >= 30


KINDS = {
    "corrupt": en.CorruptFileError,
    "newer": en.NewerVersionError,
    "not_entasis": en.NotEntasisError,
    "unsupported": en.UnsupportedTypeError,
}
BAD = list(csv.DictReader((FOLDER.parent / "golden-bad.csv").read_text().splitlines()))


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad["rule"])
def test_bad_file(bad: dict[str, str], tmp_path: Path) -> None:
    """Each line of golden-bad.csv changes a golden file and names the kind of the error."""
    data = bytearray((FOLDER / "v0.3" / f"{bad['golden']}.entasis").read_bytes())
    for at, change in (edit.split(":") for edit in bad["edits"].split(" ")):
        if at == "cut":
            del data[int(change) :]
        else:
            new = bytes.fromhex(change)
            data[int(at) : int(at) + len(new)] = new
    path = tmp_path / "bad.entasis"
    path.write_bytes(data)
    with pytest.raises(KINDS[bad["kind"]]):
        en.verify(path)


def test_a_file_of_format_0_1() -> None:
    with pytest.raises(en.UnsupportedTypeError, match=r"version 0\.1"):
        en.open(FOLDER / "v0.1" / "constant.entasis")


def test_there_are_bad_files() -> None:
    assert len(BAD) > 100


def test_files_of_0_2_change_after_compact(tmp_path: Path) -> None:
    """A change in place of a file of 0.2 names `compact`."""
    path = tmp_path / "old.entasis"
    path.write_bytes((FOLDER / "v0.2" / "generations.entasis").read_bytes())
    old = path.read_bytes()
    with pytest.raises(en.UnsupportedTypeError, match=r"0\.2.*compact"):
        en.rollback(path, 1)
    assert path.read_bytes() == old
    en.compact(path)
    en.verify(path)
    assert en.info(path).format_version == "0.3"
    en.set_metadata({"a": 1}, path)
    en.verify(path)
    assert en.open(path).metadata == {"a": 1}
