"""Every bad input is an exception of the package's own, and leaves the target as it was."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import entasis as en

FRAME = pd.DataFrame({"a": np.arange(5000), "s": [f"s{i % 77}" for i in range(5000)]})


def test_tree():
    for name in en.errors.__all__:
        if name.endswith("Warning"):
            assert issubclass(getattr(en, name), UserWarning)
            continue
        assert issubclass(getattr(en, name), en.EntasisError)
        assert str(getattr(en, name)("what it says")) == "what it says"


def test_missing_file(tmp_path):
    with pytest.raises(en.FileError, match=r"gone\.entasis") as caught:
        en.read(tmp_path / "gone.entasis")
    assert isinstance(caught.value, FileNotFoundError)
    assert (caught.value.errno, caught.value.filename) == (2, str(tmp_path / "gone.entasis"))
    for call in (en.open, en.info, en.verify):
        with pytest.raises(FileNotFoundError):
            call(tmp_path / "gone.entasis")
    with pytest.raises(FileNotFoundError):
        en.write(FRAME, tmp_path / "no" / "directory.entasis")


def test_directory(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        en.read(tmp_path)
    assert isinstance(caught.value, en.FileError)
    with pytest.raises(IsADirectoryError):
        en.write(FRAME, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"x", b"PK\x03\x04" * 100, b"a,b\n1,2\n" * 1000])
def test_not_entasis(content, path):
    path.write_bytes(content)
    with pytest.raises(en.NotEntasisError, match=r"frame\.entasis"):
        en.read(path)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04" * 100, "a zip archive"),
        (b"a,b\n1,2\n" * 1000, "a table of text, such as CSV"),
        (b"PAR1" + bytes(300), "a Parquet file"),
    ],
)
def test_files_of_other_tools_are_recognised(content, what, path):
    path.write_bytes(content)
    with pytest.raises(en.NotEntasisError, match=f"it looks like {what}"):
        en.open(path)


def test_bytes_after_the_end(path):
    en.write(FRAME, path)
    length = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"123456789")
    assert en.read(path).equals(FRAME)
    with pytest.raises(en.CorruptFileError, match="9 bytes after the end") as caught:
        en.verify(path)
    assert caught.value.offset == length


def test_newer_version(path):
    en.write(FRAME, path)
    content = bytearray(path.read_bytes())
    content[8] = 9
    path.write_bytes(content)
    with pytest.raises((en.NewerVersionError, en.CorruptFileError)):
        en.read(path)


def test_truncated(path):
    en.write(FRAME, path)
    content = path.read_bytes()
    for n in (0, 3, 8, 100, 256, 300, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:n])
        with pytest.raises(en.CorruptFileError):
            en.read(path)


def test_one_flipped_bit_anywhere(path):
    frame = pd.DataFrame(
        {"a": np.arange(300), "s": [f"s{i}" for i in range(300)], "c": pd.Categorical(["x", "y", None] * 100)}
    )
    frame.attrs = {"k": "v"}
    en.write(frame, path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in {*range(0, 256, 5), *rng.integers(0, len(content), 400).tolist()}:
        broken = bytearray(content)
        broken[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        try:
            en.verify(path)
            pytest.fail(f"a flipped bit at {at} was not found")
        except en.EntasisError:
            pass
        try:
            pd.testing.assert_frame_equal(en.read(path), frame)
        except en.EntasisError:
            continue


def test_damage_names_its_location(path):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(100_000), "b": 1})
    en.write(frame, path)
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(en.CorruptFileError, match='column "a"') as caught:
        en.read(path)
    assert caught.value.column == "a"
    assert caught.value.file == str(path)
    assert caught.value.block is not None
    pd.testing.assert_frame_equal(en.read(path, columns=["b"]), frame[["b"]])


def test_verify_lists_all_damage(path):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(200_000), "b": 1})
    en.write(frame, path)
    content = bytearray(path.read_bytes())
    for at in (20_000, len(content) // 2):
        content[at] ^= 1
    content[5000] = 1  # the padding of the slot pages
    path.write_bytes(content)
    with pytest.raises(en.CorruptFileError, match="3 places are damaged, 1 of 2 columns are sound") as caught:
        en.verify(path)
    outside, *damages = caught.value.damages
    assert "padding is not zero" in outside.message
    assert outside[:3] == (None, None, None)
    assert [(damage.column, damage.start) for damage in damages] == [("a", 0), ("a", 65_536)]
    for damage in damages:
        rows = f"rows {damage.start:,} to {damage.stop - 1:,}: the checksum of a page does not match"
        assert damage.message.startswith(f'column "a", {rows}')
        with pytest.raises(en.CorruptFileError) as other:
            en.read(path, rows=(damage.start, damage.stop))
        assert list(other.value.damages) == []
    sound = frame[damages[-1].stop :]
    pd.testing.assert_frame_equal(en.read(path, rows=(damages[-1].stop, None)), sound)
    assert (caught.value.n_damages, caught.value.n_columns, caught.value.n_sound_columns) == (3, 2, 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as caught:
        en.write(FRAME, tmp_path / "x.entasis")
    assert isinstance(caught.value, en.FileError)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_device(path):
    with pytest.raises(en.FileError):
        en.write(FRAME, "/dev/full")


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of Linux")
def test_full_disk(path):
    """A limit on the length of files stands for the disk."""
    en.write(FRAME, path)
    before = path.read_bytes()
    code = f"""
import resource, signal
import numpy as np
import entasis as en
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    en.write({{"a": np.random.default_rng(0).random(1_000_000)}}, {str(path)!r})
except en.FileError as error:
    assert isinstance(error, OSError) and error.errno, error
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert path.read_bytes() == before
    assert [child.name for child in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"compression": -1}, "0 to 100"),
        ({"compression": 101}, "0 to 100"),
        ({"compression": True}, "0 to 100"),
        ({"compression": "high"}, "0 to 100"),
        ({"compression": {"a": 1.5}}, "0 to 100"),
        ({"compression": {1: 5}}, "keys of compression are column names"),
        ({"edition": 0}, "edition 0 is not known: this release writes edition 1"),
        ({"edition": 2}, "edition 2 is not known: this release writes edition 1"),
        ({"edition": -1}, "edition=-1: the number of an edition"),
        ({"edition": 256}, "edition=256"),
        ({"edition": True}, "edition=True"),
        ({"edition": "1"}, "edition='1'"),
        ({"threads": 0}, "threads=0"),
        ({"threads": -1}, "threads=-1"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"threads": True}, "threads=True"),
        ({"durable": "yes"}, "durable='yes'"),
        ({"durable": 1}, "durable=1"),
        ({"on_unsupported": "ignore"}, "on_unsupported='ignore'"),
        ({"on_unsupported": None}, "on_unsupported=None"),
    ],
)
def test_arguments(arguments, message, path):
    with pytest.raises(en.ArgumentError, match=message):
        en.write(FRAME, path, **arguments)
    with pytest.raises(en.ColumnNotFoundError, match="'nope'"):
        en.write(FRAME, path, compression={"nope": 3})
    assert not path.exists()


def test_compression_per_column(path, round_trip):
    frame = pd.DataFrame({"a": np.arange(100_000) % 7, "b": np.arange(100_000) % 7})
    pd.testing.assert_frame_equal(frame, round_trip(frame, compression={"a": 0, None: 90}))
    stored = {column["name"]: column["stored_len"] for column in en.info(path).columns}
    assert stored["a"] > 5 * stored["b"]


def test_editions(path):
    frame = pd.DataFrame({"a": [1, 2]})
    en.write(frame, path, edition=1)
    assert en.info(path).edition == 1
    assert en.to_bytes(frame) == en.to_bytes(frame, edition=1) == path.read_bytes()

    def stream(edition):
        with en.writer(path, append=True, edition=edition) as writer:
            writer.write(frame)

    changes = [
        lambda edition: en.to_bytes(frame, edition=edition),
        lambda edition: en.append(frame, path, edition=edition),
        lambda edition: en.replace_columns({"a": [3, 4]}, path, edition=edition),
        lambda edition: en.add_columns({"b": [3, 4]}, path, edition=edition),
    ]
    for change in [*changes, stream]:
        with pytest.raises(en.ArgumentError, match="edition 2 is not known: this release writes edition 1"):
            change(2)
    pd.testing.assert_frame_equal(en.read(path), frame)
    stream(1)
    changes[1](1)
    assert en.read(path)["a"].tolist() == [1, 2] * 3
    en.write({"x": 1}, path)
    with pytest.raises(en.ArgumentError, match="edition 2"):
        en.update({"x": 2}, path, edition=2)
    en.update({"x": 2}, path, edition=1)
    assert en.read(path) == {"x": 2}


def test_numbers_of_numpy_as_arguments(path):
    import numpy as np

    en.write(FRAME, path, compression=np.int64(80), threads=np.int8(2))
    en.write(FRAME, path, compression={FRAME.columns[0]: np.uint8(80)}, threads=1 << 70)
    pd.testing.assert_frame_equal(en.read(path, threads=1 << 70), FRAME)


def test_paths_of_every_kind(path):
    """Bytes are the content of a file and never a path."""
    en.write(FRAME, os.fspath(path))
    for read in (en.read, en.info, en.verify, en.open):
        read(os.fspath(path))
        for other in (None, 5, [path]):
            with pytest.raises(en.ArgumentError, match="a path is"):
                read(other)
        with pytest.raises(en.NotEntasisError):
            read(os.fsencode(path))
    with pytest.raises(en.ArgumentError, match="a path is"):
        en.write(FRAME, None)
    with pytest.raises(en.ArgumentError, match="to_bytes"):
        en.write(FRAME, os.fsencode(path))
    with pytest.raises(en.ArgumentError, match="a path is"):
        en.read_npz(io.BytesIO())
    pd.testing.assert_frame_equal(en.read(path), FRAME)
