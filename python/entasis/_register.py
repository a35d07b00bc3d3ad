"""Registered classes, and the functions that take their values apart and make them again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._arguments.options import shown
from .errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

_C = TypeVar("_C", bound=type)

# Modules whose classes need no registration, or are refused for a reason.
_OWN = (
    *("builtins", "datetime", "decimal", "fractions", "pathlib", "uuid"),
    *("entasis", "numpy", "pandas", "polars", "pyarrow", "static_frame"),
)


class Functions(NamedTuple):
    """The functions of a class, if it has any."""

    encode: Callable[[Any], Any] | None
    decode: Callable[[Any], Any] | None


_functions: dict[type, Functions] = {}
_classes: dict[str, type] = {}


def register(cls: _C, *, encode: Callable[[Any], Any] | None = None, decode: Callable[[Any], Any] | None = None) -> _C:
    """Write and read values of a class of your own.

    The registration holds for this process. A file names the class, but reading never imports it:
    where the class is not registered, its values are read as `Record`.

    Parameters
    ----------
    cls
        The class. Its values are recognized by their exact type, so a subclass needs a registration
        of its own. If several registered classes have one name, the last one is read.
    encode
        A function that gets a value of the class and returns one that a file can keep, such as a
        dict, a list, an array or a frame. The result may contain other registered values.
    decode
        A function that gets what `encode` returned and returns a value of the class.

        Leave out both for dataclasses, named tuples and Enums, which are kept by their fields.

    Returns
    -------
    type
        The class, so that `register` is a decorator too.

    Raises
    ------
    ArgumentError
        The class needs functions, one of the two is missing, or Entasis keeps its values itself.

    See Also
    --------
    read : The parameter `types` names classes for one read.

    Notes
    -----
    When `encode` or `decode` raises an exception, writing or reading raises `UnsupportedTypeError`
    with that exception as its cause.

    Examples
    --------
    >>> class Money:
    ...     def __init__(self, amount, currency):
    ...         self.amount, self.currency = amount, currency
    >>> _ = en.register(
    ...     Money,
    ...     encode=lambda money: [money.amount, money.currency],
    ...     decode=lambda parts: Money(*parts),
    ... )
    >>> en.write({"price": Money(5, "CHF")}, "offer.entasis")
    >>> en.read("offer.entasis")["price"].currency
    'CHF'
    """
    if not isinstance(cls, type):
        raise ArgumentError(f"register takes a class, not {shown(cls)}")
    if cls.__module__.partition(".")[0] in _OWN:
        raise ArgumentError(f"Entasis keeps values of {cls.__module__}.{cls.__qualname__} by its own rules")
    if (encode is None) != (decode is None):
        raise ArgumentError("pass both encode= and decode=, or none of them")
    for name, function in (("encode", encode), ("decode", decode)):
        if function is not None and not callable(function):
            raise ArgumentError(f"{name}={shown(function)}: a function of one argument")
    if encode is None and not has_fields(cls):
        raise ArgumentError(f"{cls.__qualname__} has no fields to keep: pass encode= and decode=")
    _functions[cls] = Functions(encode, decode)
    _classes[called(cls)] = cls
    return cls


def called(kind: type) -> str:
    """The name of a class in files."""
    return f"{kind.__module__}.{kind.__qualname__}"


def has_fields(kind: type) -> bool:
    """Whether values of a class are kept by their fields."""
    # Importing them takes longer than all of this package.
    import dataclasses
    import enum

    return dataclasses.is_dataclass(kind) or issubclass(kind, enum.Enum) or is_named_tuple(kind)


def is_named_tuple(kind: type) -> bool:
    """Whether a class was made by `collections.namedtuple` or `typing.NamedTuple`."""
    return tuple in kind.__bases__ and type(getattr(kind, "_fields", None)) is tuple and hasattr(kind, "_make")


def functions(kind: type) -> Functions | None:
    """The functions of a registered class; None for other classes."""
    return _functions.get(kind)


def classes() -> dict[str, type]:
    """The registered classes, by their names in files."""
    return _classes
