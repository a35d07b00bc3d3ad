"""Columns and rows of an open table: the labels that select them, and reading."""
