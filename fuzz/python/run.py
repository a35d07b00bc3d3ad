"""Run a target under Atheris: python -m fuzz.python.run TARGET FOLDER [flags of libFuzzer]

FOLDER keeps the corpus of earlier runs. Inputs that fail are written to the place of the flag
`-artifact_prefix`. Only code of Python guides the search: the targets of Rust do that for the core.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from random import Random

import atheris

TARGETS = ("read", "open", "decompress", "read_npz")
LONGEST = 1 << 17


def main() -> None:
    """Import the package with probes, write the seeds, and run."""
    name, folder, *flags = sys.argv[1:]
    if name not in TARGETS:
        raise SystemExit(f"unknown target {name}; the targets are {', '.join(TARGETS)}")
    with atheris.instrument_imports(include=["entasis"]):
        import entasis

        # Modules that are imported later would have no probes.
        for module in pkgutil.walk_packages(entasis.__path__, "entasis."):
            if module.name != "entasis.__main__":
                importlib.import_module(module.name)
    from .mutate import mutate

    target = importlib.import_module(f"fuzz.python.{name}")
    corpus = Path(folder)
    corpus.mkdir(parents=True, exist_ok=True)
    for i, content in enumerate(target.seeds().values()):
        (corpus / f"seed-{i:04}").write_bytes(content)

    def mutated(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        found = mutate(data, rng) if rng.random() < 0.95 else atheris.Mutate(data, most)
        return bytes(found[:most])

    arguments = [sys.argv[0], str(corpus), f"-max_len={LONGEST}", "-cross_over=0", *flags]
    atheris.Setup(arguments, target.check, custom_mutator=mutated, internal_libfuzzer=True)
    atheris.Fuzz()


main()
