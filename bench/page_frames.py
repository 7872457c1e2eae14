"""The frames that ``make bench-web`` measured, drawn: ``python -m bench.page_frames`` writes page-frames.svg."""

import json
from pathlib import Path

from bench import drawing
from bench.figures import quantile

ROOT = Path(__file__).parents[1]
GOAL = 20  # milliseconds, 50 frames a second
LIBRARIES = {"ours": "headwater", "xyflow": "@xyflow/react"}


def main() -> None:
    measured = json.loads((ROOT / "build" / "bench-web" / "frames.json").read_text())
    found = {
        LIBRARIES[library]: {name: (quantile(times, 0.95), max(times)) for name, times in movements.items()}
        for library, movements in measured.items()
        if movements
    }
    drawing.frames(found, GOAL, ROOT / "docs" / "img" / "page-frames.svg")


if __name__ == "__main__":
    main()
