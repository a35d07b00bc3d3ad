"""The golden files, read through Arrow and compared with the index that all languages share."""

from __future__ import annotations

import json
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


def crc(column: Any) -> str:
    """CRC-32 over all values: 0 for a missing one, else 1, the length of the value's bytes and the bytes."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.indices
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
    total = 0
    for is_valid, value in zip(valid, values, strict=True):
        total = zlib.crc32(b"\1" + struct.pack("<I", len(value)) + value if is_valid else b"\0", total)
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
                # Arrow has no complex numbers, not every unit of every time, and no names with a zero.
                assert "\0" in column["name"] or column["type"].startswith(
                    ("complex", "date", "time", "duration", "i128", "i256", "long double")
                ), column
                continue
            assert table.num_rows == file["n_rows"]
            assert table.column(0).null_count == column["n_missing"]
            if column["type"] in ("interval[months]", "interval[days, ms]"):
                # pyarrow passes them on and shows none of them.
                continue
            assert crc(table.column(0)) == column["crc32"], column["name"]


def test_there_are_golden_files() -> None:
    assert len(FILES) >= 30
