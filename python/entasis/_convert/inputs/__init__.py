"""Tables and values that are converted or compared, with a module for each format or library."""
