"""Text files: reading and sniffing."""
