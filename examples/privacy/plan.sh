#!/usr/bin/env bash
# Plans the four jobs, none of which has run, and checks the policy: the leak is found before it can happen.
# Usage: plan.sh [LAKE]. Needs the same as run.sh; nothing is written but the store of the plan.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lake=$(realpath -m "${1:-$here/data}")
export SPARK_CONF_DIR=$here/../flights/conf PYSPARK_PYTHON=python HEADWATER_STORE=${HEADWATER_STORE:-plan.db}

jobs=()
for job in 01_land 02_prepare 03_enrich 04_report; do
  jobs+=(--job "'$here/$job.py' '$lake'")
done
# Exit code 3: the schema of what another job would have written is not that of files
headwater plan --store "$HEADWATER_STORE" "${jobs[@]}" || test $? -eq 3

headwater tag apply "$here/tags.yml"
headwater check "$here/policy.yml"
