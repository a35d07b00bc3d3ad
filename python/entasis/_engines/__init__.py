"""Query engines that scan files, a module for each."""
