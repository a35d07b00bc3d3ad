"""Values of any type: how they are taken apart for a file, and made again."""
