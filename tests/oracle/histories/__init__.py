"""Histories: two to five jobs on files and tables, whose roots in the store are held against what a change shows."""
