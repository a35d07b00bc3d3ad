"""Expressions of pyarrow as conditions.

pyarrow does not expose the parts of an expression, but pickles it as a record batch. The metadata
of the batch have the calls in order, and its columns have the literals. The expression is rebuilt
from these, and used only if it equals the original. So if another version of pyarrow pickles
differently, that costs time but no rows.
"""

from __future__ import annotations

import decimal
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from entasis._filter.fields import inside
from entasis._filter.literals import Exact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Tree = tuple[Any, ...]

# An entry of the metadata in the text of a schema.
_ENTRY = re.compile(r"^(call|end|field_ref|nested_field_ref|literal|options): '(.*)'$")
_METADATA = "-- schema metadata --"
_COMPARISONS = {
    "equal": "eq",
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_MATCHES = {"starts_with": "starts_with", "ends_with": "ends_with", "match_substring": "contains"}
_OPTIONS = {
    "is_null": ("nan_is_null",),
    "starts_with": ("pattern", "ignore_case"),
    "ends_with": ("pattern", "ignore_case"),
    "match_substring": ("pattern", "ignore_case"),
}
_PER_UNIT = {"s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9}
_DAY = 86_400 * 10**18
# Integers up to this size are exact as floats.
_EXACT_IN_FLOATS = 2**53
_EXACT_IN_FLOAT32 = 2**24


class Untranslated(Exception):
    """An expression, or a part of one, has no counterpart here."""


class Node(NamedTuple):
    """A part of an expression.

    Attributes
    ----------
    expression
        The rebuilt part.
    kind
        "field", "literal", or the name of a function.
    parts
        The parts of a call, the names of a field from outside to inside, or the literal.
    options
        The options of a call by name.
    """

    expression: pc.Expression
    kind: str
    parts: Any
    options: dict[str, Any]


class Part(NamedTuple):
    """A condition, joined to others by *and* in an expression.

    Attributes
    ----------
    expression
        The condition.
    tree
        The counterpart; None if there is none.
    """

    expression: pc.Expression
    tree: Tree | None


def parts_of(expression: pc.Expression, schema: pa.Schema, *, nan_is_largest: bool) -> list[Part]:
    """Split an expression at *and*, and translate the parts that have a counterpart.

    Parameters
    ----------
    expression
        A condition.
    schema
        The types of the columns.
    nan_is_largest
        Whether NaN is greater than all other floats, and equals itself. pyarrow follows IEEE 754.
    """
    try:
        nodes = list(_conjuncts(parsed(expression)))
    except Untranslated:
        return [Part(expression, None)]
    translation = _Translation(schema, nan_is_largest=nan_is_largest)
    return [Part(node.expression, translation.tree(node)) for node in nodes]


def parsed(expression: pc.Expression) -> Node:
    """The parts of an expression.

    Raises
    ------
    Untranslated
        pyarrow can't pickle it, or it has a function whose options are not known here.
    """
    try:
        (buffer,) = expression.__reduce__()[1]
        batch = pa.ipc.open_file(buffer).get_batch(0)
        lines = batch.schema.to_string(truncate_metadata=False).partition(_METADATA)[2].split("\n")[1:]
        entries = [(found[1], found[2]) for found in map(_ENTRY.match, lines) if found is not None]
        if len(entries) != len(lines):
            raise Untranslated
        node = _node(iter(entries), [column[0] for column in batch.columns])
    except (pa.ArrowException, AttributeError, IndexError, LookupError, StopIteration, TypeError, ValueError):
        raise Untranslated from None
    # NaN is unequal to itself, but its pickles are equal.
    if not node.expression.equals(expression) and node.expression.__reduce__()[1] != (buffer,):
        raise Untranslated
    return node


def _node(entries: Iterator[tuple[str, str]], values: list[pa.Scalar]) -> Node:
    """The node that starts at the next entry."""
    node = _node_or_end(entries, values)
    if not isinstance(node, Node):
        raise Untranslated
    return node


def _node_or_end(entries: Iterator[tuple[str, str]], values: list[pa.Scalar]) -> Node | tuple[str, str]:
    key, text = next(entries)
    if key == "field_ref":
        return Node(pc.field(text), "field", (text,), {})
    if key == "nested_field_ref":
        names = tuple(_expected(next(entries), "field_ref") for _ in range(int(text)))
        return Node(pc.field(*names), "field", names, {})
    if key == "literal":
        value = values[int(text)]
        return Node(pc.scalar(value), "literal", value, {})
    if key != "call":
        return key, text
    parts: list[Node] = []
    options: dict[str, Any] = {}
    while isinstance(part := _node_or_end(entries, values), Node):
        parts.append(part)
    if part[0] == "options":
        options = dict(values[int(part[1])])
        part = next(entries)
    if part != ("end", text):
        raise Untranslated
    return Node(_call(text, [part.expression for part in parts], options), text, parts, options)


def _expected(entry: tuple[str, str], key: str) -> str:
    if entry[0] != key:
        raise Untranslated
    return entry[1]


def _call(name: str, parts: list[pc.Expression], options: dict[str, pa.Scalar]) -> pc.Expression:
    """A rebuilt call. Comparing the whole with the original finds wrong options."""
    function = getattr(pc, name)
    if not options:
        return function(*parts)
    if name == "is_in":
        return function(*parts, value_set=options["value_set"].values)
    return function(*parts, **{option: options[option].as_py() for option in _OPTIONS[name]})


def _conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that *and* joins."""
    if node.kind in ("and_kleene", "and"):
        for part in node.parts:
            yield from _conjuncts(part)
    else:
        yield node


class _Translation:
    """Translates conditions on the columns of a schema."""

    def __init__(self, schema: pa.Schema, *, nan_is_largest: bool) -> None:
        self._schema = schema
        self._nan_is_largest = nan_is_largest

    def tree(self, node: Node) -> Tree | None:
        try:
            return self.condition(node)
        except Untranslated:
            return None

    def condition(self, node: Node) -> Tree:
        if node.kind in ("and_kleene", "or_kleene"):
            return node.kind.removesuffix("_kleene"), tuple(map(self.condition, node.parts))
        if node.kind == "invert":
            return "not", self.condition(node.parts[0])
        if node.kind == "field" and pa.types.is_boolean(self._type(node)):
            return "eq", self._label(node), True
        if node.kind in _COMPARISONS:
            return self._compared(_COMPARISONS[node.kind], *node.parts)
        if node.kind in ("is_null", "is_valid", "is_nan"):
            return self._state(node)
        if node.kind == "is_in":
            return self._member(node)
        if node.kind == "if_else":
            return self._member_or_unknown(*node.parts)
        if node.kind in _MATCHES and not node.options["ignore_case"].as_py():
            (column,) = node.parts
            if not _is_text(self._type(column)):
                raise Untranslated
            return "match", self._label(column), _MATCHES[node.kind], _match(node)
        raise Untranslated

    def _compared(self, name: str, left: Node, right: Node) -> Tree:
        if left.kind == "literal":
            left, right, name = right, left, _MIRRORED[name]
        if right.kind != "literal":
            raise Untranslated
        label, of = self._label(left), self._type(left)
        if pa.types.is_dictionary(of):
            # pyarrow orders categories by their text, and so no order is translated.
            if name not in ("eq", "ne"):
                raise Untranslated
            of = of.value_type
        if not self._nan_is_largest or not _is_float(of):
            return name, label, _literal(right.parts, of)
        nan = ("nan", label)
        if pa.types.is_floating(right.parts.type) and right.parts.is_valid and math.isnan(right.parts.as_py()):
            return _BESIDE_NAN[name](nan)
        compared = (name, label, _literal(right.parts, of))
        return ("or", (compared, nan)) if name in ("gt", "ge") else compared

    def _state(self, node: Node) -> Tree:
        (column,) = node.parts
        label = self._label(column)
        if node.kind == "is_valid":
            return "not", ("null", label)
        if node.kind == "is_null":
            if node.options and node.options["nan_is_null"].as_py():
                raise Untranslated
            return "null", label
        if not (pa.types.is_float32(self._type(column)) or pa.types.is_float64(self._type(column))):
            raise Untranslated
        return "nan", label

    def _member(self, node: Node) -> Tree:
        """A membership test. For a missing value it is true or false, never unknown."""
        (column,) = node.parts
        label, of = self._label(column), self._type(column)
        of = of.value_type if pa.types.is_dictionary(of) else of
        values = node.options["value_set"].values
        # pyarrow distinguishes 0.0 from -0.0 here, and NaN equals itself.
        if pa.types.is_floating(of) or pa.types.is_floating(values.type):
            raise Untranslated
        found: Tree = ("in", label, tuple(_literal(value, of) for value in values if value.is_valid))
        null = ("null", label)
        return ("or", (found, null)) if values.null_count else ("and", (found, ("not", null)))

    def _member_or_unknown(self, is_valid: Node, member: Node, other: Node) -> Tree:
        """A membership test that is unknown for a missing value, as DuckDB writes `IN`."""
        is_null = other.kind == "literal" and not other.parts.is_valid
        if not is_null or is_valid.kind != "is_valid" or member.kind != "is_in":
            raise Untranslated
        if self._label(is_valid.parts[0]) != self._label(member.parts[0]):
            raise Untranslated
        tree = self._member(member)
        if tree[0] != "and":
            # One of the values is missing.
            raise Untranslated
        found: Tree = tree[1][0]
        return found

    def _label(self, node: Node) -> Any:
        if node.kind != "field":
            raise Untranslated
        label: Any = node.parts[0]
        for name in node.parts[1:]:
            label = inside(label, name)
        return label

    def _type(self, node: Node) -> pa.DataType:
        if node.kind != "field" or self._schema.get_field_index(node.parts[0]) < 0:
            raise Untranslated
        of = self._schema.field(node.parts[0]).type
        for name in node.parts[1:]:
            if not pa.types.is_struct(of) or of.get_field_index(name) < 0:
                raise Untranslated
            of = of.field(name).type
        return of


def _match(node: Node) -> bytes:
    pattern = node.options["pattern"].as_py()
    return pattern.encode() if isinstance(pattern, str) else bytes(pattern)


def _is_text(of: pa.DataType) -> bool:
    found: bool = pa.types.is_string(of) or pa.types.is_large_string(of)
    return found


def _is_bytes(of: pa.DataType) -> bool:
    found: bool = pa.types.is_binary(of) or pa.types.is_large_binary(of)
    return found


def _is_decimal(of: pa.DataType) -> bool:
    found: bool = pa.types.is_decimal(of) and not pa.types.is_decimal256(of)
    return found


def _is_float(of: pa.DataType) -> bool:
    found: bool = pa.types.is_float32(of) or pa.types.is_float64(of)
    return found


# Comparisons with NaN as the greatest float, expressed by the test for NaN.
_BESIDE_NAN: dict[str, Callable[[Tree], Tree]] = {
    "eq": lambda nan: nan,
    "ge": lambda nan: nan,
    "ne": lambda nan: ("not", nan),
    "lt": lambda nan: ("not", nan),
    "le": lambda nan: ("or", (nan, ("not", nan))),
    "gt": lambda nan: ("and", (nan, ("not", nan))),
}


def _literal(value: pa.Scalar, of: pa.DataType) -> Any:
    """A literal that is compared with a column of some type, where the comparison is exact."""
    if not value.is_valid:
        raise Untranslated
    if pa.types.is_dictionary(value.type):
        value = value.value
    kind = value.type
    for is_kind, make in _EXACT:
        if is_kind(kind):
            return make(value, of)
    raise Untranslated


def _integer(value: pa.Scalar, of: pa.DataType) -> Any:
    number: int = value.as_py()
    if _is_decimal(of):
        return Exact(("decimal", number, 0))
    is_exact = _is_float(of) and abs(number) <= (_EXACT_IN_FLOAT32 if pa.types.is_float32(of) else _EXACT_IN_FLOATS)
    return _if(pa.types.is_integer(of) or is_exact, number)


def _float(value: pa.Scalar, of: pa.DataType) -> Any:
    number: float = value.as_py()
    if pa.types.is_float32(of):
        # pyarrow compares with a float64 in 64 bits, and the core in 32.
        return _if(pa.scalar(number, of).as_py() == number, number)
    # Integers of 64 bits are rounded when they are compared with floats.
    is_exact = pa.types.is_integer(of) and abs(number) < _EXACT_IN_FLOATS
    return _if(number == number and (_is_float(of) or is_exact), number)


def _decimal(value: pa.Scalar, of: pa.DataType) -> Any:
    number = value.as_py()
    scaled = int(number.scaleb(value.type.scale, decimal.Context(prec=77)))
    return _if(_is_decimal(of), Exact(("decimal", scaled, value.type.scale)))


def _timestamp(value: pa.Scalar, of: pa.DataType) -> Any:
    kind = "naive" if value.type.tz is None else "aware"
    is_same = pa.types.is_timestamp(of) and of.tz == value.type.tz
    return _if(is_same, Exact(("time", kind, value.value * _PER_UNIT[value.type.unit])))


def _if(is_exact: bool, value: Any) -> Any:
    if not is_exact:
        raise Untranslated
    return value


def _same(make: Callable[[pa.Scalar], Any]) -> Callable[[pa.Scalar, pa.DataType], Any]:
    """For literals that compare only with columns of their own type."""
    return lambda value, of: _if(value.type == of, make(value))


def _bytes(value: pa.Scalar, of: pa.DataType) -> Any:
    return _if(_is_bytes(of), value.as_py())


def _text(value: pa.Scalar, of: pa.DataType) -> Any:
    return _if(_is_text(of), value.as_py())


_EXACT: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Scalar, pa.DataType], Any]], ...] = (
    (pa.types.is_integer, _integer),
    (_is_float, _float),
    (_is_text, _text),
    (_is_bytes, _bytes),
    (_is_decimal, _decimal),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_boolean, _same(lambda value: value.as_py())),
    (pa.types.is_date32, _same(lambda value: Exact(("time", "naive", value.value * _DAY)))),
    (pa.types.is_duration, _same(lambda value: Exact(("time", "duration", value.value * _PER_UNIT[value.type.unit])))),
    (pa.types.is_time, _same(lambda value: Exact(("time", "of_day", value.value * _PER_UNIT[value.type.unit])))),
)
