"""The tests; a package, so that no other package of that name comes before it."""
