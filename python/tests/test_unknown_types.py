"""Files of a later release: a column of an unknown type is listed, and the others are read."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import forks
import numpy as np
import pandas as pd
import pytest
from forge import Forge

import entasis as en

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS, NAMES, RECORD_LEN = 2, 3, 120
TYPES_AT, UNKNOWN_TYPE = 20, 77
OTHERS = ["a", "c"]
TABLES = ["pandas", "polars", "pyarrow", "static_frame"]


def frame(n: int) -> pd.DataFrame:
    return pd.DataFrame({"a": np.arange(n), "b": np.arange(n) * 0.5, "c": [f"text {i}" for i in range(n)]})


# Few rows are bundled with columns of their type, many are stored by themselves.
@pytest.fixture(params=[5, 20_000])
def file(request: pytest.FixtureRequest, path: Path) -> Path:
    """A file whose column "b" has an unknown physical type."""
    en.write(frame(request.param), path, compression=0)
    forge = Forge(path.read_bytes())
    names, (at, length) = forge.sections[NAMES][0], forge.sections[COLUMNS]
    for record in range(at, at + length, RECORD_LEN):
        name_at, name_len = forge.unpack("QI", record + 8)
        if forge.bytes[names + name_at : names + name_at + name_len] == b"b":
            forge.bytes[record + TYPES_AT] = UNKNOWN_TYPE
    path.write_bytes(forge.repaired())
    return path


def names_of(table: Any) -> list[str]:
    return list(getattr(table, "column_names", None) or table.columns)


@pytest.mark.parametrize("to", TABLES)
def test_other_columns_are_read(to: str, file: Path) -> None:
    pytest.importorskip(to)
    n = en.open(file).n_rows
    found = en.read(file, columns=OTHERS, to=to)
    assert names_of(found) == OTHERS
    values = found["c"].to_pylist() if to == "pyarrow" else list(getattr(found["c"], "values", found["c"]))
    assert values == list(frame(n)["c"])
    part = en.read(file, columns=["a"], rows=slice(1, 4), to=to)
    assert names_of(part) == ["a"]
    for columns in (None, ["b"]):
        with pytest.raises(en.UnsupportedTypeError, match=r'physical 77.*column "b".*read other columns'):
            en.read(file, columns=columns, to=to)


def test_open_file_lists_the_column(file: Path) -> None:
    opened = en.open(file)
    assert dict(opened.schema) == {"a": "i64", "b": "unknown", "c": "utf8"}
    assert list(opened["a"].read()["a"]) == list(range(opened.n_rows))
    with pytest.raises(en.UnsupportedTypeError, match='column "b"'):
        opened["b"].read()


def test_info_lists_the_column(file: Path) -> None:
    columns = {column["name"]: column for column in en.info(file).columns}
    assert [columns[name]["type"] for name in "abc"] == ["i64", "unknown", "utf8"]
    assert (columns["b"]["n_values"], columns["b"]["n_missing"]) == (en.open(file).n_rows, 0)


def test_verify_checks_the_other_columns(file: Path) -> None:
    with pytest.raises(en.UnsupportedTypeError, match=r'column "b"\); all but 1 of \d columns are sound'):
        en.verify(file)
    changed = bytearray(file.read_bytes())
    at = changed.index(b"text 3")
    changed[at] ^= 1
    file.write_bytes(changed)
    with pytest.raises(en.CorruptFileError, match='column "c"'):
        en.verify(file)


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    done = forks.command(*arguments)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_commands_list_the_column(file: Path) -> None:
    for verb in ("schema", "info"):
        said = command(verb, file)
        assert (said.returncode, said.stderr) == (0, "")
        assert [line.split()[1] for line in said.stdout.splitlines() if line[:2] in ("a ", "b ", "c ")] == [
            "i64",
            "unknown",
            "utf8",
        ]
        columns = json.loads(command(verb, "--json", file).stdout)["columns"]
        assert {"b": "unknown", "c": "utf8"}.items() <= {column["name"]: column["type"] for column in columns}.items()
    assert command("head", "--columns", "a,c", file).returncode == 0
    refused = command("verify", "--json", file)
    assert refused.returncode == 1
    found = json.loads(refused.stdout)
    assert (found["sound"], found["kind"], found["column"]) == (False, "unsupported", "b")


def test_changes_refuse_the_column(file: Path) -> None:
    content = file.read_bytes() + b"rest"
    file.write_bytes(content)
    for change in (lambda: en.compact(file), lambda: en.repair(file, file.with_suffix(".out"))):
        with pytest.raises(en.UnsupportedTypeError, match='"b"'):
            change()
        assert file.read_bytes() == content
    assert not file.with_suffix(".out").exists()
