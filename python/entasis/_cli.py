"""The `entasis` command."""

from __future__ import annotations

import sys

from . import _entasis


def main() -> int:
    """Run the command line and return its exit code."""
    import signal

    # The command line handles Ctrl-C and closed pipes itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = sys.argv[1:]
    if any("://" in word for word in words):
        from ._command import on_stores

        code = on_stores.run(words)
        if code is not None:
            return code
    return _entasis.cli_main(words)
