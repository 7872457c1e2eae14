"""Dry runs: the lineage that a PySpark job would have, from the job itself on Spark, without rows and without traces.

`dry_run` starts the job in a process of its own (``process``). There Spark's files are an overlay and its relations
are empty (``sandbox``, ``jvm``), and what the job asks of data or of the world is noted (``actions``, ``audit``,
``lines``) in a `Report`.
"""

from headwater.dryrun.dry_run import Options, dry_run
from headwater.dryrun.report import Answer, DryRun, Failure, Refusal, Report, UnexecutedLines

__all__ = ["Answer", "DryRun", "Failure", "Options", "Refusal", "Report", "UnexecutedLines", "dry_run"]
