"""Arguments of the public functions, checked: options, rows, and where files are."""
