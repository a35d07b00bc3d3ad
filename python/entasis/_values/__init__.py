"""Codecs of single values: taken apart for a file, and made again."""
