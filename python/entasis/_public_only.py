"""The switch that keeps this package to the public interfaces of libraries."""

from __future__ import annotations

import os

# The modules `compat` of the hosts use some private names, each with a public way. This forces the
# public ways.
PUBLIC_ONLY = os.environ.get("ENTASIS_PUBLIC_ONLY", "") not in ("", "0")
