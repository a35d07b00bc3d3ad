"""Indexes of StaticFrame, and the classes of StaticFrame that files may name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments import rows as _rows
from entasis._columns import dtype_metadata as _dtype_metadata
from entasis._columns import index_spec as _index_spec
from entasis._columns.labels import decode_label, encode_label
from entasis._columns.text import as_text, is_text
from entasis._columns.variants import OBJECT
from entasis._entasis import Builder, ColumnRef, is_unicode
from entasis._host_map import cell_value, host_calls, interpretation
from entasis._hosts.numpy import objects as _objects
from entasis._hosts.numpy import write as _numpy
from entasis.errors import ArgumentError, CorruptFileError, UnsupportedTypeError

from . import compat as _compat

if TYPE_CHECKING:
    from types import TracebackType

FRAMES = ("Frame", "FrameGO", "FrameHE")
SERIES = ("Series", "SeriesHE")
_TIMES = ("Year", "YearMonth", "Date", "Hour", "Minute", "Second", "Millisecond", "Microsecond", "Nanosecond")
# The units of the index classes for times, by the middle part of the class name.
_UNITS = dict(zip(_TIMES, ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns"), strict=True))
FLAT = frozenset(f"Index{time}{grows}" for time in ("", *_TIMES) for grows in ("", "GO"))
HIERARCHIES = ("IndexHierarchy", "IndexHierarchyGO")
INDEXES = FLAT.union(HIERARCHIES)


def class_name(value: Any) -> str | None:
    """The name of a supported class; None for other classes and for subclasses."""
    import static_frame as sf

    name = type(value).__name__
    is_known = name in FRAMES or name in SERIES or name in INDEXES
    return name if is_known and getattr(sf, name, None) is type(value) else None


def class_of(name: Any, among: Any) -> Any:
    """The class with this name, which must be one of `among`."""
    import static_frame as sf

    if type(name) is not str or name not in among:
        raise CorruptFileError(f"a value of class {name!r} of StaticFrame is not known here")
    return getattr(sf, name)


def texts(index: Any) -> list[str]:
    """The labels of an index as names of columns, which are strings."""
    labels: list[Any] = list(index) if index.depth > 1 else index.values.tolist()
    return [as_text(label) for label in labels]


def encode_index(builder: Builder, index: Any, what: str, *, are_names: bool = False) -> dict[str, Any]:
    """Describe an index for a host map. Its labels become extra columns.

    With `are_names`, the names of the table's columns are the labels as strings. If the names
    determine the labels, no extra column is needed.
    """
    name = class_name(index)
    if name not in INDEXES:
        raise UnsupportedTypeError(f"{what}: {type(index).__module__}.{type(index).__qualname__} is not supported yet")
    spec: dict[str, Any] = {"class": name, "name": encode_label(index.name, what, builder.tree)}
    if name in HIERARCHIES:
        return spec | _encode_hierarchy(builder, index, what)
    labels = index.values
    metadata = _dtype_metadata.encode(labels.dtype, what, builder.tree)
    if metadata is not None:
        spec[_dtype_metadata.KEY] = metadata
    if labels.dtype == "i8" and metadata is None and _compat.is_auto_integer(index):
        return spec | {"kind": "range", "start": 0, "stop": len(labels), "step": 1}
    if are_names and labels.dtype.kind == "U" and labels.dtype.isnative and is_unicode(labels):
        return spec | {"kind": "names", "dtype": "str", "width": labels.dtype.itemsize // 4}
    if (
        are_names
        and labels.dtype.kind == "O"
        and all(type(label) is str and is_text(label) for label in labels.tolist())
    ):
        return spec | {"kind": "names", "dtype": "object"}
    number, kinds = _add_labels(builder, labels, _index_spec.column_name(index.name, 0, 1), what)
    spec |= {"kind": "column", "column": ColumnRef(number)}
    return spec if kinds is None else spec | {"missing_kinds": ColumnRef(kinds)}


def _add_labels(builder: Builder, labels: Any, name: str, what: str) -> tuple[int, int | None]:
    try:
        if labels.dtype.kind == "O":
            number, kinds = _objects.add(builder, labels, None, OBJECT, name, what)
        else:
            number, kinds = _numpy.add(builder, labels, None, name)
    except UnsupportedTypeError as error:
        raise UnsupportedTypeError(f"{what}: {str(error).partition(': ')[2]}") from None
    assert number is not None, "an extra column has a number"
    return number, kinds


def _add_level(builder: Builder, labels: Any, what: str) -> int:
    if labels.dtype.kind == "O":
        return _objects.add_whole(builder, labels, OBJECT, "", what)
    return _add_labels(builder, labels, "", what)[0]


def _encode_hierarchy(builder: Builder, index: Any, what: str) -> dict[str, Any]:
    n = index.depth
    levels = [index.index_at_depth(depth) for depth in range(n)]
    names = index.name if type(index.name) is tuple and len(index.name) == n else (None,) * n
    columns, metadata = [], []
    for i, (level, name) in enumerate(zip(levels, names, strict=True)):
        codes = index.indexer_at_depth(i)
        values = _add_level(builder, level.values, f"{what}, level {i}")
        metadata.append(_dtype_metadata.encode(level.values.dtype, f"{what}, level {i}", builder.tree))
        number = builder.words(codes, name=_index_spec.column_name(name, i, n), categories=values)
        assert number is not None, "an extra column has a number"
        columns.append(ColumnRef(number))
    spec: dict[str, Any] = {"kind": "multi", "columns": columns, "classes": [type(level).__name__ for level in levels]}
    spec["names"] = [encode_label(name, what, builder.tree) for name in names]
    if any(level.name is not None for level in levels):
        spec["level_names"] = [encode_label(level.name, what, builder.tree) for level in levels]
    if any(kept is not None for kept in metadata):
        spec[_dtype_metadata.KEY] = metadata
    return spec


class _Translator:
    """A context manager that translates errors of StaticFrame."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._translate(error)

    def _translate(self, error: BaseException) -> None:
        """Raise the translation of an error, if it has one."""
        raise NotImplementedError


class unique(_Translator):
    """Translates errors about labels that are not unique.

    Parameters
    ----------
    selected
        "rows" or "columns" if the caller selected these, possibly with repeats.
    own
        Whether StaticFrame wrote the labels. Labels that repeat are damage in that case.
    what
        The name of the labels in errors.
    """

    def __init__(self, selected: str | None, *, own: bool = True, what: str = "") -> None:
        self._selected, self._own, self._what = selected, own, what

    def _translate(self, error: BaseException) -> None:
        import static_frame as sf

        if not isinstance(error, sf.ErrorInitIndex):
            return
        if self._selected is not None:
            message = f"StaticFrame can't have repeated {self._selected}, because its labels are unique ({error})"
            raise ArgumentError(message) from error
        if self._own:
            raise CorruptFileError(f"the host map of the file is invalid ({error})") from error
        raise UnsupportedTypeError(f"{self._what} repeat, but labels of StaticFrame are unique ({error})") from error


def positions(n: int, cls: Any, name: Any = None) -> Any:
    """An index of 0 to n - 1, as StaticFrame makes it if no index is given."""
    import static_frame as sf

    index = sf.IndexAutoFactory.from_optional_constructor(n, default_constructor=cls)
    return index if name is None else index.rename(name)


def at_rows(index: Any, rows: Any) -> Any:
    """Select rows of an index."""
    if rows is None:
        return index
    return index.iloc[_rows.as_slice(rows) if isinstance(rows, range) else rows]


def from_times(dtype: Any) -> Any:
    """The class of index for labels of a dtype."""
    import numpy as np
    import static_frame as sf

    if dtype.kind != "M":
        return sf.Index
    unit = np.datetime_data(dtype)[0]
    found = [time for time, of in _UNITS.items() if of == unit]
    if not found:
        raise UnsupportedTypeError(f"StaticFrame has no index of {dtype}")
    return getattr(sf, f"Index{found[0]}")


def _flat(cls: Any, labels: Any, name: Any) -> Any:
    """Make an index.

    The labels must have the dtype of the class, since StaticFrame would convert others.
    """
    unit = _UNITS.get(cls.__name__.removeprefix("Index").removesuffix("GO"))
    if (labels.dtype != f"M8[{unit}]") if unit is not None else labels.dtype.kind == "M":
        raise TypeError(f"labels of {labels.dtype} in an index of class {cls.__name__}")
    labels.flags.writeable = False
    with index_calls(labels):
        return cls(labels, name=name)


class index_calls(host_calls):
    """Turns errors of StaticFrame into `InternalError` while it makes an index.

    Looks for labels without a hash only after an error.

    Parameters
    ----------
    labels
        Arrays of labels.
    foreign
        The name of the labels in errors, if another library wrote them, which may allow labels
        without a hash. In files of StaticFrame such labels are damage.
    """

    def __init__(self, *labels: Any, foreign: str | None = None) -> None:
        self._labels, self._foreign = labels, foreign

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, TypeError):
            try:
                for array in self._labels:
                    for label in array.tolist() if array.dtype.kind == "O" else ():
                        hash(label)
            except TypeError as refused:
                if self._foreign is None:
                    raise CorruptFileError(f"the host map of the file is invalid ({refused})") from error
                raise UnsupportedTypeError(
                    f"{self._foreign}: StaticFrame can't have such labels ({refused})"
                ) from error
        super().__exit__(kind, error, trace)


@interpretation()
def decode_index(spec: dict[str, Any], values: list[Any], n: int, rows: Any = None) -> Any:
    """Make rows of an index with `n` labels. `values` are its columns, already at these rows."""
    import numpy as np

    kind, name = spec["kind"], decode_label(spec["name"])
    with unique("rows" if isinstance(rows, np.ndarray) else None):
        if kind == "range":
            cls = class_of(spec["class"], ("Index", "IndexGO"))
            if (spec["start"], spec["stop"], spec["step"]) != (0, n, 1):
                raise CorruptFileError(f"an auto-integer index does not have {n} labels")
            with host_calls():
                return at_rows(positions(n, cls, name), rows)
        if kind == "column":
            return _flat(class_of(spec["class"], FLAT), _dtype_metadata.labels(values[0], spec), name)
        if kind != "multi":
            raise CorruptFileError(f"an index of kind {kind!r} is not known")
        cls = class_of(spec["class"], HIERARCHIES)
        names = spec.get("level_names", [None] * len(values))
        metadata = spec.get(_dtype_metadata.KEY, [None] * len(values))
        levels = []
        for level, of, level_name, kept in zip(values, spec["classes"], names, metadata, strict=True):
            if type(level) is not _index_spec.Codes:
                raise CorruptFileError("a level of an index has no codes")
            labels = level.values if kept is None else _dtype_metadata.restore(level.values, cell_value(kept))
            levels.append(_flat(class_of(of, FLAT), labels, decode_label(level_name)))
        indexers = np.array([level.codes for level in values], dtype=np.int64)
        if (indexers < 0).any():
            raise CorruptFileError("a label of a level is missing")
        indexers.flags.writeable = False
        with host_calls():
            index = cls(levels, indexers=indexers, name=name)
            # The slice drops level labels that no selected row has.
            return index if rows is None else index.iloc[:]


def numbers(columns: list[int]) -> Any:
    """The numbers of columns as an array."""
    import numpy as np

    return np.array(columns, dtype=np.int64)


class _construction(_Translator):
    """Translates errors about parts that do not fit together."""

    def _translate(self, error: BaseException) -> None:
        import static_frame as sf

        if isinstance(error, (sf.ErrorInit, sf.ErrorInitTypeBlocks)):
            raise CorruptFileError(f"the host map of the file is invalid ({error})") from error


def _own(arrays: list[Any]) -> None:
    for array in arrays:
        if array.flags.writeable:
            read_only(array)


def read_only(array: Any) -> None:
    """Make an array read-only, and also the array that it views."""
    array.flags.writeable = False
    if (flags := getattr(array.base, "flags", None)) is not None:
        flags.writeable = False


def frame(cls: Any, blocks: list[Any], index: Any, labels: Any, name: Any) -> Any:
    """Make a frame that takes ownership of the arrays."""
    import static_frame as sf

    _own(blocks)
    with _construction():
        types = sf.TypeBlocks.from_blocks(blocks, shape_reference=(len(index), 0), own_data=True)
        return cls(types, own_data=True, index=index, own_index=True, columns=labels, own_columns=True, name=name)


def series(cls: Any, blocks: list[Any], index: Any, name: Any) -> Any:
    """Make a series that takes ownership of the array."""
    _own(blocks)
    (values,) = blocks
    with _construction():
        return cls(values.reshape(-1), index=index, own_index=True, name=name)
