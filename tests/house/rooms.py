"""The rooms of ARCHITECTURE.md as drawings: packages, and which imports which.

``python -m tests.house.rooms`` draws them anew into the page.
"""

import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PAGE = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
PLACE = re.compile(r"<!-- rooms of (?P<package>[a-z.]+) -->\n```mermaid\n.*?```\n", re.DOTALL)

Arrows = dict[str, set[str]]
"""The modules and packages that each of them imports."""


def imports(graph: grimp.ImportGraph, package: str) -> Arrows:
    """The imports between the modules and packages right inside a package, by their last names."""
    rooms = {room.rsplit(".", 1)[1]: room for room in graph.find_children(package)}
    return {
        name: {
            other
            for other, imported in rooms.items()
            if other != name and graph.direct_import_exists(importer=room, imported=imported, as_packages=True)
        }
        for name, room in rooms.items()
    }


def reduced(arrows: Arrows) -> Arrows:
    """The same arrows without those that a longer path implies.

    Raises:
        graphlib.CycleError: rooms import each other in a circle.

    >>> {room: sorted(others) for room, others in reduced({"c": set(), "b": {"c"}, "a": {"b", "c"}}).items()}
    {'c': [], 'b': ['c'], 'a': ['b']}
    """
    below: Arrows = {}
    for room in TopologicalSorter(arrows).static_order():
        below[room] = arrows[room].union(*(below[other] for other in arrows[room]))
    return {
        room: {other for other in others if not any(other in below[longer] for longer in others)}
        for room, others in arrows.items()
    }


def mermaid(arrows: Arrows) -> Iterator[str]:
    """The lines of a Mermaid flowchart."""
    yield "flowchart TD"
    for room, others in sorted(arrows.items()):
        yield f"  {room}" if not others else f"  {room} --> {' & '.join(sorted(others))}"


def drawn(page: str) -> str:
    """The page with its drawings as the code is."""
    graph = grimp.build_graph("headwater")

    def drawing(place: re.Match[str]) -> str:
        package = place["package"]
        lines = mermaid(reduced(imports(graph, package)))
        return "\n".join([f"<!-- rooms of {package} -->", "```mermaid", *lines, "```", ""])

    return PLACE.sub(drawing, page)


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text()))
