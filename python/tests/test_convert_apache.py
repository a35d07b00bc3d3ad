"""The public files of apache/parquet-testing and apache/arrow-testing, where they are on the disk.

`PARQUET_TEST_DATA` and `ARROW_TEST_DATA` name their folders `data`, as for the tests of Arrow.
Each file that pyarrow reads becomes the same table, or is refused by name. Others are errors.
"""

import os
import warnings
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

import entasis as en

ENDS = (".parquet", ".encrypted", ".stream", ".arrow_file")


def _files(variable):
    root = os.environ.get(variable)
    if root is None:
        return [pytest.param(None, marks=pytest.mark.skip(f"{variable} is not set"), id=variable)]
    found = sorted(path for path in Path(root).resolve().parent.rglob("*") if path.is_file())
    found = [path for path in found if path.suffix in ENDS or "fuzz" in path.parts]
    assert found, f"{root} has no files of the formats"
    return [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in found]


def _by_pyarrow(path):
    """The table and the frame of pandas; None if pyarrow does not read the file."""
    try:
        if path.suffix == ".stream":
            table = ipc.open_stream(pa.memory_map(str(path))).read_all()
        elif path.suffix == ".arrow_file":
            table = ipc.open_file(pa.memory_map(str(path))).read_all()
        else:
            table = pq.ParquetFile(path).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError):
        return None
    is_pandas = b"pandas" in (table.schema.metadata or {})
    return table, pd.read_parquet(path) if is_pandas and path.suffix == ".parquet" else None


def _refusal(path, target):
    """The error of a conversion, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", en.ConversionWarning)
        try:
            en.convert(path, target)
        except en.EntasisError as error:
            return error
    return None


@pytest.mark.parametrize("path", [*_files("PARQUET_TEST_DATA"), *_files("ARROW_TEST_DATA")])
def test_a_file_becomes_the_same_table_or_is_refused(path, tmp_path):
    wanted = _by_pyarrow(path)
    target = tmp_path / "out.entasis"
    refusal = _refusal(path, target)
    if refusal is not None:
        assert not list(tmp_path.iterdir())
        # Streams of Arrow before 0.15 begin with their length.
        is_old = path.suffix == ".stream" and "no known format" in str(refusal)
        assert wanted is None or is_old or isinstance(refusal, en.UnsupportedTypeError), refusal
        return
    assert wanted is not None, "pyarrow does not read the file"
    table, frame = wanted
    if frame is not None:
        # pandas reads lists with missing integers as floats.
        pd.testing.assert_frame_equal(en.read(target), frame)
        return
    got = en.read(target, to="pyarrow")
    assert got.column_names == table.column_names
    for name, one, other in zip(table.column_names, got.columns, table.columns, strict=True):
        assert one.type == other.type, name
        assert one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist()), name
