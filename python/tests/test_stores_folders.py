"""Folders on a store are described, verified, compacted and cleaned as those on the disk are."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import entasis as en
from entasis._cli import main
from entasis._stores.address import parse
from entasis._stores.listing import Folder
from entasis._stores.options import Options

pytest.importorskip("moto")
pytest.importorskip("flask")

from moto_server import SECRET, MotoServer

URL = "s3://tables/sales"
N = 3_000
ROWS = pl.DataFrame({"k": [i % 3 for i in range(N)], "n": range(N), "s": [f"w{i % 50}" for i in range(N)]})
ONCE = {"max_retries": 0, "retry_timeout": 1}


@pytest.fixture(autouse=True)
def environment(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables with the options of the server."""
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def folder(moto: MotoServer) -> Folder:
    return Folder(parse(URL, is_folder=True), Options(moto.options))


@pytest.fixture
def local(tmp_path: Path) -> str:
    """A data set on the disk that grew."""
    path = str(tmp_path / "sales")
    en.write_dataset(ROWS[: N // 2], path, partition_by="k")
    en.write_dataset(ROWS[N // 2 :], path, mode="append")
    return path


@pytest.fixture
def url(local: str, folder: Folder) -> str:
    """The same data set on the store, sent by either library."""
    send(local, folder)
    return URL


def send(local: str, folder: Folder) -> None:
    for path in Path(local).rglob("*.entasis"):
        folder.put(path.relative_to(local).as_posix(), path)


def paths(folder: Folder) -> list[str]:
    return [entry.path for entry in folder.list()]


def rows(url: str) -> pl.DataFrame:
    return en.scan(url).read(to="polars").select("k", "n", "s").sort("n")


def test_infos_and_reports_are_those_of_a_local_folder(moto: MotoServer, local: str, url: str) -> None:
    ours, expected = en.info(url).to_dict(), en.info(local).to_dict()
    for each in (ours, expected):
        each["files"] = [{**file, "path": file["path"].rpartition("sales/")[2]} for file in each["files"]]
    assert ours == expected
    assert en.verify(url) == en.verify(local)
    assert en.verify(f"{url}/") == en.verify(local)
    # Without a manifest the files that are there are the table.
    found = en.info(f"{url}/k=1")
    assert (found.n_rows, found.n_files, found.manifest) == (N // 3, 2, None)
    assert en.verify(f"{url}/k=1").n_values == N // 3 * 2
    with pytest.raises(en.errors.MissingFileError, match="no object"):
        en.info("s3://tables/nothing")
    for wrong in ({"storage_options": moto.options}, {"credentials": dict}):
        with pytest.raises(en.ArgumentError, match="are for addresses"):
            en.info(local, **wrong)
        with pytest.raises(en.ArgumentError, match="are for addresses"):
            en.compact(local, **wrong)
        with pytest.raises(en.ArgumentError, match="are for addresses"):
            en.clean(local, **wrong)


def test_objects_have_any_name(moto: MotoServer, url: str, folder: Folder) -> None:
    Folder(parse("s3://tables", is_folder=True), Options(moto.options)).put("plain", en.to_bytes(ROWS))
    assert en.info("s3://tables/plain").n_rows == N
    assert en.verify("s3://tables/plain").n_values == 3 * N
    assert en.info("s3://tables/sales", storage_options=moto.options).n_files == 6


def test_damage_is_told_from_a_store_that_fails(moto: MotoServer, url: str, folder: Folder) -> None:
    name = next(path for path in paths(folder) if path.startswith("k=2"))
    content = bytearray(folder.read(name))
    content[len(content) // 2] ^= 1
    folder.put(name, bytes(content))
    with pytest.raises(en.CorruptFileError, match=f"1 of 7 files.*{name}"):
        en.verify(url)
    folder.delete(name)
    with pytest.raises(en.CorruptFileError, match="does not exist"):
        en.verify(url)
    moto.before = lambda method, target: "503" if "k%3D1" in target or "k=1" in target else None
    with pytest.raises(en.errors.FileError) as error:
        en.verify(url, storage_options=ONCE)
    assert SECRET not in str(error.value)


def test_bounds_of_a_manifest_are_verified(url: str, folder: Folder, tmp_path: Path) -> None:
    # The manifest of other rows, with their lower bounds.
    lower = str(tmp_path / "lower")
    en.write_dataset(ROWS.with_columns(n=pl.col("n") - N), lower, partition_by="k")
    [manifest] = Path(lower, "_entasis").iterdir()
    folder.put("_entasis/00000000000000000002.entasis", manifest)
    with pytest.raises(en.CorruptFileError):
        en.verify(url)


def test_compact_joins_files(moto: MotoServer, library: str, local: str, url: str, folder: Folder) -> None:
    if library == "fsspec":
        before = paths(folder)
        with pytest.raises(en.ArgumentError, match="could replace each other's manifest"):
            en.compact(url)
        assert paths(folder) == before
        return
    seen: list[Any] = []
    en.compact(url, progress=lambda done, total, unit: seen.append((done, total, unit)))
    en.compact(local)
    assert seen[-1] == (N, N, "rows")
    assert en.info(url).n_files == en.info(local).n_files == 3
    assert en.info(url).manifest == 2
    assert rows(url).equals(ROWS)
    en.compact(url, rows_per_file=400)
    assert [file["n_rows"] for file in en.info(url).files] == [400, 400, 200] * 3
    assert rows(url).equals(ROWS)
    en.verify(url)
    manifests = [path for path in paths(folder) if path.startswith("_entasis")]
    en.compact(url, rows_per_file=400)
    assert [path for path in paths(folder) if path.startswith("_entasis")] == manifests
    with pytest.raises(en.errors.MissingFileError, match="no manifest"):
        en.compact("s3://tables/nothing")
    # Objects do not change in place.
    with pytest.raises(en.ArgumentError, match="do not change in place"):
        en.compact(f"{url}/x.entasis")


@pytest.mark.parametrize("where", ["part-", "_entasis"])
@pytest.mark.parametrize("how", ["503", "break"])
def test_a_failure_leaves_the_old_state(
    moto: MotoServer, library: str, url: str, folder: Folder, where: str, how: str
) -> None:
    if library == "fsspec":
        pytest.skip("fsspec creates no manifests")
    before = paths(folder)
    n_puts = 0

    def fail(method: str, target: str) -> str | None:
        nonlocal n_puts
        n_puts += method == "PUT" and where in target
        # The first file is sent, and the next is not.
        return how if method == "PUT" and where in target and (where == "_entasis" or n_puts > 1) else None

    moto.before = fail
    with pytest.raises(en.errors.FileError):
        en.compact(url, storage_options={**ONCE, **moto.options})
    assert n_puts > 0
    moto.before = lambda method, target: None
    assert paths(folder) == before
    assert rows(url).equals(ROWS)


def test_an_answer_can_be_lost(moto: MotoServer, library: str, url: str) -> None:
    if library == "fsspec":
        pytest.skip("fsspec creates no manifests")
    n = 0

    def fail(method: str, target: str) -> str | None:
        nonlocal n
        n += method == "PUT" and "_entasis" in target
        return "503 after" if method == "PUT" and "_entasis" in target and n == 1 else None

    moto.before = fail
    en.compact(url)
    assert n == 2
    assert en.info(url).manifest == 2
    assert rows(url).equals(ROWS)


def test_compact_loses_no_rows_of_other_jobs(moto: MotoServer, library: str, url: str, folder: Folder) -> None:
    if library == "fsspec":
        pytest.skip("fsspec creates no manifests")
    before = paths(folder)
    more = ROWS[:30].with_columns(n=pl.col("n") + N)
    is_done = False

    def append(done: int, total: int, unit: str) -> None:
        nonlocal is_done
        if not is_done:
            is_done = True
            en.write_dataset(more, url, mode="append")

    with pytest.raises(en.errors.ConflictError, match=r"another job changed .*s3://tables/sales"):
        en.compact(url, progress=append)
    assert rows(url).equals(pl.concat([ROWS, more]))
    # The files of the append and its manifest.
    assert len(paths(folder)) == len(before) + 4


def test_clean_deletes_what_left_the_table(
    moto: MotoServer, local: str, url: str, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_again = ROWS[:9]
    en.write_dataset(send_again, local, partition_by="k", mode="overwrite")
    send(local, folder)
    folder.put("part-0123456789abcdef-00000.entasis", en.to_bytes(ROWS[:1]))
    folder.put("k=0/mine.entasis", en.to_bytes(ROWS[:1]))
    before = paths(folder)
    assert en.clean(url) == []
    assert en.clean(url, older_than="1h") == []
    assert paths(folder) == before
    # By the time of the store all of it is a day old tomorrow.
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 86_400)
    removed = en.clean(url, older_than="12h")
    monkeypatch.setattr(time, "time", now)
    assert len(removed) == 6 + 1 + 2
    assert f"{URL}/part-0123456789abcdef-00000.entasis" in removed
    # Manifests go last.
    assert [path.startswith(f"{URL}/_entasis/") for path in removed] == [False] * 7 + [True] * 2
    assert len(paths(folder)) == len(before) - len(removed)
    assert f"{URL}/k=0/mine.entasis" not in removed
    assert rows(url).equals(send_again)
    assert en.clean(url, older_than="0s") == []
    with pytest.raises(en.errors.MissingFileError, match="no manifest"):
        en.clean("s3://tables/nothing")
    with pytest.raises(en.ArgumentError, match="older_than"):
        en.clean(url, older_than="soon")


def test_clean_keeps_what_younger_manifests_name(moto: MotoServer, url: str, folder: Folder) -> None:
    n = len(paths(folder))
    # All files are in the newest manifest, which an append made.
    assert en.clean(url, older_than="0s") == [f"{URL}/_entasis/00000000000000000000.entasis"]
    assert len(paths(folder)) == n - 1
    assert rows(url).equals(ROWS)


def test_a_failed_clean_leaves_the_table(moto: MotoServer, local: str, url: str, folder: Folder) -> None:
    en.write_dataset(ROWS[:9], local, partition_by="k", mode="overwrite")
    send(local, folder)
    before = paths(folder)

    def fail(method: str, target: str) -> str | None:
        return "503" if method == "DELETE" or (method == "POST" and "delete" in target) else None

    moto.before = fail
    with pytest.raises(en.errors.FileError):
        en.clean(url, older_than="0s", storage_options=ONCE)
    moto.before = lambda method, target: None
    assert paths(folder) == before
    assert rows(url).equals(ROWS[:9])
    assert len(en.clean(url, older_than="0s")) == 6 + 2


def test_file_systems_are_kept(library: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session of s3fs takes long, and has the variables that it was made with."""
    if library == "obstore":
        pytest.skip("test_stores_clouds.py has the stores of obstore")
    from entasis._stores import _fsspec

    _fsspec._kept.clear()
    for _ in range(3):
        assert en.scan(url).count() == N
    assert len(_fsspec._kept) == 1
    monkeypatch.setenv("AWS_SESSION_TOKEN", "another")
    assert en.scan(url).count() == N
    assert len(_fsspec._kept) == 2


def test_folders_in_memory(library: str) -> None:
    pytest.importorskip("fsspec")
    url = f"memory://lake/{library}"
    en.write_dataset(ROWS[:10], url, partition_by="k")
    en.write_dataset(ROWS[10:], url, mode="append")
    assert en.info(url).n_files == 6
    en.compact(url)
    assert en.info(url).n_files == 3
    assert len(en.clean(url, older_than="0s")) == 6 + 2
    assert rows(url).equals(ROWS)
    assert en.verify(url).n_values == en.verify(url).n_values > 2 * N


def test_folders_are_read(moto: MotoServer, url: str) -> None:
    found = en.read(url, to="polars")
    assert found.columns == ["n", "s", "k"]
    assert found.select("k", "n", "s").sort("n").equals(ROWS)
    some = en.read(url, columns=["n"], filter=en.col("k") == 2, to="numpy", storage_options=moto.options)
    assert some["n"].tolist() == list(range(2, N, 3))
    with pytest.raises(en.errors.MissingFileError, match="s3://tables/nothing does not exist"):
        en.read("s3://tables/nothing")
    with pytest.raises(en.errors.MissingFileError, match="s3://tables/sales does not exist"):
        en.read(url, generation=1)


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["entasis", *words])
    # The command replaces the handler of Ctrl-C.
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    return main()


SHOWN = (
    ["info"], ["info", "--json"], ["schema"], ["schema", "--json"], ["tree"], ["head"], ["head", "--rows", "10:13"],
    ["head", "--json", "-n", "5"], ["tail", "--columns", "s,n"], ["cat"], ["sample", "--seed", "3"],
    ["select", "--where", "n > 2900 and s = 'w1'"], ["select", "--where", "n > 2990", "--to", "csv"],
    ["select", "--where", "n < 2", "--explain"], ["count"], ["count", "--where", "s like 'w1%'"], ["verify"],
    ["verify", "--json", "--threads", "1"],
)  # fmt: skip


def test_verbs_print_what_they_print_for_a_local_folder(
    library: str, local: str, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(local).parent)

    def run(*words: str) -> str:
        assert command(monkeypatch, *words) == 0, words
        said = capfd.readouterr()
        assert not said.err, words
        return re.sub(r"checked in [\d.]+ s", "", said.out.replace(URL, "sales"))

    for verb, *options in SHOWN:
        # With a manifest, and without.
        for below in ("", "/k=1"):
            expected = run(verb, *options, f"sales{below}")
            assert expected.strip(), verb
            assert run(verb, *options, url + below) == expected
    assert run("count", url, "--where", "n < 100 and k = 1") == "33\n"
    for name in ("sales.csv", "sales.entasis", "sales.parquet", "sales.rds"):
        run("convert", "sales", name)
        expected_bytes = Path(name).read_bytes()
        run("convert", url, name)
        assert Path(name).read_bytes() == expected_bytes
    run("select", url, "--where", "k = 1", "--to", "entasis", "--output", "some.entasis")
    assert en.read("some.entasis", to="polars").height == N // 3
    assert run("diff", url, "sales") == f"no difference in {N:,} rows\n"
    # Objects and folders, in the order of the words.
    single = en.info(url).files[0]["path"].replace(URL, "sales")
    both = run("verify", f"s3://tables/{single}", f"{url}/").splitlines()
    assert [line.partition(": sound")[0] for line in both] == [single, "sales/"]


def test_the_command_reads_many_and_large_objects(
    moto: MotoServer, tmp_path: Path, folder: Folder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    large = pl.DataFrame({"n": range(400_000)}).with_columns(f=(pl.col("n") * 0.1).sin())
    en.write_dataset(large, "sales")
    for part in range(25):
        en.write_dataset(large[part : part + 1], "sales", mode="append")
    send("sales", folder)
    moto.requests.clear()
    for words in (["tail", "-n", "30"], ["count"], ["count", "--where", "n < 9"], ["verify"]):
        outs = []
        for place in ("sales", URL):
            assert command(monkeypatch, *words, place) == 0
            outs.append(re.sub(r"checked in [\d.]+ s", "", capfd.readouterr().out.replace(URL, "sales")))
        assert outs[0] == outs[1]


def test_objects_of_other_formats_are_shown(
    library: str, url: str, folder: Folder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder.put("other/x.csv", b"a,b\n1,x\n2,y\n")
    folder.put("other/frame", en.to_bytes(ROWS[:5]))
    for name, n in (("x.csv", "2\n"), ("frame", "5\n")):
        assert command(monkeypatch, "count", f"{url}/other/{name}") == 0
        assert capfd.readouterr().out == n


def test_the_command_changes_folders(
    library: str, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        assert command(monkeypatch, *words) == 0, words
        return capfd.readouterr().out

    if library == "fsspec":
        assert command(monkeypatch, "compact", url) == 1
        assert "could replace each other's manifest" in capfd.readouterr().err
        return
    assert run("compact", "--wait", "5", url) == f"{url}: 3 files, before 6\n"
    assert "0 files deleted" in run("clean", url)
    assert "8 files deleted" in run("clean", "--older-than", "0s", url)
    assert rows(url).equals(ROWS)


def test_failures_of_the_command(
    library: str, url: str, folder: Folder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = next(path for path in paths(folder) if path.startswith("k=2"))
    folder.put(name, en.to_bytes(ROWS[:1]))
    # fsspec lists a bucket that does not exist as an empty one.
    no_bucket = "the bucket 'no-bucket' does not exist" if library == "obstore" else "no object below this address"
    for words, expected in (
        (["verify", url], name),
        (["info", "s3://tables/nothing"], "no object below this address"),
        (["count", "s3://no-bucket/x"], no_bucket),
        (["convert", "s3://tables/nothing", "out.csv"], "no object"),
        (["generations", url], "name a file, not a folder"),
        (["head", "--generation", "1", url], "a folder has no generations"),
        (["rollback", url, "1"], "do not change in place"),
        (["clean", "s3://tables/nothing"], "no manifest"),
        (["compact", f"{url}/{name}"], "do not change in place"),
        (["info", "unknown://x"], "not known"),
        (["verify", "--no-such-option", url], "--no-such-option"),
    ):
        assert command(monkeypatch, *words) != 0, words
        said = capfd.readouterr()
        assert expected in said.err
        assert SECRET not in said.err
        assert "Error:" not in said.err
        assert not said.out


def test_a_store_that_fails_is_no_damage(
    moto: MotoServer, url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    moto.before = lambda method, target: "503" if "part-" in target else None
    once = Folder.at(url, ONCE, None)
    monkeypatch.setattr("entasis._arguments.sources.folder_on_store", lambda *of, may_be_file: once)
    assert command(monkeypatch, "verify", url) == 1
    said = capfd.readouterr().err
    assert "damaged" not in said
    assert said.count("\n") == 1


def test_the_command_names_a_missing_library(
    url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for library in ("_obstore", "_fsspec"):
        monkeypatch.setitem(sys.modules, f"entasis._stores.{library}", None)
    assert command(monkeypatch, "count", url) == 1
    said = capfd.readouterr().err
    assert "entasis[cloud]" in said
    assert "not supported" in said
