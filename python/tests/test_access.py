"""The access of a file that is replaced, repaired or compacted."""

from __future__ import annotations

import os
import struct
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux has the attributes")

ACL = "system.posix_acl_access"


def acl(named: int, group: int, mask: int, others: int) -> bytes:
    """A list with the permissions of user 1, the owning group, the mask and others."""
    none = 0xFFFFFFFF
    entries = [(0x01, 6, none), (0x02, named, 1), (0x04, group, none), (0x10, mask, none), (0x20, others, none)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "frame.entasis"
    en.write(frame(), path)
    path.chmod(0o640)
    try:
        os.setxattr(path, ACL, acl(6, 0, 6, 0))
        os.setxattr(path, "user.origin", b"a sensor")
    except OSError as error:
        pytest.skip(f"the file system has no attributes: {error}")
    return path


def frame(n: int = 100_000) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(n), "s": np.arange(n).astype(str)})


def by_writer(path: Path) -> None:
    with en.writer(path) as w:
        w.write(frame())


CHANGES: dict[str, Callable[[Path], object]] = {
    "write": lambda path: en.write(frame(), path),
    "tree": lambda path: en.write({"a": [1, "b"]}, path),
    "writer": by_writer,
    "append": lambda path: en.append(frame(10), path),
    "append anew": lambda path: en.append(frame(10).astype({"a": "f8"}), path),
    "drop": lambda path: en.drop_columns(path, "a", compact=True),
    "compact": en.compact,
    "rollback": lambda path: (en.append(frame(10), path), en.rollback(path, 1, compact=True)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_access_is_kept(change: str, path: Path) -> None:
    before = path.stat()
    try:
        CHANGES[change](path)
    except en.ArgumentError:
        assert change == "append anew"
    assert os.getxattr(path, ACL) == acl(6, 0, 6, 0)
    assert os.getxattr(path, "user.origin") == b"a sensor"
    assert (path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) == (
        before.st_mode, before.st_uid, before.st_gid
    )  # fmt: skip


def test_a_repaired_file_is_no_more_open_than_the_damaged_one(tmp_path: Path) -> None:
    path, out = tmp_path / "damaged.entasis", tmp_path / "repaired.entasis"
    en.write(frame(), path)
    path.chmod(0o600)
    en.repair(path, out)
    assert out.stat().st_mode & 0o777 == 0o600
    out.chmod(0o644)
    en.repair(path, out)
    assert out.stat().st_mode & 0o777 == 0o644
