"""Operators: from the rows of an operator's children to its own; one file per family."""
