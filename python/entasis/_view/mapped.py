"""Memory-mapped files: columns are views of the file."""

from __future__ import annotations

import builtins
import mmap
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._columns.variants import BIG
from entasis._columns.variants import CLONGDOUBLE as NUMPY_CLONGDOUBLE
from entasis._host_map import interpretation
from entasis._hosts.pandas.times import PANDAS_UNITS
from entasis._hosts.pandas.variants import ARROW, ARROW_ALONE, CLONGDOUBLE, INTERVAL, MASKED, SPARSE
from entasis._hosts.pandas.variants import BIG as PANDAS_BIG
from entasis.errors import FileError, MissingLibraryError, NotMappableError

from .statistics import NAN, records

if TYPE_CHECKING:
    from entasis._entasis import Column, Key, Password
    from entasis._typing import MemoryMap

    # Offset and length in bytes, and the bit of the first boolean.
    Extent = tuple[int, int, int]

_ATTEMPTS = 20
_NO_ROWS = (0, 0, 1)
_INSTEAD_OF = "leave memory_map out, or pass memory_map='auto'"
_INSTEAD = "choose others with columns=[...], or pass memory_map='auto', which reads such columns"


class MappedHandle:
    """A handle whose columns are views of the file. It replaces `_entasis.Handle`.

    Row labels and other extra columns are decoded if they can't be views.

    Attributes
    ----------
    memory_map
        True if all columns have to be views; "auto" decodes columns that can't be views.
    """

    def __init__(self, path: str, handle: _entasis.Handle, memory: Any, memory_map: MemoryMap) -> None:
        self._path, self._handle, self._bytes, self.memory_map = path, handle, memory, memory_map

    @classmethod
    def opened(
        cls, path: str, limits: dict[str, int] | None, memory_map: MemoryMap, secret: Key | Password | None = None
    ) -> MappedHandle | _entasis.Handle:
        """Open and map a file. With "auto" an encrypted one is opened without a map."""
        handle, memory = _open(path, limits, secret)
        if memory is not None:
            return cls(path, handle, memory, memory_map)
        if memory_map == "auto":
            return handle
        raise NotMappableError(f"{path!r} is encrypted, and its values are decrypted when they are read: {_INSTEAD_OF}")

    def table(self, number: int) -> MappedHandle:
        """See `Handle.table`."""
        return MappedHandle(self._path, self._handle.table(number), self._bytes, self.memory_map)

    def with_classes(self, classes: dict[str, type]) -> MappedHandle:
        """See `Handle.with_classes`."""
        return MappedHandle(self._path, self._handle.with_classes(classes), self._bytes, self.memory_map)

    def with_nan_to_null(self, nan_to_null: bool | None) -> MappedHandle:
        """See `Handle.with_nan_to_null`."""
        return MappedHandle(self._path, self._handle.with_nan_to_null(nan_to_null), self._bytes, self.memory_map)

    def narrowed(self, decimals: bool) -> MappedHandle:
        """See `Handle.narrowed`. Views have the types of the file."""
        return self

    def whole(self) -> MappedHandle:
        """See `Handle.whole`."""
        return MappedHandle(self._path, self._handle.whole(), self._bytes, self.memory_map)

    def view(self, column: Column, start: int, stop: int) -> tuple[Any, ...] | None:
        """The values `start` to `stop` of the arrays of a tree, as an entry of `Handle.read`.

        None if the values have to be decoded: because of their type, because some are missing, or
        because they can't be a view and "auto" allows decoding.
        """
        if start == stop or column.n_missing:
            return None
        try:
            dtype = self._dtype(column, "numpy", True)
        except NotMappableError:
            return None
        if dtype is None:
            return None
        try:
            ((at, _, _),) = self._handle.extents([column.index], start, stop)
        except NotMappableError:
            if self.memory_map == "auto":
                return None
            why = "its values are compressed, or lie in several pieces; write the file with compression=0"
            message = f"an array of {column.type_name} can't be mapped: {why}, or pass memory_map='auto'"
            raise self._error(None, message) from None
        return _Block(column, dtype, 0, at).entry(self._bytes, stop - start, "numpy")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._handle, name)

    def read(
        self,
        columns: list[int] | None,
        rows: Any,
        host: str,
        own: bool,
        n_shared: int,
        threads: int | None,
        n_values: int | None = None,
    ) -> list[Any]:
        """See `Handle.read`.

        Columns of one dtype at equal distances in the file become one block.
        """
        import numpy as np

        handle = self._handle
        if n_values is not None:
            # These are not rows of the table, but categories or column labels.
            return handle.read(columns, rows, host, own, n_shared, threads, n_values)
        start, stop = self._range(rows) or (0, 0)
        n = stop - start
        if n == 0:
            return handle.read(columns, rows, host, own, n_shared, threads)
        infos, extents, decoded = self._find(columns, start, stop, host, own)
        entries: list[Any] = []
        blocks: dict[Any, _Block] = {}
        of_arrow: list[int] = []
        for position, (column, extent) in enumerate(zip(infos, extents, strict=True)):
            if extent is None:
                continue
            dtype = self._dtype(column, host, own)
            if dtype is None:
                of_arrow.append(position)
            elif host == "pandas" and own and column.host_variant == MASKED:
                (values,) = _Block(column, dtype, position, extent[0]).array(self._bytes, n)
                # `np.zeros` takes no memory for pages that nobody touches.
                entries.append(("array", position, column, values, np.zeros(n, np.bool_)))
            else:
                is_shared = position < n_shared or (host == "numpy" and column.physical != "fixed bytes")
                # Only a string, the zone of times, is a part of a dtype. A map can't be hashed.
                has_plain_type = column.detail is None or isinstance(column.detail, str)
                is_shared = is_shared and has_plain_type and column.host_detail is None
                key = (dtype, column.detail) if is_shared else position
                if key not in blocks or not blocks[key].add(position, extent[0], n):
                    blocks[key] = _Block(column, dtype, position, extent[0])
                    entries.append(blocks[key])
        entries = [entry.entry(self._bytes, n, host) if isinstance(entry, _Block) else entry for entry in entries]
        if of_arrow:
            columns_of_arrow = [infos[i].index for i in of_arrow]
            schema = _schema(handle.read_arrow(columns_of_arrow, _NO_ROWS, 1, False, 1, {}, None, False))
            for position, kind in zip(of_arrow, schema.types, strict=True):
                values = self._arrow(infos[position], kind, extents[position], n)
                entries.append(("arrow", [position], infos[position], values, None))
        if decoded:
            n_shared = sum(i < n_shared for i in decoded)
            for kind, positions, column, values, mask in handle.read(
                [infos[i].index for i in decoded], rows, host, own, n_shared, threads
            ):
                if kind == "categories":
                    pass
                elif kind == "block":
                    positions = np.array([decoded[i] for i in positions])
                else:
                    positions = [decoded[i] for i in positions] if kind == "arrow" else decoded[positions]
                entries.append((kind, positions, column, values, mask))
        return entries

    def read_arrow(
        self,
        columns: list[int] | None,
        rows: Any,
        layout: int,
        own: bool,
        threads: int | None,
        field_metadata: dict[int, bytes],
        schema_metadata: bytes | None,
        metadata: bool,
        polars: bool = False,
        like: Any = None,
    ) -> Any:
        """See `Handle.read_arrow`. Dictionaries are always read again."""
        handle = self._handle
        start, stop = self._range(rows) or (0, 0)
        if start == stop or columns == [] or handle.n_columns == 0:
            return handle.read_arrow(
                columns, rows, layout, own, threads, field_metadata, schema_metadata, metadata, polars
            )
        infos, extents, decoded = self._find(columns, start, stop, "arrow", own)
        for column in infos:
            if column.physical in ("i128", "u128") and column.logical == "plain":
                if self.memory_map == "auto":
                    return handle.read_arrow(
                        columns, rows, layout, own, threads, field_metadata, schema_metadata, metadata, polars
                    )
                why = "pyarrow, which makes the views, has no integers of 128 bits"
                raise self._error(column.name, f"column '{column.name}' can't be mapped: {why}; {_INSTEAD}")
        # A read of no rows gives types and metadata.
        empty = handle.read_arrow(columns, _NO_ROWS, layout, own, 1, field_metadata, schema_metadata, metadata, polars)
        schema = _schema(empty)
        found = zip(infos, schema.types, extents, strict=True)
        arrays = [extent and self._arrow(column, kind, extent, stop - start) for column, kind, extent in found]
        if decoded:
            import pyarrow as pa

            numbers = [infos[i].index for i in decoded]
            part = handle.read_arrow(numbers, rows, layout, own, threads, {}, None, metadata, polars)
            with interpretation():
                columns_of_part = pa.RecordBatchReader.from_stream(part).read_all().columns
            for i, column in zip(decoded, columns_of_part, strict=True):
                arrays[i] = column
                # Strings of more than 2 GiB need the type with 64-bit offsets.
                schema = schema.set(i, schema.field(i).with_type(column.type))
        return _Table(arrays, schema, empty.map_fields())

    def _range(self, rows: Any) -> tuple[int, int] | None:
        """The first row, and the row after the last.

        If rows are not consecutive: an error, or None with "auto".
        """
        if rows is None:
            return 0, self._handle.n_rows
        if type(rows) is tuple and rows[2] == 1:
            return rows[0], max(rows[0], rows[1])
        if type(rows) is not tuple and len(rows) == 0:
            return 0, 0
        if self.memory_map == "auto":
            return None
        message = "only neighbouring rows can be mapped: take a range of them, or read without memory_map"
        raise self._error(None, message)

    def _find(
        self, columns: list[int] | None, start: int, stop: int, host: str, own: bool
    ) -> tuple[list[Column], list[Extent | None], list[int]]:
        """The columns, their extents in the file, and the positions of columns to decode instead."""
        handle = self._handle
        infos = handle.columns(columns)
        extents: list[Extent | None] = [None] * len(infos)
        table = [i for i, column in enumerate(infos) if column.index < handle.n_columns]
        if self.memory_map == "auto":
            table = []
        for i, extent in zip(table, handle.extents([infos[i].index for i in table], start, stop), strict=True):
            extents[i] = extent
        others = [] if len(table) == len(infos) else sorted(set(range(len(infos))).difference(table))
        for i in others:
            column = infos[i]
            # Decimals with few digits are stored narrower.
            if column.n_values != handle.n_rows or column.logical == "decimal":
                continue
            with suppress(NotMappableError):
                if host != "arrow":
                    self._dtype(column, host, own)
                (extents[i],) = handle.extents([column.index], start, stop)
        if host == "arrow":
            self._leave_out_nan(infos, extents, start, stop)
        return infos, extents, [i for i in others if extents[i] is None]

    def _leave_out_nan(self, infos: list[Column], extents: list[Extent | None], start: int, stop: int) -> None:
        """Remove the extents of columns in which NaN has to become null.

        If such a column has to be a view, that is an error.
        """
        handle = self._handle
        for i, is_null in enumerate(handle.nan_is_null([column.index for column in infos])):
            column, extent = infos[i], extents[i]
            if not is_null or extent is None or not self._has_nan(column, extent, start, stop):
                continue
            if self.memory_map is True and column.index < handle.n_columns:
                why = "its NaN is null in Arrow; pass nan_to_null=False, which keeps NaN, or memory_map='auto'"
                raise self._error(column.name, f"column '{column.name}' can't be mapped: {why}")
            extents[i] = None

    def _has_nan(self, column: Column, extent: Extent, start: int, stop: int) -> bool:
        """Whether there is NaN in the rows `start` to `stop`.

        Reads only blocks whose statistics record NaN. float16 has no statistics, so all its blocks
        are read.
        """
        import numpy as np

        assert column.dtype is not None, "NumPy has all floats"
        values = np.ndarray((stop - start,), column.dtype, self._bytes, extent[0])
        for block in records(self._handle, column):
            first, n = int(block["first"]), int(block["n"])
            is_possible = block["flags"] & NAN or column.physical == "f16"
            if is_possible and np.isnan(values[max(first - start, 0) : max(first + n - start, 0)]).any():
                return True
        return False

    def _dtype(self, column: Column, host: str, own: bool) -> str | None:
        """The dtype of a view in NumPy or pandas; None for an `ArrowDtype`."""
        if host == "pandas" and own and column.host_variant >= ARROW:
            return None
        why = None
        if host == "pandas" and own and column.host_variant in (INTERVAL, SPARSE):
            why = f"pandas keeps {column.type_name} in another form"
        elif column.logical == "decimal" or (host == "pandas" and _is_of_arrow(column, own)):
            return None
        elif own and (column.host_variant == PANDAS_BIG if host == "pandas" else column.host_variant & BIG):
            why = "its bytes have another order in memory"
        elif column.dtype is None:
            why = f"{column.type_name} has no counterpart in NumPy"
        elif column.physical == "fixed bytes" and own and column.host_variant == _clongdouble(host):
            return "c32"
        elif column.physical == "bool":
            why = "booleans are bits in the file and bytes in memory"
        elif column.logical == "time":
            if host == "pandas":
                return None
            if column.physical == "i64":
                return f"m8[{column.unit}]"
            why = f"{column.type_name} of 32 bits has no counterpart in NumPy"
        elif column.logical == "date" and column.physical == "i32":
            why = "dates of 32 bits have no counterpart in NumPy"
        elif host == "pandas" and column.logical != "plain" and column.unit not in PANDAS_UNITS:
            why = f"pandas has no {column.type_name}"
        if why is None:
            return column.dtype
        raise self._error(column.name, f"column '{column.name}' can't be mapped: {why}; {_INSTEAD}")

    def _error(self, column: str | None, message: str) -> NotMappableError:
        error = NotMappableError(message)
        error.file, error.column = self._path, column
        return error

    def _arrow(self, column: Column, kind: Any, extent: Extent | None, n: int) -> Any:
        """A view of the file as an array of pyarrow."""
        import pyarrow as pa

        assert extent is not None, "a mapped column has an extent"
        at, length, first_bit = extent
        if length != (first_bit + n * kind.bit_width + 7) // 8:
            # Decimals with few digits are stored narrower.
            why = f"{kind} has fewer bytes in the file than in memory"
            raise self._error(column.name, f"column '{column.name}' can't be mapped: {why}; {_INSTEAD}")
        buffer = pa.py_buffer(self._bytes).slice(at, length)
        if isinstance(kind, pa.BaseExtensionType):
            storage = pa.Array.from_buffers(kind.storage_type, n, [None, buffer], 0, first_bit)
            return pa.ExtensionArray.from_storage(kind, storage)
        return pa.Array.from_buffers(kind, n, [None, buffer], 0, first_bit)


def _is_of_arrow(column: Column, own: bool) -> bool:
    """Whether pandas has only an `ArrowDtype` for the type."""
    is_clongdouble = own and column.host_variant == CLONGDOUBLE
    return column.logical in ARROW_ALONE or (column.physical == "fixed bytes" and not is_clongdouble)


def _clongdouble(host: str) -> int:
    return CLONGDOUBLE if host == "pandas" else NUMPY_CLONGDOUBLE


class _Block:
    """Columns at equal distances in the file. They form the rows of a two-dimensional array."""

    def __init__(self, column: Column, dtype: str, position: int, at: int) -> None:
        import numpy as np

        self._column, self._dtype, self._at, self._last = column, np.dtype(dtype), at, at
        self._positions = [position]
        self._distance = 0

    def add(self, position: int, at: int, n: int) -> bool:
        """Add a column of `n` rows if its offset continues the equal distances."""
        distance = at - self._last
        fits = distance == self._distance if self._distance else distance >= n * self._dtype.itemsize
        if fits:
            self._positions.append(position)
            self._distance, self._last = distance, at
        return fits

    def array(self, memory: Any, n: int) -> Any:
        """The view. NumPy checks the bounds, and keeps the map open while the array lives."""
        import numpy as np

        shape, width = (len(self._positions), n), self._dtype.itemsize
        return np.ndarray(shape, self._dtype, memory, self._at, (self._distance or n * width, width))

    def entry(self, memory: Any, n: int, host: str) -> tuple[Any, ...]:
        """The entry in the form of `Handle.read`."""
        import numpy as np

        if host == "numpy" and self._column.physical == "fixed bytes":
            return "array", self._positions[0], self._column, self.array(memory, n)[0], None
        return "block", np.array(self._positions), self._column, self.array(memory, n), None


class _Table:
    """A table of pyarrow with the interface of `_entasis.ArrowTable`."""

    def __init__(self, arrays: list[Any], schema: Any, map_fields: dict[int, Any]) -> None:
        import pyarrow as pa

        self._map_fields = map_fields
        self._table = pa.Table.from_arrays(arrays, schema=schema)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._table.schema.__arrow_c_schema__()

    def renamed(self, names: dict[int, str]) -> _Table:
        """Return the columns with new names at some positions."""
        import pyarrow as pa

        fields = [field.with_name(names.get(i, field.name)) for i, field in enumerate(self._table.schema)]
        return _Table(self._table.columns, pa.schema(fields, self._table.schema.metadata), self._map_fields)

    def map_fields(self) -> dict[int, Any]:
        """Return the fields of columns with maps."""
        return self._map_fields


def _schema(table: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError as error:
        message = f"pyarrow is needed to map columns for Arrow and can't be imported ({error}): pip install pyarrow"
        raise MissingLibraryError(message) from error
    # Classes of extension types parse the metadata of the file.
    with interpretation():
        return pa.RecordBatchReader.from_stream(table).schema


def _open(path: str, limits: dict[str, int] | None, secret: Key | Password | None) -> tuple[_entasis.Handle, Any]:
    """Open and map the same file, even if other programs replace it meanwhile.

    The map of an encrypted file is None.
    """
    import numpy as np

    for _ in range(_ATTEMPTS):
        handle = _entasis.Handle(path, limits, False, secret)
        at, fingerprint = handle.fingerprint()
        try:
            with builtins.open(path, "rb", buffering=0) as file:
                file.seek(at)
                if file.read(len(fingerprint)) != fingerprint:
                    if _entasis.keys_of(path) is not None:
                        return handle, None
                    continue
                mapped = mmap.mmap(file.fileno(), handle.file_len, access=mmap.ACCESS_READ)
        except (FileNotFoundError, ValueError):
            # The file was deleted or replaced between the two calls.
            continue
        except (OSError, OverflowError) as error:
            message = f"the file can't be mapped ({error}): {path}; read without memory_map"
            raise _file_error(message, path, error) from error
        # Views keep this array alive, which keeps the map open.
        return handle, np.frombuffer(mapped, np.uint8)
    raise _file_error(f"the file was replaced again and again while it was opened: {path}", path, None)


def _file_error(message: str, path: str, cause: BaseException | None) -> FileError:
    error = FileError(message)
    error.file = error.filename = path
    error.errno = getattr(cause, "errno", None)
    return error
