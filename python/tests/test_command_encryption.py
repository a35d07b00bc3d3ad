"""The command opens and writes encrypted files also where Python does the work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import forks
import numpy as np
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

KEY = en.Key(bytes(range(32)))
OTHER = en.Key(bytes(32))


def entasis(*args: Any, stdin: bytes | None = None, **variables: str) -> tuple[int, str, str]:
    """The exit code of a command, and what it said."""
    done = forks.command(*args, stdin=stdin, env={**os.environ, **variables})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def fine(*args: Any, **options: Any) -> str:
    code, out, err = entasis(*args, **options)
    assert (code, err) == (0, "")
    return out


def failed(*args: Any, **options: Any) -> str:
    code, _, err = entasis(*args, **options)
    assert code in (1, 2)
    assert "Traceback" not in err
    return err


@pytest.fixture
def key(tmp_path: Path) -> list[Any]:
    (tmp_path / "key").write_bytes(KEY.expose())
    return ["--key-file", tmp_path / "key"]


@pytest.fixture
def frame(tmp_path: Path) -> pd.DataFrame:
    found = pd.DataFrame({"id": np.arange(100), "name": [f"patient {i}" for i in range(100)]})
    found.to_parquet(tmp_path / "plain.parquet")
    en.write(found, tmp_path / "sealed.entasis", key=KEY)
    return found


def test_convert(tmp_path: Path, key: list[Any], frame: pd.DataFrame) -> None:
    plain, sealed, new = tmp_path / "plain.parquet", tmp_path / "sealed.entasis", tmp_path / "new.entasis"
    csv = tmp_path / "plain.csv"
    frame.to_csv(csv, index=False)
    for args in ([plain], ["--verify", csv], ["--where", "id < 1000", csv], [sealed], ["--verify", sealed]):
        fine("convert", *key, *args, new)
        assert len(en.keys(new)) == 1, args
        pd.testing.assert_frame_equal(en.read(new, to="pandas", key=KEY), frame)
        new.unlink()
    for end in ("parquet", "jsonl", "rds"):
        fine("convert", *key, sealed, tmp_path / f"new.{end}")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "new.parquet"), frame)
    said = failed("convert", sealed, tmp_path / "other.parquet")
    assert "the file is encrypted: pass --key-file FILE or --password-file FILE" in said
    said = failed("convert", sealed, new, ENTASIS_KEY_FILE=str(tmp_path / "key"))
    assert "--key-file" in said
    assert "False" not in said
    assert not new.exists()
    (tmp_path / "password").write_text("correct horse\n")
    fine("convert", "--password-file", tmp_path / "password", plain, new)
    pd.testing.assert_frame_equal(en.read(new, to="pandas", password="correct horse"), frame)


def test_diff(tmp_path: Path, key: list[Any], frame: pd.DataFrame) -> None:
    sealed = tmp_path / "sealed.entasis"
    assert "no difference" in fine("diff", *key, sealed, tmp_path / "plain.parquet")
    en.write(frame.assign(id=frame["id"] + 1), tmp_path / "other.entasis", key=KEY)
    code, out, _ = entasis("diff", *key, "--key", "name", sealed, tmp_path / "other.entasis")
    assert code == 1
    assert "'id'" in out
    en.write_dataset(frame, tmp_path / "folder", rows_per_file=30, key=KEY)
    assert entasis("diff", *key, tmp_path / "folder", sealed)[0] == 0
    assert "--key-file" in failed("diff", sealed, tmp_path / "plain.parquet")


def test_folders(tmp_path: Path, key: list[Any], frame: pd.DataFrame) -> None:
    folder = tmp_path / "folder"
    en.write_dataset(frame, folder, rows_per_file=30, key=KEY)
    assert "1 file, before 4" in fine("compact", *key, folder)
    assert "5 files deleted" in fine("clean", *key, "--older-than", "0s", folder)
    assert en.scan(folder, key=KEY).count() == 100
    assert "--rekey" in failed("compact", "--rekey", *key, folder)
    for verb in ("compact", "clean"):
        assert "--key-file" in failed(verb, folder)
    (tmp_path / "other").write_bytes(OTHER.expose())
    assert "does not open" in failed("compact", "--key-file", tmp_path / "other", folder)
