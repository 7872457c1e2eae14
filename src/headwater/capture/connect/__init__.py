"""Spark Connect: a job whose driver is on another machine, watched from the client."""
