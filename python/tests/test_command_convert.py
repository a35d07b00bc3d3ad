"""The command converts every format: it gives the files that `convert` of the package gives."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import forks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import entasis as en

DATA = Path(__file__).parents[2] / "crates/convert/tests/data"
ENDS = ["parquet", "arrow", "arrows", "feather", "csv", "jsonl", "npz", "entasis"]
FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [0.5, 1e300, -2.25], "d": [True, False, True]})


def entasis(*args: Any, stdin: bytes | None = None) -> tuple[int, bytes, str]:
    """The exit code of a command, and what it said."""
    done = forks.command(*args, stdin=stdin)
    return done.returncode, done.stdout, done.stderr.decode()


def convert(*args: Any, stdin: bytes | None = None) -> bytes:
    code, out, err = entasis("convert", *args, stdin=stdin)
    assert (code, err) == (0, "")
    return out


def failed(*args: Any, code: int = 1) -> str:
    found, _, err = entasis("convert", *args)
    assert found == code, err
    assert "Traceback" not in err
    return err


def trips() -> pd.DataFrame:
    frame = pd.DataFrame({"city": pd.Categorical(["Oslo", "Rome", "Oslo"]), "price": [3.5, None, 4.0]})
    frame.index = pd.Index([10, 20, 30], name="trip")
    return frame


def content(path: Path) -> Any:
    return en.read_csv(path, "pyarrow") if path.suffix == ".csv" else en.read(path, to="pyarrow")


@pytest.mark.parametrize("source", ENDS)
def test_every_pair_is_that_of_the_package(source: str, tmp_path: Path) -> None:
    first, path = tmp_path / "0.entasis", tmp_path / f"x.{source}"
    en.write(FRAME, first)
    en.convert(first, path)
    for end in ENDS:
        new, wanted = tmp_path / f"y.{end}", tmp_path / f"z.{end}"
        assert convert("--strict", "--verify", path, new).startswith(f"{new}: ".encode())
        en.convert(path, wanted)
        assert content(new).equals(content(wanted)), end
        if end not in ("npz", "entasis"):
            assert new.read_bytes() == wanted.read_bytes(), end
        assert not en.diff(first, new), end
    assert len(list(tmp_path.iterdir())) == 2 + 2 * len(ENDS)


def test_columns_rows_and_conditions(tmp_path: Path) -> None:
    trips().to_parquet(tmp_path / "t.parquet")
    n = np.arange(1000)
    table = pa.table({"n": n, "day": pa.array(n.astype("datetime64[D]")), "in": n % 7 == 0, "s": [{"x": i} for i in n]})
    pq.write_table(table, tmp_path / "n.parquet", row_group_size=100)
    en.write(table, tmp_path / "n.entasis")
    en.write_csv(table.drop_columns("s"), tmp_path / "n.csv")
    part = ["--columns", "day,n", "--rows", "10:900", "--where", "n > 20 and \"in\" and day < '1971-01-01'"]
    for source in ("n.parquet", "n.entasis", "n.csv"):
        for end in ("entasis", "feather", "csv"):
            to = tmp_path / f"y.{end}"
            convert(*part, "--to", end, tmp_path / source, to)
            assert content(to)["n"].to_pylist() == list(range(21, 365, 7)), (source, end)
            assert content(to).column_names == ["day", "n"]
    convert("--where", "s.x = 5", tmp_path / "n.parquet", tmp_path / "s.arrow")
    assert content(tmp_path / "s.arrow")["n"].to_pylist() == [5]
    # Labels of rows are columns of a condition, and missing values are unknown.
    convert("--where", "trip >= 20 and price is not null", tmp_path / "t.parquet", tmp_path / "t.feather")
    assert pd.read_feather(tmp_path / "t.feather").index.tolist() == [30]
    for condition, says in [
        ("n > ", "the condition needs"),
        ("m > 1", 'column "m"'),
        ("day > 'x'", "day"),
    ]:
        for source in ("n.parquet", "n.entasis"):
            to = tmp_path / "z.feather"
            assert says in failed("--where", condition, tmp_path / source, to), (condition, source)
            assert not to.exists()
    pq.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    assert 'column "m"' in failed("--where", "m > 1", tmp_path / "none.parquet", tmp_path / "z.feather")
    assert "no column 'm'" in failed("--columns", "m", tmp_path / "n.parquet", tmp_path / "z.feather")


def test_losses_are_listed_once(tmp_path: Path) -> None:
    source, to = tmp_path / "t.entasis", tmp_path / "t.csv"
    en.write(trips(), source)
    lines = [
        f"entasis: warning: {to}: the labels of rows become columns",
        f"entasis: warning: {to}: column 'city': its categories become text",
    ]
    code, out, err = entasis("convert", "--verify", source, to)
    assert (code, err.splitlines()) == (0, lines)
    assert out.startswith(f"{to}: 3 rows, ".encode())
    to.unlink()
    err = failed("--strict", source, to)
    assert err.splitlines() == [*lines, "entasis: nothing was written, because something would be lost"]
    assert list(tmp_path.iterdir()) == [source]
    table = pa.table({f"c{i}": pa.array([1], pa.int8()) for i in range(9)})
    pq.write_table(table, tmp_path / "x.parquet")
    code, _, err = entasis("convert", tmp_path / "x.parquet", tmp_path / "x.jsonl")
    assert code == 0
    columns = "'c0', 'c1', 'c2', 'c3', 'c4' and 4 more"
    assert err == f"entasis: warning: {tmp_path / 'x.jsonl'}: columns {columns}: the type int8 is not in the text\n"


def test_texts_have_their_options(tmp_path: Path) -> None:
    text, to = tmp_path / "in.csv", tmp_path / "out.parquet"
    text.write_text("day;city;price\n3.2.2026;Oslo;1,5\n4.2.2026;Rome;-\n")
    options = ["--sep", ";", "--decimal", ",", "--dates", "day=%d.%m.%Y", "--na", "-"]
    convert(*options, "--drop", "city", "--id", "file", text, to)
    found = pq.read_table(to)
    assert found.column_names == ["file", "day", "price"]
    assert found["price"].to_pylist() == [1.5, None]
    assert str(found.schema.field("day").type) == "date32[day]"
    convert("--sep", ";", "--decimal", ",", "--na", "-", "--no-header", "--columns", "price", to, tmp_path / "back.csv")
    assert (tmp_path / "back.csv").read_text() == "1,5\n-\n"
    convert("--sep", ";", text, tmp_path / "new.tsv")
    assert (tmp_path / "new.tsv").read_text().splitlines()[0] == "day\tcity\tprice"
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3\n")
    assert "line 3" in failed(bad, tmp_path / "bad.parquet")
    code, _, err = entasis("convert", "--on-error", "skip", bad, tmp_path / "bad.parquet")
    assert (code, "1 place" in err or "a place of the text" in err) == (0, True)
    assert "problems=" not in err
    assert pq.read_table(tmp_path / "bad.parquet").num_rows == 1


def test_compression(tmp_path: Path) -> None:
    source = tmp_path / "x.entasis"
    en.write({"a": np.arange(5), "b": np.arange(5)}, source)
    for codec in ("snappy", "none", "zstd"):
        convert("-c", codec, "--to", "parquet", source, tmp_path / "x.parquet")
        found = pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(0).compression
        assert found == {"none": "UNCOMPRESSED"}.get(codec, codec.upper())
    convert("-c", "0", "-c", "b=90", "--to", "entasis", tmp_path / "x.parquet", tmp_path / "y.entasis")
    convert("-c", "gzip", source, tmp_path / "z.csv")
    assert (tmp_path / "z.csv").read_bytes()[:2] == b"\x1f\x8b"
    assert "--compression 5: a file of parquet has one of" in failed("-c", "5", source, tmp_path / "z.parquet")
    assert "from 0 to 100" in failed("-c", "zstd", tmp_path / "x.parquet", tmp_path / "z.entasis")


def test_pipes(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(100_000), "b": "x"})
    source = tmp_path / "x.parquet"
    frame.to_parquet(source)
    lines = convert("--to", "jsonl", source, "-")
    assert json.loads(lines.splitlines()[-1]) == {"a": 99_999, "b": "x"}
    stream = convert("--to", "arrow_stream", source, "-")
    assert pa.ipc.open_stream(stream).read_all()["a"].to_pylist() == frame["a"].tolist()
    text = convert(source, "-")
    assert text.startswith(b"a,b\n0,x\n")
    for content_of, to in [(lines, "l.entasis"), (stream, "s.feather"), (text, "t.parquet"), (text, "t.entasis")]:
        convert("-", tmp_path / to, stdin=content_of)
        assert en.read(tmp_path / to, to="polars")["a"].to_list() == frame["a"].tolist()
    stored = (tmp_path / "t.entasis").read_bytes()
    assert convert("-", "-", stdin=stored) == text
    convert("--from", "entasis", "-", tmp_path / "e.parquet", stdin=stored)
    assert pq.read_table(tmp_path / "e.parquet").num_rows == len(frame)
    for end in ("parquet", "npz", "feather", "entasis"):
        assert "the standard output takes" in failed("--to", end, source, "-")
    # It is not an error if the reader has enough.
    for form in ("jsonl", "arrow_stream", "csv"):
        command = [sys.executable, "-m", "entasis", "convert", "--to", form, str(source), "-"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert len(process.stdout.read(10)) == 10
            process.stdout.close()
            assert process.stderr is not None
            assert process.stderr.read() == b"", form
        assert process.returncode == 0, form


def test_several_files_are_one_table(tmp_path: Path) -> None:
    for i in range(3):
        pq.write_table(pa.table({"a": [i, 10 * i]}), tmp_path / f"{i}.parquet")
    (tmp_path / "t").mkdir()
    for inputs in ([tmp_path / f"{i}.parquet" for i in range(3)], [tmp_path / "?.parquet"]):
        convert("--to", "entasis", *inputs, tmp_path / "all.entasis")
        assert en.read(tmp_path / "all.entasis")["a"].to_pylist() == [0, 0, 1, 10, 2, 20]
    assert "has the format of IN" in failed(*(tmp_path / f"{i}.parquet" for i in range(3)))
    assert pq.read_table(tmp_path / "2.parquet").num_rows == 2
    en.convert(tmp_path / "0.parquet", tmp_path / "0.arrow")
    pd.DataFrame({"a": [7, 8]}, index=pd.Index(["x", "y"], name="i")).to_feather(tmp_path / "b.feather")
    convert(tmp_path / "b.feather", tmp_path / "b.feather", tmp_path / "all.parquet")
    assert pd.read_parquet(tmp_path / "all.parquet").index.tolist() == ["x", "y", "x", "y"]
    convert(tmp_path / "0.arrow", tmp_path / "0.arrow", tmp_path / "twice.csv")
    assert (tmp_path / "twice.csv").read_text() == "a\n0\n0\n0\n0\n"
    err = failed(tmp_path / "0.parquet", tmp_path / "0.arrow", tmp_path / "x.entasis")
    assert "different formats" in err


def test_other_formats_are_refused_by_name(tmp_path: Path) -> None:
    pickled, unknown = tmp_path / "x.pkl", tmp_path / "x.dat"
    pd.DataFrame({"a": [1]}).to_pickle(pickled)
    unknown.write_bytes(b"\x00\x01\x02\x03" * 9)
    to = tmp_path / "y.entasis"
    assert "runs the code in it" in failed(pickled, to)
    assert "--from" in failed("--to", "parquet", unknown, tmp_path / "y.parquet")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    assert "x.parquet can't be read" in failed(tmp_path / "x.parquet", to)
    assert "no file" in failed(tmp_path / "none.parquet", to)
    (tmp_path / "empty").mkdir()
    assert "is a folder" in failed(tmp_path / "empty", to)
    assert not to.exists()
    en.write({"a": np.arange(3)}, tmp_path / "z.entasis")
    assert "no verb writes it" in failed(tmp_path / "z.entasis", tmp_path / "z.xlsx")
    assert "in R" in failed("--to", "qs2", tmp_path / "z.entasis", tmp_path / "z.qs2")
    assert "an RDS file has gzip, none or xz" in failed("-c", "9", tmp_path / "z.entasis", tmp_path / "z.rds")
    code, _, err = entasis("convert", "--to", "excel", tmp_path / "z.entasis", to)
    assert (code, "invalid value 'excel'" in err) == (2, True)


def test_files_of_r_keep_what_r_has(tmp_path: Path) -> None:
    source = DATA / "table.qs2"
    convert(source, tmp_path / "t.entasis")
    assert en.open(tmp_path / "t.entasis").written_by == "r"
    _, out, _ = entasis("convert", source, tmp_path / "t.parquet")
    assert out.startswith(f"{tmp_path / 't.parquet'}: 5,000 rows, ".encode())
    code, _, err = entasis("convert", "--rows", "5:8", source, tmp_path / "part.entasis")
    assert (code, "its attributes in R are left out" in err) == (0, True)
    part = ["--columns", "int", "--where", "int > 1", "-c", "xz"]
    code, _, err = entasis("convert", *part, tmp_path / "t.entasis", tmp_path / "part.rds")
    assert (code, "its attributes in R are left out" in err) == (0, True)
    assert (tmp_path / "part.rds").read_bytes()[:5] == b"\xfd7zXZ"
    convert(tmp_path / "t.entasis", tmp_path / "t.rds")
    assert not en.diff(tmp_path / "t.rds", tmp_path / "t.entasis")
    assert en.open(tmp_path / "part.entasis").n_rows == 3


def is_writing(pid: int, folder: Path, source: Path) -> bool:
    """Whether a process has a file in a folder open other than the source."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            path = str(link.readlink())
            if path.startswith(str(folder)) and path != str(source):
                return True
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name are for Linux")
@pytest.mark.parametrize("end", ["parquet", "entasis", "jsonl"])
def test_ctrl_c_leaves_nothing(end: str, tmp_path: Path) -> None:
    source = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": np.arange(3_000_000)}), source, row_group_size=1000)
    to = tmp_path / f"y.{end}"
    to.write_bytes({"parquet": b"PAR1", "entasis": b"\x89ENT\r\n\x1a\n", "jsonl": b'{"a":1}\n'}[end])
    old = to.read_bytes()
    command = [sys.executable, "-m", "entasis", "convert", "--to", end, "--verify", str(source), str(to)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not is_writing(process.pid, tmp_path, source):
        assert process.poll() is None, "the conversion is not long enough"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, err) == (b"", b"entasis: stopped\n")
    # Python ends by the signal if it came while a module was loaded, which shells show as 130 too.
    assert process.returncode in (130, -signal.SIGINT)
    assert to.read_bytes() == old
    assert sorted(child.name for child in tmp_path.iterdir()) == ["x.parquet", to.name]


@pytest.mark.parametrize("error", [None, AttributeError("pandas is partially initialized")])
def test_ctrl_c_counts_if_a_library_drops_it(error: Exception | None, tmp_path: Path) -> None:
    """As pandas does when C code imports it."""
    from entasis._command import host

    source, to = tmp_path / "x.parquet", tmp_path / "y.entasis"
    pq.write_table(pa.table({"a": np.arange(100_000)}), source, row_group_size=1000)
    options: dict[str, object] = {"text": {}}

    def progress(done: int, total: int | None) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if error is not None:
                raise error from None

    old = signal.getsignal(signal.SIGINT)
    answer, _ = host.call("convert", [str(source)], str(to), json.dumps(options), progress)
    assert json.loads(answer)["state"] == "stopped"
    assert signal.getsignal(signal.SIGINT) is old
    assert [child.name for child in tmp_path.iterdir()] == ["x.parquet"]


def test_libraries_are_imported_when_they_are_needed(tmp_path: Path) -> None:
    path, parquet = tmp_path / "x.entasis", tmp_path / "y.parquet"
    en.write({"a": np.arange(3), "x": np.array([0.5, np.nan, 2]), "s": np.array(["a", "b", "c"])}, path)
    code = (
        "import sys\n"
        "from entasis import _entasis\n"
        f"assert _entasis.cli_main(['head', {str(path)!r}]) == 0\n"
        f"assert _entasis.cli_main(['convert', {str(path)!r}, '-']) == 0\n"
        "for name in ('pandas', 'polars', 'pyarrow', 'entasis._command.host', 'entasis._convert.run'):\n"
        "    assert name not in sys.modules, name\n"
        f"assert _entasis.cli_main(['convert', {str(path)!r}, {str(parquet)!r}, '--verify']) == 0\n"
        f"assert _entasis.cli_main(['diff', {str(path)!r}, {str(parquet)!r}]) == 0\n"
        "assert 'pyarrow' in sys.modules\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


# Also fewer rows than `head` shows.
@pytest.mark.parametrize("n", [30, 2, 0])
def test_verbs_show_files_of_other_formats(n: int, tmp_path: Path) -> None:
    stored = tmp_path / "t.entasis"
    frame = pd.DataFrame({"a": np.arange(n), "b": pd.Series([f"x{i}" for i in range(n)], dtype="str")})
    en.write(frame, stored)
    commands = [["head"], ["head", "-n", "3", "--json"], ["tail"], ["schema"], ["count"], ["count", "--where", "a > 7"]]
    commands += [["select", "--where", "a > 7"], ["cat"], ["head", "--rows=-3:"]]

    def shown(path: Path) -> list[str]:
        done = [entasis(*command, path) for command in commands]
        assert [(code, err) for code, _, err in done] == [(0, "")] * len(commands)
        lines = [line.replace("string", "utf8") for _, out, _ in done for line in out.decode().splitlines()]
        return [line for line in lines if not line.startswith(("10 of", "the first"))]

    # A text without rows has no types, and JSON Lines have no columns then.
    for end in ("parquet", "feather", "arrows", "csv", "jsonl")[: 3 if n == 0 else None]:
        path = tmp_path / f"t.{end}"
        en.convert(stored, path)
        assert shown(path) == shown(stored), end
        assert "`entasis convert`" in entasis("info", path)[2]


def test_verbs_refuse_files_without_tables(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(4))
    assert entasis("tree", tmp_path / "x.npy")[1].startswith(b"value: array")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    code, _, err = entasis("head", tmp_path / "bad.parquet")
    assert (code, "bad.parquet can't be read" in err) == (1, True)
