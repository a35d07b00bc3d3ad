"""Hosts: the libraries whose frames are written and read, with a package for each."""
