"""The description of the frame in an open file: its size, its columns and their statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._columns.levels import RANGE
from entasis._memory import reported
from entasis._view.read import read

from .opened import Opened

if TYPE_CHECKING:
    from entasis._entasis import Handle
    from entasis._typing import Columns
    from entasis._view.view import View

    from . import display as _display


class Described(Opened):
    """The description of a frame in a file, or of a view of it."""

    __slots__ = ()

    if TYPE_CHECKING:
        _view: View

    @property
    def _handle(self) -> Handle:
        return self._view.handle

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._view.n_rows

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return self._view.n_columns

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return self.n_rows, self.n_columns

    @property
    def column_names(self) -> list[str]:
        """The names of the columns: their labels as strings."""
        return self._view.names()

    @property
    def columns(self) -> Any:
        """The labels of the columns: an index of pandas or StaticFrame, else a list of names."""
        return self._view.labels()

    @property
    def dtypes(self) -> Any:
        """The types of the columns, in the form of the file's library. Reads no rows."""
        found = read(self._view.narrow(self._view.columns, range(0)), is_restored=False)
        if isinstance(found, dict):
            return {name: array.dtype for name, array in found.items()}
        if self.written_by == "pyarrow":
            return found.schema.types
        # A series or an index of StaticFrame has one dtype.
        return found.dtypes if hasattr(found, "dtypes") else found.dtype

    @property
    def schema(self) -> _display.Schema:
        """The names of the columns and their types in the file."""
        from . import display as _display

        return _display.Schema(*self._view.schema())

    @property
    def written_by(self) -> str | None:
        """The library whose value was written: "pandas", "polars" ... None for other writers."""
        return self._view.written_by

    @property
    def footer(self) -> bytes | None:
        """The bytes by which `entasis.open(..., footer=)` opens this file without a request.

        For files on stores: the first bytes and the last ones, 64 KiB or `prefetch` bytes, with
        more of a long footer, and the size and version of the object. They have no address and no
        option of the store. None for files on the disk and in memory.

        Examples
        --------
        >>> en.write({"n": np.arange(100_000)}, "memory://footers/numbers.entasis")
        >>> footer = en.open("memory://footers/numbers.entasis").footer
        >>> en.open("memory://footers/numbers.entasis", footer=footer)[:2].to_numpy()
        {'n': array([0, 1])}
        """
        from .footer import footer

        table = self._view.table
        return footer(table.content, table.limits, table.generation, table.secret)

    @reported
    def stats(self, columns: Columns | None = None) -> list[dict[str, Any]]:
        """Return what the file records about the blocks of columns. Reads no values.

        Parameters
        ----------
        columns
            As for `columns=` of `entasis.read`. Levels of the index have statistics too.

        Returns
        -------
        list of dict
            A dict for each block, with the keys `column` (a name), `block`, `first_row`, `n_rows`,
            `min`, `max`, `is_cut`, `n_missing`, `has_nan` and `order` ("ascending", "descending" or
            None). Rows count in the whole file. `is_cut` means that strings were cut to 15 bytes:
            then `min` is a lower bound, and `max` is a value's beginning. Minima and maxima of
            times are those of NumPy, in UTC.

            None stands for what is not known: minima and maxima of categoricals, of lists and of
            missing values alone, and all statistics of short columns that share a block.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2, 4]}), "table.entasis")
        >>> block = en.open("table.entasis").stats("a")[0]
        >>> block["n_rows"], block["min"], block["max"], block["order"]
        (3, 1, 4, 'ascending')
        """
        from entasis._view.statistics import described

        view = self._view
        found = view.resolve(columns)
        numbers = list(range(view.handle.n_columns)) if found is None else [n for n in found if n != RANGE]
        return described(view.handle, numbers)

    def tree(self, *, depth: int = 3, most: int = 20) -> str:
        """Return an outline of the value: a line for each part, with kinds, shapes and sizes.

        Parameters
        ----------
        depth
            How many levels of parts to show.
        most
            How many parts of a value, or columns of a frame, to show.

        Examples
        --------
        >>> en.write(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), "table.entasis")
        >>> print(en.open("table.entasis").tree())
        value: frame, 2 x 2, pandas
          a: i64
          b: f64
        """
        return "\n".join(self._outline("value", 0, depth, most))

    def _summary(self) -> str:
        host = f", {self.written_by}" if self.written_by else ""
        return f"frame, {self.n_rows:,} x {self.n_columns:,}{host}"

    def _outlines_of_parts(self, name: str, level: int, depth: int, most: int) -> list[str]:
        # Columns of frames inside other values would take too many lines.
        if level:
            return []
        lines = [f"  {name}: {kind}" for name, kind in self.schema.pairs[:most]]
        return lines + [f"  ... {self.n_columns - most:,} more"] * (self.n_columns > most)
