"""The main file of spark-submit: ``spark-submit [OPTIONS] $(headwater submit-file) job.py ARGS``.

The settings are those of the environment (``HEADWATER_STORE``, …) and of the Spark conf.
"""

import sys

from headwater.capture.runner import run
from headwater.errors import HeadwaterError


def main() -> None:
    """Become the interpreter that runs the job named first, watched."""
    try:
        run(sys.argv[1:], {})
    except HeadwaterError as error:
        sys.exit(f"headwater: {error}")


if __name__ == "__main__":
    main()
