"""Trees of values: reading them in parts, and writing them."""
