"""Conversions between formats, against the libraries' own readers and writers."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import itertools
import json
import lzma
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as pf
import pyarrow.parquet as pq
import pytest
import static_frame as sf
from bench.fidelity.cases import panel
from bench.fidelity.same import check
from frames_same import assert_frame_equal

import entasis as en
from entasis._convert import formats

PANDAS = pd.DataFrame(
    {
        "a": [1, 2, 3],
        "c": pd.Categorical(["x", None, "y"], categories=["y", "x", "z"], ordered=True),
        "s": ["p", None, "q"],
        "f": [1.5, np.nan, -0.0],
        "n": pd.array([1, None, 3], dtype="Int16"),
        "t": pd.to_datetime(["2020-01-01", "2021-06-01", None]).tz_localize("Europe/Oslo"),
    },
    index=pd.Index([5, 7, 8], name="k"),
)
PANDAS.attrs = {"unit": "m"}
ARROW = pa.table(
    {
        "i": pa.array([1, None, 3], pa.int8()),
        "u": pa.array([2**64 - 1, None, 0], pa.uint64()),
        "ts": pa.array([1, 2, None], pa.timestamp("us", "Europe/Oslo")),
        "d": pa.array(["x", "y", None]).dictionary_encode(),
        "l": pa.array([[1, None], None, []], pa.list_(pa.int16())),
        "dec": pa.array([Decimal("1.50"), None, Decimal("2.25")]),
        "st": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}]),
        "m": pa.array([[("k", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        "b": pa.array([b"a", None, b"\0"]),
        "du": pa.array([None, dt.timedelta(1), None]),
        "nan": pa.array([float("nan"), None, -0.0]),
        "no": pa.nulls(3),
        "id": pa.array([b"0" * 16, None, b"1" * 16], pa.uuid()),
    }
).replace_schema_metadata({"hello": "world"})
POLARS = pl.DataFrame(
    {
        "e": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
        "x": [1.5, float("nan"), None],
        "l": [["p"], None, []],
        "t": pl.Series([dt.time(1), None, dt.time(2)]),
    }
)
TEXTS = {"csv", "jsonl"}
ARROW_LIKE = ["parquet", "arrow", "arrows", "feather"]


def convert(source, path, **options):
    """Convert with a check, and return the losses."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.convert(source, path, verify=True, **options)
    return [loss for each in caught if isinstance(each.message, en.ConversionWarning) for loss in each.message.losses]


def read_arrow(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pa.ipc.open_stream(path.read_bytes()).read_all() if path.suffix == ".arrows" else pf.read_table(path)


def write_arrow(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    elif path.suffix == ".feather":
        pf.write_feather(table, path, chunksize=2)
    else:
        make = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with make(path, table.schema) as file:
            file.write_table(table, 2)


@pytest.mark.parametrize("end", ARROW_LIKE)
class TestArrow:
    def test_in_and_out(self, end, tmp_path):
        path, stored, back = tmp_path / f"x.{end}", tmp_path / "x.entasis", tmp_path / f"y.{end}"
        write_arrow(ARROW, path)
        assert convert(path, stored, strict=True) == []
        wanted = read_arrow(path)
        found = en.read(stored)
        # Readers of pyarrow name the values of a map in several ways.
        assert found.schema.equals(wanted.schema)
        assert found.schema.metadata == wanted.schema.metadata
        check(wanted.combine_chunks(), found.combine_chunks())
        assert convert(stored, back, strict=True) == []
        check(wanted.combine_chunks(), read_arrow(back).combine_chunks())
        assert not en.diff(path, back)

    def test_frames_of_pandas(self, end, tmp_path):
        path, stored, back = tmp_path / f"x.{end}", tmp_path / "x.entasis", tmp_path / f"y.{end}"
        write_arrow(pa.Table.from_pandas(PANDAS), path)
        assert convert(path, stored, strict=True) == []
        assert_frame_equal(en.read(stored), PANDAS)
        assert en.read(stored).attrs == PANDAS.attrs
        assert convert(stored, back, strict=True) == []
        found = read_arrow(back).to_pandas()
        assert_frame_equal(found, PANDAS)
        assert found.attrs == PANDAS.attrs
        if end in ("parquet", "feather"):
            own = pd.read_parquet(back) if end == "parquet" else pd.read_feather(back)
            assert_frame_equal(own, PANDAS)
        assert not en.diff(path, stored)

    def test_frames_of_polars(self, end, tmp_path):
        stored, back = tmp_path / "x.entasis", tmp_path / f"y.{end}"
        en.write(POLARS, stored)
        assert convert(stored, back, strict=True) == []
        if end == "parquet":
            assert pl.read_parquet(back).equals(POLARS)
            assert pl.read_parquet(back).schema == POLARS.schema
        assert pl.from_arrow(read_arrow(back)).schema == POLARS.schema
        assert not en.diff(stored, back)

    def test_selections(self, end, tmp_path):
        path, to = tmp_path / f"x.{end}", tmp_path / "y.entasis"
        rng = np.random.default_rng(3)
        n = 1000
        table = pa.table({"a": rng.integers(0, 9, n), "b": rng.random(n), "c": [f"s{i % 7}" for i in range(n)]})
        if end == "parquet":
            pq.write_table(table, path, row_group_size=100)
        else:
            make = pa.ipc.new_stream if end == "arrows" else pa.ipc.new_file
            with make(path, table.schema) as file:
                file.write_table(table, 100)
        for columns, rows, filter in itertools.product(
            (None, ["c", "a"], [-1, 0], slice(1)),
            (None, (150, 720), slice(-20, None), range(5, 5), [7, 3, -1]),
            (None, en.col("a") > 4),
        ):
            part = table if rows is None else table.take(np.arange(n)[slice(*rows) if type(rows) is tuple else rows])
            part = part if filter is None else part.filter(pc.field("a") > 4)
            names = table.column_names if columns is None else ["a"] if type(columns) is slice else ["c", "a"]
            en.convert(path, to, columns=columns, rows=rows, filter=filter)
            assert en.read(to).equals(part.select(names))
            assert en.read(path, columns=columns, rows=rows, filter=filter).equals(part.select(names))
        assert en.read(path, columns="a", to="polars")["a"].to_list() == table["a"].to_pylist()
        with pytest.raises(en.ColumnNotFoundError, match="'d'"):
            en.read(path, columns="d")
        with pytest.raises(en.ColumnNotFoundError, match="d"):
            en.read(path, filter=en.col("d") > 1)
        with pytest.raises(en.ColumnNotFoundError):
            en.convert(path, to, columns=[7])

    def test_no_rows(self, end, tmp_path):
        path, stored, back = tmp_path / f"x.{end}", tmp_path / "x.entasis", tmp_path / f"y.{end}"
        write_arrow(ARROW.slice(0, 0), path)
        convert(path, stored)
        assert en.read(stored).schema.equals(read_arrow(path).schema)
        convert(stored, back)
        assert read_arrow(back).schema.equals(read_arrow(path).schema)

    def test_dictionaries_that_grow(self, end, tmp_path):
        path = tmp_path / f"x.{end}"
        parts = [pa.array(words).dictionary_encode() for words in (["a", "b"], ["c", None, "b"], ["a", "d"])]
        table = pa.table({"d": pa.chunked_array(parts), "i": range(7)})
        if end in ("arrow", "feather"):
            table = table.unify_dictionaries()
        write_arrow(table, path)
        for target in ("y.entasis", "y.parquet", "y.arrow", "y.arrows", "y.feather", "y.csv", "y.jsonl"):
            convert(path, tmp_path / target)
        wanted = table["d"].cast(pa.string()).to_pylist()
        assert en.read(tmp_path / "y.entasis")["d"].cast(pa.string()).to_pylist() == wanted
        for target in ("y.parquet", "y.arrow", "y.arrows", "y.feather"):
            assert read_arrow(tmp_path / target)["d"].cast(pa.string()).to_pylist() == wanted


# Types that come back with other names of items, or with bits that NaN loses where it is missing.
SOFT = (
    "list",
    "struct",
    "map",
    "bits of NaN",
    "float16",
    "UTC]",
    "names:",
    "multi",
    "unused",
    "to be sorted",
    "no rows:",
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["pandas", "Polars", "pyarrow"])
@pytest.mark.parametrize("end", ["parquet", "feather"])
def test_values_without_losses_come_back(library, end, tmp_path):
    """Values without losses come back the same by the library's own reader. Others are errors."""
    read = {
        "pandas": pd.read_parquet if end == "parquet" else pd.read_feather,
        "Polars": pl.read_parquet if end == "parquet" else pl.read_ipc,
        "pyarrow": read_arrow,
    }[library]
    path, back = tmp_path / "x.entasis", tmp_path / f"y.{end}"
    n = 0
    for case in list(panel(library))[(0 if end == "parquet" else 3) :: 20]:
        if case.refused is not None:
            continue
        en.write(case.make(), path)
        try:
            en.convert(path, back, strict=True)
        except (en.ConversionError, en.UnsupportedTypeError):
            continue
        if not any(word in case.key for word in SOFT):
            check(case.make(), read(back))
            n += 1
    assert n > 2


@pytest.mark.parametrize("source", ["parquet", "arrow", "arrows", "feather", "csv", "jsonl", "npz", "entasis"])
@pytest.mark.parametrize("target", ["parquet", "arrow", "arrows", "feather", "csv", "jsonl", "npz", "entasis"])
def test_every_pair(source, target, tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"], "c": [0.5, 1e300, -2.25], "d": [True, False, True]})
    first, path, back = tmp_path / "0.entasis", tmp_path / f"x.{source}", tmp_path / f"y.{target}"
    en.write(frame, first)
    assert convert(first, path, strict=True) == []
    assert convert(path, back, strict=True) == []
    found = en.read_csv(back, "polars") if target == "csv" else en.read(back, to="polars")
    assert found.select(frame.columns).equals(frame)
    assert not en.diff(first, back)
    # A file is its own target.
    if source == target:
        assert convert(path, path) == []
        assert not en.diff(first, path)


class TestParquetFolders:
    def test_a_folder_is_one_table(self, tmp_path):
        folder = tmp_path / "t"
        for year in (2020, 2021):
            (folder / f"year={year}").mkdir(parents=True)
            pq.write_table(pa.table({"a": [year, year + 1]}), folder / f"year={year}" / "part.parquet")
        en.convert(folder, tmp_path / "t.entasis")
        found = en.read(tmp_path / "t.entasis")
        assert found["a"].to_pylist() == [2020, 2021, 2021, 2022]
        assert found["year"].to_pylist() == [2020, 2020, 2021, 2021]
        assert en.read(folder).equals(found)
        assert en.read(folder, columns="a", filter=en.col("year") == 2021)["a"].to_pylist() == [2021, 2022]
        with pytest.raises(en.DirectoryError, match=r"en\.read\(path\)"):
            en.open(folder)

    def test_several_files_are_one_table(self, tmp_path):
        pq.write_table(pa.table({"a": [1], "b": ["x"]}), tmp_path / "1.parquet")
        pq.write_table(pa.table({"a": [2]}), tmp_path / "2.parquet")
        wanted = pa.table({"a": [1, 2], "b": ["x", None]})
        for source in (tmp_path / "*.parquet", [tmp_path / "1.parquet", tmp_path / "2.parquet"]):
            en.convert(source, tmp_path / "t.entasis")
            assert en.read(tmp_path / "t.entasis").equals(wanted)
        pq.write_table(pa.table({"a": ["text"]}), tmp_path / "2.parquet")
        with pytest.raises(en.ArgumentError, match="different columns"):
            en.convert(tmp_path / "*.parquet", tmp_path / "u.entasis")
        assert not (tmp_path / "u.entasis").exists()


class TestNumpy:
    def test_arrays(self, tmp_path):
        array = np.arange(6.0).reshape(2, 3)
        np.save(tmp_path / "x.npy", array)
        convert(tmp_path / "x.npy", tmp_path / "x.entasis")
        assert np.array_equal(en.read(tmp_path / "x.entasis"), array)
        convert(tmp_path / "x.entasis", tmp_path / "y.npy")
        assert np.array_equal(np.load(tmp_path / "y.npy"), array)
        assert np.array_equal(en.read(tmp_path / "y.npy"), array)
        convert(tmp_path / "x.npy", tmp_path / "y.npz")
        assert np.array_equal(np.load(tmp_path / "y.npz")["arr_0"], array)
        with pytest.raises(en.UnsupportedTypeError, match="no table"):
            en.convert(tmp_path / "x.npy", tmp_path / "x.parquet")

    def test_objects_are_refused(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array([{}]), allow_pickle=True)
        with pytest.raises(en.UnsupportedTypeError, match="objects"):
            en.read(tmp_path / "x.npy")

    def test_tables(self, tmp_path):
        np.savez(tmp_path / "x.npz", a=np.arange(3), b=np.array(["x", "yy", ""]), z=np.array([1j, 2, 3]))
        convert(tmp_path / "x.npz", tmp_path / "x.entasis", strict=True)
        assert en.read(tmp_path / "x.entasis")["z"].tolist() == [1j, 2, 3]
        losses = convert(tmp_path / "x.entasis", tmp_path / "x.parquet")
        assert [column for column, _ in losses] == ["z"]
        assert "left out" in losses[0][1]
        assert pq.read_table(tmp_path / "x.parquet").column_names == ["a", "b"]
        convert(tmp_path / "x.entasis", tmp_path / "y.npz", strict=True)
        assert np.load(tmp_path / "y.npz")["b"].tolist() == ["x", "yy", ""]
        en.convert(tmp_path / "x.npz", tmp_path / "a.npy", columns="a")
        assert np.load(tmp_path / "a.npy").tolist() == [0, 1, 2]
        with pytest.raises(en.UnsupportedTypeError, match="one array, and there are 3"):
            en.convert(tmp_path / "x.npz", tmp_path / "b.npy")

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_frames_of_static_frame(self, tmp_path):
        frame = sf.Frame.from_dict({"a": (1, 2), "b": ("x", "y")}, index=("p", "q"), name="n")
        frame.to_npz(tmp_path / "x.npz")
        assert convert(tmp_path / "x.npz", tmp_path / "x.entasis", strict=True) == []
        assert en.read(tmp_path / "x.entasis").equals(frame, compare_name=True, compare_dtype=True)
        assert convert(tmp_path / "x.entasis", tmp_path / "y.npz", strict=True) == []
        assert sf.Frame.from_npz(tmp_path / "y.npz").equals(frame, compare_name=True, compare_dtype=True)
        assert (None, "the labels of rows become columns") in convert(tmp_path / "x.npz", tmp_path / "x.parquet")


class TestLosses:
    def test_text(self, tmp_path):
        en.write(PANDAS, tmp_path / "x.entasis", metadata={"by": "me"})
        with pytest.warns(en.ConversionWarning, match="and 3 more") as caught:
            en.convert(tmp_path / "x.entasis", tmp_path / "x.csv", verify=True)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert caught[0].message.losses == [
            (None, "the metadata of the file are lost"),
            (None, "the labels of rows become columns"),
            (None, "the attributes of the frame are lost"),
            ("c", "its categories become text"),
            ("n", "the type int16 is not in the text"),
            ("t", "timestamp[us, tz=Europe/Oslo] is written in UTC"),
        ]
        with pytest.raises(en.ConversionError, match="metadata of the file") as refused:
            en.convert(tmp_path / "x.entasis", tmp_path / "y.csv", strict=True)
        assert refused.value.losses == caught[0].message.losses
        assert not (tmp_path / "y.csv").exists()
        en.convert(tmp_path / "x.entasis", tmp_path / "z.entasis", strict=True, verify=True)
        assert en.open(tmp_path / "z.entasis").metadata == {"by": "me"}

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"index": pd.RangeIndex(5, 9, 2)}, "the labels of rows are lost"),
            ({"index": pd.RangeIndex(2, name="n")}, "the labels of rows are lost"),
            ({"index": pd.Index(["x", "y"])}, "the labels of rows become columns"),
            ({"columns": pd.Index([2020])}, "the labels of columns become text"),
            ({"columns": pd.Index(["a"], name="n")}, "the name of the labels of columns is lost"),
            ({"columns": pd.Index(["a"])}, None),
        ],
    )
    @pytest.mark.parametrize("end", ["csv", "jsonl", "npz"])
    def test_labels(self, change, reason, end, tmp_path):
        frame = pd.DataFrame({"a": [1, 2]})
        for name, labels in change.items():
            setattr(frame, name, labels)
        en.write(frame, tmp_path / "x.entasis")
        assert convert(tmp_path / "x.entasis", tmp_path / f"y.{end}") == ([] if reason is None else [(None, reason)])

    def test_json(self, tmp_path):
        table = pa.table(
            {"f": [1.0, float("nan")], "g": [1.0, None], "b": [b"x", None], "d": [dt.date(2020, 1, 1), None]}
        )
        en.write(table, tmp_path / "x.entasis")
        losses = dict(convert(tmp_path / "x.entasis", tmp_path / "x.jsonl"))
        assert losses == {
            "b": "the column is left out: JSON has no bytes",
            "d": "date32[day] becomes text",
            "f": "NaN and infinity become null",
        }
        lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
        assert lines == [{"f": 1.0, "g": 1.0, "d": "2020-01-01"}, {"f": None, "g": None, "d": None}]

    def test_types_of_parquet(self, tmp_path):
        table = pa.table(
            {
                "s": pa.array([1, None], pa.timestamp("s")),
                "i": pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
                "d": pa.array([1, 2]).dictionary_encode(),
            }
        )
        with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as file:
            file.write_table(table)
        losses = dict(convert(tmp_path / "x.arrow", tmp_path / "x.parquet"))
        assert losses.keys() == {"s", "i", "d"}
        assert losses["s"] == "timestamp[s] becomes timestamp[ms]"
        assert "left out" in losses["i"]
        assert pq.read_table(tmp_path / "x.parquet").column_names == ["s", "d"]

    def test_pandas(self, tmp_path):
        frame = pd.DataFrame({"o": [1, "x"], "z": [1j, 2j], "t": [(1, 2), None], "n": pd.array([1.5, None], "Float64")})
        en.write(frame, tmp_path / "x.entasis")
        losses = dict(convert(tmp_path / "x.entasis", tmp_path / "x.parquet"))
        assert losses.keys() == {"o", "z", "t"}
        assert "left out" in losses["o"]
        assert "left out" in losses["z"]
        assert losses["t"] == "a value of type tuple becomes ndarray"
        assert pd.read_parquet(tmp_path / "x.parquet").columns.tolist() == ["t", "n"]
        en.write(pd.DataFrame([[1, 2]], columns=["a", "a"]), tmp_path / "y.entasis")
        with pytest.raises(en.UnsupportedTypeError, match="equal labels"):
            en.convert(tmp_path / "y.entasis", tmp_path / "y.parquet")

    def test_equal_names(self, tmp_path):
        table = pa.table([[1], [2]], names=["x", "x"])
        pq.write_table(table, tmp_path / "x.parquet")
        assert convert(tmp_path / "x.parquet", tmp_path / "x.entasis", strict=True) == []
        assert en.read(tmp_path / "x.entasis").equals(table)
        assert convert(tmp_path / "x.entasis", tmp_path / "y.parquet", strict=True) == []
        assert pq.ParquetFile(tmp_path / "y.parquet").read().equals(table)
        for target in ("y.jsonl", "y.npz"):
            with pytest.raises(en.UnsupportedTypeError, match="equal names"):
                en.convert(tmp_path / "x.entasis", tmp_path / target)
        with pytest.raises(en.ArgumentError, match="several columns have the name 'x'"):
            en.diff(tmp_path / "x.entasis", table)

    def test_trees(self, tmp_path):
        en.write({"run": 7}, tmp_path / "x.entasis")
        for target in ("parquet", "csv", "jsonl", "npz", "feather"):
            with pytest.raises(en.UnsupportedTypeError, match="holds no table"):
                en.convert(tmp_path / "x.entasis", tmp_path / f"x.{target}")
        en.convert(tmp_path / "x.entasis", tmp_path / "y.entasis", compression=80)
        assert en.read(tmp_path / "y.entasis") == {"run": 7}
        with pytest.raises(en.ArgumentError, match="holds no table"):
            en.convert(tmp_path / "x.entasis", tmp_path / "y.entasis", columns="a")

    def test_verify_finds_a_difference(self, tmp_path, monkeypatch):
        from entasis._convert.outputs import entasis_file

        write = entasis_file.Writer.write
        monkeypatch.setattr(entasis_file.Writer, "write", lambda self, batch: write(self, batch.slice(1)))
        pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "x.parquet")
        (tmp_path / "y.entasis").write_bytes(b"old")
        with pytest.raises(en.ConversionError, match="differs from the source"):
            en.convert(tmp_path / "x.parquet", tmp_path / "y.entasis", verify=True)
        assert (tmp_path / "y.entasis").read_bytes() == b"old"
        assert len(list(tmp_path.iterdir())) == 2

    @pytest.mark.parametrize("name", ["x.parquet", "x.npz", "x.npy", "x.jsonl"])
    def test_verify_compares_values(self, name, tmp_path, monkeypatch):
        from entasis._convert.outputs import entasis_file

        PANDAS.to_parquet(tmp_path / "x.parquet")
        np.savez(tmp_path / "x.npz", a=np.arange(3), z=np.arange(3) * 1j)
        np.save(tmp_path / "x.npy", np.arange(6).reshape(2, 3))
        (tmp_path / "x.jsonl").write_text('{"a":1}\n')
        en.convert(tmp_path / name, tmp_path / "y.entasis", verify=True, strict=True)
        en.convert(tmp_path / "y.entasis", tmp_path / "z.entasis", verify=True, strict=True)
        wrong = {"x": np.arange(3)}
        write = entasis_file.write_whole
        monkeypatch.setattr(
            entasis_file, "write_whole", lambda value, to, *more: write(wrong if to["path"] else value, to, *more)
        )
        with pytest.raises(en.ConversionError, match="differs from the source"):
            en.convert(tmp_path / name, tmp_path / "new.entasis", verify=True)
        assert not (tmp_path / "new.entasis").exists()


class TestText:
    def test_options_and_filters(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("a;b\n1;x\n2;y\n3;-\n")
        en.convert(path, tmp_path / "x.parquet", sep=";", na="-", filter=en.col("a") > 1, columns=["b", "a"])
        assert pq.read_table(tmp_path / "x.parquet").to_pydict() == {"b": ["y", None], "a": [2, 3]}
        en.convert(path, tmp_path / "x.entasis", sep=";", filter=en.col("a") > 1, rows=(0, 2))
        assert en.read(tmp_path / "x.entasis", to="polars")["b"].to_list() == ["y"]
        assert en.convert(path, tmp_path / "x.entasis", problems=True) == []
        en.convert(path.read_bytes(), tmp_path / "y.parquet")
        assert pq.read_table(tmp_path / "y.parquet").num_rows == 3
        with pytest.raises(en.ArgumentError, match="rows= of a text"):
            en.convert(path, tmp_path / "z.parquet", rows=[1, 0])

    def test_types_hold_for_all_rows(self, tmp_path):
        path = tmp_path / "x.csv"
        path.write_text("a\n" + "1\n" * 20_000 + "x\n")
        en.convert(path, tmp_path / "x.parquet", verify=True)
        assert pq.read_table(tmp_path / "x.parquet")["a"][-1].as_py() == "x"

    @pytest.mark.parametrize("name", ["y.csv.gz", "y.csv.zst", "y.tsv"])
    def test_forms_of_texts(self, name, tmp_path):
        en.write(pl.DataFrame({"a": ["x,y", None], "b": [1, 2]}), tmp_path / "x.entasis")
        en.convert(tmp_path / "x.entasis", tmp_path / name, verify=True)
        assert en.read_csv(tmp_path / name, "polars").to_dict(as_series=False) == {"a": ["x,y", None], "b": [1, 2]}
        if name == "y.tsv":
            assert (tmp_path / name).read_text() == "a\tb\nx,y\t1\n\t2\n"


def test_progress_and_compression(tmp_path):
    table = pa.table({"a": np.arange(300_000)})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=100_000)
    calls = []
    en.convert(tmp_path / "x.parquet", tmp_path / "x.arrow", progress=lambda *args, **unit: calls.append((args, unit)))
    assert calls[-1] == ((300_000, 300_000), {"unit": "rows"})
    assert len(calls) > 1
    sizes = []
    for codec in ("none", "zstd"):
        for name in ("y.parquet", "y.arrow", "y.feather"):
            en.convert(tmp_path / "x.parquet", tmp_path / name, compression=codec)
            sizes.append((tmp_path / name).stat().st_size)
            assert en.read(tmp_path / name).equals(table)
    assert all(raw > packed for raw, packed in zip(sizes[:3], sizes[3:], strict=True))
    en.convert(tmp_path / "x.parquet", tmp_path / "x.entasis", compression=0, threads=1, durable=True)
    assert (tmp_path / "x.entasis").stat().st_size > 2_000_000


@pytest.mark.parametrize("index", ["range", "named", "two levels"])
def test_long_frames_of_pandas_go_out_in_windows(index, tmp_path, monkeypatch):
    from entasis._convert.inputs import base
    from entasis._convert.outputs import row_groups

    monkeypatch.setattr(row_groups, "GROUP", 100)
    monkeypatch.setattr(base, "BATCH", 70)
    frame = pd.concat([PANDAS] * 100, ignore_index=True)
    frame.attrs = PANDAS.attrs
    if index == "range":
        frame.index = pd.RangeIndex(10, 610, 2)
    elif index == "named":
        frame.index = pd.date_range("2020", periods=300, name="day", freq=None)
    else:
        frame.index = pd.MultiIndex.from_arrays([np.arange(300) // 7, [f"r{i}" for i in range(300)]], names=["p", None])
    en.write(frame, tmp_path / "x.entasis")
    for name in ("y.parquet", "y.feather"):
        losses = convert(tmp_path / "x.entasis", tmp_path / name)
        assert all("frequency" in reason for _, reason in losses)
        found = pd.read_parquet(tmp_path / name) if name == "y.parquet" else pd.read_feather(tmp_path / name)
        assert_frame_equal(found, frame, check_freq=False)
        assert found.attrs == frame.attrs
        assert type(found.index) is type(frame.index)
    assert pq.ParquetFile(tmp_path / "y.parquet").metadata.num_row_groups == 4


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_reading_works_directly(tmp_path):
    PANDAS.to_parquet(tmp_path / "x.parquet")
    pf.write_feather(pa.Table.from_pandas(PANDAS), tmp_path / "x.feather")
    for name in ("x.parquet", "x.feather"):
        path = tmp_path / name
        assert_frame_equal(en.read(path), PANDAS)
        assert_frame_equal(en.read(path.read_bytes()), PANDAS)
        assert_frame_equal(en.read(path, columns=["s", "a"], rows=(1, None)), PANDAS[["s", "a"]].iloc[1:])
        assert_frame_equal(en.read(path, filter=en.col("a") > 1), PANDAS[PANDAS["a"] > 1])
        assert en.read(path, index=False).index.tolist() == [0, 1, 2]
        assert en.read(path, to="polars").columns == ["k", *PANDAS.columns]
        with pytest.raises(en.ArgumentError, match="for Entasis files, not for"):
            en.read(path, memory_map=True)
        with pytest.raises(en.NotEntasisError, match=r"en\.read\(path\), or convert it with en\.convert"):
            en.open(path)
    np.savez(tmp_path / "x.npz", a=np.arange(3))
    assert en.read(tmp_path / "x.npz", rows=(1, 3))["a"].tolist() == [1, 2]
    (tmp_path / "x.jsonl").write_text('{"a":1,"b":"2020-01-01"}\n{"a":2.5,"c":null,"d":[1]}\n')
    found = en.read(tmp_path / "x.jsonl")
    assert found["a"].to_list() == [1.0, 2.5]
    assert found["b"].to_list() == ["2020-01-01", None]
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(en.NotEntasisError, match="read_csv"):
        en.read(tmp_path / "x.csv")


def test_json_lines_without_polars(tmp_path, monkeypatch):
    from entasis._convert import libraries

    load = libraries.load
    monkeypatch.setattr(libraries, "load", lambda name: None if name == "polars" else load(name))
    (tmp_path / "x.jsonl").write_text('{"a":1,"b":"2020-01-01"}\n{"a":2,"b":null}\n')
    assert en.read(tmp_path / "x.jsonl")["b"].tolist()[0] == "2020-01-01"
    en.convert(tmp_path / "x.jsonl", tmp_path / "y.jsonl")
    assert (tmp_path / "y.jsonl").read_text() == '{"a":1,"b":"2020-01-01"}\n{"a":2,"b":null}\n'


def test_formats_are_the_documented_ones():
    assert {end for ends in formats.SUFFIXES.values() for end in ends} >= {".rds", ".fst", ".qs2", ".ndjson", ".pq"}


@pytest.mark.parametrize("end", ["gz", "bz2", "xz", "zst"])
def test_lines_of_json_may_be_compressed(end, tmp_path):
    lines = b'{"a":1,"b":"x"}\n{"a":2,"b":null}\n'
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    pack["zst"] = lambda content: pa.compress(content, "zstd", asbytes=True)
    for name in (f"x.jsonl.{end}", f"x.{end}"):
        path = tmp_path / name
        path.write_bytes(pack[end](lines))
        assert en.read(path, to="polars").rows() == [(1, "x"), (2, None)]
        cut = tmp_path / f"cut.jsonl.{end}"
        cut.write_bytes(pack[end](lines)[:-9])
        with pytest.raises(en.CorruptFileError, match="can't be read"):
            en.read(cut)
    source = tmp_path / f"x.jsonl.{end}"
    target = tmp_path / f"y.ndjson.{end}"
    if end in ("bz2", "xz"):
        with pytest.raises(en.ArgumentError, match=r"compression '.*': lines of JSON have 'none', 'gzip' or 'zstd'"):
            en.convert(source, target)
        assert not target.exists()
        return
    en.convert(source, target, verify=True)
    assert target.read_bytes()[:2] == pack[end](lines)[:2]
    assert not en.diff(source, target)
    en.convert(source, target, compression="none")
    assert target.read_bytes() == lines
    assert not en.diff(source, target)
