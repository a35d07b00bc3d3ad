"""An NPZ archive whose member promises 2^50 bytes."""

import io
import zipfile
from pathlib import Path

import entasis as en

from tools import refused_early


def attack(folder: Path) -> str:
    path = folder / "bomb.npz"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (140737488355328,), }"
    member = io.BytesIO()
    member.write(
        b"\x93NUMPY\x01\x00"
        + (len(header) + 1).to_bytes(2, "little")
        + header
        + b"\n"
        + bytes(1 << 20)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", member.getvalue())
    return refused_early(lambda: en.read_npz(path))
