"""Datasets of PyTorch over files."""
