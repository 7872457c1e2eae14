"""Metrics, logs and scheduled retention, for those who run a server."""
