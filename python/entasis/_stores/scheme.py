"""The form by which addresses of objects and folders differ from paths."""

from __future__ import annotations

import re

# One letter is a drive of Windows.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")


def scheme(text: str) -> str | None:
    """The scheme of an address in small letters, such as `s3`; None for a path.

    Unknown schemes count too.
    """
    found = _SCHEME.match(text)
    return None if found is None else found[1].lower()
