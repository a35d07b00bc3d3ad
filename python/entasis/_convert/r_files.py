"""Files of R: RDS, RData, qs2, qdata and fst.

`entasis.open` opens them as trees of values or as tables. `store` writes them as the R package
does, so that R reads back what it wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from entasis import _entasis
from entasis._file.file import File, is_frame
from entasis._open import value_of
from entasis.errors import ConversionError, UnsupportedTypeError

from .compare import first_difference
from .target import beside

if TYPE_CHECKING:
    from collections.abc import Callable

    from entasis._entasis import Destination
    from entasis._tree.tree import Tree


def opened(source: str | bytes) -> File | Tree:
    """Open a file of R."""
    return value_of(File(source))


def store(
    source: str | bytes,
    functions: bool,
    to: Destination,
    progress: Callable[[int, int | None], Any] | None,
    verify: bool,
) -> None:
    """Write the value of a file of R into an Entasis file."""
    path = to["path"]
    assert path is not None, "a conversion has a path"
    if not verify:
        _entasis.store_r(source, functions, to, progress)
        return
    if not is_frame(opened(source)):
        raise UnsupportedTypeError("verify= compares tables, and the file of R holds a tree of values")
    with beside(path, overwrite=not to["is_new"]) as new:
        _entasis.store_r(source, functions, {**to, "path": new, "is_new": False}, progress)
        found = first_difference(_batches(source), _batches(new), ())
        if found is not None:
            raise ConversionError(f"{path}: what is read back differs from the source: {found}", losses=[])


def _batches(source: str | bytes) -> Any:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(File(source))
    return (pa.Table.from_batches([batch]) for batch in reader)
