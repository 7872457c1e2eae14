#!/usr/bin/env bash
# Runs the three jobs under headwater, as three Spark applications, and asks where two gold columns come from.
# Usage: run.sh [LAKE]. Needs `python` and `headwater` of one environment on the PATH, and a Java; `make demo` brings both.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lake=$(realpath -m "${1:-$here/data}")
export SPARK_CONF_DIR=$here/conf PYSPARK_PYTHON=python

python "$here/unpack.py" "$lake/raw"

headwater run "$here/01_land.py" "$lake/raw" "$lake"
headwater run "$here/02_clean.py" "$lake"
headwater run "$here/03_gold.py" "$lake"

ask() {
  printf '\n$ headwater roots %s\n' "$*"
  headwater roots "$@"
}

ask gold/scorecard.seat_hours_lost
ask gold/fleet.seat_km --type direct

printf '\nFollow the first of them in a browser. Where there is none, the command prints the address to open, by default\nhttp://127.0.0.1:5000/?column=gold%%2Fscorecard.seat_hours_lost\n\n    %s ui gold/scorecard.seat_hours_lost\n' "$(command -v headwater)"
