"""Walks in ids: the edges that bounds let through, and everything that they lead to, up or down."""
