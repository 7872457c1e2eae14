"""Moments as the events and the store count them: microseconds since 1970-01-01T00:00:00Z."""

FOREVER = 2**63 - 1
"""The end of spans that have none."""

BEGINNING = -FOREVER
"""The begin of spans that have none."""
