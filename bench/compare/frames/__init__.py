"""The frames that are written and read: generated, made by a tool, or the user's own."""
