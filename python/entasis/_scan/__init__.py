"""Filters on files: conditions on columns, and scans."""
