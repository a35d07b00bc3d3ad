"""Values of encrypted files reach no plain file without a word, and no message has a key."""

from __future__ import annotations

import copy
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BYTES = bytes(range(65, 97))
KEY, OTHER = en.Key(BYTES), en.Key(bytes(32))


def frame(n: int = 5) -> pd.DataFrame:
    return pd.DataFrame({"city": [f"Uppsala {i}" for i in range(n)], "price": np.arange(n) * 1.5, "n": range(n)})


def bare(table: pd.DataFrame) -> pd.DataFrame:
    return table.reset_index(drop=True)


def same(a: Any, b: Any) -> None:
    pd.testing.assert_frame_equal(bare(a), bare(b))


def show_nothing(folder: Path) -> None:
    """No file has a value of `frame`."""
    for path in folder.rglob("*"):
        assert not path.is_file() or b"Uppsala" not in path.read_bytes(), path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    en.write(frame(), tmp_path / "a.entasis", key=KEY)
    return tmp_path / "a.entasis"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    en.write_dataset(frame(), tmp_path / "sealed", rows_per_file=2, key=KEY)
    return tmp_path / "sealed"


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The key of the files, in the environment."""
    (tmp_path / "key").write_bytes(BYTES)
    monkeypatch.setenv("ENTASIS_KEY_FILE", str(tmp_path / "key"))
    return tmp_path / "key"


def test_values_become_plain_by_key_false_alone(path: Path, tmp_path: Path) -> None:
    new, folder = tmp_path / "new.entasis", tmp_path / "folder"
    file = en.open(path, key=KEY)

    def by_writer(value: Any, **options: Any) -> None:
        with en.writer(new, **options) as writer:
            writer.write(value)

    calls: list[Callable[..., Any]] = [
        partial(en.write, path=new),
        partial(en.append, path=new, create=True),
        by_writer,
        partial(en.write_dataset, folder=folder),
    ]
    for call in calls:
        for value in (file, file[1:4], file.filter(en.col("n") > 1), file.to_dataset()):
            with pytest.raises(en.ArgumentError, match="key=False"):
                call(value)
            show_nothing(tmp_path)
            call(value, key=False)
            expected = value.to_table().to_pandas() if hasattr(value, "to_table") else value.read()
            if folder.exists():
                assert en.scan(folder).count() == len(expected)
                shutil.rmtree(folder)
            else:
                same(en.read(new, to="pandas"), expected)
                new.unlink()
    for call in (by_writer, partial(en.write_dataset, folder=folder)):
        with pytest.raises(en.ArgumentError, match="key=False"):
            call(iter([frame(), file]))
    with pytest.raises(en.ArgumentError, match="key=False is for new files"):
        en.append(file, path, create=True, key=False)
    with pytest.raises(en.ArgumentError, match="key=False"):
        en.to_bytes(file.to_dataset())


def test_folders_become_plain_by_key_false_alone(folder: Path, tmp_path: Path) -> None:
    new, scan = tmp_path / "new.entasis", en.scan(folder, key=KEY)
    for value in (scan, scan.filter(en.col("n") > 1), copy.copy(scan), copy.deepcopy(scan)):
        with pytest.raises(en.ArgumentError, match="key=False"):
            en.write_dataset(value, tmp_path / "others")
        with pytest.raises(en.ArgumentError, match="key=False"):
            en.convert(value, new)
    with pytest.raises(en.ArgumentError, match="key=False"):
        en.write(scan.to_dataset(), new)
    show_nothing(tmp_path)
    en.convert(scan, new, key=OTHER)
    show_nothing(tmp_path)
    same(en.read(new, to="pandas", key=OTHER), scan.read(to="pandas"))
    en.convert(scan, new, key=False)
    same(en.read(new, to="pandas"), scan.read(to="pandas"))


def test_one_encrypted_file_of_many_is_enough(path: Path, tmp_path: Path, key_file: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    en.write(frame(2), many / "a.entasis")
    shutil.copy(path, many / "b.entasis")
    both = [many / "a.entasis", many / "b.entasis"]
    for source in (both, many, str(many / "*.entasis"), en.scan(many)):
        with pytest.raises(en.ArgumentError, match="key=False"):
            en.convert(source, tmp_path / "new.entasis")
        assert not (tmp_path / "new.entasis").exists()
    with pytest.raises(en.ArgumentError, match="key=False"):
        en.write_dataset(en.scan(both), tmp_path / "others")


def test_rds_files_leave_no_plain_file_between(
    path: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plain file of Entasis next to the target would show the values after a crash."""
    from entasis import _entasis

    seen = []
    store = _entasis.store_rds

    def watched(source: Any, *args: Any) -> Any:
        seen.append(source)
        show_nothing(tmp_path)
        return store(source, *args)

    monkeypatch.setattr(_entasis, "store_rds", watched)
    for source, options in ((path, {}), (path, {"columns": ["n", "city"]}), (folder, {})):
        en.convert(source, tmp_path / "new.rds", key=KEY, verify=True, **options)
        assert len(en.read(tmp_path / "new.rds", to="pandas")) == 5
        (tmp_path / "new.rds").unlink()
    assert str(seen[0]) == str(path)
    assert len(seen) == 3


@pytest.mark.parametrize(
    "call",
    [
        lambda path: en.diff(path, path, key=BYTES),
        lambda path: en.remove_key(path, BYTES, key=KEY),
        lambda path: en.encrypt(path, BYTES),
        lambda path: en.decrypt(path, BYTES, key=KEY),
        lambda path: en.read(path, columns=BYTES, key=KEY),
        lambda path: en.read(path, rows=BYTES, key=KEY),
        lambda path: en.read(path, BYTES),
        lambda path: en.write(frame(), path, compression=BYTES),
        lambda path: en.append(frame(), path, threads=BYTES, key=KEY),
        lambda path: en.append(frame(), path, wait=BYTES, key=KEY),
        lambda path: en.rollback(path, BYTES, key=KEY),
        lambda path: en.open(path, generation=BYTES, key=KEY),
        lambda path: en.compact(path, rows_per_file=BYTES, key=KEY),
        lambda path: en.open(path, key=KEY)[BYTES],
        lambda path: en.read(path, to=BYTES, key=KEY),
        lambda path: en.write(frame(), path, edition=BYTES, progress=BYTES),
    ],
)
def test_a_key_at_another_place_is_not_shown(path: Path, call: Callable[[Path], Any]) -> None:
    before = sorted(path.parent.iterdir())
    with pytest.raises((en.EntasisError, TypeError)) as error:
        call(path)
    assert "ABCDEFGH" not in "".join([str(error.value), repr(error.value), *getattr(error.value, "__notes__", [])])
    assert sorted(path.parent.iterdir()) == before


def test_folders_say_what_is_wrong(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(en.ExistingFileError):
        en.write_dataset(frame(), folder)
    with pytest.raises(en.ExistingFileError):
        en.write_dataset(frame(), folder, key=OTHER)
    loose = tmp_path / "loose"
    loose.mkdir()
    for path in folder.glob("*.entasis"):
        shutil.copy(path, loose / path.name)
    with pytest.raises(en.WrongKeyError):
        en.verify(loose, key=OTHER)
    # A chunk of one file at its place in another.
    first, second = sorted(loose.iterdir())[:2]
    content = bytearray(first.read_bytes())
    content[20_480 : 20_480 + 8_192] = second.read_bytes()[20_480 : 20_480 + 8_192]
    first.write_bytes(content)
    with pytest.raises(en.TamperedError, match="1 of 3 files"):
        en.verify(loose, key=KEY)


def test_tables_with_other_keys_are_cleaned(folder: Path) -> None:
    n = len(list(folder.rglob("*.entasis")))
    en.write_dataset(frame(), folder, mode="overwrite", key=OTHER)
    # Nobody knows which files the earlier table has.
    assert en.clean(folder, older_than="1h", key=OTHER) == []
    assert len(en.clean(folder, older_than="0s", key=OTHER)) == n
    assert en.scan(folder, key=OTHER).count() == 5
    en.write_dataset(frame(2), folder, mode="overwrite", key=False)
    assert en.clean(folder, older_than="1h", key=OTHER) == []
    assert len(en.clean(folder, older_than="0s", key=OTHER)) == 2
    assert en.clean(folder, older_than="0s") == []
    assert en.scan(folder).count() == 2


def test_a_job_does_not_follow_a_table_that_was_encrypted_meanwhile(
    tmp_path: Path, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from entasis._dataset import write as _write

    folder = tmp_path / "prices"
    en.write_dataset(frame(), folder)
    store, is_first = _write._manifest.store, True

    def late(*args: Any, **options: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            en.write_dataset(frame(3), folder, mode="overwrite", key=KEY)
        return store(*args, **options)

    monkeypatch.setattr(_write._manifest, "store", late)
    with pytest.raises(en.ConflictError, match="encrypted table"):
        en.write_dataset(frame(), folder, mode="append")
    assert en.scan(folder, key=KEY).count() == 3
