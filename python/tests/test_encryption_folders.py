"""Encrypted data sets."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from encrypted import BYTES, KEY, OTHER, PASSWORD, frame, key_of_module, same

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("secret", [{"key": KEY}, {"password": PASSWORD}, {"key": key_of_module}])
def test_data_sets(tmp_path: Path, secret: Any) -> None:
    folder = tmp_path / "prices"
    table = pl.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Bern"], "price": [3, 5, 4, 1]})
    en.write_dataset(table, folder, partition_by="city", **secret)
    en.write_dataset(table, folder, mode="append", **secret)
    assert en.append(table, folder, **secret) == []
    assert len(files(folder)) == 12
    for path in files(folder):
        assert len(en.keys(path)) == 1
        assert "Oslo" not in str(path)
        assert b"Oslo" not in path.read_bytes()
    scan = en.scan(folder, **secret)
    assert scan.count() == 12
    assert scan.filter(en.col("city") == "Oslo").read()["price"].to_list() == [3, 4] * 3
    assert scan.lazy().filter(pl.col("city") == "Oslo").collect().height == 6
    assert scan.to_dataset().count_rows() == 12
    assert en.read(folder, **secret).height == 12
    en.compact(folder, **secret)
    assert en.scan(folder, **secret).count() == 12
    assert en.verify(folder, **secret).n_values > 0
    assert en.info(folder, **secret).n_files == 3
    assert en.info(folder, **secret).encryption is not None
    assert en.clean(folder, **secret) == []
    assert len(en.clean(folder, older_than="0s", **secret)) == 12
    assert en.verify(folder, **secret).n_values > 0
    assert len(files(folder)) == 4
    with pytest.raises(en.ArgumentError, match="rekey"):
        en.compact(folder, rekey=True, **secret)
    for call in (en.scan, en.info, en.verify, en.clean, en.compact, partial(en.append, table)):
        with pytest.raises(en.WrongKeyError):
            call(folder)
        with pytest.raises(en.WrongKeyError):
            call(folder, key=OTHER)
    key = en.unlock(folder, **secret)
    assert en.scan(folder, key=key).count() == 12
    # Rows that are written with its bytes are opened by the password too.
    en.append(table, folder, key=key.expose())
    assert en.scan(folder, **secret).count() == 16
    assert {one.kind for path in files(folder) for one in en.keys(path)} == {en.keys(folder)[0].kind}


def test_data_sets_that_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "prices"
    table = pl.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]})
    en.write_dataset(table, folder, partition_by="city")
    with pytest.raises(en.ArgumentError, match="not encrypted"):
        en.append(table, folder, key=KEY)
    en.write_dataset(table, folder, mode="overwrite", key=KEY)
    assert en.scan(folder, key=KEY).count() == 2
    with pytest.raises(en.WrongKeyError):
        en.write_dataset(table, folder, mode="overwrite")
    en.write_dataset(table, folder, mode="overwrite", key=OTHER)
    assert en.scan(folder, key=OTHER).count() == 2
    with pytest.raises(en.ArgumentError, match="key=False"):
        en.write_dataset(en.scan(folder, key=OTHER), tmp_path / "others")
    en.write_dataset(en.scan(folder, key=OTHER), tmp_path / "others", key=False)
    assert en.scan(tmp_path / "others").count() == 2
    en.write_dataset(table, folder, mode="overwrite", key=False)
    assert en.scan(folder).count() == 2
    en.write_dataset(table, tmp_path / "named", partition_by="city", hive=True, key=KEY)
    assert (tmp_path / "named" / "city=Oslo").is_dir()
    assert en.scan(tmp_path / "named", key=KEY).count() == 2


def test_data_sets_with_a_key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "prices"
    table = pl.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]})
    en.write_dataset(table, folder, key=KEY)
    kept = pickle.dumps(en.scan(folder, key=KEY))
    assert BYTES not in kept
    (tmp_path / "key").write_bytes(BYTES)
    monkeypatch.setenv("ENTASIS_KEY_FILE", str(tmp_path / "key"))
    en.append(table, folder)
    en.compact(folder)
    assert pickle.loads(kept).count() == 2
    assert en.scan(folder).count() == 4
    assert all(len(en.keys(path)) == 1 for path in files(folder))
    en.write_dataset(table, folder, mode="overwrite")
    en.write_dataset(table, folder, mode="append", key=False)
    assert all(len(en.keys(path)) == 1 for path in files(folder))


def test_a_password_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It opens files as a key file does, and what comes from these stays encrypted."""
    path, folder = tmp_path / "a.entasis", tmp_path / "prices"
    en.write(frame(), path, password=PASSWORD)
    table = pl.DataFrame({"city": ["Oslo", "Rome"], "price": [3, 5]})
    en.write_dataset(table, folder, password=PASSWORD)
    monkeypatch.setenv("ENTASIS_PASSWORD", PASSWORD)
    same(en.read(path), frame())
    for write in (
        lambda: en.write(en.open(path), tmp_path / "b.entasis"),
        lambda: en.write_dataset(en.scan(folder), tmp_path / "other"),
        lambda: en.convert(path, tmp_path / "b.entasis"),
        lambda: en.write_dataset(en.open(path), tmp_path / "other"),
    ):
        with pytest.raises(en.ArgumentError, match="key=False"):
            write()
    en.append(table, folder)
    assert en.scan(folder).count() == 4
    assert en.info(folder).encryption is not None
    assert all(len(en.keys(file)) == 1 for file in files(folder))


def test_folders_without_a_manifest(tmp_path: Path) -> None:
    for number in range(6):
        en.write(pl.DataFrame({"n": range(number)}), tmp_path / f"{number}.entasis", key=KEY)
    assert en.scan(tmp_path, key=KEY).count() == 15
    assert en.scan(str(tmp_path / "*.entasis"), key=KEY).read()["n"].sum() == 20
    assert en.verify(tmp_path, key=KEY).n_values > 0
    assert en.info(tmp_path, key=KEY).n_rows == 15
    assert len(en.clean.__doc__ or "") > 0


def test_dask(tmp_path: Path) -> None:
    dd = pytest.importorskip("dask.dataframe")
    import entasis.dask

    table = dd.from_pandas(pd.DataFrame({"a": [1, 2, 3, 4]}), npartitions=2)
    with pytest.raises(en.ArgumentError, match="function of a module"):
        entasis.dask.write(table, tmp_path / "d", key=KEY)
    for n in (4, 8):
        entasis.dask.write(table, tmp_path / "d", mode="append", key=key_of_module)
        assert all(len(en.keys(path)) == 1 for path in files(tmp_path / "d"))
        assert len(entasis.dask.read(tmp_path / "d", key=key_of_module)["a"].compute()) == n
    with pytest.raises(en.WrongKeyError):
        entasis.dask.read(tmp_path / "d")
