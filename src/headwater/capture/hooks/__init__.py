"""The parts of Python and PySpark that are wrapped in the job's process."""
