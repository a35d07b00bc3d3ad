"""Folders in engines of several machines: Dask, Ray and Spark."""
