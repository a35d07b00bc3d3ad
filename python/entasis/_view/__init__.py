"""Columns and rows of an open table: selecting by labels, and reading."""
