"""Work of the command that needs libraries of Python."""
