"""Encrypted files and data sets on object stores."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from encrypted import BYTES, KEY, frame, key_of_module, same

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path


def test_objects_on_stores(moto: Any, library: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    url = "s3://tables/a.entasis"
    table = frame(150_000)
    if library == "obstore":
        en.write(table, url, key=KEY)
    else:
        from entasis._stores.address import parse
        from entasis._stores.options import Options
        from entasis._stores.writing import put

        put(parse(url), Options(moto.options), en.to_bytes(table, key=KEY))
    same(en.read(url, key=KEY), table)
    same(en.read(url, columns=["n"], rows=(140_000, 140_002), key=KEY), table[["n"]][140_000:140_002])
    assert en.open(url, key=KEY).filter(en.col("n") == 7).count() == 1
    assert en.verify(url, key=KEY).n_values > 0
    assert en.info(url, key=KEY).encryption is not None
    assert len(en.keys(url)) == 1
    with pytest.raises(en.WrongKeyError):
        en.read(url)
    with pytest.raises(en.ArgumentError, match="do not change in place"):
        en.append(table, url, key=KEY)
    file = en.open(url, key=key_of_module)
    assert BYTES not in pickle.dumps(file)
    same(pickle.loads(pickle.dumps(file))[:3].read(), table[:3])
    footer = file.footer
    assert footer is not None
    same(en.open(url, footer=footer, key=KEY)[:3].read(), table[:3])
    en.convert(url, tmp_path / "b.entasis", key=KEY)
    same(en.read(tmp_path / "b.entasis", key=KEY), table)


def test_data_sets_on_stores(moto: Any, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if library != "obstore":
        pytest.skip("needs a store that creates manifests")
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    url = "s3://tables/prices"
    table = pl.DataFrame({"city": ["Oslo", "Rome", "Oslo"], "price": [3, 5, 4]})
    en.write_dataset(table, url, partition_by="city", key=KEY)
    en.write_dataset(table, url, partition_by="city", mode="append", key=KEY)
    assert en.scan(url, key=KEY).count() == 6
    assert en.read(url, filter=en.col("city") == "Rome", key=KEY)["price"].to_list() == [5, 5]
    en.compact(url, key=KEY)
    assert en.verify(url, key=KEY).n_values > 0
    assert en.info(url, key=KEY).n_files == 2
    assert len(en.clean(url, older_than="0s", key=KEY)) == 6
    assert en.scan(url, key=KEY).read()["price"].sort().to_list() == [3, 3, 4, 4, 5, 5]
    assert len(en.keys(url)) == 1
    assert en.unlock(url, key=KEY).expose() == BYTES
    with pytest.raises(en.WrongKeyError):
        en.scan(url)
