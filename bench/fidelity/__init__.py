"""Panels of named values per library, written and read back with each format."""
