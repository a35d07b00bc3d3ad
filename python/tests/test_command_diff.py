"""`entasis diff`: exit codes, reports, and files of all formats."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import forks
import pandas as pd
import pytest

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

OLD = pd.DataFrame({"id": [1, 2, 3], "price": [3.0, 5.0, 4.0], "name": ["a", "b", "c"]})
NEW = pd.DataFrame({"id": [3, 1, 4], "price": [4.0, 3.5, 1.0], "name": ["c", "a", "d"]})


def diff(*args: Any, stdin: bytes | None = None) -> tuple[int, str, str]:
    done = forks.command("diff", *args, stdin=stdin)
    assert "Traceback" not in done.stderr.decode()
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.entasis", tmp_path / "new.parquet"
    en.write(OLD, old)
    NEW.to_parquet(new)
    return old, new


def test_equal_tables_of_all_formats(tmp_path: Path, files: tuple[Path, Path]) -> None:
    for end in ("parquet", "feather", "csv", "jsonl"):
        other = tmp_path / f"other.{end}"
        en.convert(files[0], other)
        assert diff(files[0], other) == (0, "no difference in 3 rows\n", ""), end
    assert diff("-", files[0], stdin=(tmp_path / "other.csv").read_bytes())[0] == 0


def test_differences_are_listed(files: tuple[Path, Path]) -> None:
    old, new = files
    code, out, err = diff("--key", "id", old, new)
    assert (code, err) == (1, "")
    assert out.splitlines() == [
        f"{old} and {new} differ; 2 rows compared",
        "column 'price': 1 differs",
        "row 1, 'price': 3.0 | 3.5",
        f"only in {old}: 1 row (2)",
        f"only in {new}: 1 row (4)",
    ]
    code, out, _ = diff("--key", "id", "--json", old, new)
    assert code == 1
    assert json.loads(out) == json.loads(en.diff(old, new, key="id", limit=10).to_json())
    code, out, _ = diff("--limit", "1", old, new)
    assert code == 1
    found = en.diff(old, new, limit=1)
    assert [line for line in out.splitlines() if line.startswith("row ")] == [
        f"row {row}, {column!r}: {a!r} | {b!r}" for row, column, a, b in found.rows
    ]
    assert diff("-k", "id", "--columns", "name", "--json", old, old)[0] == 0
    assert diff("--key", "id", "--columns", "price", "--tolerance", "0.5", old, new)[1].count("price") == 0


def test_errors_have_a_code_of_their_own(tmp_path: Path, files: tuple[Path, Path]) -> None:
    old, new = files
    for args, says in [
        ((old, tmp_path / "none.parquet"), "no file"),
        (("--key", "nothing", old, new), "no table has a column 'nothing'"),
        (("-", "-"), "only once"),
        ((old, __file__ + "c"), "no file"),
    ]:
        code, out, err = diff(*args)
        assert (code, out) == (2, ""), err
        assert says in err
    assert diff(old)[0] == 2
    assert diff("--tolerance", "much", old, new)[0] == 2


def test_names_do_not_reach_the_terminal_raw(tmp_path: Path) -> None:
    a, b = tmp_path / "a.entasis", tmp_path / "b.entasis"
    en.write(pd.DataFrame({"x\x1b[31m": ["\x1b]0;t\x07"]}), a)
    en.write(pd.DataFrame({"x\x1b[31m": ["y\n"]}), b)
    for more in ((), ("--json",)):
        code, out, _ = diff(*more, a, b)
        assert code == 1
        assert "\x1b" not in out
        assert "\x07" not in out
