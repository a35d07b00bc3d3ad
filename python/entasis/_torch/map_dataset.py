"""A dataset of PyTorch with rows by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._arguments.options import integer
from entasis._arguments.options import threads as _threads
from entasis._memory import reported

from . import batches as _batches
from .bases import MapBase
from .source import opened
from .tensors import converter, target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entasis._arguments.secrets import AnyKey
    from entasis._arguments.sources import Source
    from entasis._file.file import File, Scan
    from entasis._filter.conditions import Filter
    from entasis._typing import Columns, Rows

    from .tensors import To


class MapDataset(MapBase):  # type: ignore[misc]
    """The rows of a file as a map-style dataset of PyTorch.

    A DataLoader asks for all rows of a batch at once (`__getitems__`), and the dataset reads them
    with one call. Pass `collate_fn=entasis.torch.collate`, which takes the columns as they are.

    The dataset can be pickled, and be used by worker processes that were forked or spawned. Each of
    them opens the path again, and refuses a file that was replaced.

    Parameters
    ----------
    source
        A path, a `File` or a view of one, a `Scan`, or a `Tree` that is an array or a dict of
        arrays with one length.
    columns
        As for `entasis.read`; keys of a dict of arrays. Row labels are left out, unless this names
        them.
    rows, filter
        As for `entasis.read`. The filter is applied once, here.
    to
        "torch" for tensors or "numpy" for arrays. None means tensors where PyTorch is installed.
    threads
        The number of threads of a read. None means one per processor, and 1 in each of several
        worker processes.
    key, password
        As for `entasis.read`. Forked workers open the file with these. Spawned ones need a function
        of a module as `key`, or `ENTASIS_KEY_FILE`: pickles hold no key.

    Raises
    ------
    UnsupportedTypeError
        PyTorch has no tensors of a column: text, times, other objects. The message names it.
    ArgumentError
        The value of the file has no rows.
    EntasisError
        As for `entasis.open`.

    Examples
    --------
    >>> from entasis.torch import MapDataset
    >>> en.write(pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}), "table.entasis")
    >>> dataset = MapDataset("table.entasis", columns=["a"])
    >>> len(dataset), int(dataset[2]["a"]), dataset[[2, 0]]["a"].tolist()
    (3, 3, [3, 1])
    """

    @reported
    def __init__(
        self,
        source: Source | File | Scan,
        *,
        columns: Columns | None = None,
        rows: Rows | None = None,
        filter: Filter | None = None,
        to: To | None = None,
        threads: int | None = None,
        key: AnyKey | None = None,
        password: str | None = None,
    ) -> None:
        self._to, self._threads = target(to), _threads(threads)
        self._source = opened(source, columns, rows, filter, key, password)
        # Types that PyTorch lacks are reported here, not later by a worker process.
        _batches.converted(self._source.read(range(0), 1), converter(self._to))

    def __len__(self) -> int:
        return self._source.n_rows

    @reported
    def __getitem__(self, index: Any) -> Any:
        """Return a row, or several rows as one batch.

        Parameters
        ----------
        index
            A position; or positions as a slice, a list, an array or a tensor. Negative ones count
            from the end.

        Returns
        -------
        dict
            A scalar for each column, or for several rows an array. For a file of one array, the
            part of that array.

        Raises
        ------
        RowsOutOfRangeError
            A position is out of range. It is an `IndexError`.
        """
        columns = self._read(index)
        found = _batches.converted(columns, converter(self._to))
        if integer(index) is None:
            return found
        return {name: array[0] for name, array in found.items()} if isinstance(found, dict) else found[0]

    @reported
    def __getitems__(self, indices: list[int]) -> Sequence[Any]:
        """Return rows as a list of dicts, after one read. DataLoaders call this.

        Parameters
        ----------
        indices
            Positions. Their order and repeats are kept.

        Returns
        -------
        sequence
            A dict of scalars for each row. `collate` takes the columns of it.
        """
        return _batches.samples(self._read(indices), converter(self._to))

    def _read(self, index: Any) -> Any:
        rows = _rows.resolve(index, self._source.n_rows, holder="dataset")
        return self._source.read(range(self._source.n_rows) if rows is None else rows, self._threads)

    def __repr__(self) -> str:
        return f"<entasis.torch.MapDataset of {self._source.n_rows:,} rows>"
