"""Dicts of NumPy arrays, and NPZ files."""
