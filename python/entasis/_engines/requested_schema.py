"""The schema that a consumer of an Arrow stream asks for. Only pyarrow asks, and it converts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from entasis._host_map import interpretation

if TYPE_CHECKING:
    from typing import Protocol, Self

    class RowsOf(Protocol):
        """Rows with columns that are chosen by their numbers."""

        numbers: list[int]

        def reopened(self, numbers: list[int], layout: int) -> Self:
            """Some columns, with strings in a layout."""

        def __arrow_c_schema__(self) -> object: ...

    Rows = TypeVar("Rows", bound=RowsOf)

# Layouts of strings, see `Handle.read_arrow`.
_SMALL, _LARGE, _VIEWS = 0, 1, 2


def honoured(capsule: object, rows: Rows) -> tuple[Rows, Any]:
    """Honour a request as far as possible.

    A request names columns, in any order, and their types. A request that names other columns is
    ignored. A column keeps its type unless the requested type is of the same kind: text, bytes or
    integers, each also as a dictionary.

    Returns
    -------
    rows, schema
        The rows with these columns, and the schema to cast them to; None if no cast is needed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        return rows, None
    try:
        with interpretation():
            wanted, own = pa.schema(_Schema(capsule)), pa.schema(rows)
    except pa.ArrowException:
        # pyarrow lacks a type, such as integers of 128 bits.
        return rows, None
    names, numbers = wanted.names, dict(zip(own.names, rows.numbers, strict=True))
    is_ambiguous = len(numbers) < len(own) or len(set(names)) < len(names)
    if not names or is_ambiguous or not all(name in numbers for name in names):
        return rows, None
    layout = _layout([(own.field(name).type, wanted.field(name).type) for name in names])
    if names != own.names or layout != _LARGE:
        rows = rows.reopened([numbers[name] for name in names], layout)
        with interpretation():
            own = pa.schema(rows)
    fields = [field.with_type(_type(field.type, wanted.field(field.name).type)) for field in own]
    target = pa.schema(fields, own.metadata)
    return rows, None if target.equals(own) else target


class _Schema:
    """The capsule of a schema as an object that pyarrow imports."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_schema__(self) -> object:
        return self._capsule


def _layout(types: list[tuple[Any, Any]]) -> int:
    """The layout of decoded strings, from the first type that the request changes.

    A request for large strings changes nothing, because they are the default.
    """
    import pyarrow as pa

    for own, wanted in types:
        if wanted != own and _kind(wanted) == _kind(own):
            if pa.types.is_string(wanted) or pa.types.is_binary(wanted):
                return _SMALL
            if pa.types.is_string_view(wanted) or pa.types.is_binary_view(wanted):
                return _VIEWS
    return _LARGE


def _type(own: Any, wanted: Any) -> Any:
    """The type that a column gets."""
    import pyarrow as pa

    if own == wanted or _kind(own) is None or _kind(own) != _kind(wanted):
        return own
    try:
        pa.array([], own).cast(wanted)
    except (pa.ArrowException, NotImplementedError):
        return own
    return wanted


def _kind(of: Any) -> str | None:
    """The kind of a type. Values convert within a kind; None for types without conversion."""
    import pyarrow as pa

    of, types = of.value_type if pa.types.is_dictionary(of) else of, pa.types
    if types.is_string(of) or types.is_large_string(of) or types.is_string_view(of):
        return "text"
    if types.is_binary(of) or types.is_large_binary(of) or types.is_binary_view(of):
        return "bytes"
    return "integer" if types.is_integer(of) else None
