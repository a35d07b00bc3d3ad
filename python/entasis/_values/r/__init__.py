"""Conversion of values that R wrote."""
