#!/usr/bin/env bash
# Runs the four jobs under headwater and checks the policy, which finds the planted leak.
# Usage: run.sh [LAKE]. Needs `python` and `headwater` of one environment on the PATH, the package Faker, and a Java.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lake=$(realpath -m "${1:-$here/data}")
export SPARK_CONF_DIR=$here/../flights/conf PYSPARK_PYTHON=python

for job in 01_land 02_prepare 03_enrich 04_report; do
  headwater run "$here/$job.py" "$lake"
done

headwater tag apply "$here/tags.yml"
headwater check "$here/policy.yml"
