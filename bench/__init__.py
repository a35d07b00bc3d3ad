"""Benchmarks of Entasis; `python -m bench.compare` measures it against other formats."""
