"""Answers as documents, rows and drawings, for people and programs."""
