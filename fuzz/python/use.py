"""Random uses of an open file: parts, rows and columns of it, descriptions, other libraries."""

from __future__ import annotations

import copy
import pickle
from itertools import islice
from typing import TYPE_CHECKING, Any

import entasis as en

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

HOSTS = ("pandas", "polars", "pyarrow", "numpy", "static_frame")
# A hostile file may promise any number of rows: a mask or list of them has at most this length.
MOST = 1000
# A stream is read up to this many batches.
BATCHES = 100
DEEPEST = 5


def use(file: Any, rng: Random) -> Any:
    """Use a file in one way, and return the result."""
    return rng.choice(_USES if type(file) is en.File else _TREE_USES)(file, rng)


def rows_of(n: int, rng: Random) -> Any:
    """A key that selects some of `n` rows."""
    bounds = sorted(rng.randint(0, n) for _ in range(2))
    kind = rng.randrange(6)
    if kind == 0:
        return slice(*bounds)
    if kind == 1:
        return slice(
            rng.choice((None, -3, 5)), rng.choice((None, -1, n)), rng.choice((None, 2, -1, 7))
        )
    if kind == 2:
        return range(*bounds)
    if kind == 3 and n <= MOST:
        return [rng.random() < 0.5 for _ in range(n)]
    if n == 0:
        return []
    return (
        rng.randrange(n) if kind == 4 else [rng.randrange(-n, n) for _ in range(rng.randrange(8))]
    )


def columns_of(file: Any, rng: Random) -> Any:
    """A key that selects some columns by position."""
    n = file.n_columns
    first = rng.randint(0, n)
    return (
        slice(first, min(n, first + rng.randrange(6)), 1)
        if rng.random() < 0.8
        else slice(None, None, -1)
    )


def _read(file: Any, rng: Random) -> Any:
    return file.read(
        rows=rows_of(file.n_rows, rng), to=rng.choice((None, *HOSTS)), index=rng.random() < 0.8
    )


def _some_columns(file: Any, rng: Random) -> Any:
    return file.read(columns=columns_of(file, rng), to=rng.choice((None, *HOSTS)))


def _skip(file: Any, rng: Random) -> Any:
    return file.read(to=rng.choice(HOSTS), on_unsupported="skip")


def _by_position(file: Any, rng: Random) -> Any:
    view = file.iloc[rows_of(file.n_rows, rng), columns_of(file, rng)]
    return view.iloc[rows_of(view.n_rows, rng)].read() if rng.random() < 0.5 else view.read()


def _by_label(file: Any, rng: Random) -> Any:
    labels = list(file.columns)
    if not labels:
        return []
    label = rng.choice(labels)
    return label in file, file.select([label]).read(), file.loc[:, [label]].shape


def _ends(file: Any, rng: Random) -> Any:
    return file.head(rng.randint(-3, 5)), file.tail(rng.randint(-3, 5))


def _sample(file: Any, rng: Random) -> Any:
    return file.sample(min(3, file.n_rows), seed=rng.randrange(9))


def _names(file: Any, _: Random) -> Any:
    return file.shape, file.column_names, list(file.columns), repr(file.schema), file.written_by


def _shown(file: Any, _: Random) -> Any:
    return repr(file), file._repr_html_(), file.tree()


def _types(file: Any, _: Random) -> Any:
    return file.dtypes


def _metadata(file: Any, _: Random) -> Any:
    return file.metadata


def _array(file: Any, rng: Random) -> Any:
    import numpy as np

    view = file.iloc[rows_of(file.n_rows, rng), columns_of(file, rng)]
    try:
        return np.asarray(view)
    except TypeError as error:
        # The protocol of NumPy has this error for columns of several dtypes.
        if not str(error).startswith("a File "):
            raise
        return str(error)


def _stream(file: Any, rng: Random) -> Any:
    import pyarrow as pa

    view = file.iloc[rows_of(file.n_rows, rng), columns_of(file, rng)]
    try:
        reader = pa.RecordBatchReader.from_stream(view)
        # Rows without columns take no bytes, so a file can have 2^60 of them.
        return pa.Table.from_batches(islice(reader, BATCHES), reader.schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        # pyarrow parses the metadata of extension types itself.
        return str(error)


def _copied(file: Any, rng: Random) -> Any:
    return use(copy.copy(file), rng)


def _pickled(file: Any, rng: Random) -> Any:
    return use(pickle.loads(pickle.dumps(file)), rng)


def _walk(tree: Any, rng: Random) -> Any:
    """Go down to some part, and read it."""
    part: Any = tree
    for _ in range(rng.randint(0, DEEPEST)):
        if type(part) is en.File:
            return use(part, rng)
        if part.kind in ("dict", "object") and "shape" not in part._part.info:
            try:
                keys = part.keys()
            except en.ArgumentError:
                break
            if not keys:
                break
            key = rng.choice(keys)
            assert key in part
            part = part[key]
        elif part.shape and part.shape[0]:
            part = part[rows_of(part.shape[0], rng)]
        else:
            break
    return part.read() if type(part) is not en.File else use(part, rng)


def _tree_rows(tree: Any, rng: Random) -> Any:
    return tree.read(rows=rows_of(tree.shape[0], rng)) if tree.shape else tree.read()


def _outline(tree: Any, _: Random) -> Any:
    return tree.tree(), repr(tree), tree._repr_html_(), tree.kind, tree.shape


_USES: list[Callable[[Any, Random], Any]] = [
    *(_read, _some_columns, _by_position) * 2,
    *(
        _skip,
        _by_label,
        _ends,
        _sample,
        _names,
        _shown,
        _types,
        _metadata,
        _array,
        _stream,
        _copied,
        _pickled,
    ),
]
_TREE_USES: list[Callable[[Any, Random], Any]] = [
    *(_walk,) * 6,
    *(_tree_rows, _outline, _metadata, _copied, _pickled),
]
