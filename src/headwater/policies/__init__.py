"""Tags that flow over lineage, and policies about where they may be: YAML files in, findings out."""
