"""Conditions on rows, and their translation for the core."""
