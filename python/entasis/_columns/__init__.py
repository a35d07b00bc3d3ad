"""Columns of a file as arrays of NumPy, and their names and types: the same for every host."""
