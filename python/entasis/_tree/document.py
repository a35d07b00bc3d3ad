"""Writing of trees: frames, arrays and other values inside each other."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

from entasis import _register
from entasis._arguments.options import DEFAULT_COMPRESSION
from entasis._entasis import Builder, CellBuilder, write_document
from entasis._hosts.numpy.write import add_pool
from entasis._libraries import registry as _hosts
from entasis._libraries import streams as _streams
from entasis._values import codecs as _codecs
from entasis.errors import ArgumentError, OutOfMemoryError, UnsupportedTypeError, printable

from .paths import find

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Destination

    OnUnsupported = Literal["error", "skip"] | Callable[[Any, str], Any]

# Frames may be nested up to this depth.
_DEEPEST = 32
_SHOWN = 10
_FRAMES = frozenset(["DataFrame", "Series", "Index", "Frame"])
# Messages of libraries are cut to so many characters.
_LONGEST = 200


def _called(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _advice(value: Any) -> str:
    """Advice for an object that streams, or a subclass of a frame or of a registered class."""
    instead = _streams.advice(type(value))
    if instead:
        return instead
    aliases = {"pandas": "pd", "polars": "pl", "pyarrow": "pa", "static_frame": "sf"}
    for base in type(value).__mro__[1:]:
        alias = aliases.get(base.__module__.partition(".")[0])
        if alias is not None and base.__name__ in _FRAMES:
            return f"; pass {alias}.{base.__name__}(x), without what the subclass adds"
        if _register.functions(base) is not None:
            return f"; entasis.register takes {base.__qualname__} alone: register {type(value).__qualname__} too"
    return ""


class _Part:
    """A frame of the file: its builder, its host map, and the frame that contains it."""

    __slots__ = ("builder", "host_map", "inside", "numbers", "root", "value", "where")

    def __init__(self, value: Any, builder: Builder, host_map: dict[str, Any], root: str, inside: _Part | None) -> None:
        self.value, self.builder, self.host_map = value, builder, host_map
        self.root, self.inside = root, inside
        self.numbers: list[int] = []
        # The path of the frame, computed when an error needs it.
        self.where: str | None = None

    def depth(self) -> int:
        return 1 if self.inside is None else self.inside.depth() + 1

    def is_inside(self, value: Any) -> bool:
        """Whether this frame is the value, or inside it."""
        part: _Part | None = self
        while part is not None:
            if part.value is value:
                return True
            part = part.inside
        return False


def _compression(to: Destination) -> int:
    """The compression of a destination."""
    if to["compression"] is not None:
        return to["compression"]
    return DEFAULT_COMPRESSION if to["change"] is None else to["change"].compression


class Document:
    """Collects all frames and trees of one file, and writes it."""

    def __init__(self, on_unsupported: OnUnsupported, to: Destination) -> None:
        self._on_unsupported = on_unsupported
        self._skipped: list[str] = []
        # Replacements of keys and members, by the id of their dict or set, which is kept alive so
        # that the id stays valid.
        self._replacements: dict[int, tuple[Any, set[Any]]] = {}
        self._parts: list[_Part] = []
        self._tables: dict[int, int] = {}
        # Trees with their names in errors.
        self._roots: list[tuple[Any, str]] = []
        # The frame whose trees are being added, if any.
        self._inside: _Part | None = None
        self._cells = CellBuilder(_compression(to))

    def add(self, value: Any, root: str) -> int:
        """Add a tree, and the trees of all frames in it. Returns the number of its cell."""
        self._roots.append((value, root))
        done = len(self._parts)
        number = self._add_cells(value, root, shares=True)
        self._add_trees(done)
        return number

    def add_frame(self, value: Any, builder: Builder, host_map: dict[str, Any]) -> int:
        """Add a frame, and the trees of its host map. Returns its number."""
        done = len(self._parts)
        number = self._put(value, builder, host_map, "")
        self._add_trees(done)
        return number

    def _put(self, value: Any, builder: Builder, host_map: dict[str, Any], root: str) -> int:
        part = _Part(value, builder, host_map, root, self._inside)
        if part.depth() > _DEEPEST:
            raise UnsupportedTypeError(f"frames are nested deeper than {_DEEPEST}")
        self._parts.append(part)
        self._tables[id(value)] = len(self._parts) - 1
        return len(self._parts) - 1

    def _add_trees(self, done: int) -> None:
        # Frames in these trees append to `_parts`, and the loop adds their trees in turn.
        while done < len(self._parts):
            self._inside = part = self._parts[done]
            part.numbers = [self._add_cells(tree, part.root + what, shares=False) for tree, what in part.builder.trees]
            done += 1
        self._inside = None

    def _add_cells(self, tree: Any, root: str, *, shares: bool) -> int:
        return self._cells.add(tree, root, shares, self._encode, self._unsupported)

    def _encode(self, value: Any) -> tuple[Any, ...]:
        """Take a value apart for the native module, which calls this for types it does not know."""
        try:
            return self._encode_known(value)
        except (UnsupportedTypeError, ArgumentError):
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # A library or class may raise anything when one of its values is inspected.
            kind, what = _called(value), f"{type(error).__name__}: {error}"
            raise UnsupportedTypeError(f"a value of type {kind} can't be kept ({what[:_LONGEST]})") from error

    def _encode_known(self, value: Any) -> tuple[Any, ...]:
        if not _hosts.is_frame(value):
            return _codecs.encode(value)
        if self._inside is not None and self._inside.is_inside(value):
            raise UnsupportedTypeError("a frame that contains itself can't be kept")
        known = self._tables.get(id(value))
        if known is None:
            builder, host_map = _hosts.build(value)
            known = self._put(value, builder, host_map, "")
        return ("table", known)

    def _whole_path(self, path: str) -> str:
        """The full path of a value, prefixed with the path of its enclosing frame, if any."""
        part = self._inside
        if part is None or (not self._roots and part.inside is None):
            return path
        if part.where is None:
            roots = [*self._roots, *((other.value, "df") for other in self._parts if other.inside is None)]
            found = find(roots, part.value)
            part.where = f"{found}: " if found else ""
        return part.where + path

    def _unsupported(
        self, value: Any, path: str, error: BaseException | None, again: bool, holder: Any, is_inside: bool
    ) -> tuple[Any, ...]:
        """Decide about a value that can't be stored: `()` leaves it out, `(other,)` replaces it.

        Parameters
        ----------
        error
            The error that the value caused; None for an unknown type.
        again
            Whether the value is a replacement already.
        holder
            The dict or set, if the value is a key or member of one.
        is_inside
            Whether the value is a part of a key or member.
        """
        path = self._whole_path(path)
        if isinstance(error, MemoryError):
            raise OutOfMemoryError(f"{path}: {str(error) or 'not enough memory'}") from error
        if error is not None and not isinstance(error, (UnsupportedTypeError, ArgumentError)):
            raise error
        kind = _called(value)
        if self._on_unsupported == "error" or again:
            what = f"a value of type {kind} can't be kept{_advice(value)}" if error is None else str(error)
            raise UnsupportedTypeError(f"{path}: {what}") from error
        if is_inside:
            # Without this part, two different keys or members might become equal.
            what = f"a value of type {kind} can't be kept, and is not replaced inside a key or set member"
            raise UnsupportedTypeError(f"{path}: {what}") from error
        if self._on_unsupported == "skip":
            self._skipped.append(f"{path}: {kind}")
            # In a frame's column the value becomes None, because each row needs a value.
            return () if self._inside is None else (None,)
        replacement = self._on_unsupported(value, path)
        if holder is not None:
            self._check_key(replacement, path, holder)
        return (replacement,)

    def _check_key(self, replacement: Any, path: str, holder: Any) -> None:
        """Check that the replacement of a key or member is hashable and does not occur yet."""
        _, replacements = self._replacements.setdefault(id(holder), (holder, set()))
        try:
            is_taken = replacement in holder or replacement in replacements
        except TypeError as error:
            kind = type(replacement).__name__
            message = f"{path}: a key or set member must be hashable, unlike the replacement of type {kind}"
            raise UnsupportedTypeError(message) from error
        if is_taken:
            raise UnsupportedTypeError(f"{path}: the replacement {replacement!r} occurs already")
        replacements.add(replacement)

    def write(self, to: Destination, table: int | None, cell: int | None, metadata: int | None) -> bytes | None:
        """Write the file. Returns the content unless the file has a path."""
        pools = Builder(0, [])
        for arrays, n_values in self._cells.finish():
            add_pool(pools, arrays, n_values)
        if self._skipped:
            n = len(self._skipped)
            shown = "; ".join(map(printable, self._skipped[:_SHOWN])) + (
                f"; and {n - _SHOWN} more" if n > _SHOWN else ""
            )
            warnings.warn(f"left out, as they can't be kept: {shown}", stacklevel=3)
        parts = [(part.builder, part.host_map, part.numbers) for part in self._parts]
        return write_document(to, parts, pools, self._cells, table, cell, metadata)
