"""The libraries whose frames are written and read, a package for each."""
