"""Measurements: what watching costs, how the cost grows, and whether it stays flat. See docs/benchmarks.md."""
