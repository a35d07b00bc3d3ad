"""The verdicts of `verify`: sound, sound with leftover bytes, damaged; and files that were cut."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))
N = 200_000


def frame(n: int = N) -> pd.DataFrame:
    return pd.DataFrame({"a": np.random.default_rng(n).random(n), "b": np.arange(n)})


@pytest.fixture
def changed(path: Path) -> Path:
    """A file of four generations."""
    en.write(frame(), path)
    en.drop_columns(path, "a")
    en.append(pd.DataFrame({"b": np.arange(10)}), path)
    en.set_metadata({"unit": "m"}, path)
    return path


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_all_generations_are_checked(changed: Path) -> None:
    report = en.verify(changed)
    assert (report.n_generations, report.leftover_len) == (4, 0)
    assert report.checked_len == changed.stat().st_size
    assert en.verify(changed, generation=1).n_values == 2 * N
    flip(changed, 500_000)  # a value of the dropped column
    with pytest.raises(en.CorruptFileError, match="generation 1 is damaged, the newest is sound") as caught:
        en.verify(changed)
    assert caught.value.generations == (1,)
    assert caught.value.damages[0].generation == 1
    assert caught.value.n_columns == caught.value.n_sound_columns
    for generation in (2, 3, 4):
        assert en.verify(changed, generation=generation).n_generations == 1
    with pytest.raises(en.CorruptFileError) as alone:
        en.verify(changed, generation=1)
    assert alone.value.generations == (1,)
    with pytest.raises(en.ArgumentError, match="no generation 9"):
        en.verify(changed, generation=9)


def test_rollback_verifies_its_target(changed: Path) -> None:
    flip(changed, 500_000)
    before = changed.read_bytes()
    with pytest.raises(en.CorruptFileError):
        en.rollback(changed, 1)
    assert changed.read_bytes() == before
    en.rollback(changed, 2)
    assert len(en.open(changed)) == N


def test_leftover_bytes_of_a_writer(path: Path) -> None:
    en.write({"a": np.arange(300_000)}, path, compression=0)
    length = path.stat().st_size
    writer = en.writer(path, append=True)
    for k in range(3):
        writer.write({"a": np.random.default_rng(k).integers(0, 2**62, 100_000)})
    report = en.verify(path)
    assert (report.leftover_len, report.checked_len) == (path.stat().st_size - length, length)
    assert report.leftover_len > 2_000_000
    writer.close()
    assert en.verify(path).leftover_len == 0


KILLED = """
import os, signal, sys
import numpy as np
import entasis as en
w = en.writer(sys.argv[1], append=True)
w.write({"a": np.random.default_rng(0).integers(0, 2**62, 100_000)})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL")
def test_leftover_bytes_of_a_killed_writer(path: Path) -> None:
    en.write({"a": np.arange(300_000)}, path, compression=0)
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert en.verify(path).leftover_len > 500_000
    assert en.repair(path, f"{path}.repaired") == []
    en.append({"a": np.arange(5)}, path)
    assert en.verify(path).leftover_len == 0


def test_a_file_that_was_cut(changed: Path) -> None:
    last = en.generations(changed)[-2]
    whole = en.read(changed, generation=3)
    content = changed.read_bytes()
    changed.write_bytes(content[:-100])
    with pytest.raises(en.CorruptFileError, match="generation 3 is whole") as caught:
        en.open(changed)
    assert caught.value.generations == (4,)
    with pytest.warns(en.DamageWarning, match="generation 4 .* is damaged, and generation 3 was opened") as found:
        assert en.read(changed, on_damage="missing").equals(whole)
    assert found[0].filename == __file__
    with pytest.warns(en.DamageWarning):
        assert len(en.read(changed, generation=1)) == N
    with pytest.warns(en.DamageWarning):
        f = en.open(changed, on_damage="missing")
    assert len(f) == last.rows == N + 10
    with pytest.warns(en.DamageWarning):
        assert len(pickle.loads(pickle.dumps(f))) == len(f)
    with pytest.raises(en.CorruptFileError):
        en.open(changed, generation=4)
    with pytest.raises(en.CorruptFileError) as verified:
        en.verify(changed)
    assert verified.value.generations == (4,)
    assert "generation 3 is sound" in str(verified.value)
    assert en.verify(changed, generation=3).n_generations == 1
    [damage] = en.repair(changed, f"{changed}.repaired")
    assert "truncated" in damage.message
    assert damage.generation == 4
    assert en.read(f"{changed}.repaired").equals(whole)
    with pytest.warns(en.DamageWarning):
        assert len(en.read(content[:-100], on_damage="missing")) == N + 10


def test_a_torn_root_beside_an_intact_slot(changed: Path) -> None:
    content = bytearray(changed.read_bytes())
    content[-300:] = bytes(300)
    changed.write_bytes(content)
    with pytest.raises(en.CorruptFileError):
        en.read(changed)
    with pytest.warns(en.DamageWarning, match="generation 3 was opened"):
        assert len(en.read(changed, on_damage="missing")) == N + 10


def test_sound_files_give_no_warning(changed: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        en.open(changed, generation=1)
        en.open(changed, on_damage="missing")
        en.read(changed, on_damage="missing", generation=2)
    with pytest.raises(en.ArgumentError, match="memory_map"):
        en.open(changed, on_damage="missing", memory_map=True)
    with pytest.raises(en.ArgumentError, match="on_damage"):
        en.open(changed, on_damage="ignore")  # type: ignore[arg-type]


@pytest.mark.skipif(os.name != "posix", reason="modes of Unix")
def test_results_keep_the_mode(changed: Path) -> None:
    changed.chmod(0o600)
    out = changed.with_name("repaired")
    en.repair(changed, out)
    assert out.stat().st_mode & 0o777 == 0o600
    out.chmod(0o640)
    en.repair(changed, out)
    assert out.stat().st_mode & 0o777 == 0o640
    en.compact(changed)
    assert changed.stat().st_mode & 0o777 == 0o600


ROWS = pd.DataFrame({"b": np.arange(10)})


def stream(path: Path) -> None:
    with en.writer(path, append=True) as w:
        w.write(ROWS)
        w.write(ROWS)


def add_or_drop(path: Path) -> None:
    f = en.open(path)
    if "x" in f.column_names:
        en.drop_columns(path, "x")
    else:
        en.add_columns({"x": np.zeros(len(f))}, path)


def rename(path: Path) -> None:
    [old] = en.open(path).column_names
    en.rename_columns(path, {old: "c" if old == "b" else "b"})


def append_and_compact(path: Path) -> None:
    en.append(ROWS, path)
    en.compact(path)


def append_and_roll_back(path: Path) -> None:
    en.append(ROWS, path)
    en.rollback(path, en.generations(path)[0].number)


# One round of each kind of change, by a name that the other process gets.
CHANGES: dict[str, Callable[[Path], object]] = {
    "append": lambda path: en.append(ROWS, path),
    "not_durable": lambda path: en.append(ROWS, path, durable=False),
    "stream": stream,
    "columns": add_or_drop,
    "replace": lambda path: en.replace_columns({"b": np.arange(len(en.open(path)))[::-1].copy()}, path),
    "rename": rename,
    "metadata": lambda path: en.set_metadata({"pid": os.getpid()}, path),
    "rollback": append_and_roll_back,
    "compact": append_and_compact,
}


def change_on(name: str, path: str) -> None:
    """Change a file again and again."""
    from pathlib import Path

    while True:
        CHANGES[name](Path(path))


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("name", CHANGES)
def test_verify_beside_a_change_and_after_its_end(name: str, path: Path) -> None:
    """Neither a running change nor one that was killed makes `verify` find damage."""
    n = 1_000 if LONG else 2
    en.write(frame(140_000).drop(columns="a"), path, compression=0)
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    writer: Any = None
    try:
        for k in range(n):
            if writer is None:
                writer = context.Process(target=change_on, args=(name, str(path)))
                writer.start()
                start = path.stat().st_mtime_ns
                while path.stat().st_mtime_ns == start and writer.is_alive():
                    pass
            en.verify(path)
            if k % 2 == 1:
                writer.kill()
                writer.join()
                assert writer.exitcode < 0, "the writer failed"
                writer = None
                en.verify(path)
                # Many small generations take long to verify.
                en.compact(path)
                assert en.verify(path).leftover_len == 0
    finally:
        if writer is not None:
            writer.kill()
            writer.join()
