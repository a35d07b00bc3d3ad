"""Columns of a file: names, types, and NumPy arrays of their values, for every host."""
