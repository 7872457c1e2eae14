"""Speed and size of the store and of the server: ``make bench-server``."""
