"""Versions, for reports of problems."""

from __future__ import annotations

from . import _entasis


def show_versions() -> None:
    """Print the versions of this package, of Python and of the libraries that it works with."""
    # Slow to import, and for this alone.
    import platform
    import sys
    from importlib.metadata import PackageNotFoundError, version

    rows = [
        ("entasis", _entasis.__version__),
        ("Python", platform.python_version()),
        ("platform", platform.platform()),
    ]
    for name in ("numpy", "pandas", "polars", "pyarrow", "static-frame"):
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    rows.append(("threads", str(_entasis.default_threads())))
    width = max(len(name) for name, _ in rows)
    sys.stdout.write("".join(f"{name:<{width}}  {value}\n" for name, value in rows))
