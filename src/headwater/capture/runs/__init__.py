"""From the rows of a tap to the moments of runs."""
