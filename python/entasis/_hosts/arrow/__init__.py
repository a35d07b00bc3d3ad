"""Tables of pyarrow and frames of Polars, through Arrow's stream interface."""
