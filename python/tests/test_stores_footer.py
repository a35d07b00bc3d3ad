"""A footer opens a file on a store without a request, and is checked when it is used."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._stores import footer as _footer
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options
from entasis._stores.reader import Stat

pytest.importorskip("moto")
pytest.importorskip("flask")

from moto_server import SECRET

if TYPE_CHECKING:
    from pathlib import Path

    from moto_server import MotoServer

URL = "s3://tables/frame.entasis"
N = 200_000


@pytest.fixture(autouse=True)
def environment(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables with the options of the server."""
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"id": np.arange(N), "x": rng.random(N), "s": [f"w{i}" for i in rng.integers(0, 99, N)]})


@pytest.fixture
def footer(moto: MotoServer, frame: pd.DataFrame) -> bytes:
    """The footer of the file, whose requests are forgotten."""
    en.write(frame, URL)
    file = en.open(URL)
    moto.requests.clear()
    found = file.footer
    assert moto.requests == []
    assert found is not None
    return found


def test_opening_takes_no_request(moto: MotoServer, library: str, frame: pd.DataFrame, footer: bytes) -> None:
    file = en.open(URL, footer=footer)
    assert file.shape == frame.shape
    assert file.column_names == list(frame.columns)
    assert file.schema == en.open(URL).schema
    moto.requests.clear()
    file = en.open(URL, footer=footer)
    assert moto.requests == []
    assert file[:3][["id", "x"]].read().equals(frame.loc[:2, ["id", "x"]])
    # fsspec names no version in a request, so the object is asked for first.
    assert len(moto.requests) <= (2 if library == "obstore" else 3)
    assert file.read().equals(frame)
    assert file.footer == footer
    assert SECRET.encode() not in footer
    assert b"tables" not in footer
    assert len(footer) < 12_288 + 65_536 + 1_000


def test_another_process_opens_with_a_footer(moto: MotoServer, library: str, footer: bytes, tmp_path: Path) -> None:
    if library == "fsspec":
        pytest.skip("the other process has obstore")
    path = tmp_path / "footer"
    path.write_bytes(footer)
    code = (
        "import pathlib, sys, entasis as en;"
        f"f = en.open({URL!r}, footer=pathlib.Path(sys.argv[1]).read_bytes());"
        "print(f.n_rows, f._view.table.content.n_requests, f[5:6]['id'].to_numpy()['id'][0])"
    )
    found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert found.stdout.split() == [str(N), "0", "5"]


def test_another_version_is_refused(moto: MotoServer, frame: pd.DataFrame, footer: bytes) -> None:
    en.write(frame[::-1], URL)
    file = en.open(URL, footer=footer)
    for read in (file.read, file[:3]["x"].read, lambda: file.scan(filter=en.col("x") < 0.5).count()):
        with pytest.raises(en.errors.FileError, match="replaced"):
            read()
    # Another object.
    en.write(frame[:-1], "s3://tables/other.entasis")
    with pytest.raises(en.errors.FileError, match="replaced"):
        en.open("s3://tables/other.entasis", footer=footer).read()
    with pytest.raises(en.errors.MissingFileError):
        en.open("s3://tables/missing.entasis", footer=footer).read()


def test_damage_of_a_footer_is_found(footer: bytes) -> None:
    rng = np.random.default_rng(5)
    places = [*range(80), *rng.integers(80, len(footer), 100).tolist()]
    for place in places:
        content = bytearray(footer)
        content[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(en.CorruptFileError, match="footer"):
            en.open(URL, footer=bytes(content))
    for wrong in (b"", footer[:10], footer[:-1], footer + b"\0", en.to_bytes({"a": 1})):
        with pytest.raises(en.CorruptFileError, match="footer"):
            en.open(URL, footer=wrong)
    with pytest.raises(en.ArgumentError, match="bytes"):
        en.open(URL, footer="text")  # type: ignore[arg-type]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "ranges",
    [
        [(0, b"")],
        [(0, bytes(10)), (80, bytes(10))],
        [(0, bytes(10)), (90, bytes(11))],
        [(1, bytes(10)), (90, bytes(10))],
        [(0, bytes(10)), (90, bytes(10)), (1 << 63, bytes(10))],
        [(0, bytes(101)), (90, bytes(10))],
    ],
)
def test_forged_footers_are_refused(footer: bytes, ranges: Any) -> None:
    with pytest.raises(en.CorruptFileError, match="footer"):
        en.open(URL, footer=_footer.encoded(_footer.Footer(Stat(100, '"x"'), ranges)))


def test_a_forged_file_in_a_footer_is_damage(footer: bytes) -> None:
    stat, ranges = _footer.decoded(footer)
    tail = bytearray(ranges[1][1])
    tail[-100] ^= 1
    forged = _footer.encoded(_footer.Footer(stat, [ranges[0], (ranges[1][0], bytes(tail))]))
    with pytest.raises(en.EntasisError):
        en.open(URL, footer=forged).read()


def test_long_footers_are_whole(moto: MotoServer, library: str) -> None:
    wide = {f"column number {i}": np.arange(3) + i for i in range(20_000)}
    en.write(wide, URL)
    file = en.open(URL, prefetch=4_096)
    names = file.column_names
    found = file.footer
    moto.requests.clear()
    again = en.open(URL, footer=found)
    assert again.column_names == names
    assert moto.requests == []
    assert again.select("column number 77").read()["column number 77"].tolist() == [77, 78, 79]


def test_trees_and_short_files_have_footers(moto: MotoServer, frame: pd.DataFrame) -> None:
    en.write({"run": 7, "frame": frame[:5]}, "s3://tables/tree.entasis")
    found = en.open("s3://tables/tree.entasis").footer
    moto.requests.clear()
    tree = en.open("s3://tables/tree.entasis", footer=found).read()
    assert tree["run"] == 7
    assert tree["frame"].equals(frame[:5])
    assert moto.requests == []


def test_other_files_have_none(frame: pd.DataFrame, footer: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.entasis"
    en.write(frame[:3], path)
    assert en.open(path).footer is None
    assert en.open(en.to_bytes(frame[:3])).footer is None
    assert en.open(path, footer=None).read().equals(frame[:3])
    for source in (path, en.to_bytes(frame[:3])):
        with pytest.raises(en.ArgumentError, match="footer= is for objects on stores"):
            en.open(source, footer=footer)


def test_objects_take_footers(moto: MotoServer, library: str, frame: pd.DataFrame, footer: bytes) -> None:
    class Ranged:
        def __init__(self, content: bytes) -> None:
            self.content, self.n = content, 0

        def size(self) -> int:
            return len(self.content)

        def read_at(self, offset: int, length: int) -> bytes:
            self.n += 1
            return self.content[offset : offset + length]

    ranged = Ranged(Folder(parse("s3://tables", is_folder=True), Options(moto.options)).read("frame.entasis"))
    own = en.open(ranged).footer
    ranged.n = 0
    file = en.open(ranged, footer=own)
    assert ranged.n == 0
    assert file.read().equals(frame)
    shorter = Ranged(en.to_bytes(frame[:1000]))
    with pytest.raises(en.errors.FileError, match="replaced"):
        en.open(shorter, footer=own).read()
