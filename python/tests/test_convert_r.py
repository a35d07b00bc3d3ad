"""Files of R without R: RDS, RData, qs2, qdata and fst."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import entasis as en

DATA = Path(__file__).resolve().parents[2] / "crates" / "convert" / "tests" / "data"
VALUES = ["values_v2_gzip.rds", "values_v2_xz.rds", "values_v3_none.rds", "values_le.rds", "values_v3_bzip2.rds"]
TABLES = ["table.qs2", "table.qdata", "small.fst"]


def frames(path):
    """The tables of the tree that the fixtures hold."""
    tree = en.read(path)
    return {name: value for name, value in tree.items() if isinstance(value, pd.DataFrame)}


def test_all_forms_of_a_value_are_read_alike():
    expected = frames(DATA / VALUES[0])
    assert list(expected) == ["frame", "tibble", "dt"]
    assert expected["frame"].shape == (40, 12)
    for name in [*VALUES[1:], "values.qs2"]:
        found = frames(DATA / name)
        for key, frame in expected.items():
            pd.testing.assert_frame_equal(found[key], frame)


def test_types_of_r_have_their_counterparts():
    frame = en.read(DATA / VALUES[0])["frame"]
    types = {name: str(of) for name, of in frame.dtypes.items()}
    assert types["int"] == "Int32" or types["int"] == "int32"
    assert types["fac"] == types["ord"] == "category"
    assert frame["ord"].cat.ordered
    assert types["time"] == "datetime64[ns, Europe/Zurich]"
    assert types["gap"].startswith("timedelta64")


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_open_like_those_of_entasis_files(name, tmp_path):
    path = tmp_path / "out.entasis"
    en.convert(DATA / name, path)
    ours, theirs = en.open(DATA / name), en.open(path)
    assert ours.column_names == theirs.column_names
    assert ours.n_rows == theirs.n_rows
    assert not en.diff(ours, theirs)
    assert en.read(path).equals(en.read(DATA / name))
    first = ours.column_names[:2]
    assert en.read(DATA / name, columns=first, rows=(3, 9)).equals(en.read(path, columns=first, rows=(3, 9)))
    assert en.read((DATA / name).read_bytes(), to="polars").equals(en.read(path, to="polars"))
    en.verify(path)


def test_a_converted_file_is_of_r(tmp_path):
    path = tmp_path / "out.entasis"
    for name in TABLES:
        en.convert(DATA / name, path)
        assert en.open(path)._view.handle.host()["host"] == "r"


def test_attributes_of_r_are_losses_where_another_library_writes(tmp_path):
    path = tmp_path / "of_r.entasis"
    en.convert(DATA / "table.qs2", path)
    view = en.open(path)._view
    described = {column.name for column in view.handle.columns([number for number, _ in view.table.host["columns"]])}
    assert described
    for target in ["again.entasis", "part.parquet"]:
        with pytest.warns(en.ConversionWarning) as caught:
            en.convert(path, tmp_path / target, verify=True)
        lost = {column for column, reason in caught[0].message.losses if "attributes in R" in reason}
        assert lost - {None} == described
        # NaN and missing values stay apart.
        wanted, got = (en.read(one, to="pyarrow", columns="dbl") for one in (path, tmp_path / target))
        assert got["dbl"].null_count == wanted["dbl"].null_count == 1
    with pytest.raises(en.ConversionError):
        en.convert(DATA / "table.qs2", tmp_path / "strict.entasis", rows=(0, 5), strict=True)
    assert not (tmp_path / "strict.entasis").exists()


def test_objects_of_an_image_have_their_names():
    found = en.read(DATA / "two.RData")
    assert list(found) == ["x", "y"]


def test_functions_are_refused_with_their_path_or_kept_as_data(tmp_path):
    path = tmp_path / "code.entasis"
    with pytest.raises(en.UnsupportedTypeError, match=r"x\$g: a value of type closure is code"):
        en.convert(DATA / "code.rds", path)
    assert not path.exists()
    en.convert(DATA / "code.rds", path, functions=True)
    assert "r.closure" in repr(en.read(path)["g"])
    with pytest.raises(en.ArgumentError, match="functions= is for a whole file of R"):
        en.convert(path, tmp_path / "other.csv", functions=True)


def test_a_table_goes_on_to_other_formats(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.ConversionWarning)
        en.convert(DATA / "table.qs2", tmp_path / "table.parquet")
        en.convert(DATA / "table.qs2", tmp_path / "table.csv")
    found = en.read(tmp_path / "table.parquet", to="polars")
    assert found.height == 5000
    assert found.columns == en.open(DATA / "table.qs2").column_names
    en.convert(DATA / "table.qs2", tmp_path / "table.entasis", verify=True)
    with pytest.raises(en.UnsupportedTypeError, match="tree of values"):
        en.convert(DATA / VALUES[0], tmp_path / "tree.entasis", verify=True)
    with pytest.raises(en.UnsupportedTypeError, match="holds no table"):
        en.convert(DATA / VALUES[0], tmp_path / "tree.parquet")


def test_damaged_files_are_errors_and_leave_nothing(tmp_path):
    rng = np.random.default_rng(5)
    for name in [VALUES[2], "values.qs2", "small.fst", "two.RData"]:
        whole = (DATA / name).read_bytes()
        for n in [9, 30, len(whole) // 2, len(whole) - 1]:
            with pytest.raises(en.EntasisError):
                en.read(whole[:n])
        for at in rng.integers(0, len(whole), 40):
            changed = bytearray(whole)
            changed[at] ^= 1 << int(rng.integers(8))
            with contextlib.suppress(en.EntasisError):
                en.read(bytes(changed))
    cut, out = tmp_path / "cut.rds", tmp_path / "out.entasis"
    cut.write_bytes((DATA / VALUES[2]).read_bytes()[:3000])
    with pytest.raises(en.CorruptFileError, match=r"cut\.rds"):
        en.convert(cut, out)
    assert [one.name for one in tmp_path.iterdir()] == ["cut.rds"]


def test_content_is_limited():
    with pytest.raises(en.LimitError):
        en.read(DATA / VALUES[0], limits={"decoded_len": 1000})
