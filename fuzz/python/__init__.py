"""Attacks on the Python package: what each target does with hostile bytes, seeds and mutations.

`fuzz/python/run.py` runs a target under Atheris. `python/tests/test_fuzz.py` replays the same
targets without it.
"""
