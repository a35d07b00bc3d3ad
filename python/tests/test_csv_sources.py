"""Text files: paths, objects, several files, and progress."""

from __future__ import annotations

import gzip
import io
import random
import sys

import pytest
from csv_texts import set_chunk_len

import entasis as en

pl = pytest.importorskip("polars")


def test_other_formats_are_refused_by_name(tmp_path):
    path = tmp_path / "x.entasis"
    en.write({"a": __import__("numpy").arange(3)}, path)
    with pytest.raises(en.errors.EntasisError, match="Entasis"):
        en.read_csv(path)
    with pytest.raises(en.errors.MissingFileError):
        en.read_csv(tmp_path / "none.csv")
    with pytest.raises(en.errors.DirectoryError):
        en.read_csv(tmp_path)


EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


class TestSources:
    text = b"a,b\n1,x\n2,y\n"

    def test_files_and_objects(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(self.text)
        assert en.read_csv(path, "polars").to_dict(as_series=False) == EXPECTED
        assert en.read_csv(str(path), "polars").to_dict(as_series=False) == EXPECTED
        for source in (io.BytesIO(self.text), io.StringIO(self.text.decode()), path.open("rb"), path.open()):
            with source:
                assert en.read_csv(source, "polars").to_dict(as_series=False) == EXPECTED

    def test_compressed(self, tmp_path):
        import bz2
        import lzma

        for compress in (gzip.compress, bz2.compress, lzma.compress):
            path = tmp_path / "t.csv"
            path.write_bytes(compress(self.text))
            assert en.read_csv(path, "polars").to_dict(as_series=False) == EXPECTED
            assert en.read_csv(io.BytesIO(compress(self.text)), "polars").to_dict(as_series=False) == EXPECTED
            with pytest.raises(en.errors.EntasisError):
                en.read_csv(compress(self.text * 100)[:-9], "polars")

    def test_streams_with_late_text(self):
        text = b"a,b\n" + b"1,0.5\n" * 300_000 + b"x,y\n"
        frame = en.read_csv(io.BytesIO(gzip.compress(text)), "polars")
        assert frame["a"].to_list() == ["1"] * 300_000 + ["x"]
        assert frame["b"].to_list() == ["0.5"] * 300_000 + ["y"]

    def test_errors_of_objects_are_passed_on(self):
        class Broken:
            def read(self, n):
                raise RuntimeError("the line went dead")

        with pytest.raises(en.errors.FileError, match="the line went dead"):
            en.read_csv(Broken(), "polars")


def test_reading_a_text_as_an_entasis_file_names_read_csv(tmp_path):
    text = b"a,b\n1,x\n"
    for name, content in [
        ("x.csv", text),
        ("x.data", text),
        ("x.txt", b"hello"),
        ("x.csv.gz", gzip.compress(text)),
        ("x.tsv", b"a\tb\n"),
        ("x.csv", b""),
    ]:
        path = tmp_path / name
        path.write_bytes(content)
        for function in (en.read, en.open):
            with pytest.raises((en.NotEntasisError, en.CorruptFileError), match=r"en\.read_csv\(path\)"):
                function(path)
    with pytest.raises(en.NotEntasisError, match="read_csv"):
        en.read(text)


class TestSeveralFiles:
    def write(self, folder, texts):
        for name, text in texts.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    def test_patterns_and_lists(self, tmp_path):
        self.write(tmp_path, {"b.csv": "k,v\n3,x\n4,\n", "a.csv": "k,v\n1,y\n2,z\n", "c.txt": "no\n"})
        for source in (
            str(tmp_path / "*.csv"),
            tmp_path / "[ab].csv",
            [tmp_path / "a.csv", tmp_path / "b.csv"],
            (tmp_path / "a.csv", b"k,v\n3,x\n4,\n"),
            [io.BytesIO(b"k,v\n1,y\n2,z\n"), tmp_path / "b.csv"],
        ):
            found = en.read_csv(source, "polars").to_dict(as_series=False)
            assert found == {"k": [1, 2, 3, 4], "v": ["y", "z", "x", None]}
        reverse = en.read_csv([tmp_path / "b.csv", tmp_path / "a.csv"], "polars")
        assert reverse["k"].to_list() == [3, 4, 1, 2]
        with pytest.raises(en.errors.MissingFileError, match="no file matches"):
            en.read_csv(tmp_path / "*.tsv")
        with pytest.raises(en.errors.ArgumentError, match="empty"):
            en.read_csv([])
        (tmp_path / "x[1].csv").write_text("a\n1\n")
        assert en.read_csv(tmp_path / "x[1].csv", "polars")["a"].to_list() == [1]

    def test_types_hold_for_all_files(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,v\nx,2.5\n", "c.csv": "k,v\n,\n"})
        found = en.read_csv(tmp_path / "*.csv", "polars")
        assert found.to_dict(as_series=False) == {"k": ["1", "x", None], "v": [2.0, 2.5, None]}
        en.convert(tmp_path / "*.csv", tmp_path / "t.entasis")
        assert en.read(tmp_path / "t.entasis", to="polars").equals(found)
        cut = en.read_csv(tmp_path / "*.csv", "polars", rows=(1, 3))
        assert cut.to_dict(as_series=False) == {"k": ["x", None], "v": [2.5, None]}
        assert en.read_csv(tmp_path / "*.csv", "polars", rows=(0, 1)).schema["k"] == pl.Int64

    def test_origins(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k\n1\n2\n", "b.csv": "k\n", "c.csv": "k\n3\n"})
        paths = [str(tmp_path / f"{name}.csv") for name in "abc"]
        for to in ("pandas", "polars", "pyarrow"):
            found = en.read_csv(tmp_path / "*.csv", to, id="file")
            columns = found.to_pydict() if to == "pyarrow" else {name: list(found[name]) for name in found.columns}
            assert list(columns) == ["file", "k"]
            assert columns["file"] == [paths[0], paths[0], paths[2]]
        path = tmp_path / "t.entasis"
        en.convert(tmp_path / "*.csv", path, id="file")
        assert en.read(path, to="polars").equals(en.read_csv(tmp_path / "*.csv", "polars", id="file"))
        assert en.read_csv(paths[0], "polars", id="file")["file"].to_list() == [paths[0]] * 2
        with pytest.raises(en.errors.ArgumentError, match="has a column 'k'"):
            en.read_csv(tmp_path / "*.csv", id="k")

    def test_names_must_be_the_same(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,w\n1,2\n", "c.csv": "v,k\n1,2\n"})
        for pattern, match in [("[ab].csv", "lacks 'v'; it has also 'w'.*b.csv"), ("[ac].csv", "order.*c.csv")]:
            for read in (en.read_csv, lambda source: en.convert(source, tmp_path / "t.entasis")):
                with pytest.raises(en.errors.ArgumentError, match=match):
                    read(tmp_path / pattern)
        assert not (tmp_path / "t.entasis").exists()

    def test_problems_name_the_file(self, tmp_path):
        self.write(tmp_path, {"a.csv": "k,v\n1,2\n", "b.csv": "k,v\n3\n1,2\n"})
        with pytest.raises(en.errors.ProblemError, match=r"line 2 of '.*b.csv': '3'"):
            en.read_csv(tmp_path / "*.csv", header=True)
        _, problems = en.read_csv(tmp_path / "*.csv", "polars", on_error="skip", problems=True, header=True)
        assert problems == [en.Problem(0, 2, 4, None, "3", "2 fields, not 1", str(tmp_path / "b.csv"))]
        found = en.convert(tmp_path / "*.csv", tmp_path / "t", on_error="skip", problems=True, header=True)
        assert found == problems

    @pytest.mark.parametrize("seed", range(15))
    def test_they_are_one_text(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        parts = []
        for i in range(rng.randrange(1, 5)):
            kinds = [rng.choice(["1", "2.5", "x", "", "NA", "true", "2020-01-01"]) for _ in range(rng.randrange(1, 3))]
            rows = [f"{rng.choice(kinds)},{i},{rng.choice(['p', 'q', ''])}\n" for _ in range(rng.randrange(20))]
            parts.append("".join(rows))
        header = "a,b,c\n"
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        options["strings"] = rng.choice(["plain", "categorical"])
        whole = en.read_csv((header + "".join(parts)).encode(), "polars", **options)
        for i, part in enumerate(parts):
            text = (header + part).encode()
            (tmp_path / f"{i}.csv").write_bytes(gzip.compress(text) if rng.random() < 0.3 else text)
        set_chunk_len(monkeypatch, rng.choice([None, 1, 10]), rng.choice([1, 30]))
        found = en.read_csv(tmp_path / "*.csv", "polars", **options)
        assert found.schema == whole.schema
        assert found.equals(whole)
        en.convert(tmp_path / "*.csv", tmp_path / "t.entasis", **options)
        kept = en.read(tmp_path / "t.entasis", to="polars")
        assert kept.schema == whole.schema
        assert kept.equals(whole)


class TestProgress:
    text = b"a,b\n" + b"1,x\n" * 1_000_000

    def test_functions_are_called(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_bytes(self.text)
        for call in (
            lambda source, **options: en.read_csv(source, "polars", **options),
            lambda source, **options: en.convert(source, tmp_path / "t.entasis", **options),
        ):
            for source, n in ((path, 1), (self.text, 1), ([path, path], 2)):
                calls = []
                call(source, progress=lambda done, total, unit, calls=calls: calls.append((done, total, unit)))
                assert calls[-1] == (n * len(self.text), n * len(self.text), "bytes")
                assert all(total == n * len(self.text) for _, total, _ in calls)
                assert sorted(calls) == calls

    def test_errors_of_functions_stop_the_reading(self, tmp_path):
        def fail(done, total, unit):
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            en.read_csv(self.text, progress=fail)
        with pytest.raises(RuntimeError, match="stop"):
            en.convert(self.text * 8, tmp_path / "t.entasis", progress=fail)
        with pytest.raises(en.errors.ArgumentError, match="progress"):
            en.read_csv(self.text, progress=3)

    @pytest.mark.parametrize("has_tqdm", [True, False])
    def test_a_bar_appears(self, has_tqdm, monkeypatch, capsys):
        from entasis._arguments import progress

        if has_tqdm:
            pytest.importorskip("tqdm")
        else:
            monkeypatch.setitem(sys.modules, "tqdm", None)
        en.read_csv(b"a\n1\n", progress=True)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(progress, "_PATIENCE", 0)
        en.read_csv(self.text, progress=True)
        assert "reading" in capsys.readouterr().err
