"""Frames of texts are those of the files that texts are converted into, with filters and without."""

from __future__ import annotations

import random
import warnings

import pytest

import entasis as en

pytest.importorskip("polars")

HOSTS = ["pandas", "polars", "pyarrow", "numpy", "static_frame"]
DIALECT = {"sep": ",", "quote": '"', "escape": None, "comment": None, "skip": 0, "header": True, "decimal": "."}
WORDS = ["", "NA", "x", "true", "0.5", "2020-01-01", '"q"', "9007199254740993", "-1", "18446744073709551615", "é"]
# Values that come last may give a column of the same kind another type.
KINDS = {
    "integers": lambda rng: str(rng.randrange(-9, 99)),
    "gaps": lambda rng: rng.choice(["", str(rng.randrange(9))]),
    "large": lambda rng: rng.choice(["7", "9223372036854775808", "18446744073709551615", ""]),
    "inexact": lambda rng: rng.choice(["1", "9007199254740993", "-3"]),
    "floats": lambda rng: rng.choice([str(rng.random()), "-0.0", "1e300", "NaN", str(rng.randrange(100))]),
    "booleans": lambda rng: rng.choice(["true", "False", ""]),
    "days": lambda rng: rng.choice(["2020-01-01", "1969-12-31", ""]),
    "times": lambda rng: rng.choice(["2020-01-01T00:00:01", "1969-12-31 23:59:59.5", "2300-01-01T00:00:00"]),
    "instants": lambda rng: rng.choice(["2020-01-01T00:00:01Z", "2020-01-01T00:00:01.123456789+01:00", ""]),
    "strings": lambda rng: rng.choice(["a", "b c", "a longer string with é", '""', '"1"', "", "NA"]),
    "missing": lambda rng: rng.choice(["", "NA", ""]),
}


def cut(monkeypatch, rng):
    """Make the reader cut texts into chunks of a random length."""
    from entasis._csv import arguments

    of, chunk_len = arguments.of, rng.choice([1, 10, 50, 300, None])
    monkeypatch.setattr(arguments, "of", lambda **options: of(**options) | {"chunk_len": chunk_len})


def random_text(rng):
    """A text of four columns, in which single values may be of another kind than the others."""
    kinds = [rng.choice(list(KINDS)) for _ in range(4)]
    rows = [[KINDS[kind](rng) for kind in kinds] for _ in range(rng.randrange(1, 60))]
    for _ in range(rng.choice([0, 0, 1, 2])):
        rows[rng.randrange(len(rows))][rng.randrange(4)] = rng.choice(WORDS)
    for row in rows[: rng.choice([0, 0, 20])]:
        row[0] = ""
    return ("a,b,c,d\n" + "".join(",".join(row) + "\n" for row in rows)).encode()


def random_condition(rng, depth=0):
    column = en.col(rng.choice("abcd"))
    value = rng.choice([0, 3, 5.5, 2**63, "a", "x", True, 9007199254740992.0, -1])
    kind = rng.randrange(9 if depth < 2 else 6)
    if kind < 3:
        return [column < value, column >= value, column == value][kind]
    if kind == 3:
        return column.is_missing()
    if kind == 4:
        return column.is_in([value, rng.choice([1, 2])] if not isinstance(value, str) else [value])
    if kind == 5:
        return column != value
    left, right = random_condition(rng, depth + 1), random_condition(rng, depth + 1)
    return [left & right, left | right, ~left][kind - 6]


def outcome(function):
    """The result of a call, or the class of its error."""
    try:
        return function()
    except en.errors.EntasisError as error:
        return type(error)


def check(found, expected, to):
    if isinstance(found, type) or isinstance(expected, type):
        assert found is expected
    elif to == "static_frame":
        assert found.equals(expected, compare_dtype=True, compare_class=True, skipna=True)
    elif to == "pandas":
        import pandas as pd

        pd.testing.assert_frame_equal(found, expected)
    elif to == "numpy":
        assert list(found) == list(expected)
        for name in found:
            assert found[name].dtype == expected[name].dtype
            assert repr(found[name].tolist()) == repr(expected[name].tolist())
    else:
        frames = (found, expected) if to == "polars" else (found.to_pydict(), expected.to_pydict())
        assert found.schema == expected.schema
        assert frames[0].equals(frames[1]) if to == "polars" else repr(frames[0]) == repr(frames[1])


@pytest.mark.parametrize("seed", range(60))
def test_frames_are_those_of_converted_texts(seed, monkeypatch, tmp_path):
    rng = random.Random(seed)
    text, to = random_text(rng), rng.choice(HOSTS)
    pytest.importorskip(to)
    path = tmp_path / "t.entasis"
    options = {"columns": rng.choice([None, ["c", "a"]]), "strings": rng.choice(["plain", "plain", "categorical"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", en.errors.CsvWarning)
        en.convert(text, path, **DIALECT, **options)
        cut(monkeypatch, rng)
        found = outcome(lambda: en.read_csv(text, to, threads=rng.choice([1, 3]), **DIALECT, **options))
    check(found, outcome(lambda: en.read(path, to=to)), to)


@pytest.mark.parametrize("seed", range(300))
def test_filters_of_texts_are_those_of_files(seed, monkeypatch, tmp_path):
    rng = random.Random(seed)
    text, to, condition = random_text(rng), rng.choice(HOSTS), random_condition(rng)
    pytest.importorskip(to)
    path = tmp_path / "t.entasis"
    columns = rng.choice([None, ["c", "a"], ["b"]])
    options = {"strings": rng.choice(["plain", "plain", "plain", "categorical"])}
    if rng.random() < 0.2:
        options |= {"dtypes": {"a": rng.choice(["int64", "float32", "string"])}, "on_error": "missing"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (en.errors.CsvWarning, en.errors.ProblemWarning))
        en.convert(text, path, **DIALECT, **options)
        cut(monkeypatch, rng)
        found = outcome(
            lambda: en.read_csv(
                text, to, columns=columns, filter=condition, threads=rng.choice([1, 3]), **DIALECT, **options
            )
        )
    expected = outcome(lambda: en.read(path, to=to, columns=columns, filter=condition))
    if to in ("pandas", "static_frame") and not isinstance(found, type):
        # The labels of rows count the rows of the frame.
        expected = expected.reset_index(drop=True) if to == "pandas" else expected.relabel(found.index)
    check(found, expected, to)


def test_problems_of_rows_that_a_filter_leaves_out(tmp_path):
    text = b"a,b\n1,x\n2,7\n3\n4,5\n"
    options = {"dtypes": {"b": "int64"}, "filter": en.col("a") > 3, "problems": True}
    frame, problems = en.read_csv(text, "polars", on_error="missing", **options)
    assert frame.rows() == [(4, 5)]
    assert [(problem.row, problem.line) for problem in problems] == [(0, 2), (2, 4)]
    with pytest.raises(en.errors.ProblemError, match="2 places"):
        en.read_csv(text, "polars", dtypes={"b": "int64"}, filter=en.col("a") > 3)


def test_a_filter_reads_no_other_column_as_values(monkeypatch):
    # A text column that is not tested has its type from the first chunk on.
    text = b"a,b\n" + b"".join(b"%d,text %d\n" % (i, i) for i in range(20_000))
    frame = en.read_csv(text, "polars", filter=en.col("a").is_in([5, 19_999]))
    assert frame.rows() == [(5, "text 5"), (19_999, "text 19999")]


def test_a_late_text_changes_the_filter():
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (i, i) for i in range(200_000)) + b"x,y\n"
    assert en.read_csv(text, "polars", filter=en.col("a") == "7").rows() == [("7", "7")]
    assert en.read_csv(text, "polars", filter=en.col("b") == "y").rows() == [("x", "y")]
    with pytest.raises(en.errors.EntasisError):
        en.read_csv(text, "polars", filter=en.col("a") == 7)


def test_row_labels_with_a_filter():
    pytest.importorskip("pandas")
    options = {"columns": ["b", "k"], "index_col": 0, "filter": en.col("k") != "y"}
    for more in ({}, {"strings": "categorical"}, {"rows": (0, 2)}):
        frame = en.read_csv(b"k,b\nx,1\ny,2\n", "pandas", **options, **more)
        assert frame.index.name == "b"
        assert list(frame.columns) == ["k"]


@pytest.mark.parametrize("condition", [en.col("z") > 1, en.col("a").field("z") > 1, en.col("a") == "x"])
def test_filters_that_do_not_fit(condition, tmp_path):
    text, path = b"a,b\n1,2\n", tmp_path / "t.entasis"
    en.convert(text, path)
    with pytest.raises(en.errors.EntasisError) as of_file:
        en.read(path, filter=condition)
    with pytest.raises(type(of_file.value)):
        en.read_csv(text, filter=condition)
