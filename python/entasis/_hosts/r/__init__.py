"""Values that R wrote, as values of Python."""
