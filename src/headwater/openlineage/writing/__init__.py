"""Run events written from the moments of a run: the writing half of the event format."""
