"""Look-alikes of well-known data sets, generated from a seed, so that nothing is fetched."""
