"""Columns to frames of StaticFrame, with the recorded blocks.

Blocks of one dtype share an array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import index_spec as _index_spec
from entasis._columns.arrays import zeros
from entasis._columns.labels import decode_label
from entasis._columns.missing import kinds_of_missing, restore_missing
from entasis._entasis import Handle, fixed_names, read_blocks
from entasis._host_map import interpretation
from entasis._hosts.numpy.arrays import arrays
from entasis.errors import CorruptFileError

from . import convert as _static_frame_convert
from . import index as _sf_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from entasis._entasis import Column


# A frame has row labels, so levels of the index are not read as columns.
HAS_INDEX = True
# The logical types that StaticFrame writes.
_LOGICAL = ("plain", "timestamp", "duration", "object")


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a frame, series or index."""
    if host.get("host") != "static_frame":
        return _static_frame_convert.read(handle, host, columns, rows, threads)
    name, index, labels = _parts(host)
    n = handle.n_columns
    if (name in _sf_labels.SERIES and n != 1) or (name in _sf_labels.INDEXES and n != 0):
        raise CorruptFileError(f"a value of class {name!r} of StaticFrame in a table of {n} columns")
    if name in _sf_labels.FRAMES and rows is None and columns is None and type(handle) is Handle:
        return _whole(handle, host, (name, index, labels), threads)
    index = _labels_of(handle, index, handle.n_rows, rows, threads)
    if name in _sf_labels.INDEXES:
        return index
    blocks = _with_metadata(_Blocks(handle, host, columns, rows, threads).all(), host, columns)
    label = _label(host)
    if name in _sf_labels.SERIES:
        if columns is None or len(columns) == 1:
            return _sf_labels.series(_sf_labels.class_of(name, _sf_labels.SERIES), blocks, index, label)
        # A series whose column is not selected, or is selected twice, becomes a frame.
        name, labels = "FrameHE" if name == "SeriesHE" else "Frame", {"kind": "text", "name": None}
    cls = _sf_labels.class_of(name, _sf_labels.FRAMES)
    return _sf_labels.frame(cls, blocks, index, _column_labels(handle, labels, n, columns, cls), label)


def _whole(
    handle: Handle, host: dict[str, Any], parts: tuple[str, dict[str, Any] | None, dict[str, Any]], threads: int | None
) -> Any:
    """Read a whole frame. Its labels are made while other threads read the columns."""
    name, index, labels = parts
    cls = _sf_labels.class_of(name, _sf_labels.FRAMES)
    axes: list[Any] = []

    def make_labels(_: bool) -> None:
        axes.append(_labels_of(handle, index, handle.n_rows, None, threads))
        axes.append(_column_labels(handle, labels, handle.n_columns, None, cls))

    blocks = _Blocks(handle, host, None, None, threads).whole(make_labels)
    return _sf_labels.frame(cls, _with_metadata(blocks, host, None), axes[0], axes[1], _label(host))


def column_labels(handle: Handle, host: dict[str, Any]) -> Any:
    """The labels of all columns."""
    import static_frame as sf

    _, _, labels = _parts(host)
    return _column_labels(handle, labels, handle.n_columns, None, sf.Frame)


@interpretation()
def _with_metadata(blocks: list[Any], host: dict[str, Any], columns: list[int] | None) -> list[Any]:
    """Restore the metadata of dtypes. All columns of a block have the same metadata."""
    if _dtype_metadata.KEY not in host:
        return blocks
    metadata = _dtype_metadata.ColumnMetadata(host, columns)
    found, position = [], 0
    for block in blocks:
        width = 1 if block.ndim == 1 else block.shape[1]
        number = metadata.number(position if columns is None else columns[position]) if width else None
        found.append(block if number is None else metadata.restore(block, number))
        position += width
    return found


@interpretation()
def _label(host: dict[str, Any]) -> Any:
    return decode_label(host["name"])


@interpretation()
def _parts(host: dict[str, Any]) -> tuple[str, dict[str, Any] | None, dict[str, Any]]:
    """The class, the index of rows, and the index of columns, from the host map."""
    name, index, columns = host["class"], host["index"], host.get("columns", {"kind": "text", "name": None})
    _sf_labels.class_of(name, (*_sf_labels.FRAMES, *_sf_labels.SERIES, *_sf_labels.INDEXES))
    # The index is None after `index=False`.
    for spec in (columns,) if index is None else (index, columns):
        if type(spec) is not dict or type(spec["kind"]) is not str:
            raise TypeError("an index is a map")
    if name in _sf_labels.FRAMES and "columns" not in host:
        raise KeyError("columns")
    return name, index, columns


def _labels_of(handle: Handle, spec: dict[str, Any] | None, n: int, rows: Any, threads: int | None = 1) -> Any:
    """Read rows of an index with `n` labels; positions if the file has no index."""
    # StaticFrame holds the positions of all rows.
    handle.check_decoded_len(n, 8)
    if spec is None:
        import static_frame as sf

        return _sf_labels.positions(_rows.count(rows, n), sf.Index)
    numbers = _index_spec.columns_of(spec)
    values = _read_extra(handle, numbers, rows, n, threads)
    if spec["kind"] == "column" and len(values) == 2:
        with interpretation():
            restore_missing(values[0], values[1])
    return _sf_labels.decode_index(spec, values, n, rows)


@interpretation()
def _column_labels(handle: Handle, spec: dict[str, Any], n: int, columns: list[int] | None, cls: Any) -> Any:
    """Read the labels of columns."""
    import numpy as np
    import static_frame as sf

    kind = spec["kind"]
    with _sf_labels.unique("columns" if columns is not None else None):
        if kind == "names" and spec["dtype"] == "str":
            labels = zeros(n, f"U{_width(spec['width'])}")
            fixed_names(getattr(handle, "_handle", handle), labels)
            index = _sf_labels.class_of(spec["class"], ("Index", "IndexGO"))
        elif kind in ("names", "text"):
            labels = np.array(handle.names(), dtype=object if kind == "names" else None)
            index = sf.IndexGO if cls is sf.FrameGO else sf.Index
            if kind == "names":
                index = _sf_labels.class_of(spec["class"], ("Index", "IndexGO"))
        else:
            found = _labels_of(handle, spec, n, None)
            return found if columns is None else _sf_labels.at_rows(found, _sf_labels.numbers(columns))
        if columns is not None:
            labels = labels[_sf_labels.numbers(columns)]
        labels.flags.writeable = False
        labels = _dtype_metadata.labels(labels, spec)
        name = decode_label(spec["name"])
        with _sf_labels.index_calls(labels):
            return index(labels, name=name)


def _width(width: Any) -> int:
    if type(width) is not int or width < 0:
        raise ValueError(f"a width of {width!r}")
    return width


def _read_extra(handle: Handle, numbers: list[int], rows: Any, n: int, threads: int | None) -> list[Any]:
    """Read extra columns with `n` values each, as arrays or as `Codes`."""
    if not numbers:
        return []
    found: list[Any] = [None] * len(numbers)
    others = []
    for entry in handle.read(numbers, _rows.native(rows), "numpy", True, 0, threads, n):
        kind, position, column, values, mask = entry
        if mask is not None:
            raise _foreign(column)
        if kind != "array" or column.dictionary is None:
            others.append(entry)
            continue
        (of,) = handle.columns([column.dictionary])
        (levels,) = _read_extra(handle, [column.dictionary], None, of.n_values, 1)
        found[position] = _index_spec.Codes(values, levels)
    for at, values, column in arrays(handle, others, rows, n, True):
        found[at[0]] = _known(column, values)[0]
    return found


def _known(column: Column, values: Any) -> Any:
    """Return the values, unless StaticFrame does not write the type of the column."""
    is_zoned = column.logical == "timestamp" and column.detail is not None
    if column.dictionary is not None or column.is_nested or is_zoned or column.logical not in _LOGICAL:
        raise CorruptFileError(f"column '{column.name}': StaticFrame writes no {column.type_name} there")
    return values


def _foreign(column: Column) -> CorruptFileError:
    return CorruptFileError(f"column '{column.name}': StaticFrame writes no {column.type_name} with missing values")


class _Blocks:
    """Reads the blocks of a frame of StaticFrame.

    The host map records an integer for each block: 0 for an array of one axis, else the number of
    its columns, which is negative if its memory is in row order.
    """

    def __init__(
        self, handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None
    ) -> None:
        self._handle, self._host = handle, host
        self._columns, self._rows, self._threads = columns, rows, threads

    def all(self) -> list[Any]:
        """Read all blocks of the selection."""
        codes = self._codes()
        if self._columns is not None:
            return self._join(_selected(codes, self._columns), self._some(self._columns))
        # Columns of a mapped file keep their positions.
        if self._rows is not None or type(self._handle) is not Handle:
            return self._join(codes, self._some(range(self._handle.n_columns)))
        return self.whole(lambda _: None)

    def _codes(self) -> Any:
        """The integers that describe the blocks; None if all have one axis."""
        import numpy as np

        codes = self._host.get("blocks")
        if codes is None:
            return None
        with interpretation():
            if type(codes) is not list:
                number = _index_spec.number_of(codes)
                (of,) = self._handle.columns([number])
                (codes,) = _read_extra(self._handle, [number], None, of.n_values, 1)
                if codes.dtype != np.int64:
                    raise TypeError("blocks must be integers")
                # Summed as floats, because integers of a damaged file could overflow.
                n = np.maximum(np.abs(codes.astype(float)), 1).sum()
            else:
                if not all(type(code) is int for code in codes):
                    raise TypeError("blocks must be integers")
                n = sum(abs(code) or 1 for code in codes)
                codes = np.array(codes, dtype=np.int64)
            if n != self._handle.n_columns:
                raise ValueError("blocks of another number of columns than there are")
        return codes

    def whole(self, meanwhile: Callable[[bool], None]) -> list[Any]:
        """Read all blocks in all rows. `meanwhile` is called while other threads read."""
        import numpy as np

        codes = self._codes()
        rowwise: list[int] = []
        matrices: list[tuple[int, int]] = []
        if codes is not None and len(codes) == 1 and codes[0] < 0:
            # Fast path for one block: the general computation costs as much as the labels of a
            # small frame.
            rowwise, matrices = [0], [(0, -int(codes[0]))]
        elif codes is not None:
            found = np.flatnonzero(codes < 0)
            starts = np.cumsum(np.maximum(np.abs(codes), 1)) + codes
            rowwise = found.tolist()
            matrices = list(zip(starts[found].tolist(), (-codes[found]).tolist(), strict=True))
        read = read_blocks(self._handle, matrices, self._threads, meanwhile)
        if read is None:
            raise CorruptFileError("a block has columns of several types")
        groups, arrays, others = read
        if others:
            groups += self._some(others, others)
        if not matrices:
            return self._join(codes, groups)
        if len(codes) == len(arrays):
            return list(arrays)
        return self._join(codes, groups, dict(zip(rowwise, arrays, strict=True)))

    def _some(self, columns: Iterable[int], positions: list[int] | None = None) -> list[tuple[Any, Any]]:
        """Read columns, grouped by dtype: positions, and an array with a row for each."""
        import numpy as np

        numbers = list(columns)
        kinds = kinds_of_missing(self._host, numbers)
        n = len(numbers)
        extra = [*kinds.values()]
        native = _rows.native(self._rows)
        entries = self._handle.read([*numbers, *extra], native, "numpy", True, n, self._threads)
        for _, _, column, _, mask in entries:
            if mask is not None:
                raise _foreign(column)
        found = arrays(self._handle, entries, self._rows, self._handle.n_rows, True)
        groups = [(at, _known(column, values)) for at, values, column in found]
        if extra:
            self._restore(groups, kinds, numbers, n)
        groups = [(at, values) for at, values in groups if len(at) and at[0] < n]
        return groups if positions is None else [(np.array(positions)[at], values) for at, values in groups]

    @interpretation()
    def _restore(self, groups: list[Any], kinds: dict[int, int], numbers: list[int], n: int) -> None:
        """Restore the markers of missing values in object columns."""
        arrays_at = {int(position): row for at, values in groups for position, row in zip(at, values, strict=True)}
        for i, column in enumerate(kinds):
            for position, number in enumerate(numbers):
                if number == column:
                    restore_missing(arrays_at[position], arrays_at[n + i])

    @interpretation()
    def _join(self, codes: Any, groups: list[tuple[Any, Any]], apart: dict[int, Any] | None = None) -> list[Any]:
        """Assemble blocks from groups of columns. Blocks in `apart` exist already."""
        import numpy as np

        for _, values in groups:
            # Before views are made, which inherit this.
            _sf_labels.read_only(values)
        n = sum(len(positions) for positions, _ in groups)
        if codes is None:
            found: list[Any] = [None] * n
            for positions, values in groups:
                for position, row in zip(positions.tolist(), values, strict=True):
                    found[position] = row
            return found
        widths = np.maximum(np.abs(codes), 1)
        numbers = np.repeat(np.arange(len(codes)), widths)
        blocks: list[Any] = [None] * len(codes)
        for number, array in (apart or {}).items():
            blocks[number] = array
        # Columns of blocks that are spread over several groups.
        pieces: dict[int, list[tuple[Any, Any]]] = {}
        for positions, values in groups:
            of = numbers[positions]
            starts = np.flatnonzero(np.diff(of, prepend=-1))
            of = of[starts]
            is_whole = np.diff(starts, append=len(positions)) == widths[of]
            if not is_whole.all():
                at = np.flatnonzero(~is_whole[np.searchsorted(starts, np.arange(len(positions)), side="right") - 1])
                for number, row in zip(numbers[positions[at]].tolist(), at.tolist(), strict=True):
                    pieces.setdefault(number, []).append((positions[row], values[row]))
            for code in np.unique(codes[of]).tolist():
                chosen = (codes[of] == code) & is_whole
                if not chosen.any():
                    continue
                for number, block in zip(of[chosen].tolist(), _views(values, starts[chosen], code), strict=True):
                    blocks[number] = block
        for number, rows in pieces.items():
            if len(rows) != widths[number] or len({(row.dtype, row.shape) for _, row in rows}) > 1:
                raise ValueError("a block has columns of several types")
            blocks[number] = np.stack([row for _, row in sorted(rows, key=lambda piece: piece[0])]).T
        return blocks


def _views(values: Any, starts: Any, code: int) -> Any:
    """Views of blocks with equal shape that start at these rows of an array."""
    n = len(starts)
    if code == 0:
        return values[starts[0] : starts[0] + n] if _is_dense(starts, 1) else (values[at] for at in starts.tolist())
    width = abs(code)
    if _is_dense(starts, width):
        dense = values[starts[0] : starts[0] + n * width]
        return dense.reshape(n, width, values.shape[1]).transpose(0, 2, 1)
    return (values[at : at + width].T for at in starts.tolist())


def _is_dense(starts: Any, step: int) -> bool:
    return bool(starts[-1] - starts[0] == (len(starts) - 1) * step)


def _selected(codes: Any, columns: list[int]) -> Any:
    """The integers for a selection of columns. Neighbours within a block stay in one block."""
    import numpy as np

    if codes is None or not columns:
        return None
    chosen = _sf_labels.numbers(columns)
    of = np.repeat(np.arange(len(codes)), np.maximum(np.abs(codes), 1))[chosen]
    is_wide = codes[of] != 0
    follows = (np.diff(of, prepend=-1) == 0) & (np.diff(chosen, prepend=-1) == 1) & is_wide
    starts = np.flatnonzero(~follows)
    return np.where(is_wide[starts], np.diff(starts, append=len(columns)), 0)
