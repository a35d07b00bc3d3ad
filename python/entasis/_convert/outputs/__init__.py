"""Plans that write tables and arrays into files, with a module for each target."""
