"""Versions of this package and of the libraries it works with."""

from __future__ import annotations

import sys

from . import _entasis

_LIBRARIES = ("numpy", "pandas", "polars", "pyarrow", "static_frame")


def loaded_versions() -> str:
    """The versions of this package, of Python and of the loaded libraries, for a message."""
    found = [f"entasis {_entasis.__version__}", f"Python {'.'.join(map(str, sys.version_info[:3]))}"]
    for name in _LIBRARIES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found.append(f"{name} {version}")
    return ", ".join(found)


def show_versions() -> None:
    """Print the versions of this package, of Python and of the libraries it works with.

    The last lines show the features that environment variables can switch off, and whether they are
    on.

    Examples
    --------
    >>> en.show_versions()  # doctest: +ELLIPSIS
    entasis ...
    """
    # Imported here because the import is slow, and only this function needs it.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    rows = [
        ("entasis", _entasis.__version__),
        ("Python", platform.python_version()),
        ("platform", platform.platform()),
    ]
    for name in (name.replace("_", "-") for name in _LIBRARIES):
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    rows.append(("threads", str(_entasis.default_threads())))
    rows.extend(_entasis.platform_features())
    rows.extend(_entasis.cpython_features())
    width = max(len(name) for name, _ in rows)
    sys.stdout.write("".join(f"{name:<{width}}  {value}\n" for name, value in rows))
