"""Maps of Arrow: names and metadata of their fields, and entries and keys that are not missing."""

from __future__ import annotations

import contextlib
import struct

import pyarrow as pa
import pytest
from forge import COLUMNS, Forge

import entasis as en

KEY = pa.field("k", pa.string(), nullable=False)
VALUE = pa.field("v", pa.int32(), metadata={"unit": "m"})
NAMED = pa.map_(KEY, VALUE)
INSIDE = pa.map_(pa.field("key", pa.int8(), nullable=False), pa.field("of", NAMED, nullable=False), keys_sorted=True)


def _table():
    maps = [[("a", 1), ("b", None)], None, []]
    columns = {
        "map": pa.array(maps, NAMED),
        "list": pa.array([maps, None, maps[:1]], pa.list_(pa.field("one", NAMED))),
        "fixed": pa.array([maps, maps, None], pa.list_(NAMED, 3)),
        "struct": pa.array([{"m": maps[0]}, None, {"m": None}], pa.struct([pa.field("m", NAMED), ("n", pa.int8())])),
        "inside": pa.array([[(1, maps[0])], [(2, [])], None], INSIDE),
        "usual": pa.array(maps, pa.map_(pa.string(), pa.int32())),
        "n": pa.array([1, 2, 3]),
    }
    return pa.table(columns)


def _check(found, wanted):
    assert found.schema.equals(wanted.schema, check_metadata=True), found.schema
    assert found.to_pydict() == wanted.to_pydict()
    found.validate(full=True)


def test_fields_of_maps_keep_their_names(tmp_path):
    table, path = _table(), tmp_path / "maps.entasis"
    en.write(table, path)
    f = en.open(path)
    _check(en.read(path), table)
    _check(f.to_dataset().to_table(), table)
    _check(f[1:].read(), table.slice(1))
    _check(f[["struct", "map"]].read(), table.select(["struct", "map"]))
    _check(pa.concat_tables(f.batches(2)), table)
    _check(en.open(path, memory_map="auto").read(), table)
    en.write(table.to_reader(max_chunksize=2), path)
    _check(en.read(path), table)
    en.append(table, path)
    _check(en.read(path), pa.concat_tables([table, table]))
    with en.writer(path, schema=table.schema) as writer:
        writer.write(table)
        writer.write(table.to_reader())
    _check(en.read(path), pa.concat_tables([table, table]))
    _check(pa.table({"map": en.read(en.to_bytes(table["map"]))}), table.select(["map"]))
    with pytest.raises(en.UnsupportedTypeError):
        en.read(path, to="static_frame")
    assert en.read(path, to="polars").height == 6


@pytest.mark.parametrize("what", ["entries", "keys"])
def test_maps_have_no_missing_entries_and_keys(tmp_path, what):
    """pyarrow ends the process for such a map."""
    entry = pa.struct([("k", pa.string()), ("v", pa.int32())])
    item = None if what == "entries" else {"k": None, "v": 1}
    lists = pa.array([[{"k": "a", "v": 1}, item]] * 3, pa.list_(entry))
    forged = Forge(en.to_bytes(pa.table({"n": [1, 2, 3], "x": lists}), compression=0))
    first = forged.sections[COLUMNS][0]
    (at,) = [at for at in range(first, first + forged.sections[COLUMNS][1], 120) if forged.bytes[at + 20] == 21]
    forged.bytes[at + 20] = 24
    content = forged.repaired()
    said = r"entries or keys of a map are missing.*column \"x\""
    for to in ("pyarrow", "pandas", "polars", "numpy"):
        with pytest.raises(en.CorruptFileError, match=said):
            en.read(content, to=to)
    with pytest.raises(en.CorruptFileError, match=said):
        pa.table(en.open(content))
    with pytest.raises(en.CorruptFileError, match="entries or keys of a map"):
        en.verify(content)
    assert en.read(content, columns=["n"]).to_pydict() == {"n": [1, 2, 3]}
    # The record says that none is missing, and the blocks say otherwise.
    for child in range(first, first + forged.sections[COLUMNS][1], 120):
        struct.pack_into("<Q", forged.bytes, child + 88, 0)
    content = forged.repaired()
    with pytest.raises(en.CorruptFileError):
        en.verify(content)
    with contextlib.suppress(en.CorruptFileError):
        en.read(content, to="pyarrow").validate(full=True)
