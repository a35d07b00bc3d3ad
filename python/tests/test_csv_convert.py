"""Text files: `convert` writes what reading gives."""

from __future__ import annotations

import io
import random
import signal
import subprocess
import sys
import time
import warnings

import pytest
from csv_texts import TEXTS, UNEVEN, set_chunk_len

import entasis as en

pytest.importorskip("polars")


def converted(text, path, **options):
    """The file of a text, read with Polars."""
    assert en.convert(text.encode() if isinstance(text, str) else text, path, **options) is None
    return en.read(path, to="polars")


class TestConvert:
    def test_a_file_has_what_reading_gives(self, tmp_path):
        path = tmp_path / "t.entasis"
        for text, _ in TEXTS.values():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", en.errors.CsvWarning)
                found, expected = converted(text, path), en.read_csv(text.encode(), "polars")
            assert found.schema == expected.schema
            assert found.equals(expected)

    @pytest.mark.parametrize("seed", range(30))
    def test_windows_do_not_matter(self, seed, monkeypatch, tmp_path):
        rng = random.Random(seed)
        columns = [rng.choice(["i", "f", "mixed", "text", "missing", "late"]) for _ in range(4)]
        n = rng.randrange(1, 200)
        late = rng.randrange(n)

        def field(kind: str, row: int) -> str:
            if kind == "late":
                return rng.choice(["x", "0.5", "", "NA", "2020-01-01"]) if row == late else str(row)
            return {
                "i": str(rng.randrange(-9, 99)),
                "f": rng.choice([str(rng.random()), str(rng.randrange(100))]),
                "mixed": rng.choice(["1", "-5", "9223372036854775808", "1.5", "", "NA", "9007199254740993"]),
                "text": rng.choice(["a", "b c", "1"]),
                "missing": rng.choice(["", "NA"]),
            }[kind]

        rows = [",".join(field(kind, row) for kind in columns) for row in range(n)]
        text = "a,b,c,d\n" + "".join(row + "\n" for row in rows)
        options = {"sep": ",", "quote": '"', "comment": None, "skip": 0, "header": True}
        expected = en.read_csv(text.encode(), "polars", **options)
        set_chunk_len(monkeypatch, rng.choice([1, 10, 100]), rng.choice([1, 50, 500]))
        found = converted(text, tmp_path / "t.entasis", **options)
        assert found.schema == expected.schema
        assert found.equals(expected)
        assert [child.name for child in tmp_path.iterdir()] == ["t.entasis"]

    def test_problems_are_those_of_reading(self, monkeypatch, tmp_path):
        path = tmp_path / "t.entasis"
        text = UNEVEN.encode() * 3
        options = {"sep": ",", "quote": '"', "header": True}
        frame, expected = en.read_csv(text, "polars", on_error="skip", problems=True, **options)
        set_chunk_len(monkeypatch, 3, 9)
        assert en.convert(text, path, on_error="skip", problems=True, **options) == expected
        assert en.read(path, to="polars").equals(frame)
        with pytest.warns(en.errors.ProblemWarning, match="places") as caught:
            en.convert(text, path, on_error="missing", **options)
        assert caught[0].filename == __file__

    def test_errors_leave_the_old_file(self, tmp_path):
        path = tmp_path / "t.entasis"
        with pytest.raises(en.errors.ProblemError) as caught:
            en.convert(UNEVEN.encode(), path)
        assert caught.value.problems[0].line == 3
        with pytest.raises(en.errors.ArgumentError, match="does not end"):
            en.convert(b'a,b\n1,2\n3,"x\n4,5\n', path, quote='"', sep=",")
        assert list(tmp_path.iterdir()) == []
        en.convert(b"a\n1\n", path)
        with pytest.raises(en.errors.ProblemError):
            en.convert(b"a\nx\n", path, dtypes={"a": "int8"})
        assert en.read(path, to="polars").to_dict(as_series=False) == {"a": [1]}
        assert list(tmp_path.iterdir()) == [path]

    def test_arguments(self, tmp_path):
        path = tmp_path / "t.entasis"
        text = b"a,b\n1,x\n2,y\n3,z\n"
        found = converted(text, path, columns=["b"], rows=(1, None), compression={"b": 80}, threads=1, durable=False)
        assert found.to_dict(as_series=False) == {"b": ["y", "z"]}
        with pytest.raises(en.errors.ArgumentError, match="rows="):
            en.convert(text, path, rows=[0, 2])
        with pytest.raises(en.errors.ArgumentError, match="BytesIO"):
            en.convert(text, io.BytesIO())
        with pytest.raises(en.errors.ArgumentError, match='"c"'):
            en.convert(text, path, compression={"c": 80})
        source = tmp_path / "t.csv"
        source.write_bytes(text)
        with pytest.raises(en.errors.ArgumentError, match="the text that is read"):
            en.convert(source, source, target_format="entasis")
        assert source.read_bytes() == text

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is for POSIX")
    def test_ctrl_c_stops_it(self, tmp_path):
        code = (
            "import sys, itertools, entasis as en\n"
            "class Endless:\n"
            "    def read(self, n):\n"
            "        return b'a,b\\n' + b'1,x\\n' * 20_000\n"
            "print('ready', flush=True)\n"
            "try:\n"
            "    en.convert(Endless(), sys.argv[1], spill_limit=0, on_error='skip', header=True)\n"
            "except KeyboardInterrupt:\n"
            "    print('stopped', flush=True)\n"
        )
        path = tmp_path / "t.entasis"
        process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(20) == 0
        assert list(tmp_path.iterdir()) == []
