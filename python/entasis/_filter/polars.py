"""Expressions of Polars as conditions.

The tree comes from `Expr.meta.serialize(format="json")`. Comparisons keep the order of Polars, in
which NaN is greater than all other floats and equals itself. A part without a counterpart is an
error, so that only the rules of Polars drop rows.
"""

from __future__ import annotations

import io
import json
import warnings
from typing import TYPE_CHECKING, Any

from entasis.errors import ArgumentError

from .fields import inside
from .literals import Exact

if TYPE_CHECKING:
    from collections.abc import Callable

_COMPARISONS = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtEq": "le", "Gt": "gt", "GtEq": "ge"}
_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
_BOUNDS = {"Both": ("ge", "le"), "Left": ("ge", "lt"), "Right": ("gt", "le"), "None": ("gt", "lt")}
_MATCHES = {"StartsWith": "starts_with", "EndsWith": "ends_with"}
_PER_UNIT = {"Milliseconds": 10**15, "Microseconds": 10**12, "Nanoseconds": 10**9}
_PER_SHORT_UNIT = {"ms": 10**15, "us": 10**12, "ns": 10**9}
_DAY = 86_400 * 10**18

Tree = tuple[Any, ...]


def tree_of(expression: Any, *, has_casts: bool) -> Tree:
    """Convert an expression to a condition.

    Parameters
    ----------
    expression
        An expression of Polars.
    has_casts
        Whether Polars has added its casts. Without them, a literal that is a float of 32 or 64
        bits is refused: Polars may convert the column to that type.

    Raises
    ------
    ArgumentError
        A part of the expression has no counterpart. The message has the part.
    """
    with warnings.catch_warnings():
        # Polars warns that the form may change. A form that is not known here is refused.
        warnings.simplefilter("ignore")
        text = expression.meta.serialize(format="json")
    node = json.loads(text)
    if not has_casts and ('"Float32":' in text or '"Float64":' in text):
        _refuse_typed_floats(node)
    return _condition(node)


def _refuse_typed_floats(node: Any) -> None:
    if isinstance(node, dict):
        scalar = _only(node, "Scalar")
        if isinstance(scalar, dict) and not scalar.keys().isdisjoint(("Float32", "Float64")):
            raise _refused(node, "write the number without a type")
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            _refuse_typed_floats(part)


def _refused(part: Any, hint: str = "") -> ArgumentError:
    text = json.dumps(part)
    text = text if len(text) <= 100 else f"{text[:100]}..."
    hint = hint or "write it with en.col, or filter the frame after reading"
    return ArgumentError(f"filter= can't take this part of a Polars expression: {text}; {hint}")


def _only(node: Any, name: str) -> Any:
    """The content of a node with this name; None for other nodes."""
    return node[name] if isinstance(node, dict) and set(node) == {name} else None


def _condition(node: Any) -> Tree:
    name = _only(node, "Column")
    if name is not None:
        return ("eq", _column(node), True)
    binary = _only(node, "BinaryExpr")
    if binary is not None:
        return _binary(node, binary["left"], binary["op"], binary["right"])
    function = _only(node, "Function")
    if function is not None:
        if _only(function["function"], "StructExpr") is not None:
            return ("eq", _column(node), True)
        return _function(node, function["input"], function["function"])
    raise _refused(node)


def _binary(node: Any, left: Any, op: str, right: Any) -> Tree:
    if op in ("And", "LogicalAnd"):
        return ("and", (_condition(left), _condition(right)))
    if op in ("Or", "LogicalOr"):
        return ("or", (_condition(left), _condition(right)))
    if op == "Xor":
        a, b = _condition(left), _condition(right)
        return ("or", (("and", (a, ("not", b))), ("and", (("not", a), b))))
    name = _COMPARISONS.get(op)
    if name is None:
        raise _refused(node)
    if _only(left, "Literal") is not None:
        left, right, name = right, left, _MIRRORED[name]
    return _compared(node, name, left, _literal(right))


def _compared(node: Any, name: str, left: Any, value: Any) -> Tree:
    function = _only(left, "Function")
    if function is not None and _only(function["function"], "ListExpr") == "Length":
        if type(value) is not int:
            raise _refused(node, "the length of a list is compared with an integer")
        return ("length", _column(function["input"][0]), name, value)
    label = _column(left)
    compared = (name, label, value)
    # NaN is greater than all other floats. Columns of other types have none.
    return ("or", (compared, ("nan if float", label))) if name in ("gt", "ge") else compared


def _function(node: Any, inputs: list[Any], function: Any) -> Tree:
    boolean, string = _only(function, "Boolean"), _only(function, "StringExpr")
    if boolean == "Not":
        return ("not", _condition(inputs[0]))
    if boolean in ("IsNull", "IsNotNull"):
        found = ("null", _column(inputs[0]))
        return found if boolean == "IsNull" else ("not", found)
    if boolean in ("IsNan", "IsNotNan"):
        found = ("nan", _column(inputs[0]))
        return found if boolean == "IsNan" else ("not", found)
    between, is_in = _only(boolean, "IsBetween"), _only(boolean, "IsIn")
    if between is not None:
        low, high = _BOUNDS[between["closed"]]
        bounds = ((low, inputs[1]), (high, inputs[2]))
        return ("and", tuple(_compared(node, name, inputs[0], _literal(bound)) for name, bound in bounds))
    if is_in is not None:
        return _member(node, _column(inputs[0]), inputs[1], nulls_equal=is_in["nulls_equal"])
    match = _MATCHES.get(string) if isinstance(string, str) else None
    if match is not None:
        return ("match", _column(inputs[0]), match, _text(inputs[1]))
    contains = _only(string, "Contains")
    if contains is not None:
        if not contains["literal"]:
            raise _refused(node, "patterns are refused: write str.contains(text, literal=True)")
        return ("match", _column(inputs[0]), "contains", _text(inputs[1]))
    raise _refused(node)


def _member(node: Any, label: Any, values: Any, *, nulls_equal: bool) -> Tree:
    members, has_null, has_nan = _members(node, values)
    found: Tree = ("in", label, tuple(members))
    if has_nan:
        found = ("or", (found, ("nan if float", label)))
    if nulls_equal:
        # For a missing value the test is true or false, never unknown.
        null = ("null", label)
        found = ("or", (found, null)) if has_null else ("and", (found, ("not", null)))
    return found


def _members(node: Any, values: Any) -> tuple[list[Any], bool, bool]:
    """The values of a list, whether one of them is missing, and whether one is NaN."""
    import polars as pl

    literal = _only(values, "Literal")
    scalar = _only(literal, "Scalar")
    content = _only(scalar, "List") or _only(literal, "Series")
    if not isinstance(content, list):
        raise _refused(node)
    series = pl.read_ipc_stream(io.BytesIO(bytes(content))).to_series()
    has_null = series.null_count() > 0
    series = series.drop_nulls()
    if isinstance(series.dtype, (pl.Datetime, pl.Duration)):
        unit = _PER_SHORT_UNIT[series.dtype.time_unit]
        kind = "duration"
        if isinstance(series.dtype, pl.Datetime):
            kind = "naive" if series.dtype.time_zone is None else "aware"
        return [Exact(("time", kind, value * unit)) for value in series.to_physical()], has_null, False
    members = series.to_list()
    numbers = [value for value in members if value == value]
    return numbers, has_null, len(numbers) < len(members)


def _column(node: Any) -> Any:
    function = _only(node, "Function")
    of = None if function is None else _only(function["function"], "StructExpr")
    field = _only(of, "FieldByName")
    if function is not None and isinstance(field, str):
        return inside(_column(function["input"][0]), field)
    name = _only(node, "Column")
    if not isinstance(name, str) or (name.startswith("^") and name.endswith("$")):
        raise _refused(node)
    return name


def _text(node: Any) -> str:
    value = _literal(node)
    if not isinstance(value, str):
        raise _refused(node)
    return value


def _literal(node: Any) -> Any:
    literal = _only(node, "Literal")
    dyn, scalar = _only(literal, "Dyn"), _only(literal, "Scalar")
    found = dyn if dyn is not None else scalar
    if not isinstance(found, dict) or len(found) != 1:
        raise _refused(node)
    ((kind, value),) = found.items()
    if value is None:
        raise _refused(node, "NaN and infinity look alike there: write it with en.col")
    make = _LITERALS.get("Int" if kind.startswith(("Int", "UInt")) else kind)
    if make is None:
        raise _refused(node, "nothing equals a missing value: write is_null()" if kind == "Null" else "")
    return make(value)


def _datetime(value: list[Any]) -> Exact:
    number, unit, zone = value
    return Exact(("time", "naive" if zone is None else "aware", number * _PER_UNIT[unit]))


_LITERALS: dict[str, Callable[[Any], Any]] = {
    "Int": int,
    "Float": float,
    "Float32": float,
    "Float64": float,
    "Str": str,
    "String": str,
    "Boolean": bool,
    "Binary": bytes,
    "Date": lambda days: Exact(("time", "naive", days * _DAY)),
    "Datetime": _datetime,
    "Duration": lambda value: Exact(("time", "duration", value[0] * _PER_UNIT[value[1]])),
    "Time": lambda nanoseconds: Exact(("time", "of_day", nanoseconds * 10**9)),
    "Decimal": lambda value: Exact(("decimal", value[0], value[2])),
}
