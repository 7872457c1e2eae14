"""``headwater archive`` as a job of Spark: for spark-submit, Databricks and EMR.

The arguments are those of the command: ``archive_job.py build s3://lake/openlineage/ --into s3://lake/lineage``.
headwater must be installed where the driver and Spark's Python workers run; docs/archive-clusters.md says how.
"""

import sys

from headwater.cli.main import app

# Databricks takes any SystemExit for a failure: none is raised when all is well.
code = app(["archive", *sys.argv[1:]], prog_name="archive_job.py", standalone_mode=False)
if code:
    sys.exit(code)
