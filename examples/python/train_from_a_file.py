"""Train a model on batches of a file, whose rows are shared out between two ranks.

The datasets give tensors where PyTorch is installed, and arrays of NumPy elsewhere.
"""

import tempfile
from pathlib import Path

import entasis as en
import numpy as np
from entasis.torch import IterableDataset, MapDataset, collate

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "points.entasis")
    random = np.random.default_rng(0)
    x = random.random(100_000)
    en.write({"x": x, "y": 3 * x + 1}, path)

    # Blocks in a random order, and each row once over both ranks. A DataLoader takes such a dataset
    # with batch_size=None and any number of workers.
    a, b, n_seen = 0.0, 0.0, 0
    shares = [
        IterableDataset(path, batch_size=1_000, shuffle=True, rank=i, world_size=2) for i in (0, 1)
    ]
    for epoch in range(3):
        for share in shares:
            share.set_epoch(epoch)
            for batch in share:
                error = a * batch["x"] + b - batch["y"]
                a -= float((error * batch["x"]).mean())
                b -= float(error.mean())
                n_seen += len(error)
    assert n_seen == 300_000
    assert abs(a - 3) < 0.05
    assert abs(b - 1) < 0.05

    # Rows by position: one read for each batch.
    points = MapDataset(path)
    batch = collate(points.__getitems__([5, 99_999]))
    assert batch["x"].tolist() == [x[5], x[99_999]]
