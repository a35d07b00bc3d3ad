"""A text that cannot be written leaves the old file and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import entasis as en

pl = pytest.importorskip("polars")

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})

# A limit on the length of files stands for the disk: the system refuses writes in the middle.
FULL = """
import errno, os, resource, sys
import entasis as en, numpy as np

folder = sys.argv[1]
path = os.path.join(folder, sys.argv[2])
old = {"a": np.arange(3), "b": np.array(["x", "y", "z"])}
values = {"a": np.random.default_rng(1).random(50_000), "b": np.array(["x"] * 50_000)}
en.write(values, os.path.join(folder, "values.entasis"))
en.write_csv(values, os.path.join(folder, "values.csv"))
sources = [values, en.open(os.path.join(folder, "values.entasis")), en.scan_csv(os.path.join(folder, "values.csv"))]
en.write_csv(old, path)
with open(path, "rb") as file:
    before = file.read()
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000,) * 2)
for source in sources:
    for target, append in ((path, False), (path, True), (path + ".new" + os.path.splitext(path)[1], False)):
        for threads in (1, 3):
            try:
                en.write_csv(source, target, append=append, threads=threads)
            except en.FileError as error:
                assert error.errno == errno.EFBIG, error
                assert os.path.basename(target) in str(error), error
            else:
                raise SystemExit("no error")
            with open(path, "rb") as file:
                assert file.read() == before
            assert sorted(os.listdir(folder)) == sorted([sys.argv[2], "values.csv", "values.entasis"])
en.write_csv(old, path, append=True)
assert en.read_csv(path, "numpy")["a"].tolist() == [0, 1, 2, 0, 1, 2]
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.csv.zst"])
def test_a_full_disk_leaves_the_old_text(tmp_path, name):
    done = subprocess.run([sys.executable, "-c", FULL, tmp_path, name], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("done\n", "", 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_is_no_target_by_its_path():
    for append in (False, True):
        with pytest.raises(en.FileError, match="device"):
            en.write_csv(FRAME, "/dev/full", append=append)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_the_error_of_a_full_device_is_passed_on():
    long = pl.DataFrame({"a": range(300_000)})
    for source in (FRAME, long, en.scan_csv(b"a\n1\n")):
        with open("/dev/full", "wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            en.write_csv(source, file)


@pytest.mark.parametrize("append", [False, True])
def test_a_folder_is_no_target(tmp_path, append):
    with pytest.raises(IsADirectoryError) as found:
        en.write_csv(FRAME, tmp_path, append=append)
    assert isinstance(found.value, en.FileError)
    with pytest.raises(en.FileError, match="directory"):
        en.write_csv(FRAME, f"{tmp_path}/", append=append)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("append", [False, True])
def test_a_folder_that_was_removed_is_an_error(tmp_path, append):
    folder = tmp_path / "gone"
    folder.mkdir()
    en.write_csv(FRAME, folder / "t.csv")
    (folder / "t.csv").unlink()
    folder.rmdir()
    for source in (FRAME, en.scan_csv(b"a\n1\n")):
        with pytest.raises(FileNotFoundError, match="gone"):
            en.write_csv(source, folder / "t.csv", append=append)
    assert list(tmp_path.iterdir()) == []


class RemovesFolder:
    """A progress function that moves the folder of the text away while it is written."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, done, total, unit):
        if self.folder.exists():
            self.folder.rename(self.folder.with_name("moved"))


@pytest.mark.skipif(sys.platform == "win32", reason="an open file keeps its folder there")
def test_a_folder_that_moves_meanwhile_is_an_error(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    with pytest.raises(en.FileError, match="gone"):
        en.write_csv(pl.DataFrame({"a": range(300_000)}), folder / "t.csv", progress=RemovesFolder(folder))
    assert not folder.exists()
    assert not (tmp_path / "moved" / "t.csv").exists()


UNWRITABLE = """
import io, os, sys
import entasis as en, numpy as np
frame = {"a": np.arange(3)}
en.write_csv(frame, io.BytesIO())
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for append in (False, True):
    for name in ("old.csv", "new.csv"):
        try:
            en.write_csv(frame, os.path.join(sys.argv[1], name), append=append)
        except PermissionError as error:
            assert isinstance(error, en.FileError)
        else:
            raise SystemExit("no error")
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs modes of folders")
def test_a_folder_without_permission_is_an_error():
    # Folders of pytest are closed to the user that root becomes.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "old.csv")
        en.write_csv(FRAME, path)
        before = path.read_bytes()
        Path(folder).chmod(0o555)
        try:
            command = [sys.executable, "-c", UNWRITABLE, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        finally:
            Path(folder).chmod(0o755)
        assert (done.stdout, done.stderr) == ("done\n", "")
        assert path.read_bytes() == before
        assert os.listdir(folder) == ["old.csv"]
