"""Paths and links of a manifest do not lead out of its folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import entasis as en
from entasis._dataset import manifest as _manifest


def forged(path: Path, name: str) -> None:
    """Replace the path of the file in a manifest."""
    number = _manifest.newest_number(str(path))
    assert number is not None
    where = Path(_manifest.path_of(str(path), number))
    file = en.open(where)
    table, metadata = file.read(to="pyarrow"), file.metadata
    paths = pa.array([name] * len(table), pa.large_string())
    en.write(table.set_column(0, "path", paths), where, metadata=metadata)


@pytest.mark.parametrize(
    "name",
    [
        "../out.entasis",
        "/etc/passwd",
        "a/../../out.entasis",
        "./x",
        "a//b",
        "",
        "C:/x",
        "a\\b",
        "s3://x",
        "NUL",
        "con.entasis",
        "a/..",
        "a\0b",
    ],
)
def test_manifests_do_not_lead_out_of_their_folder(tmp_path, name: str) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    en.write(pl.DataFrame({"a": [2]}), tmp_path / "out.entasis")
    forged(path, name)
    with pytest.raises(en.CorruptFileError, match="a path out of its folder"):
        en.scan(path)


def test_links_do_not_lead_out_of_the_folder(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    en.write(pl.DataFrame({"a": [2]}), tmp_path / "out.entasis")
    (path / "link.entasis").symlink_to(tmp_path / "out.entasis")
    (path / "folder").symlink_to(tmp_path)
    for name in ("link.entasis", "folder/out.entasis"):
        forged(path, name)
        with pytest.raises(en.CorruptFileError, match=r"a link leads from .* out of its folder"):
            en.scan(path)


def test_damaged_manifests(tmp_path) -> None:
    path = tmp_path / "set"
    en.write_dataset(pl.DataFrame({"a": [1]}), path)
    where = Path(_manifest.path_of(str(path), 0))
    content = where.read_bytes()
    for damaged in (b"", content[:-5], content[:40] + b"\xff" + content[41:]):
        where.write_bytes(damaged)
        with pytest.raises(en.EntasisError):
            en.scan(path).read()
    en.write({"a": np.arange(3)}, where)
    with pytest.raises(en.CorruptFileError, match="is not a manifest"):
        en.scan(path)
