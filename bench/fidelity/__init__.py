"""What comes back of what was written: panels of named values per library, and formats."""
