"""Limits: a file that asks for more than is allowed is refused by name, before memory is allocated."""

from __future__ import annotations

import pickle
import subprocess
import sys
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._typing import Limits

LONG = "n" * 300
FRAME = pd.DataFrame({"a": np.arange(1000), LONG: np.arange(1000) * 0.5})
NAMES = list(Limits.__annotations__)


def read_column(path: Any, limits: Any) -> Any:
    return en.read(path, columns=["a"], to="numpy", limits=limits)


def read_all(path: Any, limits: Any) -> Any:
    return en.read(path, to="numpy", limits=limits)


# The limit, what the file asks for, and how.
ASKED = [
    ("decoded_len", 8_000, read_column),
    ("decoded_len", 16_000, read_all),
    ("name_len", 300, read_all),
    ("n_columns", 2, read_column),
    ("n_columns", 2, lambda path, limits: en.open(path, limits=limits)),
    ("n_columns", 2, lambda path, limits: en.info(path, limits=limits)),
    ("n_columns", 2, lambda path, limits: en.verify(path, limits=limits)),
    ("n_columns", 2, lambda path, limits: en.File(path, limits=limits)),
    ("page_payload_len", 8_000, read_all),
]


@pytest.mark.parametrize(("name", "asked", "read"), ASKED)
def test_one_less_exactly_and_one_more(name, asked, read, path):
    # Uncompressed pages have the length of their values.
    en.write(FRAME, path, compression=0)
    read(path, {name: asked + 1})
    read(path, {name: asked})
    with pytest.raises(en.LimitError) as caught:
        read(path, {name: asked - 1})
    message = str(caught.value)
    assert f"{asked:,}" in message, message
    assert f"{name} allows {asked - 1:,}" in message, message
    assert message.endswith(f"if you trust the file, open it with limits={{'{name}': ...}}"), message
    assert caught.value.file == str(path)


@pytest.mark.parametrize("name", NAMES)
def test_every_limit_is_named(name, path):
    secret: Any = {"password": "correct horse"} if name == "derivation_len" else {}
    en.write(FRAME.rename(columns={"a": "\u00e9"}), path, **secret)
    with pytest.raises(en.LimitError, match=f"{name} allows 0"):
        en.read(path, limits={name: 0}, **secret)
    en.read(path, limits={name: 2**70}, **secret)


def test_types_and_documentation_have_all_names(path):
    en.write(FRAME, path)
    with pytest.raises(en.ArgumentError, match="no limit 'rows', only ") as caught:
        en.read(path, limits={"rows": 3})
    assert str(caught.value).split("only ")[1].split("; ")[0].split(", ") == NAMES
    assert all(f"`{name}`" in str(en.read.__doc__) for name in NAMES)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"rows": 3}, r"no limit 'rows', only metadata_len, n_columns, "),
        ({"depth": -1}, "limits="),
        ({"depth": 1.5}, "limits="),
        ({"depth": True}, "limits="),
        ({"depth": None}, "limits="),
        ({3: 3}, "limits="),
        ([("depth", 3)], "limits=a list: a dict of integers"),
        ("depth", "limits='depth': a dict of integers"),
    ],
)
def test_arguments(limits, message, path):
    en.write(FRAME, path)
    for function in (en.read, en.open, en.info, en.verify):
        with pytest.raises(en.ArgumentError, match=message):
            function(path, limits=limits)
    assert en.read(path, limits={"depth": np.int64(64)}).shape == FRAME.shape
    assert en.read(path, limits={}).shape == FRAME.shape


def test_copies_and_pickles_keep_limits(path):
    en.write(FRAME, path)
    limits: Any = {"decoded_len": 9_000}
    opened = en.open(path, limits=limits)
    for file in (opened, pickle.loads(pickle.dumps(opened)), pickle.loads(pickle.dumps(opened["a"]))):
        assert file.read(columns="a", to="numpy")["a"][-1] == 999
    for file in (opened, pickle.loads(pickle.dumps(opened))):
        with pytest.raises(en.LimitError, match="decoded_len allows 9,000"):
            file.read()
        # Rows below the limit can be read.
        assert file.read(rows=(0, 100)).shape == (100, 2)


def test_mapped_files_and_trees(path):
    en.write(FRAME, path, compression=0)
    with pytest.raises(en.LimitError, match="n_columns"):
        en.open(path, memory_map=True, limits={"n_columns": 1})
    en.write({"values": list(range(100_000))}, path)
    with pytest.raises(
        en.LimitError, match=r"the values to read need [0-9,]+ bytes of memory, and decoded_len allows 1,000,000"
    ):
        en.read(path, limits={"decoded_len": 1_000_000})
    tree = en.open(path, limits={"decoded_len": 1_000_000})
    assert tree["values"][:10].read() == list(range(10))


BOMBS = {
    "constant": lambda: {"a": np.broadcast_to(np.int64(7), 40_000_000)},
    "rows": lambda: {"a": np.broadcast_to(np.array([b"x" * 4_000]), 80_000)},
    "texts": lambda: pd.DataFrame({"a": ["x" * 400] * 500_000}),
    "long": lambda: {"list": ["x" * 300_000_000]},
    "cells": lambda: [12345] * 10_000_000,
    "array": lambda: [np.broadcast_to(np.float64(0), (6_000, 6_000))],
}
# Memory that the interpreter and its libraries may map, in addition to the values.
BESIDE = 1_500_000_000
LOWEST = """
import resource
import entasis as en
import numpy, pandas
resource.setrlimit(resource.RLIMIT_AS, ({beside}, {beside}))
try:
    en.read({path!r}, limits={{"decoded_len": 50_000_000}})
except en.LimitError as error:
    assert "decoded_len allows 50,000,000" in str(error), error
else:
    raise SystemExit("no error")
with open("/proc/self/status") as status:
    (used,) = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
assert used < 300_000, used
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", BOMBS)
def test_small_files_stay_small(name, path):
    """Each file decodes to 300 MB or more."""
    en.write(BOMBS[name](), path)
    assert path.stat().st_size < 3_000_000
    code = LOWEST.format(path=str(path), beside=BESIDE)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("to", ["pandas", "numpy", "polars", "pyarrow", "static_frame"])
def test_a_column_of_more_rows_than_any_memory(to, path):
    pa = pytest.importorskip("pyarrow")
    if to == "static_frame":
        pytest.importorskip("static_frame")
    n = 10**12
    en.write(pa.table({"a": pa.Array.from_buffers(pa.null(), n, [None])}), path)
    assert path.stat().st_size < 3_000
    with pytest.raises(
        en.LimitError, match="need 8,000,000,000,000 bytes of memory, and decoded_len allows 4,294,967,296"
    ):
        en.read(path, to=to)
    # Its rows can be read in parts.
    assert len(en.open(path).read(rows=(n - 3, n), to="pandas")) == 3
    en.verify(path)


def test_an_object_that_is_shared_again_and_again(path):
    """2^60 lists if a reader followed every reference."""
    value: Any = ["laugh"]
    for _ in range(60):
        value = [value, value]
    en.write(value, path)
    found = en.read(path)
    for _ in range(60):
        first, second = found
        assert first is second
        found = found[0]
    assert found == ["laugh"]
    en.verify(path)
    assert len(en.open(path).tree(depth=5).splitlines()) < 100


def archive(path: Any, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as found:
        for name, content in members.items():
            found.writestr(name, content)


def npy(shape: tuple[int, ...], length: int) -> bytes:
    import io

    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(length)


def test_npz_of_more_than_is_allowed(tmp_path):
    path = tmp_path / "a.npz"
    archive(path, {"a.npy": npy((1000,), 8000), "b.npy": npy((10,), 80)})
    length = 128 + 8000 + 128 + 80
    for allowed in (length, length + 1, None):
        assert en.read_npz(path, max_len=allowed)["a"].shape == (1000,)
    with pytest.raises(
        en.LimitError, match=f"need {length:,} bytes, and max_len allows {length - 1:,}; .* pass a greater"
    ):
        en.read_npz(path, max_len=length - 1)
    for wrong in (-1, 1.5, True, "1"):
        with pytest.raises(en.ArgumentError, match="max_len="):
            en.read_npz(path, max_len=wrong)


@pytest.mark.parametrize(
    ("shape", "length"), [((2**60,), 80), ((2**31, 2**31), 80), ((11,), 80), ((9,), 80), ((0,), 8), ((3, -1), 0)]
)
def test_npz_with_false_headers(shape, length, tmp_path):
    path = tmp_path / "a.npz"
    archive(path, {"a.npy": npy(shape, length)})
    with pytest.raises(en.CorruptFileError, match=r"'a\.npy'"):
        en.read_npz(path)


def test_npz_bombs(tmp_path):
    path = tmp_path / "bomb.npz"
    archive(path, {"a.npy": npy((2**24,), 2**27)})
    assert path.stat().st_size < 2**18
    with pytest.raises(en.LimitError, match="max_len allows 1,000,000"):
        en.read_npz(path, max_len=1_000_000)
    # Members that share their bytes: the directory names one of them often.
    content = path.read_bytes()
    with zipfile.ZipFile(path) as found:
        start = found.start_dir
    entry, end = content[start:-22], bytearray(content[-22:])
    n = 50
    end[8:10] = end[10:12] = n.to_bytes(2, "little")
    end[12:16] = (n * len(entry)).to_bytes(4, "little")
    path.write_bytes(content[:start] + n * entry + bytes(end))
    with pytest.raises(en.CorruptFileError, match="overlap"):
        en.read_npz(path)


def test_npz_bombs_in_a_bus(tmp_path):
    sf = pytest.importorskip("static_frame")
    path = tmp_path / "bus.zip"
    sf.Bus.from_frames((sf.Frame(np.zeros((1000, 100)), name="f"),)).to_zip_npz(path)
    with pytest.raises(en.LimitError, match="max_len allows 500,000"):
        en.read_npz(path, max_len=500_000)
    assert en.read_npz(path, max_len=2_000_000)["f"].shape == (1000, 100)
    folder = tmp_path / "frame"
    sf.Frame(np.zeros((1000, 2)), name="f").to_npy(folder)
    (member,) = [file for file in folder.glob("*.npy") if file.stat().st_size > 10_000]
    member.write_bytes(npy((10**12, 2), 16_000))
    with pytest.raises(en.CorruptFileError, match="16,000,000,000,000"):
        en.read_npz(folder)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_compressed_buffers(codec):
    compressed = en.compress(bytes(50_000_000), codec)
    for allowed in (50_000_000, 50_000_001, None):
        assert len(en.decompress(compressed, max_len=allowed)) == 50_000_000
    with pytest.raises(en.LimitError, match="max_len"):
        en.decompress(compressed, max_len=49_999_999)
