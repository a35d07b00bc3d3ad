"""Indexing of stored arrays by the rules of NumPy, without reading them.

A view records for each of its axes which indices of a stored axis it selects. Integers, slices,
ellipses, new axes and a single array of one axis keep that form. For any other key (several arrays,
arrays with more axes, integers together with an array), the view holds an array with the positions
of all elements.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from entasis.errors import UnsupportedTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    # The indices that an axis of a view selects: a range, or an array of int64.
    Indices = range | np.ndarray[Any, Any]

# A selection within this many elements is read as a whole, with the elements between. Pieces have
# this many or more.
_NEAR = 512
# The most ranges in which a view is read.
_MOST_PIECES = 64


class ArrayView:
    """A selection of elements of a stored array.

    Parameters
    ----------
    shape
        The shape of the stored array.
    strides
        The distance of neighbours on each axis, in elements.
    """

    # `_is_array`: a view without axes reads as an array without axes (after a key with an
    # ellipsis), not a scalar.
    __slots__ = ("_axes", "_is_array", "_offset", "_positions", "shape")

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
        self._offset = 0
        # For each axis of the view: indices on a stored axis, and the stride of that axis. New axes
        # have stride 0.
        self._axes: list[tuple[Indices, int]] = [(range(n), stride) for n, stride in zip(shape, strides, strict=True)]
        # The positions of all elements, for views that axes can't describe.
        self._positions: np.ndarray[Any, Any] | None = None
        self._is_array = True
        self.shape = shape

    def __getitem__(self, key: Any) -> ArrayView:
        """Select a part of this view."""
        view = self._part(key)
        view._is_array = any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))
        return view

    def _part(self, key: Any) -> ArrayView:
        if self._positions is not None:
            return self._of_positions(self._positions[key])
        items = _expand(key, self.shape)
        arrays = [i for i, (item, _) in enumerate(items) if not isinstance(item, (int, range)) and item is not None]
        if not arrays:
            return self._basic(items)
        is_alone = len(arrays) == 1 and not any(isinstance(item, int) for item, _ in items)
        if is_alone and items[arrays[0]][0].ndim == 1:
            return self._basic(items)
        return self._of_positions(self._combined(items))

    def _basic(self, items: list[tuple[Any, int]]) -> ArrayView:
        """Select on each axis independently."""
        view = object.__new__(ArrayView)
        view._offset, view._axes, view._positions = self._offset, [], None
        for item, axis in items:
            if item is None:
                view._axes.append((range(1), 0))
                continue
            indices, stride = self._axes[axis]
            if isinstance(item, int):
                view._offset += int(indices[item]) * stride
            elif isinstance(item, range):
                view._axes.append((_part(indices, item), stride))
            elif isinstance(indices, range):
                view._axes.append((item * indices.step + indices.start, stride))
            else:
                view._axes.append((indices[item], stride))
        view.shape = tuple(len(indices) for indices, _ in view._axes)
        return view

    def _combined(self, items: list[tuple[Any, int]]) -> np.ndarray[Any, Any]:
        """The positions that several index arrays select, in the shape of NumPy's result."""
        import numpy as np

        advanced: list[np.ndarray[Any, Any]] = []
        where: list[int] = []
        slices: list[np.ndarray[Any, Any]] = []
        for i, (item, axis) in enumerate(items):
            if item is None:
                slices.append(np.zeros(1, np.int64))
                continue
            indices, stride = self._axes[axis]
            if isinstance(item, range):
                slices.append(_as_array(_part(indices, item)) * stride)
            else:
                index = np.asarray(item, np.int64)
                found = index * indices.step + indices.start if isinstance(indices, range) else indices[index]
                advanced.append(found * stride)
                where.append(i)
        try:
            together = np.asarray(sum(np.broadcast_arrays(*advanced))) + self._offset
        except ValueError as error:
            raise IndexError(f"indexing arrays could not be broadcast together: {error}") from None
        # The axes of adjacent index arrays replace the axes that they index. The axes of separated
        # arrays come first.
        is_one_block = where[-1] - where[0] + 1 == len(where)
        first = where[0] if is_one_block else 0
        n_after = len(slices) - first
        out = together.reshape(together.shape + (1,) * n_after)
        for k, offsets in enumerate(slices):
            n_trailing = len(slices) - 1 - k
            n_leading = 0 if k >= first else together.ndim
            out = out + offsets.reshape((len(offsets),) + (1,) * (n_trailing + n_leading))
        return out

    def _of_positions(self, positions: Any) -> ArrayView:
        import numpy as np

        view = object.__new__(ArrayView)
        view._offset, view._axes = 0, []
        view._positions = np.asarray(positions)
        view.shape = view._positions.shape
        return view

    def read(self, neighbours: Callable[[int, int], Any], scattered: Callable[[Any], Any]) -> Any:
        """Read the elements as an array of the view's shape, or as a scalar where NumPy gives one.

        Parameters
        ----------
        neighbours
            Reads the elements from one position up to another, as an array of one axis.
        scattered
            Reads the elements at these positions, an array of int64.
        """
        found = self._read(neighbours, scattered)
        if self.shape or self._is_array:
            return found
        try:
            return found[()]
        except SystemError as error:
            # Arrays of NumPy hold code points beyond Unicode, which no `str` has.
            raise UnsupportedTypeError(f"an element of dtype {found.dtype} is not text: read it in an array") from error

    def _read(self, neighbours: Callable[[int, int], Any], scattered: Callable[[Any], Any]) -> Any:
        import numpy as np

        positions = self._positions
        if 0 in self.shape:
            return neighbours(0, 0).reshape(self.shape)
        if positions is None:
            low, high = self._bounds()
            n = math.prod(self.shape)
            if high - low <= max(n + n // 4, _NEAR):
                return self._strided(neighbours(low, high), low)
            found = self._by_ranges(neighbours)
            if found is not None:
                return found
            if high - low <= 4 * n:
                return self._strided(neighbours(low, high), low)
            positions = self._all_positions()
        low, high = int(positions.min()), int(positions.max()) + 1
        if high - low <= max(4 * positions.size, _NEAR):
            # Flattened, because indexing by an array without axes would give a scalar.
            return neighbours(low, high)[positions.reshape(-1) - low].reshape(positions.shape)
        return scattered(np.ascontiguousarray(positions).reshape(-1)).reshape(positions.shape)

    def _bounds(self) -> tuple[int, int]:
        """The position of the first element, and the position after the last element."""
        low = high = self._offset
        for indices, stride in self._axes:
            if isinstance(indices, range):
                first, last = indices[0], indices[-1]
            else:
                first, last = int(indices.min()), int(indices.max())
            low += min(first, last) * stride
            high += max(first, last) * stride
        return low, high + 1

    def _strided(self, flat: Any, low: int) -> Any:
        """Select the elements from `flat`, which was read from the position `low` on."""
        import numpy as np

        if flat.dtype.kind == "T":
            # NumPy does not allow to set strides of variable-width strings.
            return flat[self._all_positions().reshape(-1) - low].reshape(self.shape)
        if isinstance(flat, np.ma.MaskedArray):
            found, mask = self._strided(flat.data, low), self._strided(np.ma.getmaskarray(flat), low)
            return np.ma.MaskedArray(found, mask)
        # An axis that an array selects is read from its first to its last index, and selected
        # below.
        shape: list[int] = []
        strides: list[int] = []
        picks: list[Any] = []
        start = self._offset - low
        for indices, stride in self._axes:
            if isinstance(indices, range):
                start += indices.start * stride
                shape.append(len(indices))
                strides.append(stride * indices.step)
                picks.append(None)
            else:
                first = int(indices.min())
                start += first * stride
                shape.append(int(indices.max()) - first + 1)
                strides.append(stride)
                picks.append(indices - first)
        # The strides stay within `flat`, whose length `_bounds` computed from the same axes.
        width = flat.strides[0]
        # Adds an axis, because NumPy would return an array of objects without axes as a scalar.
        found = np.lib.stride_tricks.as_strided(
            flat[start:], [1, *shape], [width, *(stride * width for stride in strides)]
        ).reshape(shape)
        for axis, pick in enumerate(picks):
            if pick is not None:
                found = found.take(pick, axis)
        return found

    def _by_ranges(self, neighbours: Callable[[int, int], Any]) -> Any:
        """Read a view of few, long, distant rows one row at a time. None for other views."""
        import numpy as np

        if not self._axes or len(self._axes[0][0]) > _MOST_PIECES:
            return None
        indices, stride = self._axes[0]
        row = object.__new__(ArrayView)
        row._positions, row._axes, row.shape = None, self._axes[1:], self.shape[1:]
        row._offset = 0
        n = math.prod(row.shape)
        low, high = row._bounds()
        if n < _NEAR or high - low > 4 * n:
            return None
        arrays = []
        for index in indices:
            row._offset = self._offset + int(index) * stride
            low, high = row._bounds()
            arrays.append(row._strided(neighbours(low, high), low))
        return np.ma.stack(arrays) if isinstance(arrays[0], np.ma.MaskedArray) else np.stack(arrays)

    def _all_positions(self) -> np.ndarray[Any, Any]:
        """The positions of all elements."""
        import numpy as np

        out = np.full((), self._offset, np.int64)
        for indices, stride in self._axes:
            out = out[..., None] + _as_array(indices) * stride
        return out


def strides(shape: tuple[int, ...], fortran: bool) -> tuple[int, ...]:
    """The distance of neighbours on each axis, in elements."""
    found = []
    step = 1
    for n in shape if fortran else reversed(shape):
        found.append(step)
        step *= n
    return tuple(found) if fortran else tuple(reversed(found))


def _part(indices: Indices, part: range) -> Indices:
    return indices[_slice(part)]


def _slice(part: range) -> slice:
    if len(part) == 0:
        return slice(0, 0)
    return slice(part.start, part.stop if part.stop >= 0 else None, part.step)


def _as_array(indices: Indices) -> np.ndarray[Any, Any]:
    import numpy as np

    if isinstance(indices, range):
        return np.arange(indices.start, indices.stop, indices.step, dtype=np.int64)
    return indices


def _expand(key: Any, shape: tuple[int, ...]) -> list[tuple[Any, int]]:
    """Expand a key to one item for each axis, with the number of the axis.

    An item is an integer, a range, None for a new axis, or an array.

    Raises
    ------
    IndexError
        As NumPy does: too many items, indices out of bounds, arrays of other types, masks of
        another shape.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    parsed = [_parse(item) for item in items]
    n_taken = sum(_n_axes(item) for item in parsed)
    n_ellipses = sum(item is Ellipsis for item in parsed)
    if n_ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if n_taken > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {n_taken} were indexed")
    if not n_ellipses:
        parsed.append(Ellipsis)
    out: list[tuple[Any, int]] = []
    axis = 0
    for item in parsed:
        if item is Ellipsis:
            for _ in range(len(shape) - n_taken):
                out.append((range(shape[axis]), axis))
                axis += 1
        elif item is None:
            out.append((None, -1))
        elif isinstance(item, int):
            out.append((_bounded(item, shape[axis], axis), axis))
            axis += 1
        elif isinstance(item, slice):
            out.append((range(shape[axis])[item], axis))
            axis += 1
        elif item.dtype == bool:
            for k, n in enumerate(item.shape):
                if n != shape[axis + k]:
                    raise IndexError(
                        f"boolean index did not match indexed array along axis {axis + k}; size of axis is "
                        f"{shape[axis + k]} but size of corresponding boolean axis is {n}"
                    )
            for indices in item.nonzero():
                out.append((indices.astype("i8", copy=False), axis))
                axis += 1
        else:
            out.append((_all_bounded(item, shape[axis], axis), axis))
            axis += 1
    return out


def _n_axes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, (int, slice)):
        return 1
    return item.ndim if item.dtype == bool else 1


def _parse(item: Any) -> Any:
    """Parse an item of a key: None, an ellipsis, a slice, an integer, or an array."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if not isinstance(item, bool):
        try:
            return operator.index(item)
        except TypeError:
            pass
    import numpy as np

    array = np.asarray(item)
    if array.size == 0 and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" and array.dtype != object:
        return array.astype(np.int64, copy=False)
    if array.dtype == bool and array.ndim > 0:
        return array
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None (a new axis) and integer or boolean arrays are valid "
        f"indices, not {type(item).__name__}" + (" without axes" if array.dtype == bool else "")
    )


def _bounded(index: int, n: int, axis: int) -> int:
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {n}")
    return index + n if index < 0 else index


def _all_bounded(indices: Any, n: int, axis: int) -> Any:
    if indices.size:
        low, high = int(indices.min()), int(indices.max())
        if low < -n or high >= n:
            raise IndexError(f"index {low if low < -n else high} is out of bounds for axis {axis} with size {n}")
        if low < 0:
            return indices + n * (indices < 0)
    return indices
