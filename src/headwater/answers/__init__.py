"""Answers in the forms that people and programs take them in: documents, rows, drawings."""
