"""Values that the native half doesn't know by their type: taken apart into known ones, and made again.

The list is closed: names in a file stand for these functions alone. Nothing is imported by a name from a file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import enum
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

from entasis._arguments.options import shown
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import dtypes as _dtypes
from entasis._hosts import registry as _hosts
from entasis._hosts.r.decode import decode as decode_r
from entasis._record import Record
from entasis.errors import UnsupportedTypeError

from . import offsets as _offsets
from . import structured as _records

# Kinds of cells (docs/format/values.md).
ELLIPSIS, NA, NAT = 3, 4, 5
FULL_TIME, FULL_DATETIME, FULL_TIMEDELTA, OBJECT = 73, 74, 75, 77

UNSUPPORTED = ("unsupported",)
_FACTORIES = {cls.__name__: cls for cls in (bool, int, float, complex, str, bytes, list, tuple, set, frozenset, dict)}
_CLASSES = {cls: name for name, cls in _FACTORIES.items()}
# The names of the fields of a class are the same tuple each time: it is stored once.
_ENUM = ("name", "value")


def encode(value: Any) -> tuple[Any, ...]:
    """How a value is taken apart: see `CellBuilder`. Frames are not dealt with here."""
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    if module == "numpy":
        return _encode_numpy(value)
    if module == "pandas":
        return _encode_pandas(value)
    if module == "scipy":
        return _encode_sparse(value)
    if module == "static_frame":
        return _encode_bus(value)
    if kind is Record:
        fields = value.fields
        return _object("record", value.kind, value.name, tuple(fields), *fields.values())
    if isinstance(value, enum.Enum):
        return _object("record", "enum", _called(kind), _ENUM, value.name, value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = _field_names(kind)
        # A field may never have been set.
        if all(hasattr(value, name) for name in names) and not _has_more(value, names):
            return _object("record", "dataclass", _called(kind), names, *(getattr(value, name) for name in names))
        return UNSUPPORTED
    if _is_named_tuple(kind):
        return _object("record", "namedtuple", _called(kind), kind._fields, *value)
    if value is Ellipsis:
        return ("unit", ELLIPSIS)
    return _encode_standard(value, kind)


def _object(name: str, *parts: Any) -> tuple[Any, ...]:
    return ("parts", OBJECT, (name, *parts))


def _called(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _field_names(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple(field.name for field in dataclasses.fields(kind))
    return names


_FIELDS: dict[type, tuple[str, ...]] = {}


def _has_more(value: Any, names: tuple[str, ...]) -> bool:
    """Whether a value has attributes that are no fields."""
    return not set(getattr(value, "__dict__", ())) <= set(names)


def _is_named_tuple(kind: type) -> bool:
    return tuple in kind.__bases__ and type(getattr(kind, "_fields", None)) is tuple and hasattr(kind, "_make")


def _encode_standard(value: Any, kind: type) -> tuple[Any, ...]:
    if kind in (datetime.datetime, datetime.time):
        plain = value.replace(tzinfo=None, fold=0)
        return ("parts", FULL_DATETIME if kind is datetime.datetime else FULL_TIME, (plain, _zone(value), value.fold))
    if kind is datetime.timedelta:
        return ("parts", FULL_TIMEDELTA, (value.days, value.seconds, value.microseconds))
    if kind in (datetime.timezone, zoneinfo.ZoneInfo):
        return _object("zone", _encode_zone(value))
    if kind is OrderedDict or kind is Counter:
        return _object(f"collections.{kind.__name__}", dict(value))
    if kind is type and value in _CLASSES:
        return _object("class", _CLASSES[value])
    if kind is deque:
        return _object("collections.deque", list(value), value.maxlen)
    if kind is defaultdict:
        factory = value.default_factory
        if factory is None or _FACTORIES.get(getattr(factory, "__name__", "")) is factory:
            return _object("collections.defaultdict", factory and factory.__name__, dict(value))
    return UNSUPPORTED


def _zone(value: Any) -> Any:
    return None if value.tzinfo is None else _encode_zone(value.tzinfo)


def _encode_zone(zone: Any) -> Any:
    """A time zone as a value: an offset in microseconds and its name, or the name of a zone of the world."""
    if type(zone) is datetime.timezone:
        offset = zone.utcoffset(None)
        parts = zone.__getinitargs__()  # type: ignore[attr-defined]
        return (offset // datetime.timedelta(microseconds=1), parts[1] if len(parts) > 1 else None)
    if type(zone) is zoneinfo.ZoneInfo and zone.key is not None:
        return zone.key
    raise UnsupportedTypeError(f"the time zone {zone!r} can't be kept")


def _decode_zone(zone: Any) -> Any:
    if zone is None:
        return None
    if type(zone) is str:
        try:
            return zoneinfo.ZoneInfo(zone)
        except zoneinfo.ZoneInfoNotFoundError as error:
            raise UnsupportedTypeError(f"there is no time zone {zone!r} here: {error}") from error
    offset = datetime.timedelta(microseconds=zone[0])
    return datetime.timezone(offset) if zone[1] is None else datetime.timezone(offset, zone[1])


def _encode_numpy(value: Any) -> tuple[Any, ...]:
    import numpy as np

    if type(value) in (np.ndarray, np.recarray) and not _is_bytes(value.dtype):
        return _object("numpy.fields", *_records.encode(value))
    if type(value) is np.ndarray:
        _dtypes.check_size(value)
        if value.dtype.metadata is not None and value.dtype.names is None:
            return _object("numpy.metadata", value.view(_dtype_metadata.plain(value.dtype)), dict(value.dtype.metadata))
        if value.dtype.kind == "O":
            if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous:
                return _object("numpy.fortran", value.T)
            return ("objects", value.ravel().tolist(), value.shape)
        fortran = bool(value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous)
        return ("array", value.T.reshape(-1) if fortran else value.reshape(-1), value.shape, fortran)
    if type(value) is np.ma.MaskedArray:
        mask = None if value.mask is np.ma.nomask else np.asarray(value.mask)
        return _object("numpy.ma", np.asarray(value.data), mask, _fill_value(value), bool(value.hardmask))
    if value is np.ma.masked:
        return _object("numpy.masked")
    if isinstance(value, np.void) and value.dtype.names is not None:
        if not _is_bytes(value.dtype):
            return _object("numpy.item", np.asarray(value).reshape(1))
        return _object("numpy.void", _dtypes.encode(value.dtype, "the record"), value.tobytes())
    if isinstance(value, np.generic) and type(value) is value.dtype.type and value.dtype.kind in "biufcmMV":
        return _object("numpy.scalar", value.dtype.str, value.tobytes())
    if isinstance(value, np.dtype) and value.metadata is not None and value.names is None and value.subdtype is None:
        return _object("numpy.metadata", _dtype_metadata.plain(value), dict(value.metadata))
    if isinstance(value, np.dtype) and not _is_bytes(value):
        return _object("numpy.dtype", np.ndarray(0, value))
    if isinstance(value, np.dtype):
        return _object("numpy.dtype", value.str if value.kind == "O" else _dtypes.encode(value, "the dtype"))
    return UNSUPPORTED


def _fill_value(array: Any) -> Any:
    """The value that stands for masked ones, as an array without axes; None where it was never set."""
    import numpy as np

    if array._fill_value is None:
        return None
    fill, default = np.asarray(array._fill_value), np.asarray(np.ma.MaskedArray([], dtype=array.dtype).fill_value)
    if fill.dtype == default.dtype and fill.tobytes() == default.tobytes():
        # NumPy makes the usual one when it is asked for, in another type than that of the array. Set, it would get the
        # array's type.
        return None
    if fill.dtype != array.dtype and not array.dtype.hasobject:
        raise UnsupportedTypeError(f"a masked array of {array.dtype} with a fill value of {fill.dtype} can't be kept")
    return fill


def _is_bytes(dtype: Any) -> bool:
    """Whether records of a dtype are their bytes; so are all values that are no records."""
    return dtype.names is None or _records.is_plain(dtype)


def _encode_pandas(value: Any) -> tuple[Any, ...]:
    import pandas as pd

    if value is pd.NaT:
        return ("unit", NAT)
    if value is pd.NA:
        return ("unit", NA)
    kind = type(value)
    if kind is pd.Timestamp:
        found = _object("pandas.Timestamp", int(value.asm8.view("i8")), value.unit, _pandas_zone(value.tz), value.fold)
    elif kind is pd.Timedelta:
        found = _object("pandas.Timedelta", int(value.asm8.view("i8")), value.unit)
    elif kind is pd.Period:
        found = _object("pandas.Period", value.ordinal, value.freqstr)
        if not _offsets.same(decode(found[2][0], list(found[2][1:]), {}).freq, value.freq):
            return UNSUPPORTED
    elif kind is pd.Interval:
        for bound in (value.left, value.right):
            if type(bound) is pd.Timestamp and encode(bound) is UNSUPPORTED:
                return UNSUPPORTED
        return _object("pandas.Interval", value.left, value.right, value.closed)
    elif isinstance(value, pd.offsets.BaseOffset):
        parts = _offsets.encode(value)
        return UNSUPPORTED if parts is None else _object(*parts)
    elif isinstance(value, pd.api.extensions.ExtensionDtype):
        # What it is made with is told by an array of it.
        dtype: Any = value
        empty = pd.array([], dtype=dtype)
        same = type(empty.dtype) is type(value) and empty.dtype == value and repr(empty.dtype) == repr(value)
        if isinstance(value, pd.PeriodDtype):
            same = same and _offsets.same(empty.dtype.freq, value.freq)
        if same:
            # What is refused is the dtype, not a part of it.
            _hosts.build(empty)
        return _object("pandas.dtype", empty) if same else UNSUPPORTED
    else:
        return UNSUPPORTED
    made = decode(found[2][0], list(found[2][1:]), {})
    same = made == value and repr(made) == repr(value) and getattr(made, "fold", 0) == getattr(value, "fold", 0)
    return found if same else UNSUPPORTED


def _pandas_zone(zone: Any) -> Any:
    """Zones of pandas are also those of other libraries: these are kept where their name gives them back."""
    if zone is None:
        return None
    import pandas as pd

    if type(zone) is datetime.timezone or type(zone) is zoneinfo.ZoneInfo:
        return _encode_zone(zone)
    name = str(zone)
    try:
        if pd.Timestamp(0, tz=name).tz == zone:
            return [name]
    except (LookupError, OSError, TypeError, ValueError):
        # What pandas says of a text that is no name of a zone.
        pass
    raise UnsupportedTypeError(f"the time zone {zone!r} can't be kept")


def _encode_sparse(value: Any) -> tuple[Any, ...]:
    from scipy import sparse

    name = type(value).__name__
    if not sparse.issparse(value) or getattr(sparse, name, None) is not type(value):
        return UNSUPPORTED
    layout = value.format
    parts: tuple[Any, ...]
    if layout in ("csr", "csc", "bsr"):
        parts = (value.data, value.indices, value.indptr)
    elif layout == "coo":
        parts = (value.data, tuple(value.coords if hasattr(value, "coords") else (value.row, value.col)))
    elif layout == "dia":
        parts = (value.data, value.offsets)
    elif layout == "lil":
        parts = (value.dtype, value.rows, value.data)
    else:
        items = dict(value.items())
        parts = (value.dtype, list(items), list(items.values()))
    return _object("scipy.sparse", name, tuple(value.shape), *parts)


def _encode_bus(value: Any) -> tuple[Any, ...]:
    import static_frame as sf

    if type(value) is not sf.Bus:
        return UNSUPPORTED
    # Frames that are not read yet are read now.
    return _object("static_frame.Bus", value.index, list(value.values), value.name)


def decode(name: str, parts: list[Any], types: dict[str, type]) -> Any:
    """The value of a name and its parts; `types` are the classes of records."""
    if name == "record":
        return _decode_record(parts, types)
    if name.startswith("r."):
        return decode_r(name, parts)
    make: Any = _DECODE.get(name)
    if make is None:
        raise UnsupportedTypeError(f"an object of kind {name!r} is not known here: update Entasis")
    return make(*parts)


def decode_kind(kind: str, parts: list[Any], types: dict[str, type]) -> Any:
    """The value of a cell with parts."""
    if kind == "object":
        name, *rest = parts
        return decode(name, rest, types)
    if kind == "timedelta":
        return datetime.timedelta(*parts)
    plain, zone, fold = parts
    return plain.replace(tzinfo=_decode_zone(zone), fold=fold)


def _decode_record(parts: list[Any], types: dict[str, type]) -> Any:
    kind, name, names, *values = parts
    fields = dict(zip(names, values, strict=True))
    if not all(type(key) is str for key in (kind, name, *fields)):
        raise TypeError("the parts of a record have names")
    found = types.get(name)
    if found is None:
        return Record(kind, name, fields)
    if kind == "enum" and issubclass(found, enum.Enum):
        member = found.__members__.get(fields["name"])
        if member is None and issubclass(found, enum.Flag) and type(fields["value"]) is int:
            # Flags together are a member that the class makes when it is asked for.
            with contextlib.suppress(ValueError):
                member = found(fields["value"])
        if member is None or member.value != fields["value"]:
            raise UnsupportedTypeError(f"{name} has no member {fields['name']!r} of that value any more")
        return member
    if kind == "namedtuple" and _is_named_tuple(found) and found._fields == tuple(fields):  # type: ignore[attr-defined]
        return found._make(values)  # type: ignore[attr-defined]
    if kind == "dataclass" and dataclasses.is_dataclass(found) and set(_field_names(found)) == set(fields):
        value = object.__new__(found)
        for field, part in fields.items():
            # Frozen ones too; nothing of the class is run.
            object.__setattr__(value, field, part)
        return value
    raise UnsupportedTypeError(f"{name} is another class than the {kind} that was written, with {', '.join(fields)}")


def _scalar(dtype: str, memory: bytes) -> Any:
    import numpy as np

    found = np.dtype(dtype)
    if found.kind not in "biufcmMV" or found.itemsize != len(memory):
        raise ValueError(f"a scalar of dtype {dtype!r} in {len(memory)} bytes")
    return np.frombuffer(memory, found)[0] if memory else found.type()


def _void(description: Any, memory: bytes) -> Any:
    import numpy as np

    # A record of its own, that can be changed.
    return np.frombuffer(memory, _dtypes.decode(description, len(memory))).copy()[0]


def _dtype(description: Any) -> Any:
    import numpy as np

    if isinstance(description, np.ndarray):
        if description.dtype.names is None:
            raise TypeError("a dtype without fields has a description")
        return description.dtype
    if type(description) is str and description == "|O":
        return np.dtype("O")
    return _dtypes.decode(description, None)


def _class(name: Any) -> Any:
    return _FACTORIES[name]


def _item(array: Any) -> Any:
    import numpy as np

    if not isinstance(array, np.ndarray) or array.shape != (1,) or array.dtype.names is None:
        raise TypeError("a record is in an array of one")
    return array[0]


def _masked(data: Any, mask: Any, fill: Any, hard: bool) -> Any:
    import numpy as np

    found = np.ma.MaskedArray(data, np.ma.nomask if mask is None else mask, hard_mask=hard)
    if fill is not None:
        found.fill_value = fill[()]
    return found


def _fortran(array: Any) -> Any:
    import numpy as np

    if type(array) is not np.ndarray or array.dtype.kind != "O" or array.ndim < 2:
        raise TypeError("what is transposed is an array of objects of two axes and more")
    return array.T


def _nothing() -> Any:
    import numpy as np

    return np.ma.masked


def _timestamp(value: int, unit: str, zone: Any, fold: int) -> Any:
    import numpy as np
    import pandas as pd

    make: Any = np.datetime64
    found: Any = pd.Timestamp(make(value, unit))
    if zone is None:
        return found.replace(fold=fold) if fold else found
    zone = zone[0] if type(zone) is list else _decode_zone(zone)
    found = found.tz_localize("UTC").tz_convert(zone)
    # Also where the zone has no time twice.
    return found if found.fold == fold else found.replace(fold=fold)


def _timedelta(value: int, unit: str) -> Any:
    import numpy as np
    import pandas as pd

    make: Any = np.timedelta64
    return pd.Timedelta(make(value, unit))


def _period(ordinal: int, freq: str) -> Any:
    import pandas as pd

    return pd.Period(ordinal=ordinal, freq=freq)


def _pandas_dtype(array: Any) -> Any:
    import pandas as pd

    if not isinstance(array, pd.api.extensions.ExtensionArray):
        raise TypeError("a dtype of pandas is that of an array")
    return array.dtype


def _interval(left: Any, right: Any, closed: Any) -> Any:
    import pandas as pd

    return pd.Interval(left, right, closed)


def _sparse(name: str, shape: tuple[int, ...], *parts: Any) -> Any:
    from scipy import sparse

    layout, _, form = name.partition("_")
    if layout not in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok") or form not in ("matrix", "array"):
        raise ValueError(f"a sparse matrix of class {name!r}")
    kind = getattr(sparse, name)
    if layout in ("csr", "csc", "bsr"):
        found = kind(parts, shape=shape)
        # What the parts say is not looked at when they are used.
        found.check_format(full_check=True)
        return found
    if layout == "coo":
        data, coords = parts
        return kind((data, tuple(coords)), shape=shape)
    if layout == "dia":
        return kind(parts, shape=shape)
    found = kind(shape, dtype=parts[0])
    if layout == "lil":
        for row, (columns, values) in enumerate(zip(parts[1], parts[2], strict=True)):
            if not all(type(column) is int and 0 <= column < shape[1] for column in columns):
                raise ValueError("a column that the matrix has not")
            if len(columns) != len(values) or len(parts[1]) != shape[0]:
                raise ValueError("rows of another length")
            found.rows[row], found.data[row] = columns, values
        return found
    for key, value in zip(parts[1], parts[2], strict=True):
        found[key] = value
    return found


def _bus(index: Any, frames: list[Any], name: Any) -> Any:
    import numpy as np
    import static_frame as sf

    if not isinstance(index, sf.Index | sf.IndexHierarchy) or not all(isinstance(one, sf.Frame) for one in frames):
        raise TypeError("a Bus has labels and frames")
    # A name is a key, as others are.
    hash(name)
    array = np.empty(len(frames), dtype=object)
    array[:] = frames
    array.flags.writeable = False
    try:
        return sf.Bus(array, index=index, name=name, own_data=True)
    except sf.ErrorInit as error:
        raise ValueError(f"no Bus is made of it: {error}") from error


def _defaultdict(factory: str | None, items: dict[Any, Any]) -> Any:
    return defaultdict(None if factory is None else _FACTORIES[factory], items)


_DECODE = {
    "class": _class,
    "collections.Counter": Counter,
    "collections.OrderedDict": OrderedDict,
    "collections.defaultdict": _defaultdict,
    "collections.deque": deque,
    "numpy.dtype": _dtype,
    "numpy.fields": _records.decode,
    "numpy.fortran": _fortran,
    "numpy.item": _item,
    "numpy.ma": _masked,
    "numpy.masked": _nothing,
    "numpy.metadata": _dtype_metadata.restore,
    "numpy.scalar": _scalar,
    "numpy.void": _void,
    "pandas.Interval": _interval,
    "pandas.Period": _period,
    "pandas.Timedelta": _timedelta,
    "pandas.Timestamp": _timestamp,
    "pandas.dtype": _pandas_dtype,
    "pandas.offset": _offsets.decode,
    "pandas.offset_parts": _offsets.decode_parts,
    "scipy.sparse": _sparse,
    "static_frame.Bus": _bus,
    "zone": _decode_zone,
}


def classes(types: Any) -> dict[str, type]:
    """The classes that a reader gives, by the names that files have for them."""
    found = {}
    for kind in types or ():
        if not isinstance(kind, type):
            raise TypeError(f"types are classes, not {shown(kind)}")
        found[_called(kind)] = kind
    return found
