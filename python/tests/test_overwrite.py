"""`overwrite=False` never replaces a file."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import sys

import forks
import numpy as np
import pandas as pd
import pytest

import entasis as en

FRAME = pd.DataFrame({"a": np.arange(1000), "b": ["x", "y"] * 500})
OLD = b"an old file"
LONG = {"a": np.arange(200_000)}


def write_batches(path, **options):
    with en.writer(path, **options) as writer:
        for i in range(3):
            writer.write(FRAME[i : i + 100])


def write_reader(path, **options):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": np.arange(1000)})
    en.write(pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), path, **options)


def write_file(path, **options):
    en.write(en.open(en.to_bytes(LONG)), path, **options)


def write_text(path, **options):
    en.write(en.scan_csv(b"a,b\n1,x\n"), path, **options)


def repaired(path, **options):
    en.repair(en.to_bytes(FRAME), path, **options)


WAYS = {
    "frame": lambda path, **options: en.write(FRAME, path, **options),
    "tree": lambda path, **options: en.write([1, "x", FRAME], path, **options),
    "metadata": lambda path, **options: en.write(FRAME, path, metadata={"a": 1}, **options),
    "objects": lambda path, **options: en.write(pd.DataFrame({"a": [{}, 1]}), path, **options),
    "file": write_file,
    "reader": write_reader,
    "text": write_text,
    "writer": write_batches,
    "csv": lambda path, **options: en.write_csv(FRAME, path, **options),
    "csv of text": lambda path, **options: en.write_csv(en.scan_csv(b"a,b\n1,x\n"), path, **options),
    "repair": repaired,
}


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


FORMATS = {
    "entasis": ("parquet", {}),
    "parquet": ("entasis", {}),
    "feather": ("csv", {}),
    "csv": ("parquet", {}),
    "jsonl": ("entasis", {}),
    "npz": ("arrays", {}),
    "rds": ("entasis", {}),
    "entasis of text": ("csv", {}),
    "entasis of rds": ("rds", {}),
    "rds of parquet": ("parquet", {}),
    "verified entasis": ("parquet", {"verify": True}),
    "verified parquet": ("entasis", {"verify": True}),
    "verified rds": ("entasis", {"verify": True}),
}


@pytest.fixture(params=FORMATS)
def conversion(request, tmp_path):
    """A conversion, and the end of the path of its target."""
    pytest.importorskip("pyarrow")
    kind, options = FORMATS[request.param]
    source = tmp_path / "in" / f"source.{'entasis' if kind == 'arrays' else kind}"
    source.parent.mkdir()
    en.write({"a": np.arange(9)} if kind == "arrays" else FRAME, source.with_suffix(".entasis"))
    if source.suffix != ".entasis":
        en.convert(source.with_suffix(".entasis"), source)
    end = request.param.partition(" of ")[0].rpartition(" ")[2]
    return lambda path, **more: en.convert(source, path, **options, **more), end


def refused(call, path):
    with pytest.raises(en.ExistingFileError) as error:
        call(path, overwrite=False)
    assert isinstance(error.value, FileExistsError)
    assert isinstance(error.value, en.FileError)
    assert str(path) in str(error.value)
    return error.value


def check(call, path):
    """An existing file stays, and nothing is left; a new file is written."""
    folder = path.parent
    before = set(folder.iterdir())
    path.write_bytes(OLD)
    at = path.stat()
    refused(call, path)
    assert path.read_bytes() == OLD
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (at.st_ino, at.st_mtime_ns)
    assert set(folder.iterdir()) == before | {path}
    path.unlink()
    call(path, overwrite=False)
    assert path.stat().st_size > 0
    assert path.read_bytes() != OLD
    written = path.read_bytes()
    refused(call, path)
    assert path.read_bytes() == written
    assert set(folder.iterdir()) == before | {path}
    call(path, overwrite=True)
    call(path)


def test_every_way(way, tmp_path):
    check(way, tmp_path / "file.entasis")


def test_every_conversion(conversion, tmp_path):
    convert, end = conversion
    check(convert, tmp_path / f"file.{end}")


def test_the_error_has_the_number_of_the_system(tmp_path):
    path = tmp_path / "file.entasis"
    path.write_bytes(OLD)
    error = refused(WAYS["frame"], path)
    assert (error.errno, error.filename, error.file) == (errno.EEXIST, str(path), str(path))
    assert "the file exists" in str(error)


class Appearing:
    """A function for progress, or a name for a column, that makes a file when it is called first."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *args, **unit):
        if not self.path.exists():
            self.path.write_bytes(OLD)


def test_a_file_that_appears_while_batches_are_written(tmp_path):
    path = tmp_path / "file.entasis"
    writer = en.writer(path, overwrite=False)
    writer.write(LONG)
    path.write_bytes(OLD)
    with pytest.raises(en.ExistingFileError):
        writer.close()
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_before_objects_are_written(tmp_path):
    path = tmp_path / "file.entasis"
    writer = en.writer(path, overwrite=False)
    writer.write(pd.DataFrame({"a": [{}, 1]}))
    path.write_bytes(OLD)
    with pytest.raises(en.ExistingFileError):
        writer.close()
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_while_a_value_is_read(tmp_path):
    path = tmp_path / "file.entasis"

    class Late:
        pass

    def replaced(value, where):
        path.write_bytes(OLD)
        return 1

    with pytest.raises(en.ExistingFileError):
        en.write([Late()], path, overwrite=False, on_unsupported=replaced)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_appears_while_a_stream_is_written(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "file.entasis"
    table = pa.table({"a": np.arange(2_000_000)})

    def batches():
        yield from table.to_batches()
        path.write_bytes(OLD)

    with pytest.raises(en.ExistingFileError):
        en.write(pa.RecordBatchReader.from_batches(table.schema, batches()), path, overwrite=False)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_that_appears_meanwhile(tmp_path):
    path = tmp_path / "file.csv"
    with pytest.raises(en.ExistingFileError):
        en.write_csv(FRAME, path, overwrite=False, progress=Appearing(path))
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_a_target_of_a_conversion_that_appears_meanwhile(conversion, tmp_path):
    convert, end = conversion
    path = tmp_path / f"file.{end}"
    shown = Appearing(path)
    try:
        convert(path, overwrite=False, progress=shown)
    except en.ExistingFileError:
        assert path.read_bytes() == OLD
    else:
        # Some conversions report nothing before their end.
        assert path.read_bytes() != OLD
    assert sorted(tmp_path.iterdir()) == [path, tmp_path / "in"]


def test_a_file_without_hard_links_is_created_once(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")

    def link(*args, **options):
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr("entasis._convert.target._unnamed", lambda folder: None)
    en.write(FRAME, tmp_path / "in.entasis")
    check(
        lambda path, **options: en.convert(tmp_path / "in.entasis", path, **options),
        tmp_path / "file.parquet",
    )


def write_number(path, number):
    en.write({"a": np.full(1000, number)}, path, overwrite=False)


def convert_source(path, number):
    en.convert(os.path.join(os.path.dirname(path), "source", "in.entasis"), path, overwrite=False)


def attempts(create, paths, number, barrier, queue):
    """Create each file at the same time as another process, and send which calls succeeded."""
    for path in paths:
        barrier.wait()
        try:
            create(path, number)
        except en.ExistingFileError:
            queue.put((path, None))
        else:
            queue.put((path, number))


def winners(create, folder, end):
    """Two processes create files at once, many times. Returns who created each."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(2), context.Queue()
    paths = [str(folder / f"file{i}.{end}") for i in range(60)]
    both = [context.Process(target=attempts, args=(create, paths, number, barrier, queue)) for number in (1, 2)]
    for process in both:
        process.start()
    answers = [queue.get(timeout=120) for _ in paths for _ in both]
    for process in both:
        process.join()
    found = {path: [number for at, number in answers if at == path and number is not None] for path in paths}
    assert all(len(numbers) == 1 for numbers in found.values()), found
    return {path: numbers[0] for path, numbers in found.items()}


def test_of_two_processes_one_writes(tmp_path):
    found = winners(write_number, tmp_path, "entasis")
    for path, number in found.items():
        assert en.read(path)["a"].tolist() == [number] * 1000
    assert len(list(tmp_path.iterdir())) == len(found)


def test_of_two_conversions_one_writes(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "source").mkdir()
    en.write(FRAME, tmp_path / "source" / "in.entasis")
    found = winners(convert_source, tmp_path, "parquet")
    assert all(len(en.read(path)) == len(FRAME) for path in found)
    assert len(list(tmp_path.iterdir())) == len(found) + 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_links_stand_for_their_files(way, tmp_path):
    file, link = tmp_path / "file", tmp_path / "link.entasis"
    link.symlink_to(file)
    way(link, overwrite=False)
    assert link.is_symlink()
    written = file.read_bytes()
    refused(way, link)
    assert file.read_bytes() == written
    assert sorted(tmp_path.iterdir()) == [file, link]


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_links_of_conversions_stand_for_their_files(conversion, tmp_path):
    convert, end = conversion
    file, link = tmp_path / "file", tmp_path / f"link.{end}"
    link.symlink_to(file)
    convert(link, overwrite=False)
    assert link.is_symlink()
    written = file.read_bytes()
    refused(convert, link)
    assert file.read_bytes() == written


def test_open_files_refuse_it(tmp_path):
    for call in (
        lambda to: en.write(FRAME, to, overwrite=False),
        lambda to: en.write_csv(FRAME, to, overwrite=False),
    ):
        to = io.BytesIO()
        with pytest.raises(en.ArgumentError, match="overwrite=False is for paths"):
            call(to)
        assert to.getvalue() == b""


def test_appending_refuses_it(tmp_path):
    en.write_csv(FRAME, tmp_path / "t.csv")
    en.write(FRAME, tmp_path / "t.entasis")
    with pytest.raises(en.ArgumentError, match="overwrite=False is for new files"):
        en.write_csv(FRAME, tmp_path / "t.csv", append=True, overwrite=False)
    with pytest.raises(en.ArgumentError, match="overwrite=False is for new files"):
        en.writer(tmp_path / "t.entasis", append=True, overwrite=False)


def test_the_command_does_not_clobber(tmp_path):
    pytest.importorskip("pyarrow")
    en.write(FRAME, tmp_path / "in.entasis")
    for name in ("out.csv", "out.rds", "out.parquet", "out.entasis"):
        out = tmp_path / name
        call = ["convert", "--no-clobber", tmp_path / "in.entasis", out]
        assert forks.command(*call).returncode == 0
        written = out.read_bytes()
        failed = forks.command(*call)
        assert failed.returncode == 1
        assert "the file exists" in failed.stderr.decode()
        assert out.read_bytes() == written
        out.unlink()
