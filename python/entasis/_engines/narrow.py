"""Narrow types of Arrow: dictionaries for strings that repeat, and decimals of 64 bits."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from entasis._arguments.options import shown
from entasis.errors import ArgumentError

if TYPE_CHECKING:
    from entasis._typing import Narrow

# Earlier versions take the bytes of two decimals of 64 bits for one of 128 bits.
_DUCKDB = (1, 3)


def narrow_decimals(narrow: Narrow) -> bool:
    """Check the argument `narrow`. Returns whether decimals have 64 bits."""
    if not isinstance(narrow, bool) and narrow != "strings":
        raise ArgumentError(f'narrow={shown(narrow)}: True, False or "strings"')
    return narrow is True and _duckdb_takes_them()


def _duckdb_takes_them() -> bool:
    """Whether DuckDB reads decimals of 64 bits, if it is installed."""
    loaded = sys.modules.get("duckdb")
    try:
        found = loaded.__version__ if loaded is not None else version("duckdb")
    except (AttributeError, PackageNotFoundError):
        return True
    return tuple(map(int, re.findall(r"\d+", found)[:2])) >= _DUCKDB
