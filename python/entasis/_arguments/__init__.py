"""Checks of arguments of the public functions: options, rows, paths."""
