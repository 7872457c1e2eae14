"""The command line: parse, query, print."""
