"""Files of other libraries to frames of StaticFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns.index_spec import columns_of
from entasis._columns.labels import decode_label
from entasis._columns.missing import kinds_of_missing, restore_missing
from entasis._host_map import host_calls, interpretation
from entasis._hosts import foreign_index as _foreign
from entasis._hosts.numpy.arrays import arrays
from entasis.errors import CorruptFileError, DuplicateColumnError, UnsupportedTypeError

from . import index as _sf_labels

if TYPE_CHECKING:
    from entasis._entasis import Column, Handle


def read(handle: Handle, host: dict[str, Any], columns: list[int] | None, rows: Any, threads: int | None) -> Any:
    """Read columns and rows as a frame.

    Neighbours of one dtype share a block. Categoricals become values.
    """
    import static_frame as sf

    labels_of_r = _foreign.of_r(host)
    host = labels_of_r or host
    is_pandas = bool(labels_of_r) or host.get("host") == "pandas"
    numbers = list(range(handle.n_columns)) if columns is None else columns
    with interpretation():
        index_spec = host["index"] if is_pandas else {"kind": "range", "start": 0, "stop": handle.n_rows, "step": 1}
        label_spec = host["columns"] if is_pandas else {"kind": "names", "name": None}
    # StaticFrame holds the positions of all rows.
    handle.check_decoded_len(handle.n_rows, 8)
    if index_spec is None:
        # The caller passed `index=False`.
        index = _sf_labels.positions(_rows.count(rows, handle.n_rows), sf.Index)
    else:
        index = _index(handle, index_spec, handle.n_rows, rows, threads, "the labels of rows")
    blocks = _columns(handle, host, numbers, rows, threads, handle.n_rows)
    labels = _names(handle, label_spec, columns)
    return _sf_labels.frame(sf.Frame, blocks, index, labels, None)


@interpretation()
def _names(handle: Handle, spec: dict[str, Any], columns: list[int] | None) -> Any:
    import numpy as np
    import static_frame as sf

    chosen = None if columns is None else _sf_labels.numbers(columns)
    if spec["kind"] != "names":
        labels = _index(handle, spec, handle.n_columns, None, 1, "the names of columns")
        return _sf_labels.at_rows(labels, chosen)
    names = handle.names()
    # A fixed-width dtype would drop zero characters at the end of strings.
    labels = np.array(names, dtype=object if any(name.endswith("\0") for name in names) else str)
    if chosen is not None:
        labels = labels[chosen]
    labels.flags.writeable = False
    name = decode_label(spec["name"])
    try:
        with _sf_labels.index_calls(labels):
            return sf.Index(labels, name=name)
    except sf.ErrorInitIndex as error:
        message = f"StaticFrame's columns have different names, and these don't: {error}; select some by position"
        raise DuplicateColumnError(message) from error


@interpretation()
def _index(handle: Handle, spec: dict[str, Any], n: int, rows: Any, threads: int | None, what: str) -> Any:
    import numpy as np
    import static_frame as sf

    kind = spec["kind"]
    with _sf_labels.unique("rows" if isinstance(rows, np.ndarray) else None, own=False, what=what):
        if kind == "range":
            name = decode_label(spec.get("name"))
            labels = range(spec["start"], spec["stop"], spec["step"])
            if len(labels) != n:
                raise CorruptFileError(f"an index has {len(labels)} labels instead of {n}")
            if (labels.start, labels.step) == (0, 1):
                with host_calls():
                    return _sf_labels.at_rows(_sf_labels.positions(n, sf.Index, name), rows)
            values = np.arange(labels.start, labels.stop, labels.step)
            with _sf_labels.index_calls(values, foreign=what):
                return _sf_labels.at_rows(sf.Index(values, name=name), rows)
        numbers = columns_of(spec)
        if kind == "column":
            values = _column(handle, numbers[0], rows, threads, n)
            values.flags.writeable = False
            cls, name = _sf_labels.from_times(values.dtype), decode_label(spec["name"])
            with _sf_labels.index_calls(values, foreign=what):
                return cls(values, name=name)
        if kind != "multi":
            raise CorruptFileError(f"an index of kind {kind!r} is not known")
        columns = [_column(handle, number, rows, threads, n) for number in numbers]
        for column in columns:
            column.flags.writeable = False
        names = tuple(decode_label(name) for name in spec["names"])
        classes = [_sf_labels.from_times(column.dtype) for column in columns]
        if len(columns) == 1:
            name = names[0]
            with _sf_labels.index_calls(*columns, foreign=what):
                return classes[0](columns[0], name=name)
        name = None if all(name is None for name in names) else names
        if not columns:
            raise CorruptFileError("an index has no levels")
        with _sf_labels.index_calls(*columns, foreign=what):
            return sf.IndexHierarchy.from_values_per_depth(columns, name=name, index_constructors=classes)


def _column(handle: Handle, number: int, rows: Any, threads: int | None, n: int) -> Any:
    """Read one extra column."""
    return _columns(handle, {}, [number], rows, threads, n)[0].reshape(-1)


def _columns(
    handle: Handle, host: dict[str, Any], numbers: list[int], rows: Any, threads: int | None, n: int
) -> list[Any]:
    """Read columns as blocks. The arrays are the same as in a dict of NumPy arrays."""
    own = host.get("host") == "numpy"
    kinds = kinds_of_missing(host, numbers) if own else {}
    wanted = [*numbers, *kinds.values()]
    # Blocks by the position of their first column.
    blocks: dict[int, Any] = {}
    entries = handle.read(wanted, _rows.native(rows), "numpy", own, len(numbers), threads, n) if wanted else []
    for at, values, column in arrays(handle, entries, rows, n, own):
        _check(column)
        _add_neighbours(blocks, at, values)
    for i, number in enumerate(kinds):
        with interpretation():
            for position, other in enumerate(numbers):
                if other == number:
                    missing = blocks[len(numbers) + i].reshape(-1)
                    restore_missing(blocks[position].reshape(-1), missing)
    return [blocks[position] for position in sorted(blocks) if position < len(numbers)]


def _check(column: Column) -> None:
    if column.logical == "timestamp" and column.detail is not None:
        raise UnsupportedTypeError(f"column '{column.name}': StaticFrame has no time zones ({column.type_name})")


def _add_neighbours(blocks: dict[int, Any], positions: Any, values: Any) -> None:
    import numpy as np

    starts = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
    ends = np.append(starts[1:], len(positions))
    for start, end, position in zip(starts.tolist(), ends.tolist(), positions[starts].tolist(), strict=True):
        blocks[position] = values[start] if end - start == 1 else values[start:end].T
