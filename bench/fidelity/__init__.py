"""What comes back of what was written: panels of named values per library, for Entasis and for other formats."""
