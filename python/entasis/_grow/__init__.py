"""Changes of files: rows that are appended."""
