"""``python -m tests.oracle.histories [--seed 1] [--seeds 5] [--count 10] [--log FILE]``: histories, seed by seed."""

import argparse
import os
import sys
from pathlib import Path

from tests.oracle.histories.hunt import hunt, with_delta
from tests.oracle.logbook import append, read


def main() -> int:
    """Run the seeds that the log does not have; the number of missing edges is what the process ends with."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    options = parser.parse_args()
    known, missing = dict(read(options.log)), 0
    with with_delta() as live:
        for seed in range(options.seed, options.seed + options.seeds):
            tally = known.get(seed) or hunt(live, seed, options.count)
            if seed not in known:
                append(options.log, seed, tally)
            missing += len(tally.missing)
            print(seed, tally.looked_at, dict(tally.discarded), dict(tally.invalid), *tally.missing, sep="\n")
    return min(missing, 100)


if __name__ == "__main__":
    sys.exit(main())
