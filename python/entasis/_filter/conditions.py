"""Conditions on columns, as users write them with `entasis.col`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis._arguments.options import integer, shown
from entasis.errors import ArgumentError

from .fields import Field, inside

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    import polars

    # A condition, a column of booleans, tuples (label, operator, value) as pandas takes them, or an
    # expression of Polars.
    Filter: TypeAlias = "Condition | Col | tuple[Any, str, Any] | list[Any] | polars.Expr"

_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

# Names of other libraries' methods, each with ours.
_OURS = {
    "isna": "is_missing",
    "isnull": "is_missing",
    "is_null": "is_missing",
    "notna": "~ and is_missing",
    "notnull": "~ and is_missing",
    "is_not_null": "~ and is_missing",
    "isin": "is_in",
    "is_between": "between",
    "startswith": "starts_with",
    "endswith": "ends_with",
    "str": "starts_with, ends_with, contains and like, on the column itself",
    "dt": "comparisons with a date or a time",
    "struct": "field",
    "list": "list_len",
}


# The greatest depth of a condition, as in a WHERE clause of the command. Functions that walk a
# condition follow it by recursion.
MAX_DEPTH = 200


def too_deep() -> ArgumentError:
    return ArgumentError(f"the condition is nested deeper than {MAX_DEPTH}: join more parts with one & or |")


class Condition:
    """A condition on the rows of a table, to filter files with.

    Conditions are made with `entasis.col`, and combined with `&`, `|` and `~`. They can be printed,
    pickled and compared with `is`. A comparison with a missing value is unknown, as in SQL: neither
    the comparison nor its negation keeps the row.
    """

    __slots__ = ("_depth", "_tree")

    def __init__(self, tree: tuple[Any, ...], depth: int | None = None) -> None:
        self._tree = tree
        if depth is None:
            from .depth import depth_of

            depth = depth_of(tree)
        self._depth = depth
        if self._depth > MAX_DEPTH:
            raise too_deep()

    def __and__(self, other: Condition | Col) -> Condition:
        return _joined("and", self, other)

    def __or__(self, other: Condition | Col) -> Condition:
        return _joined("or", self, other)

    def __invert__(self) -> Condition:
        if self._tree[0] == "not":
            return Condition(self._tree[1], self._depth - 1)
        return Condition(("not", self._tree), self._depth + 1)

    def __bool__(self) -> bool:
        raise TypeError(
            "a condition has no truth value before it is applied to a file: combine conditions with &, | and ~ "
            "in place of and, or and not, each in parentheses, and write a < x < b as (a < x) & (x < b)"
        )

    def __repr__(self) -> str:
        return _text(self._tree)

    def __reduce__(self) -> tuple[Any, ...]:
        return Condition, (self._tree,)


class Col:
    """A column in a condition. `entasis.col` makes it.

    Attributes
    ----------
    label
        The label of a column, or of a level of the index.
    """

    __slots__ = ("label",)

    def __init__(self, label: Any) -> None:
        self.label = label

    def _compare(self, name: str, value: Any) -> Condition:
        if isinstance(value, (Col, Condition, ListLength)):
            raise ArgumentError("a column is compared with a value, not with another column")
        _refuse_missing(value, f"en.col({self.label!r})")
        return Condition((name, self.label, value))

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare("eq", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare("ne", value)

    def __lt__(self, value: Any) -> Condition:
        return self._compare("lt", value)

    def __le__(self, value: Any) -> Condition:
        return self._compare("le", value)

    def __gt__(self, value: Any) -> Condition:
        return self._compare("gt", value)

    def __ge__(self, value: Any) -> Condition:
        return self._compare("ge", value)

    __hash__ = object.__hash__

    def is_true(self) -> Condition:
        """Return the condition that a boolean is true. A column used as a condition means this."""
        return self._compare("eq", True)

    def __and__(self, other: Condition | Col) -> Condition:
        return self.is_true() & other

    def __or__(self, other: Condition | Col) -> Condition:
        return self.is_true() | other

    def __invert__(self) -> Condition:
        return ~self.is_true()

    def between(self, low: Any, high: Any) -> Condition:
        """Return the condition that a value lies between two others, both included."""
        return self._compare("ge", low) & self._compare("le", high)

    def is_in(self, values: Iterable[Any]) -> Condition:
        """Return the condition that a value equals one of several."""
        if isinstance(values, (str, bytes)):
            raise ArgumentError(f"is_in takes a list of values, not {shown(values)}: write is_in([{shown(values)}])")
        # `tolist` of an array makes integers of its times.
        is_array = type(values).__module__.partition(".")[0] == "numpy"
        listed = None if is_array else getattr(values, "tolist", None)
        members = tuple(values if listed is None else listed())
        for value in members:
            _refuse_missing(value, f"en.col({self.label!r})")
        return Condition(("in", self.label, members))

    def is_missing(self) -> Condition:
        """Return the condition that a value is missing, as NaN is in floats of pandas."""
        return Condition(("missing", self.label))

    def is_nan(self) -> Condition:
        """Return the condition that a float is NaN."""
        return Condition(("nan", self.label))

    def starts_with(self, text: str) -> Condition:
        """Return the condition that a string begins with a text."""
        return self._match("starts_with", text)

    def ends_with(self, text: str) -> Condition:
        """Return the condition that a string ends with a text."""
        return self._match("ends_with", text)

    def contains(self, text: str) -> Condition:
        """Return the condition that a string contains a text, which is not a regular expression."""
        return self._match("contains", text)

    def like(self, pattern: str) -> Condition:
        r"""Return the condition that a string is like a pattern of SQL.

        `%` stands for any text, `_` for one character, and a backslash makes the next character
        stand for itself.
        """
        return self._match("like", pattern)

    def field(self, name: str) -> Col:
        """Return a field of a column of structs. A missing struct has missing fields."""
        if not isinstance(name, str):
            raise ArgumentError(f"field takes the name of a field, not {shown(name)}")
        return Col(inside(self.label, name))

    def list_len(self) -> ListLength:
        """Return the length of a list or map, to compare it with an integer."""
        return ListLength(self.label)

    def _match(self, name: str, text: Any) -> Condition:
        if not isinstance(text, (str, bytes)):
            raise ArgumentError(f"{name} takes a text, not {shown(text)}")
        return Condition(("match", self.label, name, text))

    def __bool__(self) -> bool:
        raise TypeError("a column has no truth value: compare it, as in en.col('a') > 3")

    def __getattr__(self, name: str) -> Any:
        if name in _OURS:
            raise AttributeError(f"en.col(...) has no {name}: use {_OURS[name]}")
        raise AttributeError(name)

    def __repr__(self) -> str:
        if isinstance(self.label, Field):
            label, names = self.label
            return f"col({label!r})" + "".join(f".field({name!r})" for name in names)
        return f"col({self.label!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Col, (self.label,)


class ListLength:
    """The length of a list or map in a condition. `Col.list_len` makes it."""

    __slots__ = ("_label",)

    def __init__(self, label: Any) -> None:
        self._label = label

    def _compare(self, name: str, n: Any) -> Condition:
        number = integer(n)
        if number is None:
            raise ArgumentError(f"the length of a list is compared with an integer, not with {shown(n)}")
        if not -(1 << 127) <= number < 1 << 127:
            raise ArgumentError(f"{shown(n)} is beyond the length of any list")
        return Condition(("length", self._label, name, number))

    def __eq__(self, n: object) -> Condition:  # type: ignore[override]
        return self._compare("eq", n)

    def __ne__(self, n: object) -> Condition:  # type: ignore[override]
        return self._compare("ne", n)

    def __lt__(self, n: int) -> Condition:
        return self._compare("lt", n)

    def __le__(self, n: int) -> Condition:
        return self._compare("le", n)

    def __gt__(self, n: int) -> Condition:
        return self._compare("gt", n)

    def __ge__(self, n: int) -> Condition:
        return self._compare("ge", n)

    __hash__ = object.__hash__

    def between(self, low: int, high: int) -> Condition:
        """Return the condition that a length lies between two others, both included."""
        return self._compare("ge", low) & self._compare("le", high)

    def __bool__(self) -> bool:
        raise TypeError("a length has no truth value: compare it, as in en.col('a').list_len() > 3")

    def __repr__(self) -> str:
        return f"{Col(self._label)!r}.list_len()"

    def __reduce__(self) -> tuple[Any, ...]:
        return ListLength, (self._label,)


def col(label: Any) -> Col:
    """Return a column, to write conditions with.

    Parameters
    ----------
    label
        The label of a column, of any type, or the name of a level of the index.

    Returns
    -------
    Col
        Comparing it with a value, or calling one of its methods, gives a `Condition`.

    Examples
    --------
    >>> (en.col("price") > 4) & en.col("city").is_in(["Bern", "Oslo"])
    (col('price') > 4) & col('city').is_in(['Bern', 'Oslo'])
    """
    return Col(label)


def field(label: Any, *names: str) -> Col:
    """Return a field of a column of structs, to select it or to write conditions with.

    Parameters
    ----------
    label
        The label of the column.
    *names
        The name of the field, after the names of the structs around it.

    Returns
    -------
    Col
        The same as `en.col(label).field(name)`. `columns=` accepts it, and then the field becomes a
        column with its own name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> trips = pa.table({"at": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]})
    >>> en.write(trips, "trips.entasis")
    >>> en.read("trips.entasis", columns=[en.field("at", "y")], to="pandas")
       y
    0  2
    1  4
    """
    if not names:
        raise ArgumentError("field takes the label of a column and the name of a field, as in en.field('at', 'x')")
    found = Col(label)
    for name in names:
        found = found.field(name)
    return found


def _joined(name: str, a: Condition, b: Any) -> Condition:
    if isinstance(b, Col):
        b = b.is_true()
    if not isinstance(b, Condition):
        sign = "&" if name == "and" else "|"
        raise ArgumentError(f"{sign} joins conditions, not {shown(b)}: put each comparison in parentheses")
    parts: list[tuple[Any, ...]] = []
    depth = 0
    for condition in (a, b):
        # A chain of one sign is one list.
        is_chain = condition._tree[0] == name
        parts += condition._tree[1] if is_chain else [condition._tree]
        depth = max(depth, condition._depth - is_chain)
    return Condition((name, tuple(parts)), depth + 1)


def _refuse_missing(value: Any, column: str) -> None:
    """Refuse a missing value, which equals nothing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        raise ArgumentError(f"nothing equals a missing value: write {column}.is_missing()")
    if isinstance(value, float) and value != value:
        raise ArgumentError(f"nothing equals NaN: write {column}.is_nan(), or is_missing()")


def from_tuples(tuples: list[Any]) -> Condition:
    """The condition that pandas' `filters` stand for.

    Tuples (label, operator, value) are joined by *and*, lists of tuples by *or*.
    """
    if not tuples:
        raise ArgumentError("filter=[] has no condition: leave it out")
    if all(isinstance(part, list) for part in tuples):
        parts = tuple(from_tuples(part)._tree for part in tuples)
        return Condition(parts[0] if len(parts) == 1 else ("or", parts))
    parts = tuple(_of_tuple(part) for part in tuples)
    return Condition(parts[0] if len(parts) == 1 else ("and", parts))


def _of_tuple(part: Any) -> tuple[Any, ...]:
    names = {"==": "eq", "=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
    if not isinstance(part, tuple) or len(part) != 3:
        raise ArgumentError(f"filter= has {shown(part)}: its parts are tuples such as ('a', '>', 3)")
    label, sign, value = part
    if sign in names:
        return col(label)._compare(names[sign], value)._tree
    if sign in ("in", "not in"):
        found = col(label).is_in(value)
        return (found if sign == "in" else ~found)._tree
    raise ArgumentError(f"filter= has the operator {shown(sign)}: it is one of {', '.join(names)}, in, not in")


def _text(tree: tuple[Any, ...]) -> str:
    name, *rest = tree
    if name == "engine":
        return _text(rest[0])
    if name == "where":
        return str(rest[0])
    if name in _SIGNS:
        return f"{Col(rest[0])!r} {_SIGNS[name]} {rest[1]!r}"
    if name in ("and", "or"):
        return (" & " if name == "and" else " | ").join(map(_inner, rest[0]))
    if name == "not":
        return f"~{_inner(rest[0])}"
    if name == "in":
        return f"{Col(rest[0])!r}.is_in({list(rest[1])!r})"
    if name == "length":
        return f"{ListLength(rest[0])!r} {_SIGNS[rest[1]]} {rest[2]!r}"
    if name == "match":
        return f"{Col(rest[0])!r}.{rest[1]}({rest[2]!r})"
    if name == "nan if float":
        name = "nan"
    return f"{Col(rest[0])!r}.is_{name}()"


def _inner(tree: tuple[Any, ...]) -> str:
    text = _text(tree)
    tree = tree[1] if tree[0] == "engine" else tree
    return text if tree[0] in ("in", "match", "missing", "null", "nan", "nan if float", "not") else f"({text})"
