"""Checks that an engine is installed, in a version that has the interfaces used here."""

from __future__ import annotations

import importlib
from typing import Any

from entasis.errors import MissingLibraryError


def required(module: str, package: str, least: tuple[int, ...]) -> Any:
    """Import an engine.

    Parameters
    ----------
    module
        The name of its module.
    package
        The name by which pip installs it.
    least
        The oldest version that works.

    Raises
    ------
    MissingLibraryError
        The engine is not installed, or is older.
    """
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingLibraryError(
            f"{package.partition('[')[0]} is not installed, or lacks {error.name}: pip install '{package}'"
        ) from error
    version = getattr(importlib.import_module(module.partition(".")[0]), "__version__", "0")
    if _numbers(version) < least:
        needed = ".".join(map(str, least))
        raise MissingLibraryError(
            f"{package.partition('[')[0]} {version} is too old, {needed} or later is needed: "
            f"pip install --upgrade '{package}'"
        )
    return found


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version."""
    found = []
    for part in version.split("."):
        if not part.isdigit():
            break
        found.append(int(part))
    return tuple(found)
