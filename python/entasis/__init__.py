"""Lightning-fast, exact, checksummed files for data frames.

>>> import entasis as en
>>> en.write(df, "flights.entasis")
>>> df = en.read("flights.entasis", columns=["a", "b"], rows=(1000, 2000))
>>> f = en.open("flights.entasis")
"""

from typing import TYPE_CHECKING

from . import errors
from ._api import open, read, scan_polars, set_threads, to_bytes, write
from ._changes import (
    add_columns,
    append,
    drop_columns,
    rename_columns,
    replace_columns,
    set_metadata,
    update,
    writer,
)
from ._damage import Damage
from ._entasis import __version__
from ._file.file import File, Scan
from ._filter.conditions import Condition, col, field
from ._inspection import info, repair, verify
from ._register import register
from ._versions import show_versions
from .errors import *  # noqa: F403

if TYPE_CHECKING:
    from ._buffers import compress, decompress, hash
    from ._convert.convert import convert
    from ._convert.diff import diff
    from ._convert.differences import Diff
    from ._csv.problems import Problem, Problems
    from ._csv.read import read_csv
    from ._csv.scan import CsvScan, scan_csv
    from ._csv.sniff import sniff_csv
    from ._csv.spec import Reason, Spec
    from ._csv.write import write_csv
    from ._dataset.clean import clean
    from ._dataset.scan import FolderScan, scan
    from ._dataset.write import write_dataset
    from ._encryption import KeyEntry, add_key, decrypt, encrypt, keys, remove_key, unlock
    from ._entasis import Key
    from ._file.info import Info, Report
    from ._history import Generation, compact, generations, keep, rollback
    from ._npz import read_npz, write_npz
    from ._record import Record
    from ._tree.tree import Tree

__all__ = [
    "Condition",
    "CsvScan",
    "Damage",
    "Diff",
    "File",
    "FolderScan",
    "Generation",
    "Info",
    "Key",
    "KeyEntry",
    "Problem",
    "Problems",
    "Reason",
    "Record",
    "Report",
    "Scan",
    "Spec",
    "Tree",
    "__version__",
    "add_columns",
    "add_key",
    "append",
    "clean",
    "col",
    "compact",
    "compress",
    "convert",
    "decompress",
    "decrypt",
    "diff",
    "drop_columns",
    "encrypt",
    "errors",
    "field",
    "generations",
    "hash",
    "info",
    "keep",
    "keys",
    "open",
    "read",
    "read_csv",
    "read_npz",
    "register",
    "remove_key",
    "rename_columns",
    "repair",
    "replace_columns",
    "rollback",
    "scan",
    "scan_csv",
    "scan_polars",
    "set_metadata",
    "set_threads",
    "show_versions",
    "sniff_csv",
    "to_bytes",
    "unlock",
    "update",
    "verify",
    "write",
    "write_csv",
    "write_dataset",
    "write_npz",
    "writer",
    *errors.__all__,
]


# Loaded on demand: each module slows down the import, and most programs read and write only frames.
_ON_DEMAND = {
    "_buffers": ("compress", "decompress", "hash"),
    "_convert.convert": ("convert",),
    "_convert.diff": ("diff",),
    "_convert.differences": ("Diff",),
    "_csv.problems": ("Problem", "Problems"),
    "_csv.read": ("read_csv",),
    "_csv.scan": ("CsvScan", "scan_csv"),
    "_csv.sniff": ("sniff_csv",),
    "_csv.spec": ("Reason", "Spec"),
    "_csv.write": ("write_csv",),
    "_dataset.clean": ("clean",),
    "_dataset.scan": ("FolderScan", "scan"),
    "_dataset.write": ("write_dataset",),
    "_encryption": ("KeyEntry", "add_key", "decrypt", "encrypt", "keys", "remove_key", "unlock"),
    "_entasis": ("Key",),
    "_file.info": ("Info", "Report"),
    "_history": ("Generation", "compact", "generations", "keep", "rollback"),
    "_npz": ("read_npz", "write_npz"),
    "_record": ("Record",),
    "_tree.tree": ("Tree",),
}


def __getattr__(name: str) -> object:
    for module, names in _ON_DEMAND.items():
        if name in names:
            from importlib import import_module

            found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
