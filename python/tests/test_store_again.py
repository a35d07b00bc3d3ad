"""Tables that no library of Python wrote keep each value when Python stores them again.

pandas has one kind of missing value in a column of floats, so NaN of such a table would become
missing if the table went through pandas.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import entasis as en

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "crates" / "convert" / "tests" / "data"
TABLES = ["table.qs2", "table.qdata", "table_050.fst.xz"]
N = 100_000


@pytest.fixture(scope="module")
def with_row_names(tmp_path_factory):
    """A table of R with names of rows, as a file of Entasis."""
    path = tmp_path_factory.mktemp("r") / "names.entasis"
    en.convert(DATA / "values_v3_none.rds", path)
    tree = en.open(path)
    assert tree["frame"].written_by == "r"
    return path


def arrow(path):
    return en.read(path, to="pyarrow")


def assert_same(found, expected):
    """Values, missing values and NaN are the same."""
    assert found.column_names == expected.column_names
    for name in expected.column_names:
        one, other = found[name].combine_chunks(), expected[name].combine_chunks()
        assert one.type == other.type, name
        assert one.null_count == other.null_count, name
        if pa.types.is_floating(one.type):
            assert pc.is_nan(one).equals(pc.is_nan(other)), name
            one, other = one.fill_null(0).view(pa.int64()), other.fill_null(0).view(pa.int64())
        assert one.equals(other), name


def has_both(table):
    """Whether a column has missing values and NaN."""
    floats = [each for each in table.columns if pa.types.is_floating(each.type)]
    return any(each.null_count and pc.any(pc.is_nan(each)).as_py() for each in floats)


def stored(file, way, folder, content=None):
    """Store a table in one of the ways, and read it."""
    path = folder / f"{way}.entasis"
    if way == "write":
        en.write(file, path)
    elif way == "bytes":
        return en.read(en.to_bytes(file), to="pyarrow")
    elif way == "writer":
        with en.writer(path) as writer:
            for start in range(0, file.n_rows, 7):
                writer.write(file[start : start + 7])
    elif way == "append":
        en.append(file[:50], path, create=True)
        en.append(file[50:], path)
    elif way == "into Polars":
        en.write(file[:5].read(to="polars"), path)
        en.append(file[5:], path)
    elif way == "convert":
        en.convert(file.path if content is None else content, path, columns=file.column_names)
    elif way == "scan":
        en.write(file.scan(), path)
    return arrow(path)


@pytest.mark.parametrize("way", ["write", "bytes", "writer", "append", "convert", "scan"])
@pytest.mark.parametrize("name", TABLES)
def test_tables_keep_nan_beside_missing_values(name, way, tmp_path):
    content = (DATA / name).read_bytes()
    content = lzma.decompress(content) if name.endswith(".xz") else content
    file = en.open(content)
    assert file.written_by == "r"
    expected = file.read(to="pyarrow")
    assert has_both(expected)
    assert_same(stored(file, way, tmp_path, content), expected)


@pytest.mark.parametrize("way", ["write", "bytes", "writer", "into Polars", "scan"])
def test_views_keep_them_too(way, tmp_path):
    file = en.open(DATA / "table.qs2")
    view = file[["int", "dbl", "txt"]][list(range(file.n_rows - 1, -1, -1))]
    expected = view.read(to="pyarrow")
    assert has_both(expected)
    assert_same(stored(view, way, tmp_path), expected)


def test_long_tables_are_stored_in_batches(tmp_path):
    parts = [pa.table({"x": pa.array([1.5, None, float("nan")] * (N // 3))})] * 40
    en.write_csv(pa.concat_tables(parts), tmp_path / "long.csv")
    # The command writes files that no library wrote.
    en.write(en.scan_csv(tmp_path / "long.csv"), tmp_path / "long.entasis")
    file = en.open(tmp_path / "long.entasis")
    assert file.written_by is None
    en.write(file, tmp_path / "again.entasis")
    assert en.open(tmp_path / "again.entasis").written_by == "pyarrow"
    assert_same(arrow(tmp_path / "again.entasis"), file.read(to="pyarrow"))
    assert has_both(file.read(to="pyarrow"))


def test_names_of_rows_become_a_column(with_row_names, tmp_path):
    frame = en.open(with_row_names)["frame"]
    names = frame.read(to="pandas").index
    en.write(frame, tmp_path / "frame.entasis")
    table = arrow(tmp_path / "frame.entasis")
    if "row.names" in frame.read(to="pyarrow").column_names:
        assert table["row.names"].to_pylist() == names.tolist()
    en.write(frame, tmp_path / "frame.entasis", index=False)
    assert arrow(tmp_path / "frame.entasis").column_names == frame.column_names


def test_tables_inside_of_trees(with_row_names, tmp_path):
    tree = en.open(with_row_names)
    expected = {name: tree[name].read(to="pyarrow") for name in ("frame", "tibble", "dt")}
    assert any(map(has_both, expected.values()))
    en.write(tree, tmp_path / "tree.entasis")
    again = en.open(tmp_path / "tree.entasis")
    for name, table in expected.items():
        assert_same(again[name].read(), table)


@pytest.mark.parametrize("call", [lambda path: en.update({"new": 1}, path), lambda path: en.set_metadata(1, path)])
def test_values_of_r_are_not_changed_from_python(with_row_names, call):
    before = with_row_names.read_bytes()
    with pytest.raises(en.UnsupportedTypeError, match="values of R: change it from there"):
        call(with_row_names)
    assert with_row_names.read_bytes() == before


def test_columns_that_arrow_lacks_are_named():
    file = en.open(ROOT / "tests" / "golden" / "r" / "frame.entasis")
    with pytest.raises(en.UnsupportedTypeError, match=r"'complex': .*choose other columns, or read the table"):
        en.to_bytes(file)
    assert en.read(en.to_bytes(file.read()))["complex"].dtype == "complex128"


def test_without_pyarrow_and_polars_it_is_refused(monkeypatch, tmp_path):
    from entasis._libraries import registry

    installed = registry.is_installed
    monkeypatch.setattr(registry, "is_installed", lambda host: host == "pandas" and installed(host))
    with pytest.raises(en.MissingLibraryError, match="pandas makes NaN a missing value"):
        en.write(en.open(DATA / "table.qs2"), tmp_path / "x.entasis")
    assert not (tmp_path / "x.entasis").exists()
