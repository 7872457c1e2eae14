"""Bounds on connections, requests, bodies, memory and time."""
