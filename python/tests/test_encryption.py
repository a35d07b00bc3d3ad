"""Encrypted files: keys, values, changes, and what a message shows."""

from __future__ import annotations

import datetime
import io
import os
import pickle
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from encrypted import BYTES, KEY, OTHER, PASSWORD, frame, key_of_module, same

import entasis as en
from entasis import _entasis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHUNKS_AT, CHUNK = 20_480, 8_192


@pytest.fixture
def path(tmp_path: Path) -> Path:
    en.write(frame(), tmp_path / "a.entasis", key=KEY)
    return tmp_path / "a.entasis"


@pytest.fixture(scope="module")
def with_password(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("password") / "a.entasis"
    en.write(frame(), path, password=PASSWORD)
    return path


def static_frame() -> Any:
    import static_frame as sf

    return sf.Frame.from_records([(1, "a"), (2, "b")], columns=("x", "y"), index=("p", "q"))


@pytest.mark.parametrize(
    "value",
    [
        frame(),
        frame(0),
        pd.Series([1, 2, None], name="s"),
        pd.DataFrame({"o": [[1], {"a": 2}]}),
        pl.DataFrame({"a": [1, None], "b": ["x", "y"], "c": [[1, 2], []]}),
        pa.table({"a": [1, 2], "b": [{"c": 1}, None]}),
        {"a": np.arange(70_000), "b": np.ones(70_000)},
        np.arange(12).reshape(3, 4),
        {"run": 7, "frames": [frame(2)], "when": datetime.date(2024, 1, 1), "s": {1, 2}},
    ],
    ids=lambda value: type(value).__module__.partition(".")[0] + " " + type(value).__name__,
)
def test_values_come_back(value: Any, tmp_path: Path) -> None:
    plain, path = tmp_path / "plain.entasis", tmp_path / "a.entasis"
    en.write(value, plain, metadata={"m": "meta"})
    en.write(value, path, metadata={"m": "meta"}, key=KEY)
    assert en.to_bytes(en.read(path, key=KEY)) == en.to_bytes(en.read(plain))
    assert en.open(path, key=KEY).metadata == {"m": "meta"}
    content = path.read_bytes()
    assert content[:256] != plain.read_bytes()[:256]
    assert en.to_bytes(en.read(content, key=KEY)) == en.to_bytes(en.read(plain))
    assert en.verify(path, key=KEY).n_values == en.verify(plain).n_values


def test_a_frame_of_static_frame(tmp_path: Path) -> None:
    value = static_frame()
    en.write(value, tmp_path / "a.entasis", key=KEY)
    assert en.read(tmp_path / "a.entasis", key=KEY).equals(value, compare_dtype=True, compare_name=True)


def test_no_name_and_no_value_is_in_the_bytes(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "a.entasis", compression=0, metadata="Linnaeus", key=KEY)
    content = (tmp_path / "a.entasis").read_bytes()
    for text in (b"Uppsala", b"city", b"price", b"Linnaeus", b"pandas", np.arange(5).tobytes()):
        assert text not in content
    again = en.to_bytes(frame(), compression=0, metadata="Linnaeus", key=KEY)
    assert len(again) == len(content)
    assert all(content[i : i + CHUNK] != again[i : i + CHUNK] for i in range(CHUNKS_AT, len(content), CHUNK))


@pytest.mark.parametrize(
    "key", [BYTES, bytearray(BYTES), memoryview(BYTES), KEY, key_of_module, lambda: BYTES, partial(bytes, BYTES)]
)
def test_forms_of_a_key(path: Path, key: Any) -> None:
    same(en.read(path, key=key), frame())


def test_a_function_is_called_at_each_opening(path: Path) -> None:
    calls = []

    def key() -> en.Key:
        calls.append(1)
        return KEY

    file = en.open(path, key=key)
    file.read()
    assert len(calls) == 1
    en.read(path, key=key)
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"key": BYTES, "password": "x"}, "both"),
        ({"key": BYTES[:31]}, "32 bytes"),
        ({"key": b""}, "32 bytes"),
        ({"key": lambda: b"short"}, "32 bytes"),
        ({"key": "text of a key"}, "password="),
        ({"key": lambda: "text of a key"}, "password="),
        ({"key": 5}, "an int"),
        ({"key": False}, "key=False"),
        ({"password": b"text of a key"}, "pass bytes as key="),
        ({"password": ""}, "empty"),
    ],
)
def test_arguments_that_are_refused(path: Path, tmp_path: Path, options: Any, said: str) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: en.read(path, **options),
        lambda: en.open(path, **options),
        lambda: en.append(frame(), path, **options),
        lambda: en.verify(path, **options),
        lambda: en.scan(path, **options),
        lambda: en.compact(path, **options),
        lambda: en.unlock(path, **options),
    ]
    if options != {"key": False}:
        calls += [lambda: en.write(frame(), tmp_path / "b.entasis", **options), lambda: en.to_bytes(1, **options)]
    for call in calls:
        with pytest.raises(en.ArgumentError, match=said) as error:
            call()
        assert "text of a key" not in str(error.value)
        assert "short" not in str(error.value)
    assert not (tmp_path / "b.entasis").exists()


def test_wrong_and_missing_keys(path: Path, with_password: Path) -> None:
    for call in (en.read, en.open, en.verify, en.info, en.generations, en.scan, en.scan_polars):
        for options in ({}, {"key": OTHER}, {"password": "x"}):
            with pytest.raises(en.WrongKeyError):
                call(path, **options)  # type: ignore[operator]
    with pytest.raises(en.WrongKeyError, match="password does not open"):
        en.read(with_password, password="wrong")
    changes: list[Callable[..., Any]] = [
        lambda **options: en.append(frame(), path, **options),
        lambda **options: en.add_columns({"x": [1] * 5}, path, **options),
        lambda **options: en.set_metadata(1, path, **options),
        lambda **options: en.rollback(path, 1, **options),
        lambda **options: en.keep(path, 3, **options),
        lambda **options: en.compact(path, **options),
        lambda **options: en.decrypt(path, **options),
    ]
    before = path.read_bytes()
    for change in changes:
        for options in ({}, {"key": OTHER}):
            with pytest.raises(en.WrongKeyError):
                change(**options)
    assert path.read_bytes() == before


def test_a_key_for_a_plain_file(tmp_path: Path) -> None:
    en.write(frame(), tmp_path / "a.entasis")
    frame().to_parquet(tmp_path / "a.parquet")
    for name in ("a.entasis", "a.parquet"):
        with pytest.raises(en.ArgumentError):
            en.read(tmp_path / name, key=KEY)
    en.convert(tmp_path / "a.entasis", tmp_path / "a.rds")
    with pytest.raises(en.ArgumentError, match="another format"):
        en.read(tmp_path / "a.rds", key=KEY)
    for call in (en.open, en.verify, en.unlock, en.decrypt, en.compact, en.remove_key):
        with pytest.raises(en.ArgumentError, match="not encrypted"):
            call(tmp_path / "a.entasis", key=KEY)
    assert en.keys(tmp_path / "a.entasis") == []
    assert en.info(tmp_path / "a.entasis").encryption is None


def test_messages_and_displays_have_no_key(path: Path) -> None:
    shown = [repr(KEY), str(KEY), repr(en.open(path, key=BYTES)), repr(en.info(path, key=BYTES))]
    with pytest.raises(en.WrongKeyError) as error:
        en.read(path, key=OTHER)
    shown.append(str(error.value))
    for text in shown:
        assert BYTES.hex() not in text
        assert repr(BYTES)[2:-1] not in text
    assert KEY.expose() == BYTES


def test_changes(path: Path) -> None:
    assert en.append(frame(2), path, key=KEY) == []
    whole = pd.concat([frame(), frame(2)], ignore_index=True)
    same(en.read(path, key=KEY), whole)
    en.add_columns({"x": range(7)}, path, key=KEY)
    en.replace_columns({"x": [str(i) for i in range(7)]}, path, key=KEY)
    en.rename_columns(path, {"x": "text"}, key=KEY)
    en.drop_columns(path, "n", key=KEY)
    en.set_metadata({"by": "Ada"}, path, key=KEY)
    wanted = whole.drop(columns="n").assign(text=[str(i) for i in range(7)])
    wanted["text"] = wanted["text"].astype(en.read(path, key=KEY)["text"].dtype)
    same(en.read(path, key=KEY), wanted)
    assert en.append(pd.DataFrame({"city": ["x"], "price": [1], "text": ["y"]}), path, widen=True, key=KEY) == []
    assert en.open(path, key=KEY).metadata == {"by": "Ada"}
    numbers = [one.number for one in en.generations(path, key=KEY)]
    assert numbers == [1, 2, 3, 4, 5, 6, 7, 8]
    same(en.read(path, generation=1, key=KEY), frame())
    en.rollback(path, 2, key=KEY)
    same(en.read(path, key=KEY), whole)
    en.keep(path, 3, key=KEY)
    en.compact(path, key=KEY)
    same(en.read(path, key=KEY), whole)
    en.drop_columns(path, "n", compact=True, key=KEY)
    assert len(en.generations(path, key=KEY)) == 1
    assert en.info(path, key=KEY).encryption in ("AES-256-GCM", "ChaCha20-Poly1305")
    assert b"Uppsala" not in path.read_bytes()
    assert len(en.keys(path)) == 1


def test_changes_of_trees(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write({"run": 7, "scores": [1, 2]}, path, key=KEY)
    en.update({"run": 8}, path, remove=["scores"], key=KEY)
    en.set_metadata(5, path, key=KEY)
    assert en.read(path, key=KEY) == {"run": 8}
    assert len(en.keys(path)) == 1


def test_an_append_can_make_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    for _ in range(2):
        en.append(frame(2), path, create=True, key=KEY)
    assert len(en.read(path, key=KEY)) == 4


def test_writers(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    with en.writer(path, key=KEY) as writer:
        writer.write(frame(2))
        writer.write(frame(70_000))
    with en.writer(path, append=True, fill=True, key=KEY) as writer:
        writer.write(frame(3))
        writer.write(frame(3).assign(more=1.0))
    found = en.read(path, key=KEY)
    assert len(found) == 70_008
    assert found["more"].count() == 3
    with pytest.raises(en.WrongKeyError):
        en.writer(path, append=True)


def test_open_files_keep_their_secret(path: Path, tmp_path: Path) -> None:
    file = en.open(path, key=KEY)
    for call in (en.to_bytes, lambda value: en.write(value, tmp_path / "b.entasis")):
        for value in (file, file[:2], file.filter(en.col("n") > 1)):
            with pytest.raises(en.ArgumentError, match="key=False"):
                call(value)
    en.write(file, tmp_path / "b.entasis", key=False)
    same(en.read(tmp_path / "b.entasis"), frame())
    en.write(file, tmp_path / "b.entasis", key=OTHER)
    same(en.read(tmp_path / "b.entasis", key=OTHER), frame())


def test_engines_read_what_they_read_of_a_plain_file(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    table = frame(200_000)
    en.write(table, tmp_path / "plain.entasis")
    en.write(table, tmp_path / "a.entasis", key=KEY)
    plain, file = en.open(tmp_path / "plain.entasis"), en.open(tmp_path / "a.entasis", key=KEY)
    condition = (en.col("n") > 150_000) & (en.col("city") < "Uppsala 16")
    same(file.filter(condition).read(), plain.filter(condition).read())
    same(file[::1000].read(), plain[::1000].read())
    same(en.read(tmp_path / "a.entasis", key=KEY, filter=condition), plain.filter(condition).read())
    query = (pl.col("n") % 7 == 0) & (pl.col("price") > 9)
    assert file.lazy().filter(query).collect().equals(plain.lazy().filter(query).collect())
    lazy = en.scan_polars(tmp_path / "a.entasis", key=KEY)
    assert lazy.filter(query).collect().equals(plain.lazy().filter(query).collect())
    assert file.to_dataset().to_table().equals(plain.to_dataset().to_table())
    assert pa.table(file).equals(pa.table(plain))
    with duckdb.connect() as connection:
        found = file.to_duckdb(connection, "rows").filter("n > 199990").fetchall()
        assert found == plain.to_duckdb(connection, "others").filter("n > 199990").fetchall()


def test_maps(path: Path) -> None:
    with pytest.raises(en.NotMappableError, match="encrypted"):
        en.open(path, memory_map=True, key=KEY)
    same(en.open(path, memory_map="auto", key=KEY).read(), frame())
    same(en.read(path, memory_map="auto", key=KEY), frame())


def test_files_in_memory_and_objects(path: Path) -> None:
    content = path.read_bytes()

    class Object:
        def size(self) -> int:
            return len(content)

        def read_at(self, offset: int, length: int) -> bytes:
            return content[offset : offset + length]

    for source in (content, bytearray(content), io.BytesIO(content), Object()):
        same(en.read(source, key=KEY), frame())
        with pytest.raises(en.WrongKeyError):
            en.read(source)
        assert en.verify(source, key=KEY).n_values > 0
        assert en.unlock(source, key=KEY).expose() == BYTES
        assert len(en.keys(source)) == 1
        assert en.info(source, key=KEY).encryption is not None
    buffer = io.BytesIO()
    en.write(frame(), buffer, key=KEY)
    same(en.read(buffer, key=KEY), frame())


def test_pickles_have_no_key(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tree = tmp_path / "tree.entasis"
    en.write({"a": [1, {"b": frame()}]}, tree, key=KEY)
    values = [
        en.open(path, key=BYTES),
        en.open(path, key=KEY)[1:3],
        en.open(path, key=KEY).filter(en.col("n") > 1),
        en.scan(path, key=KEY),
        en.open(path, key=KEY).to_dataset(),
        en.open(tree, key=KEY),
        en.open(tree, key=KEY)["a"][1]["b"],  # type: ignore[index]
        en.open(path.read_bytes(), key=KEY),
    ]
    kept = [pickle.dumps(value) for value in values]
    for one in kept:
        assert BYTES not in one
        with pytest.raises(en.WrongKeyError):
            pickle.loads(one).count()
    (tmp_path / "key").write_bytes(BYTES)
    monkeypatch.setenv("ENTASIS_KEY_FILE", str(tmp_path / "key"))
    for one, value in zip(kept, values, strict=True):
        found = pickle.loads(one)
        if hasattr(value, "read"):
            assert en.to_bytes(found.read()) == en.to_bytes(value.read())
    for secret in (KEY, _entasis.Password("x")):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(secret)


def test_pickles_have_functions_by_reference(path: Path, tmp_path: Path) -> None:
    content = pickle.dumps(en.open(path, key=key_of_module))
    assert BYTES not in content
    assert b"key_of_module" in content
    same(pickle.loads(content).read(), frame())
    same(pickle.loads(pickle.dumps(pickle.loads(content))).read(), frame())
    assert pickle.loads(pickle.dumps(en.scan(path, key=key_of_module))).count() == 5
    for key in (lambda: BYTES, partial(bytes, BYTES)):
        with pytest.raises(en.ArgumentError, match="function of a module"):
            pickle.dumps(en.open(path, key=key))


def test_torch_workers(path: Path) -> None:
    pytest.importorskip("torch")
    from entasis.torch import MapDataset

    dataset = MapDataset(en.open(path, key=key_of_module), columns=["n"])
    assert len(pickle.loads(pickle.dumps(dataset))) == 5
    assert pickle.loads(pickle.dumps(dataset))[3]["n"] == 3


def test_key_files(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("raw", BYTES), ("hex", BYTES.hex().encode() + b"\n")):
        (tmp_path / name).write_bytes(content)
        same(en.read(path, key=en.Key.from_file(tmp_path / name)), frame())
        monkeypatch.setenv("ENTASIS_KEY_FILE", str(tmp_path / name))
        same(en.read(path), frame())
        en.append(frame(1), path)
        en.rollback(path, 1)
        assert en.verify(path).n_values > 0
        with pytest.raises(en.WrongKeyError):
            en.read(path, key=OTHER)
        with pytest.raises(en.ArgumentError, match="key=False"):
            en.write(en.open(path), tmp_path / "b.entasis")
        # It opens files, and encrypts none.
        en.write(frame(), tmp_path / "plain.entasis")
        assert en.keys(tmp_path / "plain.entasis") == []
    (tmp_path / "wrong").write_bytes(b"0123456789")
    monkeypatch.setenv("ENTASIS_KEY_FILE", str(tmp_path / "wrong"))
    with pytest.raises(en.ArgumentError, match="64 hexadecimal digits") as error:
        en.read(path)
    assert "0123456789" not in str(error.value)


def test_a_process_with_a_key_file(path: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(BYTES)
    code = "import entasis as en, sys; print(len(en.read(sys.argv[1])))"
    environment = {**os.environ, "ENTASIS_KEY_FILE": str(tmp_path / "key")}
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, capture_output=True, check=True)
    assert done.stdout.split() == [b"5"]


def test_passwords(with_password: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    path.write_bytes(with_password.read_bytes())
    same(en.read(path, password=PASSWORD), frame())
    [entry] = en.keys(path)
    assert entry.kind == "password"
    assert entry.costs is not None
    key = en.unlock(path, password=PASSWORD)
    assert en.append(frame(1), path, password=PASSWORD) == []
    en.set_metadata(1, path, key=key)
    en.compact(path, key=key)
    assert len(en.read(path, password=PASSWORD)) == 6
    en.write(frame(2), tmp_path / "b.entasis", key=key)
    same(en.read(tmp_path / "b.entasis", password=PASSWORD), frame(2))


def test_keys(path: Path) -> None:
    en.add_key(path, new_password=PASSWORD, key=KEY)
    en.add_key(path, new_key=OTHER, key=KEY)
    assert [(one.number, one.kind) for one in en.keys(path)] == [(0, "key"), (1, "password"), (2, "key")]
    assert [one.costs is None for one in en.keys(path)] == [True, False, True]
    same(en.read(path, key=OTHER), frame())
    same(en.read(path, password=PASSWORD), frame())
    with pytest.raises(en.ArgumentError, match="already"):
        en.add_key(path, new_key=OTHER, key=KEY)
    with pytest.raises(en.ArgumentError, match="new_key="):
        en.add_key(path, key=KEY)
    with pytest.raises(en.ArgumentError, match="no key 7"):
        en.remove_key(path, 7, key=KEY)
    with pytest.raises(en.WrongKeyError):
        en.remove_key(path, 0, key=bytes(range(1, 33)))
    # Changes keep all keys.
    en.append(frame(1), path, key=OTHER)
    en.compact(path, key=OTHER)
    assert len(en.keys(path)) == 3
    assert en.repair(path, path.with_name("b.entasis"), key=KEY) == []
    assert len(en.keys(path.with_name("b.entasis"))) == 3
    en.remove_key(path, key=KEY)
    with pytest.raises(en.WrongKeyError):
        en.read(path, key=KEY)
    en.remove_key(path, 0, key=OTHER)
    assert [one.kind for one in en.keys(path)] == ["key"]
    with pytest.raises(en.ArgumentError, match="last key"):
        en.remove_key(path, key=OTHER)


def test_rekey(path: Path) -> None:
    en.add_key(path, new_key=OTHER, key=KEY)
    en.compact(path, rekey=True, key=KEY)
    assert len(en.keys(path)) == 1
    same(en.read(path, key=KEY), frame())
    with pytest.raises(en.WrongKeyError):
        en.read(path, key=OTHER)


def test_encrypt_and_decrypt(tmp_path: Path) -> None:
    path, target = tmp_path / "a.entasis", tmp_path / "b.entasis"
    en.write(frame(), path)
    en.append(frame(1), path)
    en.encrypt(path, target, key=KEY)
    assert en.keys(path) == []
    assert [one.number for one in en.generations(target, key=KEY)] == [1, 2]
    en.encrypt(path, key=KEY)
    same(en.read(path, generation=1, key=KEY), frame())
    with pytest.raises(en.ArgumentError, match="already"):
        en.encrypt(path, key=KEY)
    with pytest.raises(en.ExistingFileError):
        en.decrypt(path, target, key=KEY, overwrite=False)
    with pytest.raises(en.ArgumentError, match="overwrite"):
        en.decrypt(path, key=KEY, overwrite=False)
    en.decrypt(path, key=KEY)
    same(en.read(path, generation=1), frame())
    assert len(en.read(path)) == 6
    with pytest.raises(en.ArgumentError, match="not encrypted"):
        en.decrypt(path)
    with pytest.raises(en.ArgumentError, match="pass a key"):
        en.encrypt(path)


def test_damage_and_tampering(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    for at in range(CHUNKS_AT, len(content), CHUNK):
        flipped = bytearray(content)
        flipped[at + 100] ^= 1
        with pytest.raises(en.CorruptFileError):
            en.verify(flipped, key=KEY)
    # Chunks of another file with the same key, with their checksums.
    other = en.to_bytes(frame(), key=KEY)
    assert len(other) == len(content)
    for at in range(CHUNKS_AT, len(content), CHUNK):
        swapped = content[:at] + other[at : at + CHUNK] + content[at + CHUNK :]
        with pytest.raises(en.TamperedError):
            en.verify(swapped, key=KEY)
        with pytest.raises(en.TamperedError):
            en.read(swapped, key=KEY)


def test_repair(tmp_path: Path) -> None:
    path = tmp_path / "a.entasis"
    en.write({"a": np.random.default_rng(0).random(300_000)}, path, key=KEY)
    content = bytearray(path.read_bytes())
    content[CHUNKS_AT + 10 * CHUNK + 99] ^= 1
    path.write_bytes(content)
    with pytest.warns(en.DamageWarning):
        found = en.read(path, on_damage="missing", key=KEY)["a"]
    assert 0 < np.isnan(found).sum() <= 2 * 65_536
    damages = en.repair(path, tmp_path / "b.entasis", key=KEY)
    assert damages
    np.testing.assert_array_equal(en.read(tmp_path / "b.entasis", key=KEY)["a"], found)


def test_convert(tmp_path: Path) -> None:
    csv, path, target = tmp_path / "a.csv", tmp_path / "a.entasis", tmp_path / "b.entasis"
    frame().to_csv(csv, index=False)
    frame().to_parquet(tmp_path / "a.parquet")
    for source in (csv, tmp_path / "a.parquet"):
        for verify in (False, True):
            en.convert(source, path, key=KEY, verify=verify)
            assert len(en.keys(path)) == 1
            assert len(en.read(path, key=KEY)) == 5
    en.convert(path, tmp_path / "b.parquet", key=KEY, verify=True)
    assert len(pd.read_parquet(tmp_path / "b.parquet")) == 5
    en.convert(path, tmp_path / "b.rds", key=KEY, verify=True)
    with pytest.raises(en.WrongKeyError):
        en.convert(path, tmp_path / "c.parquet")
    with pytest.raises(en.ArgumentError, match="key=False"):
        en.convert(path, target, source_key=KEY)
    with pytest.raises(en.ArgumentError, match="Entasis files"):
        en.convert(csv, tmp_path / "c.parquet", key=KEY)
    with pytest.raises(en.ArgumentError, match="source_key"):
        en.convert(csv, target, source_key=KEY)
    assert not target.exists()
    en.convert(path, target, key=KEY, verify=True)
    assert len(en.read(target, key=KEY)) == 5
    en.convert(path, target, source_key=KEY, key=OTHER)
    assert len(en.read(target, key=OTHER)) == 5
    en.convert(path, target, source_key=KEY, key=False)
    assert en.keys(target) == []
    folder = tmp_path / "folder"
    en.write_dataset(frame(), folder, partition_by="city", key=KEY)
    en.convert(folder, tmp_path / "d.parquet", key=KEY)
    en.convert(folder, tmp_path / "d.entasis", key=KEY)
    assert len(en.read(tmp_path / "d.entasis", key=KEY)) == len(pd.read_parquet(tmp_path / "d.parquet")) == 5
    en.write(en.scan_csv(csv), tmp_path / "e.entasis", key=KEY)
    assert len(en.keys(tmp_path / "e.entasis")) == 1
    en.write_csv(en.open(path, key=KEY), tmp_path / "e.csv")


def test_modules_of_encryption_are_not_loaded_for_plain_files(tmp_path: Path) -> None:
    code = (
        "import entasis as en, sys, numpy as np\n"
        f"en.write({{'a': np.arange(3)}}, {str(tmp_path / 'a.entasis')!r})\n"
        f"en.read({str(tmp_path / 'a.entasis')!r})\n"
        "assert not [name for name in sys.modules if 'secrets' in name or 'encryption' in name]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
