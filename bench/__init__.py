"""Benchmarks of Entasis; `python -m bench.compare` is the one against other formats."""
