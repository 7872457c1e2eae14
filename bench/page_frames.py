"""Draw the frames that ``make bench-web`` measured, as build/bench-web/frames.svg: ``python -m bench.page_frames``."""

import json
from pathlib import Path

from bench import drawing
from bench.figures import quantile

FOLDER = Path(__file__).parents[1] / "build" / "bench-web"
GOAL = 20  # milliseconds, 50 frames a second
LIBRARIES = {"ours": "headwater", "xyflow": "@xyflow/react"}


def main() -> None:
    measured = json.loads((FOLDER / "frames.json").read_text())
    found = {
        LIBRARIES[library]: {name: (quantile(times, 0.95), max(times)) for name, times in movements.items()}
        for library, movements in measured.items()
        if movements
    }
    drawing.frames(found, GOAL, FOLDER / "frames.svg")


if __name__ == "__main__":
    main()
