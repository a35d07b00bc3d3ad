"""Files of trees of values: reading parts of them, and writing them."""
