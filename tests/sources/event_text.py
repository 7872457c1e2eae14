"""Events as the text of a case: outputs with their columns, inputs, gaps."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Event = Mapping[str, Any]
SNAPSHOT = re.compile(r"@(\d{10,})")
RUN = re.compile(r"(?<= \(dropped )[^()]+")


def event_text(events: Iterable[Event]) -> str:
    """One paragraph for each run that ended, in order; the application's own run is left out.

    Versions follow ``@``: numbers, or ``s1``, ``s2``, … for the ids of snapshots in the order of the text.
    """
    ended = [event for event in events if event["eventType"] in ("COMPLETE", "FAIL", "ABORT")]
    runs = [event for event in ended if event["outputs"] or "headwater_coverage" in event["run"]["facets"]]
    text = "\n\n".join("\n".join(_lines(event)) for event in runs)
    snapshots = list(dict.fromkeys(SNAPSHOT.findall(text)))
    return SNAPSHOT.sub(lambda found: f"@s{snapshots.index(found[1]) + 1}", text)


def _lines(event: Event) -> Iterator[str]:
    if event["eventType"] != "COMPLETE":
        yield event["eventType"]
    named = Names(event["inputs"])
    for output in event["outputs"]:
        lifecycle = output["facets"].get("lifecycleStateChange", {}).get("lifecycleStateChange", "")
        words = ["out", _name(output) + _version(output), lifecycle, _partition(output), _known_as(output)]
        yield " ".join(filter(None, words))
        yield from _names(output["facets"].get("headwater_names"))
        yield from _edges(output["facets"], named)
    for source in event["inputs"]:
        yield " ".join(filter(None, ["in ", _name(source) + _version(source), _known_as(source)]))
    for gap in event["run"]["facets"].get("headwater_coverage", {}).get("gaps", ()):
        yield f"gap: {gap['kind']} {gap['what']}"


def _names(facet: Event | None) -> Iterator[str]:
    for change in facet["names"] if facet else ():
        yield f"  {_name(change['previous'])} is {_name(change['current']) if 'current' in change else 'no more'}"
    for change in facet["fields"] if facet else ():
        yield f"  .{change['previous']} is .{RUN.sub('RUN', change['current'])}"


class Names:
    """The short names of inputs: the last part, unless two inputs end alike."""

    def __init__(self, inputs: Iterable[Event]) -> None:
        self._ends = [_last(source["name"]) for source in inputs]

    def field(self, edge: Event) -> str:
        """``dataset.column``."""
        last = _last(edge["name"])
        return f"{last if self._ends.count(last) == 1 else _name(edge)}.{edge['field']}"


def _edges(facets: Event, named: Names) -> Iterator[str]:
    lineage = facets.get("columnLineage", {"fields": {}})
    columns = [field["name"] for field in facets.get("schema", {"fields": []})["fields"]]
    columns += [name for name in lineage["fields"] if name not in columns]
    for column in columns:
        yield _line(column, lineage["fields"].get(column, {}).get("inputFields", ()), named)
    if lineage.get("dataset"):
        yield _line("*", lineage["dataset"], named)


def _line(column: str, edges: Iterable[Event], named: Names) -> str:
    listed = sorted(
        {f"{_kind(transformation)} {named.field(edge)}" for edge in edges for transformation in edge["transformations"]}
    )
    return f"  {column} <- {', '.join(listed)}".rstrip()


def _kind(transformation: Event) -> str:
    return (
        transformation["subtype"]
        + ("!" if transformation.get("masking") else "")
        + ("?" if transformation.get("opaque") else "")
    )


def _name(dataset: Event) -> str:
    joint = ":" if dataset["name"].startswith("/") else "/"
    return f"{dataset['namespace']}{joint}{dataset['name']}"


def _version(dataset: Event) -> str:
    version = dataset["facets"].get("version", {}).get("datasetVersion", "")
    return f"@{version}" if version else ""


def _partition(output: Event) -> str:
    condition = output.get("outputFacets", {}).get("subset", {}).get("outputCondition", {"partitions": ()})
    return " ".join(f"{name}={value}" for one in condition["partitions"] for name, value in one["dimensions"].items())


def _known_as(dataset: Event) -> str:
    links = dataset["facets"].get("symlinks", {}).get("identifiers", ())
    return " ".join(f"= {link['namespace']} {link['name']} {link['type']}" for link in links)


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1].rsplit(".", 1)[-1]
