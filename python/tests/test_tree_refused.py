"""Values that are refused: errors with paths, items left out, replacements."""

from __future__ import annotations

import contextlib
import datetime
import re
import warnings

import numpy as np
import pytest
from tree_panel import (
    Point,
)

import entasis as en


def test_depth(path):
    for make in (lambda x: [x], lambda x: {"a": x}, lambda x: (x,)):
        value = None
        for _ in range(990):
            value = make(value)
        en.write(value, path)
        en.verify(path)
        back = en.read(path)
        for _ in range(990):
            (back,) = back.values() if isinstance(back, dict) else back
        assert back is None
        for _ in range(10_000):
            value = make(value)
        with pytest.raises(en.UnsupportedTypeError, match=r"more\).*nested deeper than 1000"):
            en.write(value, path)


class Mine:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (len, r"^value: a value of type builtin_function_or_method"),
        ({"a": [1, 2, 3, Point(len)]}, r"^value\['a'\]\[3\]\.x: a value of type builtin_function_or_method"),
        ([{("k", len): 1}], r"value\[0\] \(the key .*\)\[1\]: a value of type"),
        ([Mine()], r"value\[0\]: a value of type .*test_tree_refused.Mine"),
        ([type("Text", (str,), {})("x")], r"value\[0\]: a value of type .*Text"),
        ({"x": {1, len}}, r"value\['x'\]\[\d\]: "),
        ([np.array([1, len], dtype=object)], r"value\[0\]\[1\]: "),
        (
            [np.array([(1, len)], [("i", "i4"), ("a", "O")])],
            r"value\[0\].*: a value of type builtin_function_or_method",
        ),
        ([datetime.datetime(2020, 1, 1, tzinfo=type("Z", (datetime.tzinfo,), {})())], r"value\[0\]: the time zone"),
        ([iter([])], r"value\[0\]: "),
    ],
    ids=lambda value: re.sub(" at 0x[0-9a-f]+", "", str(value)),
)
def test_what_is_refused(value, message, path):
    path.write_bytes(b"old")
    with pytest.raises(en.UnsupportedTypeError, match=message):
        en.write(value, path)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 1


def test_on_unsupported(path):
    value = {"a": len, "b": [1, len, 2], "c": {3, len}, "d": (len,), "e": Point(1)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        en.write(value, path, on_unsupported="skip", metadata=[len])
    assert en.read(path) == {"b": [1, 2], "c": {3}, "d": (), "e": en.read(path)["e"]}
    assert "value['b'][1]: builtin_function_or_method" in str(caught[0].message)
    assert en.open(path).metadata == []
    en.write(value, path, on_unsupported=lambda value, path: (path, value.__name__))
    back = en.read(path)
    assert (back["a"], back["b"]) == (("value['a']", "len"), [1, ("value['b'][1]", "len"), 2])
    for bad in (lambda value, path: value, lambda value, path: [value]):
        with pytest.raises(en.UnsupportedTypeError, match="value"):
            en.write(value, path, on_unsupported=bad)
    with pytest.raises(en.UnsupportedTypeError, match="a part of it"):
        en.write(Point(len), path, on_unsupported="skip")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"o": [1, len, "a"], "i": [1, 2, 3]})
    with pytest.warns(UserWarning, match=r"value\[0\]: df\['o'\].iloc\[1\]: builtin_function"):
        en.write([frame], path, on_unsupported="skip")
    en.verify(path)
    assert en.read(path)[0]["o"].tolist() == [1, None, "a"]
    with pytest.raises(en.UnsupportedTypeError, match="nothing is left"):
        en.write(len, path, on_unsupported="skip")
    with pytest.raises(en.ArgumentError, match="on_unsupported"):
        en.write([1], path, on_unsupported="ignore")


def test_paths_in_lists_of_rows(path):
    rows = [{"a": i, "b": None} for i in range(50)]
    rows[33]["b"] = len
    with pytest.raises(en.UnsupportedTypeError, match=r"^value\[33\]\['b'\]: a value of type builtin"):
        en.write(rows, path)
    with pytest.raises(en.UnsupportedTypeError, match=r"^value\[40\]\[1\]: a value of type builtin"):
        en.write([(i, len if i == 40 else 1) for i in range(50)], path)
    many = {f"k{i}": i for i in range(5000)}
    many["here"] = len
    with pytest.raises(en.UnsupportedTypeError, match=r"^value\['here'\]: a value of type builtin"):
        en.write(many, path)
    many = {i: i for i in range(5000)} | {len: 1}
    with pytest.raises(en.UnsupportedTypeError, match=r"^value \(the key .*\): a value of type builtin"):
        en.write(many, path)


def test_a_value_that_changes_while_it_is_written(path):
    """Python code that runs for a value empties its list: an error or the rest, and no crash."""
    items: list = [{"a": 1, "b": i} for i in range(100)]

    class Odd:
        pass

    def instead(value, where):
        items.clear()
        return None

    items[50] = Odd()
    with contextlib.suppress(en.EntasisError, RuntimeError):
        en.write(items, path, on_unsupported=instead)
        en.verify(path)
    table = {f"k{i}": i for i in range(100)}
    table["odd"] = Odd()

    def grow(value, where):
        table.update({f"more {i}": i for i in range(1000)})
        return None

    with contextlib.suppress(en.EntasisError, RuntimeError):
        en.write([table], path, on_unsupported=grow)
        en.verify(path)


def test_what_stands_for_keys_and_members(path):
    """A file that is written can be read: keys and members have a hash, and differ."""

    class Odd:
        pass

    one, two = Odd(), Odd()
    for value in ({1, one}, frozenset([1, one]), {one: 1, 1: 2}, [{"a": {one: 1, 1: 2}}]):
        for bad in ([1], {}, np.arange(3), 1, 1.0, True):
            with pytest.raises(en.UnsupportedTypeError, match="the replacement"):
                en.write(value, path, on_unsupported=lambda value, path, bad=bad: bad)
    for value in ({one, two}, {one: 1, two: 2}, {one: 1, (3,): {two: 2}, two: 5}):
        with pytest.raises(en.UnsupportedTypeError, match="occurs already"):
            en.write(value, path, on_unsupported=lambda value, path: "x")
    assert not path.exists()
    names = {one: "one", two: "two"}
    value = {"set": {1, one, two}, "dict": {one: 1, two: 2}, "other": {one: {one: {two}}}}
    en.write(value, path, on_unsupported=lambda value, path: names[value])
    assert en.read(path) == {
        "set": {1, "one", "two"},
        "dict": {"one": 1, "two": 2},
        "other": {"one": {"one": {"two"}}},
    }
    # Without a part keys may be equal that were not.
    for value in ({(one, 1): 1, (1,): 2}, {frozenset([one, 1]): 1}, {(1, one), (1, two)}, {1: {((one,),): 3}}):
        for how in ("skip", lambda value, path: "x"):
            with pytest.raises(en.UnsupportedTypeError, match="not replaced inside a key or set member"):
                en.write(value, path, on_unsupported=how)
    with pytest.warns(UserWarning, match="left out"):
        en.write({1: {one, 2}, 2: [({one}, two)]}, path, on_unsupported="skip")
    assert en.read(path) == {1: {2}, 2: [(set(),)]}
