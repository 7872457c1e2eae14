"""Expressions: from the traces of an expression's children to its own."""
