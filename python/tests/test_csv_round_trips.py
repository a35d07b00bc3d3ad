"""Values that are hard to write as text come back exactly, by their spec, in each library."""

from __future__ import annotations

import datetime
import decimal
import io
import math
import os
import random
import struct
import warnings

import pytest

import entasis as en

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

LONG = bool(os.environ.get("ENTASIS_TEST_LONG"))

TEXTS = [
    "",
    " ",
    "x",
    "\n",
    "\r",
    "\r\n",
    '"',
    '""',
    ",",
    ";",
    "\t",
    "'",
    "\\",
    "\\N",
    "NA",
    "N/A",
    "NULL",
    "null",
    "NaN",
]
TEXTS += [
    "1",
    "-1",
    "+1",
    "007",
    "1e5",
    "1.5",
    "1,5",
    "0x1F",
    "inf",
    "true",
    "FALSE",
    "2020-01-01",
    "12:30:00",
    "#",
    "%",
]
TEXTS += [
    "=1+1",
    "@x",
    "sep=;",
    "\x1a",
    "\x00",
    "\x7f",
    "\ufeff",
    "\u2028",
    "\u00a0",
    "é",
    "日本",
    "\U0001f600",
    "a" * 5000,
]
TEXTS += ["a" * 5000]
TEXTS += ["x\n\ny", 'say "hi", she\r\nsaid', "2020-01-01T00:00:00Z", "%d.%m.%Y", '=HYPERLINK("x","y")', "- ", '"\n"']

# The arrow type of each column, and a random value of it.
UNITS = ["s", "ms", "us", "ns"]
INTEGERS = [(f"{sign}int{bits}", bits, bool(sign)) for sign in ("", "u") for bits in (8, 16, 32, 64)]


def integers(bits, is_unsigned):
    low, high = (0, 2**bits - 1) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return lambda rng: rng.choice([low, high, 0, low + 1, high - 1, rng.randint(low, high)])


def doubles(rng):
    special = [0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, math.inf, -math.inf, 0.1]
    value = struct.unpack("<d", rng.randbytes(8))[0]
    return rng.choice([*special, 1e22, 9007199254740993.0, 0.0 if math.isnan(value) else value])


def singles(rng):
    value = struct.unpack("<f", rng.randbytes(4))[0]
    return 0.5 if math.isnan(value) else value


def times(unit):
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    # Years 1 to 9999, or what 64 bits of nanoseconds hold.
    low, high = (-62_135_596_800, 253_402_300_799) if unit != "ns" else (-9_223_372_036, 9_223_372_035)

    def value(rng):
        whole = rng.choice([low, high, 0, -1, rng.randint(low, high), 86_400 * rng.randint(-9999, 9999)])
        return whole * per_second + rng.choice([0, rng.randrange(per_second)])

    return value


def money(precision, scale):
    def value(rng):
        digits = rng.choice([0, 10**precision - 1, rng.randrange(10**precision), rng.randrange(100)])
        with decimal.localcontext(prec=50):
            return decimal.Decimal(rng.choice([-1, 1]) * digits).scaleb(-scale)

    return value


KINDS = {
    "bool": (pa.bool_(), lambda rng: rng.random() < 0.5),
    **{name: (getattr(pa, name)(), integers(bits, unsigned)) for name, bits, unsigned in INTEGERS},
    "float64": (pa.float64(), doubles),
    "float32": (pa.float32(), singles),
    "string": (pa.large_string(), lambda rng: rng.choice(TEXTS)),
    "category": (pa.dictionary(pa.uint32(), pa.large_string()), lambda rng: rng.choice(TEXTS[:20])),
    "date": (pa.date32(), lambda rng: rng.choice([-719_162, 2_932_896, 0, -1, rng.randint(-719_162, 2_932_896)])),
    **{f"datetime[{unit}]": (pa.timestamp(unit), times(unit)) for unit in UNITS},
    **{f"datetime[{unit}, UTC]": (pa.timestamp(unit, "UTC"), times(unit)) for unit in UNITS},
    "decimal(10, 2)": (pa.decimal128(10, 2), money(10, 2)),
    "decimal(38, 10)": (pa.decimal128(38, 10), money(38, 10)),
    "decimal(5, 0)": (pa.decimal128(5, 0), money(5, 0)),
    "null": (pa.null(), lambda rng: None),
}


def random_table(rng, kinds, n):
    arrays = []
    for kind in kinds:
        of, make = KINDS[kind]
        missing = rng.choice([0, 0.3, 1])
        values = [None if rng.random() < missing else make(rng) for _ in range(n)]
        if pa.types.is_dictionary(of):
            arrays.append(pa.array(values, pa.large_string()).dictionary_encode())
        else:
            arrays.append(pa.array(values, of))
    names = rng.sample([name for name in TEXTS if "\0" not in name and len(name) < 50], len(kinds))
    return pa.Table.from_arrays(arrays, names)


def random_options(rng, kinds):
    options = {
        "sep": rng.choice([",", ";", "\t", "|", " "]),
        "quote": rng.choice(["auto", "auto", "all", "non_numeric"]),
        "na": rng.choice(["", "", "NA", "-", "1"]),
        "line_end": rng.choice(["\n", "\r\n"]),
        "bom": rng.random() < 0.2,
        "threads": rng.choice([1, 3]),
        "compression": rng.choice([None, "gzip", "zstd"]),
    }
    if options["sep"] != ",":
        options["decimal"] = rng.choice([".", ","])
    if "null" in kinds or options["na"] == "1":
        options["na"] = ""
    return options


def bits(table):
    """The values of a table, with those of floats as bits."""
    found = []
    for column in table.columns:
        of = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        column = column.cast(of) if of != column.type else column
        if pa.types.is_floating(of):
            width = of.bit_width // 8
            values = [
                None if value is None else struct.pack("<d" if width == 8 else "<f", value)
                for value in column.to_pylist()
            ]
        elif pa.types.is_temporal(of):
            values = column.cast(pa.int32() if of.bit_width == 32 else pa.int64()).to_pylist()
        else:
            values = column.to_pylist()
        found.append(values)
    return table.column_names, found


def types(table):
    return [str(of.value_type if pa.types.is_dictionary(of) else of).replace("large_", "") for of in table.schema.types]


@pytest.mark.parametrize("seed", range(300 if LONG else 40))
def test_every_type_comes_back_in_arrow(seed, tmp_path):
    rng = random.Random(seed)
    kinds = rng.choices(list(KINDS), k=rng.randrange(1, 7))
    table = random_table(rng, kinds, rng.choice([0, 1, 2, 40]))
    options = random_options(rng, kinds)
    path = tmp_path / "t.csv"
    spec = en.Spec.of(en.write_csv(table, path, **options).to_json())
    for read in (
        lambda: en.read_csv(path, "pyarrow", spec=spec),
        lambda: en.scan_csv(path, spec=spec).to_pyarrow(),
        lambda: pa.table(en.scan_csv(path, spec=spec)),
    ):
        found = read()
        assert types(found) == types(table)
        assert bits(found) == bits(table)
    # A scan writes the same bytes.
    options["compression"] = None
    first, again = io.BytesIO(), io.BytesIO()
    en.write_csv(table, first, **options)
    assert en.write_csv(en.scan_csv(path, spec=spec), again, **options) == spec
    assert again.getvalue() == first.getvalue()


@pytest.mark.parametrize("seed", range(200 if LONG else 30))
def test_every_type_comes_back_in_polars(seed, tmp_path):
    rng = random.Random(1000 + seed)
    kinds = rng.choices([kind for kind in KINDS if not kind.startswith("datetime[s")], k=rng.randrange(1, 7))
    frame = pl.from_arrow(random_table(rng, kinds, rng.choice([0, 1, 2, 40])))
    path = tmp_path / "t.csv"
    spec = en.write_csv(frame, path, **random_options(rng, kinds))
    for found in (en.read_csv(path, "polars", spec=spec), en.scan_csv(path, spec=spec).to_polars()):
        assert found.schema == frame.schema
        assert bits(found.to_arrow()) == bits(frame.to_arrow())


@pytest.mark.parametrize("seed", range(200 if LONG else 30))
def test_every_type_comes_back_in_pandas(seed, tmp_path):
    rng = random.Random(2000 + seed)
    # pandas has no decimals, and its column of None has no type.
    kinds = rng.choices([kind for kind in KINDS if "decimal" not in kind and kind != "null"], k=rng.randrange(1, 7))
    table = random_table(rng, kinds, rng.choice([1, 2, 40]))
    # The frame that a file of these types gives.
    frame = en.read(en.to_bytes(table), to="pandas")
    path = tmp_path / "t.csv"
    spec = en.write_csv(frame, path, **random_options(rng, kinds))
    for found in (en.read_csv(path, "pandas", spec=spec), en.scan_csv(path, spec=spec).to_pandas()):
        pd.testing.assert_frame_equal(found, frame, check_exact=True)


def test_a_text_of_many_windows_comes_back(tmp_path):
    rng = random.Random(1)
    table = random_table(rng, ["int64", "float64", "string", "datetime[ns]", "category"], 500)
    table = pa.concat_tables([table] * 200).unify_dictionaries()
    for name in ("t.csv", "t.csv.gz", "t.csv.zst"):
        spec = en.write_csv(table, tmp_path / name, threads=3)
        found = [pa.table(batch) for batch in en.scan_csv(tmp_path / name, spec=spec).batches(7777, to="pyarrow")]
        assert bits(pa.concat_tables(found).unify_dictionaries()) == bits(table)


def test_names_that_a_reader_changes_are_those_of_the_spec(tmp_path):
    path = tmp_path / "t.csv"
    for names, expected in (
        (["", "a"], ["", "a"]),
        (["a", "", "column_2"], ["a", "", "column_2"]),
        (["a", "a", "a_1"], ["a", "a_2", "a_1"]),
        (["", ""], ["column_1", "column_2"]),
    ):
        frame = pd.DataFrame([[1, "2", 0.5][: len(names)]], columns=names)
        for header in (True, False):
            spec = en.write_csv(frame, path, header=header)
            assert spec.names == expected
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", en.CsvWarning)
                found = en.read_csv(path, "pandas", spec=en.Spec.of(spec.to_json()))
                assert en.scan_csv(path, spec=spec).column_names == expected
            assert list(found.columns) == expected
            assert found.values.tolist() == frame.values.tolist()


@pytest.mark.parametrize("quote", ["auto", "all", "non_numeric"])
@pytest.mark.parametrize("na", ["", "NA", "-"])
def test_texts_that_equal_the_missing_word_stay_texts(quote, na, tmp_path):
    path = tmp_path / "t.csv"
    frame = pl.DataFrame({"s": ["NA", "-", "", None, "x"], "i": [1, None, 3, 4, 5], "c": ["NA", None, "-", "", "y"]})
    frame = frame.with_columns(pl.col("c").cast(pl.Categorical))
    spec = en.write_csv(frame, path, quote=quote, na=na)
    assert en.read_csv(path, "polars", spec=spec).equals(frame)
    assert en.scan_csv(path, spec=spec).to_polars().equals(frame)
    assert en.convert(path, tmp_path / "t.entasis", spec=spec) is None
    assert en.read(tmp_path / "t.entasis", to="polars").equals(frame)


@pytest.mark.parametrize("quote", ["auto", "all", "non_numeric"])
@pytest.mark.parametrize("dates", ["%d.%m.%Y", ["%Y%m%d", "%H:%M:%S %d/%m/%Y"], {"d": "%Y%m%d", "t": "%Y%m%d %H%M%S"}])
def test_quoted_dates_come_back_by_their_format(quote, dates, tmp_path):
    path = tmp_path / "t.csv"
    days = [datetime.date(2026, 1, 31), None, datetime.date(1, 2, 3)]
    times = [datetime.datetime(2026, 1, 31, 12, 30), datetime.datetime(1969, 12, 31, 23, 59, 59), None]
    frame = pl.DataFrame({"d": days, "t": times, "s": ["31.01.2026", "20260131", None]})
    spec = en.write_csv(frame, path, quote=quote, dates=dates)
    assert en.read_csv(path, "polars", spec=spec).equals(frame)
    assert en.scan_csv(path, spec=spec).to_polars().equals(frame)
