"""Formats are recognised by bytes and names, and others are refused by name."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest

import entasis as en
from entasis._convert import formats, libraries

TABLE = pa.table({"a": [1, 2, 3], "b": ["x", None, "z"]})


def written(path, form):
    if form == "entasis":
        en.write(TABLE, path)
    elif form == "csv":
        path.write_text("a,b\n1,x\n2,\n3,z\n")
    elif form == "parquet":
        pq.write_table(TABLE, path)
    elif form == "feather":
        pf.write_feather(TABLE, path)
    elif form == "arrow":
        with pa.ipc.new_file(path, TABLE.schema) as file:
            file.write_table(TABLE)
    elif form == "arrow_stream":
        with pa.ipc.new_stream(path, TABLE.schema) as file:
            file.write_table(TABLE)
    elif form == "npy":
        with open(path, "wb") as file:
            np.save(file, np.arange(3))
    elif form == "npz":
        with open(path, "wb") as file:
            np.savez(file, a=np.arange(3))
    elif form == "jsonl":
        path.write_text('{"a":1,"b":"x"}\n{"a":2,"b":null}\n{"a":3,"b":"z"}\n')
    return path


READ = ["entasis", "csv", "parquet", "feather", "arrow", "arrow_stream", "npy", "npz", "jsonl"]


@pytest.mark.parametrize("form", READ)
def test_by_bytes_and_by_names(form, tmp_path):
    end = formats.SUFFIXES[form][0]
    assert formats.of_file(str(written(tmp_path / f"x{end}", form))) == form
    # The name of another format does not matter; Feather is a name for Arrow files.
    found = formats.of_file(str(written(tmp_path / "x.data", form)))
    assert found == {"feather": "arrow"}.get(form, form)
    assert formats.of_target(f"x{end.upper()}", None) == form


@pytest.mark.parametrize("form", [form for form in READ if form != "npz"])
def test_content_and_open_files(form, tmp_path):
    path = written(tmp_path / f"x{formats.SUFFIXES[form][0]}", form)
    en.convert(path, tmp_path / "1.entasis")
    en.convert(path.read_bytes(), tmp_path / "2.entasis")
    en.convert(io.BytesIO(path.read_bytes()), tmp_path / "3.entasis")
    with open(path, "rb") as file:
        en.convert(file, tmp_path / "4.entasis")
    wanted = (tmp_path / "1.entasis").read_bytes()
    assert all((tmp_path / f"{i}.entasis").read_bytes() == wanted for i in (2, 3, 4))


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("x.rds", b"X\n\0\0\0\3" + bytes(20), "rds"),
        ("x", b"B\n\3\0\0\0" + bytes(20), "rds"),
        ("x.rds", gzip.compress(b"X\n\0\0\0\3" + bytes(20), mtime=0), "rds"),
        ("x", gzip.compress(b"X\n\0\0\0\3" + bytes(20), mtime=0), "rds"),
        ("x.RData", gzip.compress(b"RDX3\nX\n\0\0\0\3", mtime=0), "rdata"),
        ("x", gzip.compress(b"RDX3\nX\n\0\0\0\3", mtime=0), "rdata"),
        ("x.rda", b"RDX3\nX\n\0\0\0\3", "rdata"),
        ("x.qs2", b"\x0b\x0e\x0a\xc1" + bytes(20), "qs2"),
        ("x.qd", b"\x0b\x0e\x0a\xcd" + bytes(20), "qdata"),
        ("x.fst", bytes(8) + b"\1\0\0\0\1\0\0\0" + bytes(28) + b"PAAP", "fst"),
        ("x.csv.gz", gzip.compress(b"a,b\n", mtime=0), "csv"),
        ("x", gzip.compress(b"a,b\n", mtime=0), "csv"),
        ("x", b"\xff\xfea\0,\0b\0\n\0", "csv"),
        ("x", b"caf\xe9;b\n", "csv"),
        ("x", b'{"a": [1, 2]}\n{"a": null}\n', "jsonl"),
        ("x", b"{a},b\n1,2\n", "csv"),
    ],
)
def test_other_sources(name, content, form, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    assert formats.of_file(str(path)) == form


def refused():
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    feather = io.BytesIO()
    with pytest.warns(DeprecationWarning, match="Feather V1"):
        pf.write_feather(TABLE, feather, version=1)
    stata = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_stata(stata, write_index=False)
    new_stata = io.BytesIO()
    pd.DataFrame({"a": [1]}).to_stata(new_stata, write_index=False, version=118)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (a)")
    return {
        "pickle": (pickle.dumps(TABLE), r"runs the code.*read_pickle"),
        "old pickle": (pickle.dumps([1], 2), r"runs the code"),
        "feather 1": (feather.getvalue(), r"Feather file of version 1: .*write_feather"),
        "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(50), r"HDF5.*read_hdf"),
        "sqlite": (base.serialize(), r"SQLite.*read_sql"),
        "xlsx": (book.getvalue(), r"Excel.*read_excel"),
        "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), r"old Excel.*read_excel"),
        "stata": (stata.getvalue(), r"Stata.*read_stata.*read_dta"),
        "stata 118": (new_stata.getvalue(), r"Stata.*read_stata"),
        "spss": (b"$FL2@(#) SPSS", r"SPSS.*read_spss.*read_sav"),
        "sas": (bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c\x18\x1f\x10\x11", r"SAS"),
        "orc": (b"ORC" + bytes(50), r"read_orc"),
        "avro": (b"Obj\x01" + bytes(50), r"read_avro"),
        "encrypted": (b"PARE" + bytes(50), r"encrypted Parquet.*decryption_properties"),
        "qs": (b"\x0b\x0e\x0a\x0c" + bytes(50), r"qs::qread"),
    }


@pytest.mark.parametrize(("content", "says"), refused().values(), ids=refused())
def test_refused_by_name(content, says, tmp_path):
    path = tmp_path / "x.dat"
    path.write_bytes(content)
    with pytest.raises(en.UnsupportedTypeError, match=says) as caught:
        en.convert(path, tmp_path / "y.entasis")
    assert str(path) in str(caught.value)
    assert caught.value.file == str(path)
    for call in (en.read, en.open):
        with pytest.raises((en.NotEntasisError, en.UnsupportedTypeError), match=says):
            call(path)
    with pytest.raises(en.UnsupportedTypeError, match=says):
        en.diff(path, TABLE)
    assert list(tmp_path.iterdir()) == [path]


def test_a_json_document_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('[{"a": 1}]')
    with pytest.raises(en.UnsupportedTypeError, match="read_json"):
        en.convert(path, tmp_path / "y.entasis")


def test_unknown_bytes(tmp_path):
    path = tmp_path / "x.dat"
    path.write_bytes(b"\x01\x02\x03" * 9)
    with pytest.raises(en.ArgumentError, match="starts with the bytes 01 02 03 01"):
        en.convert(path, tmp_path / "y.entasis")
    path.rename(tmp_path / "x.parquet")
    with pytest.raises(en.CorruptFileError, match="not a file of parquet: it starts with the bytes 01 02 03"):
        en.convert(tmp_path / "x.parquet", tmp_path / "y.entasis")


@pytest.mark.parametrize("name", ["x.xlsx", "x.pkl", "x.h5", "x.dta", "x.sav", "x.sqlite", "x.json"])
def test_targets_that_are_not_written(name, tmp_path):
    written(tmp_path / "x.csv", "csv")
    with pytest.raises(en.UnsupportedTypeError, match="is not written here"):
        en.convert(tmp_path / "x.csv", tmp_path / name)
    with pytest.raises(en.ArgumentError, match=r"no format has the end '\.what': pass target_format="):
        en.convert(tmp_path / "x.csv", tmp_path / "x.what")


@pytest.mark.parametrize(
    ("name", "call"),
    [("x.RData", "save"), ("x.qs2", "qs_save"), ("x.qdata", "qd_save"), ("x.fst", "write_fst")],
)
def test_r_writes_its_own_files(name, call, tmp_path):
    written(tmp_path / "x.csv", "csv")
    with pytest.raises(en.UnsupportedTypeError, match=rf"{call}\(.*{name}"):
        en.convert(tmp_path / "x.csv", tmp_path / name)


def test_arguments(tmp_path):
    path = written(tmp_path / "x.parquet", "parquet")
    to = tmp_path / "y.entasis"
    for options, says in [
        ({"sep": ","}, "sep= is for texts, and the source is a file of parquet"),
        ({"on_error": "skip"}, "on_error= is for texts"),
        ({"source_format": "xls"}, "source_format='xls': one of 'entasis'"),
        ({"target_format": "xls"}, "target_format='xls': one of"),
        ({"source_format": "npy"}, "starts as a file of parquet, not of npy"),
        ({"compression": "zstd"}, "an Entasis file has a number"),
        ({"threads": 0}, "threads=0"),
        ({"wait": -1}, "wait=-1"),
        ({"durable": "yes"}, "durable='yes'"),
        ({"progress": 3}, "progress=3"),
    ]:
        with pytest.raises(en.ArgumentError, match=says):
            en.convert(path, to, **options)
    with pytest.raises(en.ArgumentError, match=r"compression='lz5': .* one of 'none', 'snappy'"):
        en.convert(path, tmp_path / "y.parquet", compression="lz5")
    with pytest.raises(TypeError, match="'nothing'"):
        en.convert(path, to, nothing=1)
    with pytest.raises(en.ArgumentError, match="into a path"):
        en.convert(path, io.BytesIO())
    with pytest.raises(en.ArgumentError, match=r"several formats: csv, parquet"):
        en.convert([path, written(tmp_path / "x.csv", "csv")], to)
    with pytest.raises(en.ArgumentError, match="problems= is for texts that become an Entasis file"):
        en.convert(tmp_path / "x.csv", tmp_path / "y.parquet", problems=True)
    with pytest.raises(en.MissingFileError):
        en.convert(tmp_path / "none.parquet", to)
    with pytest.raises(en.MissingFileError):
        en.convert(path, tmp_path / "none" / "y.parquet")
    with pytest.raises(en.DirectoryError):
        en.convert(path, tmp_path, target_format="parquet")
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(en.DirectoryError, match="without files of Entasis or Parquet"):
        en.convert(folder, to)
    assert sorted(child.name for child in tmp_path.iterdir()) == ["empty", "x.csv", "x.parquet"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", [form for form in READ if form not in ("entasis", "csv")])
def test_damaged_files(form, tmp_path):
    """A cut or a changed byte is an error of this package, or changes values. Nothing is left."""
    path = written(tmp_path / f"x{formats.SUFFIXES[form][0]}", form)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    cuts = [whole[:n] for n in (0, 1, 4, 8, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1)]
    flips = []
    for at in rng.integers(0, len(whole), 25):
        changed = bytearray(whole)
        changed[at] ^= 1 << int(rng.integers(8))
        flips.append(bytes(changed))
    for content in [*cuts, *flips]:
        path.write_bytes(content)
        try:
            en.convert(path, tmp_path / "y.entasis", source_format=form)
        except en.EntasisError:
            assert not (tmp_path / "y.entasis").exists()
        else:
            (tmp_path / "y.entasis").unlink()
        assert [child.name for child in tmp_path.iterdir()] == [path.name]


def test_a_cut_stream_is_reported(tmp_path):
    path = written(tmp_path / "x.arrows", "arrow_stream")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.warns(en.ConversionWarning, match="mark of its end") as caught:
        en.convert(path, tmp_path / "y.entasis")
    assert caught[0].message.losses == [(None, "the stream lacks the mark of its end, and may be cut")]
    assert caught[0].filename == __file__
    with pytest.raises(en.ConversionError, match="mark of its end"):
        en.convert(path, tmp_path / "z.entasis", strict=True)
    assert not (tmp_path / "z.entasis").exists()


@pytest.mark.parametrize("target", ["y.parquet", "y.arrow", "y.csv", "y.jsonl", "y.entasis"])
def test_an_error_leaves_the_old_file(target, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": range(400_000)}), path)
    to = tmp_path / target
    to.write_bytes(b"old")

    def fail(*counts, **unit):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        en.convert(path, to, progress=fail)
    assert to.read_bytes() == b"old"
    assert sorted(child.name for child in tmp_path.iterdir()) == sorted([target, "x.parquet"])


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name are for Linux")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_conversion_leaves_nothing(number, tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": range(400_000)}), path)
    code = (
        "import sys, time, entasis as en\n"
        "def wait(*counts, **unit):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "en.convert(sys.argv[1], sys.argv[2], progress=wait)\n"
    )
    command = [sys.executable, "-c", code, str(path), str(tmp_path / "y.parquet")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    time.sleep(0.05)
    process.send_signal(number)
    process.wait(20)
    process.stdout.close()
    assert list(tmp_path.iterdir()) == [path]


def test_the_mode_of_the_old_file_stays(tmp_path):
    path, to = written(tmp_path / "x.csv", "csv"), tmp_path / "y.parquet"
    to.write_bytes(b"old")
    to.chmod(0o640)
    link = tmp_path / "link.parquet"
    link.symlink_to(to)
    en.convert(path, link)
    assert to.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()
    assert pq.read_table(to).num_rows == 3
    en.convert(path, tmp_path / "new.parquet")
    assert (tmp_path / "new.parquet").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.fixture
def without(monkeypatch):
    """Some libraries can't be imported."""

    def hide(*names):
        load = libraries.load
        monkeypatch.setattr(libraries, "load", lambda name: None if name.partition(".")[0] in names else load(name))

    return hide


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrow_stream", "feather"])
def test_without_pyarrow(form, tmp_path, without):
    path = written(tmp_path / f"x{formats.SUFFIXES[form][0]}", form)
    without("pyarrow")
    assert en.read(path).equals(pl.from_arrow(TABLE))
    en.convert(path, tmp_path / "y.entasis")
    assert en.read(tmp_path / "y.entasis").equals(pl.from_arrow(TABLE))
    assert en.read(path, columns="b", rows=(1, 3), to="pandas")["b"].tolist()[1] == "z"
    without("pyarrow", "polars")
    with pytest.raises(en.MissingLibraryError, match="pyarrow or polars"):
        en.convert(path, tmp_path / "y.entasis")
    with pytest.raises(en.MissingLibraryError, match="pyarrow"):
        en.convert(tmp_path / "y.entasis", tmp_path / "y.parquet")
    with pytest.raises(en.MissingLibraryError, match="pyarrow"):
        en.diff(path, path)


def test_parquet_has_dictionaries_where_values_repeat(tmp_path):
    n = 300_000
    frame = pl.DataFrame({"key": np.arange(n), "kind": np.arange(n) % 7, "word": [f"w{i % 50}" for i in range(n)]})
    en.write(frame, tmp_path / "frame.entasis")
    en.convert(tmp_path / "frame.entasis", tmp_path / "frame.parquet")
    groups = pq.ParquetFile(tmp_path / "frame.parquet").metadata
    has_one = [groups.row_group(0).column(i).has_dictionary_page for i in range(3)]
    assert has_one == [False, True, True]
    assert pl.read_parquet(tmp_path / "frame.parquet").equals(frame)
    for threads in (1, 2):
        en.convert(tmp_path / "frame.entasis", tmp_path / "again.parquet", threads=threads)
        assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "frame.parquet").read_bytes()
