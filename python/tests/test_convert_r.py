"""Files of R without R: RDS, RData, qs2, qdata and fst."""

from __future__ import annotations

import contextlib
import lzma
import pickle
import types
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


@pytest.fixture
def fst(tmp_path, monkeypatch):
    """A file of fst, its Entasis file, and the parts that were decoded."""
    import entasis._view.fst as module

    path, converted, parts = tmp_path / "table.fst", tmp_path / "table.entasis", []
    path.write_bytes(lzma.decompress((DATA / "table_050.fst.xz").read_bytes()))
    en.convert(path, converted)
    real = module._entasis.FstParts.open

    class Watched:
        def __init__(self, of):
            self._of = of

        def __getattr__(self, name):
            return getattr(self._of, name)

        def part(self, columns, start, stop):
            parts.append((columns, start, stop))
            return self._of.part(columns, start, stop)

    def opened(path, limits):
        found = real(path, limits)
        return None if found is None else Watched(found)

    watched = types.SimpleNamespace(open=opened)
    monkeypatch.setattr(module, "_entasis", types.SimpleNamespace(FstParts=watched))
    return path, converted, parts


def test_opening_fst_decodes_nothing(fst):
    path, converted, parts = fst
    file, other = en.open(path), en.open(converted)
    assert (file.n_rows, file.n_columns, len(file), file.shape) == (5000, 13, 5000, (5000, 13))
    assert file.column_names == other.column_names
    assert parts == [(None, 0, 0)]
    assert file.schema == other.schema
    assert "lgl" in file
    assert "nothing" not in file
    assert parts == [(None, 0, 0)]
    some = file[["txt", "lgl"]][10:20]
    assert (some.shape, parts) == ((10, 2), [(None, 0, 0)])
    assert some.read().equals(other[["txt", "lgl"]][10:20].read())
    assert parts[1:] == [([file.column_names.index("txt"), file.column_names.index("lgl")], 10, 20)]


@pytest.mark.parametrize("to", [None, "polars", "pyarrow", "numpy"])
def test_parts_of_fst_are_those_of_the_file(fst, to):
    path, converted, parts = fst
    names = [name for name in en.open(converted).column_names if not name.startswith("dt")]
    some = ["txt", "int", "lgl", "fac"]
    some = [name for name in some if name in names]
    for columns in (None, some, "txt", ["lgl", "txt", "lgl"]):
        for rows in (None, (4090, 4110), slice(None, None, -7), [4999, 3, 3, 2], slice(5, 5), 17, -1):
            parts.clear()
            try:
                expected = en.read(converted, columns=columns, rows=rows, to=to)
            except en.EntasisError as error:
                with pytest.raises(type(error)):
                    en.read(path, columns=columns, rows=rows, to=to)
                continue
            found = en.read(path, columns=columns, rows=rows, to=to)
            _assert_equal(found, expected)
            decoded = [part for part in parts if part[1:] != (0, 0)]
            most = {(4090, 4110): (4090, 4110), 17: (17, 18), -1: (4999, 5000)}
            if isinstance(rows, (int, tuple)):
                assert [part[1:] for part in decoded] == [most[rows]]
            if columns is not None:
                assert all(part[0] is not None for part in decoded)


def _assert_equal(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, values in expected.items():
            np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(values))
    elif isinstance(expected, pd.DataFrame):
        # The unit of times is that of the rows which are read.
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)
    elif hasattr(expected, "schema") and hasattr(expected, "to_pydict"):
        # NaN differs from itself.
        assert str(found.to_pydict()) == str(expected.to_pydict())
    else:
        assert str(found.to_dicts()) == str(expected.to_dicts())


def test_other_uses_of_fst_decode_the_table_once(fst):
    path, converted, parts = fst
    file, other = en.open(path), en.open(converted)
    condition = en.col("int") > 0
    assert file.filter(condition).read().equals(other.filter(condition).read())
    assert not en.diff(file, other)
    assert file.head(3).equals(other.head(3))
    whole = [part for part in parts if part == (None, 0, 5000)]
    assert len(whole) == 1
    assert en.read(path, filter=condition, to="polars").shape == en.read(converted, filter=condition, to="polars").shape
    assert file.filter(condition).read(nan_to_null=True, to="polars").shape[0] > 0


def test_an_open_file_of_fst_is_closed_and_pickled(fst):
    path, converted, _ = fst
    with en.open(path) as file:
        copy = pickle.loads(pickle.dumps(file["txt"][3:7]))
        assert copy.read().equals(en.read(converted, columns="txt", rows=(3, 7)))
        path.unlink()
        assert file["int"].read().equals(en.read(converted, columns="int"))
    with pytest.raises(en.ClosedFileError):
        file.read()


def test_fst_of_another_name_is_opened(fst, tmp_path):
    path, converted, _ = fst
    other = tmp_path / "table.bin"
    other.write_bytes(path.read_bytes())
    assert en.read(other).equals(en.read(converted))
    named = tmp_path / "table.fst.fst"
    named.write_bytes(converted.read_bytes())
    assert en.read(named).equals(en.read(converted))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(en.CorruptFileError):
        en.read(path)


def test_progress_of_fst_counts_rows(fst, tmp_path):
    path, _, _ = fst
    seen = []
    en.convert(path, tmp_path / "out.entasis", progress=lambda done, total, unit: seen.append((done, total, unit)))
    assert all(unit == "rows" for *_, unit in seen)
