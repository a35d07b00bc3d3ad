"""Frames, series and indexes of StaticFrame."""
