"""Lists and structs as NumPy arrays.

Fixed-size lists of numbers and times are an array of more axes, where nothing is missing. Other
lists are an array of objects whose cells are arrays, and None for missing lists. Structs are a
structured array.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._entasis import Handle as Native
from entasis._host_map import interpretation
from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from entasis._entasis import Column, Handle

_LARGE = 1


def can_convert(handle: Handle) -> bool:
    """Whether pyarrow can take columns: it is installed, and the file is not mapped."""
    return type(handle) is Native and find_spec("pyarrow") is not None


def read(handle: Handle, column: Column, rows: Any, threads: int | None) -> Any:
    """Read a nested column as an array. Refuse types that NumPy lacks."""
    import pyarrow as pa

    table = handle.read_arrow([column.index], _rows.native(rows), _LARGE, False, threads, {}, None, False)
    # Classes of extension types parse the metadata of the file.
    with interpretation():
        (found,) = pa.RecordBatchReader.from_stream(table).read_all().columns
        array = found.chunk(0) if found.num_chunks else pa.nulls(0, found.type)
    return _Reader(column.name).whole(array)


def values_of(name: str, array: Any) -> Any:
    """Convert an array of pyarrow, with a name for errors."""
    return _Reader(name).whole(array)


class _Reader:
    """Converts pyarrow arrays of one column, which errors name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def whole(self, array: Any) -> Any:
        """Convert a column, or all values inside its lists."""
        import pyarrow as pa

        kind = array.type
        if pa.types.is_fixed_size_list(kind):
            inner = self._without_missing(array)
            return self._lists(array) if inner is None else inner
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return self._lists(array)
        if pa.types.is_struct(kind):
            return self._struct(array)
        return self._flat(array)

    def _without_missing(self, array: Any) -> Any:
        """Fixed-size lists as an array with one more axis; None if values are missing."""
        import pyarrow as pa

        shape = [len(array)]
        while pa.types.is_fixed_size_list(array.type):
            if array.null_count:
                return None
            shape.append(array.type.list_size)
            array = array.flatten()
        if array.null_count or pa.types.is_nested(array.type):
            return None
        flat = self._flat(array)
        return None if flat.dtype.kind == "O" else flat.reshape(shape)

    def _lists(self, array: Any) -> Any:
        """An array of objects: an array for each list, None for a missing list."""
        import numpy as np
        import pyarrow.compute as pc

        values = array.flatten()
        # `flatten` drops values under missing lists. Integers with missing values become objects
        # with None.
        flat = self.whole(values) if _keeps_missing(values) else _objects(values)
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        is_missing = array.is_null().to_numpy(zero_copy_only=False).tolist()
        found = np.empty(len(array), dtype=object)
        start = 0
        for i, end in enumerate(ends):
            # Assigned one by one, because NumPy would spread an array over several elements.
            found[i] = None if is_missing[i] else flat[start:end]
            start = end
        return found

    def _struct(self, array: Any) -> Any:
        """A structured array. Nested fields are refused."""
        import numpy as np
        import pyarrow as pa

        if array.null_count:
            raise self._refused(array.type, " with missing values")
        names = [field.name for field in array.type]
        if len(set(names)) < len(names) or "" in names:
            raise self._refused(array.type, ", whose fields need different names,")
        parts = array.flatten()
        if any(pa.types.is_nested(part.type) for part in parts):
            raise self._refused(array.type, ", which has nested fields,")
        fields = [self._flat(part) for part in parts]
        found = np.empty(len(array), [(name, part.dtype) for name, part in zip(names, fields, strict=True)])
        for name, part in zip(names, fields, strict=True):
            found[name] = part
        return found

    def _flat(self, array: Any) -> Any:
        """Convert values of a type that is not nested."""
        import pyarrow as pa

        kind = array.type
        if pa.types.is_dictionary(kind):
            return self._flat(array.dictionary_decode())
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if is_number:
            if not _keeps_missing(array):
                raise self._refused(kind, " with missing values")
            return array.to_numpy(zero_copy_only=False)
        if pa.types.is_time(kind):
            numbers = array.view(pa.int32()).cast(pa.int64()) if pa.types.is_time32(kind) else array.view(pa.int64())
            return numbers.view(pa.duration(kind.unit)).to_numpy(zero_copy_only=False)
        if pa.types.is_timestamp(kind):
            # NumPy has no time zones, so the result has instants in UTC.
            return array.view(pa.timestamp(kind.unit)).to_numpy(zero_copy_only=False)
        if pa.types.is_date(kind) or pa.types.is_duration(kind):
            return array.to_numpy(zero_copy_only=False)
        texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
        others = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_null)
        if any(test(kind) for test in (*texts, *others)):
            return _objects(array)
        raise self._refused(kind)

    def _refused(self, kind: Any, why: str = "") -> UnsupportedTypeError:
        return UnsupportedTypeError(f"column '{self._name}': {kind}{why} has no counterpart in NumPy")


def _keeps_missing(array: Any) -> bool:
    """Whether a NumPy array can represent all values, including missing ones."""
    import pyarrow as pa

    kind = array.type
    return not (array.null_count and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)))


def _objects(array: Any) -> Any:
    import numpy as np

    return np.fromiter(array.to_pylist(), dtype=object, count=len(array))
