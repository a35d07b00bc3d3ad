"""Frames, series and indexes of pandas."""
