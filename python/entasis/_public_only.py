"""The switch that keeps this package to the public interfaces of libraries."""

from __future__ import annotations

import os

# The `compat` modules of the hosts use private names, each with a public alternative. This forces
# the alternatives.
PUBLIC_ONLY = os.environ.get("ENTASIS_PUBLIC_ONLY", "") not in ("", "0")
