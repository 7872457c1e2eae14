"""From names as people type them to the ids of datasets and columns."""
