"""Lightning-fast, exact, checksummed files for data frames.

>>> import entasis as en
>>> en.write(df, "flights.entasis")
>>> df = en.read("flights.entasis", columns=["a", "b"], rows=(1000, 2000))
>>> f = en.open("flights.entasis")
"""

from typing import TYPE_CHECKING

from . import errors
from ._api import info, open, read, repair, scan_polars, set_threads, to_bytes, verify, write
from ._buffers import compress, decompress, hash
from ._changes import (
    Generation,
    add_columns,
    append,
    compact,
    drop_columns,
    generations,
    rename_columns,
    replace_columns,
    rollback,
    set_metadata,
    update,
    writer,
)
from ._damage import Damage
from ._entasis import __version__
from ._file.file import File
from ._file.info import Info, Report
from ._filter.conditions import Condition, col, field
from ._npz import read_npz, write_npz
from ._record import Record
from ._register import register
from ._versions import show_versions
from .errors import *  # noqa: F403

if TYPE_CHECKING:
    from ._file.scan import Scan
    from ._tree.tree import Tree

__all__ = [
    "Condition",
    "Damage",
    "File",
    "Generation",
    "Info",
    "Record",
    "Report",
    "Scan",
    "Tree",
    "__version__",
    "add_columns",
    "append",
    "col",
    "compact",
    "compress",
    "decompress",
    "drop_columns",
    "errors",
    "field",
    "generations",
    "hash",
    "info",
    "open",
    "read",
    "read_npz",
    "register",
    "rename_columns",
    "repair",
    "replace_columns",
    "rollback",
    "scan_polars",
    "set_metadata",
    "set_threads",
    "show_versions",
    "to_bytes",
    "update",
    "verify",
    "write",
    "write_npz",
    "writer",
    *errors.__all__,
]


def __getattr__(name: str) -> object:
    # Loaded on demand: each module slows down the import, and most programs read only frames.
    if name == "Tree":
        from ._tree.tree import Tree

        return Tree
    if name == "Scan":
        from ._file.scan import Scan

        return Scan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
