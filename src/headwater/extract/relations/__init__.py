"""Relations: which dataset a leaf of the plan reads, or a command writes."""
