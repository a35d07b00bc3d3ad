"""Entasis against other file formats, in one run, with equality checked before any timing."""
