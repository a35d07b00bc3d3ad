"""Dicts of NumPy arrays."""
