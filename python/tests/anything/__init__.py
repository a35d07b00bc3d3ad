"""Strategies of hypothesis: any value that a library can hold, as far as it can be made."""
