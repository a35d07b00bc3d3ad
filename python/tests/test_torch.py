"""Datasets of PyTorch. Most tests run without PyTorch; those of DataLoaders need it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import entasis as en
from entasis._torch import shares
from entasis.torch import IterableDataset, MapDataset, collate

if TYPE_CHECKING:
    from pathlib import Path

N = 3_000


@pytest.fixture
def table(path: Path) -> dict[str, Any]:
    """A file of three columns at `path`."""
    random = np.random.default_rng(0)
    found = {"n": np.arange(N), "x": random.random(N), "flag": random.random(N) < 0.5}
    en.write(found, path)
    return found


def numbers(dataset: Any) -> list[int]:
    """The rows of a dataset that gives batches."""
    return [n for batch in dataset for n in batch["n"].tolist()]


def test_nothing_imports_torch() -> None:
    code = """
import sys
import entasis
assert "torch" not in sys.modules and "entasis.torch" not in sys.modules
sys.modules["torch"] = None
import entasis.torch
import numpy as np
content = entasis.to_bytes({"a": np.arange(3)})
assert entasis.torch.MapDataset(content)[1] == {"a": 1}
try:
    entasis.torch.MapDataset(content, to="torch")
except entasis.MissingLibraryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install torch" in done.stdout


def test_a_broken_torch_is_an_error() -> None:
    """Arrays in place of tensors would surprise where PyTorch is installed, but not complete."""
    code = """
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
import entasis.torch
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError: No module named 'torch.utils'" in done.stderr


def test_rows_by_position(path: Path, table: dict[str, Any]) -> None:
    dataset = MapDataset(path, to="numpy")
    assert len(dataset) == N
    assert dataset[7] == {name: array[7] for name, array in table.items()}
    assert dataset[-1]["n"] == N - 1
    for key in ([5, 2, 2, -1], np.array([1, 0]), slice(10, 4, -2), slice(None), [], range(3), table["flag"]):
        found = dataset[key]
        assert list(found) == list(table)
        for name, array in table.items():
            expected = array[np.asarray(key, np.int64) if isinstance(key, list) else key]
            np.testing.assert_array_equal(found[name], expected)


def test_all_rows_of_a_batch_are_read_at_once(
    path: Path, table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = MapDataset(path, columns=["x", "n"], to="numpy")
    calls = []
    read = en.File.read
    monkeypatch.setattr(en.File, "read", lambda self, **options: calls.append(options) or read(self, **options))
    indices = [7, 2_900, 7, 0]
    samples = dataset.__getitems__(indices)
    assert len(calls) == 1
    assert len(samples) == 4
    assert list(samples) == [{"x": table["x"][i], "n": i} for i in indices]
    assert samples[1] == {"x": table["x"][2_900], "n": 2_900}
    assert samples[-2:][0]["n"] == 7
    found = collate(samples)
    assert list(found) == ["x", "n"]
    np.testing.assert_array_equal(found["n"], indices)
    assert len(calls) == 1
    assert len(dataset.__getitems__([])) == 0
    assert list(dataset.__getitems__([])) == []


@pytest.mark.parametrize("index", [N, -N - 1, [0, N], [-N - 1], np.array([N])])
def test_positions_out_of_range(index: Any, path: Path, table: dict[str, Any]) -> None:
    with pytest.raises(IndexError, match=f"out of range: the dataset has {N} rows"):
        MapDataset(path, to="numpy")[index]


@pytest.mark.parametrize("index", ["n", 1.5, None, True, [0.5], {1}])
def test_other_indices(index: Any, path: Path, table: dict[str, Any]) -> None:
    dataset = MapDataset(path, to="numpy")
    if index is None:
        # As `array[None]` would add an axis, it means nothing here.
        index = object()
    with pytest.raises(en.ArgumentError, match="rows"):
        dataset[index]


def test_iterating_over_rows_ends(path: Path) -> None:
    en.write({"n": np.arange(3)}, path)
    assert [row["n"] for row in MapDataset(path, to="numpy")] == [0, 1, 2]


def test_selections(path: Path, table: dict[str, Any]) -> None:
    f = en.open(path)
    expected = np.arange(100, 200)[table["flag"][100:200]]
    for dataset in (
        MapDataset(path, columns="n", rows=(100, 200), filter=en.col("flag"), to="numpy"),
        MapDataset(f["n"][100:200].filter(en.col("flag")), to="numpy"),
        MapDataset(f[100:200], columns=["n"], filter=en.col("flag"), to="numpy"),
    ):
        assert len(dataset) == len(expected)
        assert list(dataset[0]) == ["n"]
        np.testing.assert_array_equal(dataset[:]["n"], expected)
        assert dataset[-1]["n"] == expected[-1]
    found = IterableDataset(path, batch_size=7, rows=(100, 200), filter=en.col("flag"), to="numpy")
    assert numbers(found) == expected.tolist()
    assert found.n_rows == len(expected)


def test_row_labels_are_left_out(path: Path) -> None:
    en.write(pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="k")), path)
    assert MapDataset(path, to="numpy")[1] == {"a": 2}
    assert MapDataset(path, columns=["k", "a"], to="numpy")[1] == {"k": 6, "a": 2}


def test_arrays_of_trees(path: Path) -> None:
    images, labels = np.arange(60, dtype="f4").reshape(10, 2, 3), np.arange(10)
    en.write({"images": images, "labels": labels, "name": "x", "few": np.zeros(3)}, path)
    dataset = MapDataset(path, columns=["images", "labels"], to="numpy")
    assert len(dataset) == 10
    np.testing.assert_array_equal(dataset[3]["images"], images[3])
    np.testing.assert_array_equal(collate(dataset.__getitems__([9, 0]))["images"], images[[9, 0]])
    unnamed = MapDataset(en.to_bytes({None: images, "labels": labels}), to="numpy")
    np.testing.assert_array_equal(unnamed[2][None], images[2])
    part = MapDataset(path, columns="labels", rows=[1, 3, 5], to="numpy")
    assert part[-1] == {"labels": 5}
    alone = MapDataset(en.open(path)["images"][2:], to="numpy")
    assert len(alone) == 8
    np.testing.assert_array_equal(alone[0], images[2])
    np.testing.assert_array_equal(collate(alone.__getitems__([1, 1])), images[[3, 3]])
    assert len(alone.__getitems__([1, 1])) == 2
    blocks = IterableDataset(en.open(path)["images"], batch_size=4, block_rows=3, to="numpy")
    np.testing.assert_array_equal(np.concatenate(list(blocks)), images)
    assert [batch.shape for batch in blocks] == [(4, 2, 3), (4, 2, 3), (2, 2, 3)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "'name' is a str, not an array"),
        (["images", "few"], "different lengths .'images': 10, 'few': 3."),
        (["nothing"], "no key 'nothing'"),
        ([], "no arrays were chosen"),
        (slice(1), "by a list"),
        (["scalar"], "has no axes"),
        (["frame"], "'frame' is a frame, not an array"),
    ],
)
def test_dicts_without_rows(columns: Any, message: str, path: Path) -> None:
    value = {
        "images": np.zeros((10, 2)),
        "name": "x",
        "few": np.zeros(3),
        "scalar": np.array(1),
        "frame": pd.DataFrame({"a": [1]}),
    }
    en.write(value, path)
    with pytest.raises(en.EntasisError, match=message):
        MapDataset(path, columns=columns, to="numpy")


def test_values_without_rows(path: Path) -> None:
    en.write([1, 2], path)
    with pytest.raises(en.ArgumentError, match="this value is a list: open the file and pass a part of it"):
        MapDataset(path)
    en.write({"a": np.zeros((2, 2))}, path)
    with pytest.raises(en.ArgumentError, match="filter= is for frames"):
        MapDataset(path, filter=en.col("a") > 1)
    with pytest.raises(en.ArgumentError, match="not for an array"):
        MapDataset(en.open(path)["a"], columns=["a"])


@pytest.mark.parametrize("n_shares", [1, 2, 3, 7])
@pytest.mark.parametrize("most", [1, 64, 1_000, 1 << 16])
@pytest.mark.parametrize("n", [0, 1, 5, N])
def test_blocks_of_shares(n: int, most: int, n_shares: int) -> None:
    edges = shares.edges(n, n_shares, most)
    lengths = np.diff(edges)
    assert (edges[0], edges[-1]) == (0, n)
    assert len(lengths) % n_shares == 0
    assert lengths.max() <= most
    assert lengths.max() - lengths.min() <= 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("world_size", [1, 2, 5])
@pytest.mark.parametrize("block_rows", [64, 1_000, 1 << 16])
def test_each_row_comes_once(block_rows: int, world_size: int, shuffle: bool, path: Path, table: Any) -> None:
    found: list[int] = []
    sizes = []
    for rank in range(world_size):
        dataset = IterableDataset(
            path,
            batch_size=50,
            shuffle=shuffle,
            seed=3,
            block_rows=block_rows,
            rank=rank,
            world_size=world_size,
            to="numpy",
        )
        mine = []
        for batch in dataset:
            np.testing.assert_array_equal(batch["x"], table["x"][batch["n"]])
            mine += batch["n"].tolist()
        assert mine == numbers(dataset)
        sizes.append(len(mine))
        found += mine
    assert Counter(found) == Counter(range(N))
    # Each share has as many blocks, which differ by at most one row.
    assert max(sizes) - min(sizes) <= -(-N // block_rows)
    # One rank, or one block for each rank.
    is_whole = world_size == 1 or block_rows * world_size >= N
    assert (found == sorted(found)) == (not shuffle and is_whole)


def test_shuffling(path: Path, table: Any) -> None:
    def order(epoch: int = 0, **options: Any) -> list[int]:
        dataset = IterableDataset(path, batch_size=64, block_rows=100, shuffle=True, to="numpy", **options)
        dataset.set_epoch(epoch)
        return numbers(dataset)

    assert order() == order(seed=0) == order(0)
    orders = [order(), order(1), order(seed=1), order(mixed_blocks=0), order(1, mixed_blocks=0), order(mixed_blocks=30)]
    assert len({tuple(found) for found in orders}) == len(orders)
    assert all(sorted(found) == list(range(N)) for found in orders)
    # Blocks keep their order inside without mixing.
    starts = orders[3][::100]
    assert sorted(starts) == list(range(0, N, 100)) != starts
    assert orders[3] == [n for start in starts for n in range(start, start + 100)]
    # Four blocks are mixed with each other.
    assert {n // 100 for n in orders[0][:400]} == {start // 100 for start in starts[:4]}
    assert len({n // 100 for n in orders[0][:50]}) > 1


def test_batches(path: Path, table: Any) -> None:
    sizes = [len(batch["n"]) for batch in IterableDataset(path, batch_size=700, block_rows=512, to="numpy")]
    assert sizes == [700, 700, 700, 700, 200]
    dropped = IterableDataset(path, batch_size=700, block_rows=512, drop_last=True, to="numpy")
    assert [len(batch["n"]) for batch in dropped] == [700] * 4
    rows = list(IterableDataset(path, block_rows=512, to="numpy"))
    assert len(rows) == N
    assert rows[N - 1] == {name: array[-1] for name, array in table.items()}
    assert list(IterableDataset(path, rows=[], batch_size=5, to="numpy")) == []
    assert list(IterableDataset(path, rows=[], rank=1, world_size=2, to="numpy")) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size=0: a number of rows"),
        ({"batch_size": True}, "batch_size=True"),
        ({"seed": -1}, "seed=-1"),
        ({"block_rows": 0}, "block_rows=0"),
        ({"mixed_blocks": -1}, "mixed_blocks=-1"),
        ({"shuffle": "rows"}, "shuffle='rows': True or False"),
        ({"rank": 1}, "given together"),
        ({"world_size": 1}, "given together"),
        ({"rank": 2, "world_size": 2}, "rank=2: an integer from 0 to 1"),
        ({"rank": 0, "world_size": 0}, "world_size=0"),
        ({"to": "jax"}, "to='jax'"),
        ({"threads": 0}, "threads=0"),
    ],
)
def test_wrong_options(options: Any, message: str, path: Path, table: Any) -> None:
    with pytest.raises(en.ArgumentError, match=message):
        IterableDataset(path, **options)
    with pytest.raises(en.ArgumentError, match="epoch=-1"):
        IterableDataset(path).set_epoch(-1)


def test_pickles(path: Path, table: Any) -> None:
    dataset = MapDataset(path, columns=["n"], rows=(5, 50), to="numpy")
    blocks = IterableDataset(path, batch_size=10, shuffle=True, to="numpy")
    blocks.set_epoch(4)
    copies = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps((dataset, blocks)))))
    assert len(copies[0]) == 45
    assert copies[0][0] == {"n": 5}
    assert numbers(copies[1]) == numbers(blocks)
    en.write({"n": np.arange(10)}, path)
    for copy in pickle.loads(pickle.dumps((dataset, blocks))):
        with pytest.raises(en.FileError, match="the file was replaced"):
            next(iter(copy))


def test_pickles_of_mapped_files_and_of_bytes(path: Path) -> None:
    en.write({"n": np.arange(10)}, path, compression=0)
    mapped = pickle.loads(pickle.dumps(MapDataset(en.open(path, memory_map="auto"), to="numpy")))
    assert not mapped[2:5]["n"].flags.writeable
    assert mapped[[7, 3]]["n"].tolist() == [7, 3]
    content = pickle.loads(pickle.dumps(MapDataset(en.to_bytes({"n": np.arange(10)}), to="numpy")))
    assert content[9] == {"n": 9}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_opens_the_file_again(path: Path, table: Any) -> None:
    """It does not share the open file, and refuses another file at the path."""
    dataset, in_memory = MapDataset(path, to="numpy"), MapDataset(path.read_bytes(), to="numpy")
    assert dataset[0]["n"] == 0

    def in_child() -> int:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                before = dataset._source._view
                assert in_memory[3]["n"] == 3
                assert dataset[[1, 2]]["n"].tolist() == [1, 2]
                code = 2 if dataset._source._view is before else 0
            except en.FileError as error:
                code = 3 if "was replaced" in str(error) else 4
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert in_child() == 0
    en.write({"n": np.arange(5)}, path)
    assert in_child() == 3
    # This process still has the file that it opened.
    assert dataset[N - 1]["n"] == N - 1


def test_numpy_gives_all_types(path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b"], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    en.write(frame, path)
    assert MapDataset(path, to="numpy")[1]["text"] == "b"
    assert collate(MapDataset(path, to="numpy").__getitems__([1, 0]))["day"].dtype == "M8[us]"


def test_fields_of_structs(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    en.write(pa.table({"s": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}), path)
    assert MapDataset(path, columns=[en.field("s", "a")], to="numpy")[-1] == {"a": 2}


def test_fixed_size_lists_have_one_more_axis(path: Path) -> None:
    pl = pytest.importorskip("polars")
    vectors = np.arange(12, dtype="f4").reshape(4, 3)
    en.write(pl.DataFrame({"v": pl.Series(vectors)}), path)
    dataset = MapDataset(path, to="numpy")
    np.testing.assert_array_equal(collate(dataset.__getitems__([3, 1]))["v"], vectors[[3, 1]])
    blocks = IterableDataset(path, batch_size=3, block_rows=2, to="numpy")
    np.testing.assert_array_equal(np.concatenate([batch["v"] for batch in blocks]), vectors)


def test_missing_integers_are_refused(path: Path) -> None:
    en.write(pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1, 2, 3]}), path)
    with pytest.raises(en.UnsupportedTypeError, match="column 'a': i64 with missing values"):
        MapDataset(path, to="numpy")[[0, 1]]
    present = MapDataset(path, filter=~en.col("a").is_missing(), to="numpy")
    assert [row["b"] for row in present] == [1, 3]


def test_an_error_of_a_worker_keeps_its_message() -> None:
    """PyTorch makes the error anew, of a message that holds the traceback."""
    text = "Caught FileError in DataLoader worker process 3.\nOriginal Traceback (most recent call last):\n"
    text += '  File "a.py", line 1, in <module>\n' * 20 + "entasis.errors.FileError: no such file: \\x1b\n"
    error = en.FileError(text)
    assert str(error) == "no such file: \\x1b (in DataLoader worker process 3)"
    assert error.__notes__ == [text]
    assert "\n" not in str(en.FileError(f"column '{text}'"))


# The tests below need PyTorch.


def key_of_module() -> en.Key:
    return en.Key(bytes(range(32)))


@pytest.mark.parametrize("secret", [{"key": bytes(range(32))}, {"key": key_of_module}, {"password": "correct horse"}])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_encrypted_files(tmp_path: Path, table: Any, secret: dict[str, Any]) -> None:
    frame, arrays = tmp_path / "frame.entasis", tmp_path / "arrays.entasis"
    en.write(table, frame, **secret)
    en.write({"n": np.arange(N), "m": np.ones((N, 2))}, arrays, **secret)
    for path in (frame, arrays):
        dataset = MapDataset(path, columns=["n"], to="numpy", **secret)
        blocks = IterableDataset(path, columns=["n"], batch_size=100, to="numpy", **secret)
        assert dataset[[5, 3]]["n"].tolist() == [5, 3]
        assert np.concatenate([batch["n"] for batch in blocks]).tolist() == list(range(N))
        with pytest.raises(en.WrongKeyError):
            MapDataset(path, to="numpy")
        for value in (dataset, blocks):
            restored = pickle.loads(pickle.dumps(value))
            if callable(secret.get("key")):
                assert len(list(restored)) == len(list(value))
            else:
                with pytest.raises(en.WrongKeyError, match="ENTASIS_KEY_FILE"):
                    next(iter(restored))
        if hasattr(os, "fork"):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = 0 if dataset[[1, 2]]["n"].tolist() == [1, 2] and next(iter(blocks))["n"][7] == 7 else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(en.ArgumentError, match="needs no key"):
        MapDataset(en.open(frame, **secret), to="numpy", **secret)


CONTEXTS = [None, "fork", "spawn"]


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def loader(dataset: Any, context: str | None, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    workers = {} if context is None else {"num_workers": 2, "multiprocessing_context": context}
    return DataLoader(dataset, **workers, **options)


def test_tensors(torch: Any, path: Path, table: Any) -> None:
    dataset = MapDataset(path)
    row = dataset[5]
    assert (row["n"].shape, row["n"].dtype, row["flag"].dtype) == ((), torch.int64, torch.bool)
    assert torch.equal(dataset[[3, 1]]["x"], torch.from_numpy(table["x"][[3, 1]]))
    assert torch.equal(dataset[torch.tensor([3, 1])]["n"], torch.tensor([3, 1]))
    assert dataset[torch.tensor(7)]["n"] == 7
    assert isinstance(dataset, torch.utils.data.Dataset)
    assert isinstance(IterableDataset(path), torch.utils.data.IterableDataset)


def test_tensors_of_all_types(torch: Any, path: Path) -> None:
    numbers = ["?", "u1", "i1", "i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">i4", ">f8"]
    value = {dtype: np.arange(4).astype(dtype) for dtype in numbers} | {"fortran": np.asfortranarray(np.eye(4))}
    en.write(value, path)
    found = MapDataset(path)[:]
    for name, array in value.items():
        assert found[name].numpy().tolist() == array.tolist()
        assert found[name].numpy().dtype == array.dtype.newbyteorder("=")


def test_tensors_of_mapped_files_are_copies(torch: Any, path: Path) -> None:
    """Memory that may not be written to would make a tensor that ends the process."""
    en.write({"n": np.arange(10)}, path, compression=0)
    batch = MapDataset(en.open(path, memory_map=True))[2:5]["n"]
    batch += 1
    assert batch.tolist() == [3, 4, 5]
    assert en.read(path)["n"].tolist() == list(range(10))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array(["a", "b"]), "column 'x': PyTorch has no tensors of"),
        (np.array(["a", None], object), "column 'x': PyTorch has no tensors of text or other objects"),
        (np.array(["2020-01-01"], "M8[D]"), r"column 'x': datetime64\[D\] has no counterpart in PyTorch"),
        (np.array([1, 2], "m8[s]"), "store it as integers"),
        (np.array([1, 2], "g"), "has no counterpart in PyTorch"),
        (np.zeros((2, 1), [("a", "i4")]), "column 'x': PyTorch has no tensors of fields"),
    ],
)
def test_types_that_torch_lacks(torch: Any, value: Any, message: str, path: Path) -> None:
    en.write({"x": value}, path)
    for kind in (MapDataset, IterableDataset):
        with pytest.raises(en.UnsupportedTypeError, match=message):
            kind(path)
        kind(path, to="numpy")


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("collates", [False, True])
def test_loader_of_rows(torch: Any, collates: bool, context: str | None, path: Path, table: Any) -> None:
    options = {"collate_fn": collate} if collates else {}
    found = []
    for batch in loader(MapDataset(path), context, batch_size=256, shuffle=True, **options):
        assert torch.equal(batch["x"], torch.from_numpy(table["x"])[batch["n"]])
        found += batch["n"].tolist()
    assert sorted(found) == list(range(N)) != found


@pytest.mark.parametrize("context", CONTEXTS)
def test_loader_of_an_array(torch: Any, context: str | None, path: Path) -> None:
    images = np.arange(60, dtype="f4").reshape(10, 2, 3)
    en.write({"images": images}, path)
    dataset = MapDataset(en.open(path)["images"])
    for options in ({}, {"collate_fn": collate}):
        found = torch.cat(list(loader(dataset, context, batch_size=4, **options)))
        assert torch.equal(found, torch.from_numpy(images))


def test_parts_of_datasets(torch: Any, path: Path, table: Any) -> None:
    data = torch.utils.data
    first, rest = data.random_split(MapDataset(path), [1_000, 2_000])
    both = [batch["n"] for part in (first, rest) for batch in loader(part, None, batch_size=99, collate_fn=collate)]
    assert sorted(torch.cat(both).tolist()) == list(range(N))
    twice = data.ConcatDataset([MapDataset(path), MapDataset(path)])
    assert sum(len(batch["n"]) for batch in loader(twice, None, batch_size=99, collate_fn=collate)) == 2 * N
    sampler = data.BatchSampler(data.SequentialSampler(MapDataset(path)), 100, False)
    assert numbers(loader(MapDataset(path), None, sampler=sampler, batch_size=None)) == list(range(N))


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("world_size", [1, 2])
def test_loader_of_blocks(torch: Any, world_size: int, context: str | None, path: Path, table: Any) -> None:
    found = []
    for rank in range(world_size):
        dataset = IterableDataset(path, batch_size=100, block_rows=128, shuffle=True, rank=rank, world_size=world_size)
        found += numbers(loader(dataset, context, batch_size=None))
    assert sorted(found) == list(range(N)) != found
    rows = IterableDataset(path, block_rows=128, columns=["n"])
    assert sorted(numbers(loader(rows, context, batch_size=100))) == list(range(N))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_persistent_workers_see_the_epoch(torch: Any, context: str, path: Path, table: Any) -> None:
    dataset = IterableDataset(path, batch_size=100, block_rows=128, shuffle=True)
    batches = loader(dataset, context, batch_size=None, persistent_workers=True)
    first, again = numbers(batches), numbers(batches)
    dataset.set_epoch(1)
    second = numbers(batches)
    assert first == again != second
    assert sorted(second) == list(range(N))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_workers_refuse_a_replaced_file(torch: Any, context: str, path: Path, table: Any) -> None:
    dataset, blocks = MapDataset(path), IterableDataset(path, batch_size=10)
    en.write({"n": np.arange(5)}, path)
    message = r"^the file was replaced .* \(in DataLoader worker process \d\)"
    for batches in (loader(dataset, context), loader(blocks, context, batch_size=None)):
        with pytest.raises(en.FileError, match=message) as error:
            list(batches)
        assert "Original Traceback" in error.value.__notes__[0]


GROUP = """
import pickle, sys
import torch
from entasis.torch import IterableDataset
path, rank, meeting = sys.argv[1], int(sys.argv[2]), sys.argv[3]
early = IterableDataset(path, batch_size=100)
torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
for use in (iter, pickle.dumps):
    try:
        use(early)
    except ValueError as error:
        assert "made before torch.distributed was initialised" in str(error)
    else:
        raise AssertionError("each rank would read all rows")
batches = torch.utils.data.DataLoader(IterableDataset(path, batch_size=100), batch_size=None, num_workers=2)
print([n for batch in batches for n in batch["n"].tolist()])
torch.distributed.destroy_process_group()
"""


def test_ranks_of_a_process_group(torch: Any, path: Path, table: Any, tmp_path: Path) -> None:
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    command = [sys.executable, "-W", "ignore", "-c", GROUP, str(path)]
    both = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meeting")], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    found = [eval(process.communicate(timeout=120)[0]) for process in both]
    assert len(found[0]) == len(found[1]) == N // 2
    assert sorted(found[0] + found[1]) == list(range(N))
