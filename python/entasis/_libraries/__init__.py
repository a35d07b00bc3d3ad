"""What is known of the libraries of the values, whichever library it is."""
