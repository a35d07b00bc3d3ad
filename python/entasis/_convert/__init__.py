"""Files of other formats: in, out, and compared."""
