"""DataLoaders of PyTorch over objects on a store, with worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import entasis as en
from entasis.torch import IterableDataset, MapDataset, collate

torch = pytest.importorskip("torch")
pytest.importorskip("moto")
pytest.importorskip("flask")

if TYPE_CHECKING:
    from moto_server import MotoServer

URL = "s3://tables/samples.entasis"
N = 20_000


@pytest.fixture
def table(moto: MotoServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A file on the server, whose options are in the environment of all processes."""
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    found = {"n": np.arange(N), "x": np.random.default_rng(0).random(N)}
    en.write(found, URL)
    return found


def loader(dataset: Any, context: str | None, **options: Any) -> Any:
    workers = {} if context is None else {"num_workers": 2, "multiprocessing_context": context}
    return torch.utils.data.DataLoader(dataset, **workers, **options)


@pytest.mark.parametrize("context", [None, "spawn", "forkserver"])
def test_workers_read_the_rows(table: dict[str, Any], context: str | None) -> None:
    found = []
    for batch in loader(MapDataset(URL), context, batch_size=1_000, shuffle=True, collate_fn=collate):
        assert torch.equal(batch["x"], torch.from_numpy(table["x"])[batch["n"]])
        found += batch["n"].tolist()
    assert sorted(found) == list(range(N)) != found
    blocks = IterableDataset(URL, batch_size=500, block_rows=2_048, shuffle=True)
    found = [n for batch in loader(blocks, context, batch_size=None) for n in batch["n"].tolist()]
    assert sorted(found) == list(range(N)) != found


def test_workers_refuse_a_replaced_object(table: dict[str, Any]) -> None:
    dataset = IterableDataset(URL, batch_size=500)
    en.write({"n": np.arange(5)}, URL)
    with pytest.raises(en.errors.FileError, match=r"replaced .* \(in DataLoader worker process \d\)"):
        list(loader(dataset, "spawn", batch_size=None))


def test_forked_workers_are_refused(library: str, table: dict[str, Any]) -> None:
    if library == "fsspec":
        pytest.skip("fsspec has no threads that a fork loses")
    with pytest.raises(en.errors.FileError, match="'spawn' or 'forkserver'"):
        list(loader(IterableDataset(URL, batch_size=500), "fork", batch_size=None))
