"""Counts of what the process has read, for tests of the work."""

from pathlib import Path


def bytes_read() -> int:
    """Bytes that the process has read so far, from caches too."""
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(lines["rchar"])
