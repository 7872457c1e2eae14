"""Reports of what a change does to lineage: Markdown for a pull request, a page of HTML, and JSON."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from headwater.answers.documents import of_kind
from headwater.answers.labels import in_backticks, readable
from headwater.answers.pictures import DrawnEdge, Look, page, picture
from headwater.answers.transformations import transformations_text
from headwater.policies.diff import Change
from headwater.store.questions import PathTransformation
from headwater.store.questions.snapshots import WHOLE, ChangedEdge, ColumnName, Kinds

_MOST = 50
"""The largest number of lines of a section of Markdown; a comment of a pull request takes 65,536 characters."""


_MOST_DRAWN = 300
"""The largest number of edges of a picture."""


def as_document(change: Change) -> dict[str, Any]:
    """Return a change as a JSON document."""
    found = change.difference
    return {
        "columns": {
            "added": [_column(one) for one in found.added],
            "removed": [_column(one) for one in found.removed],
            "retyped": [_column(one.column) | {"before": one.before, "after": one.after} for one in found.retyped],
            "rerouted": [
                _column(one.column) | {"before": list(map(_column, one.before)), "after": list(map(_column, one.after))}
                for one in found.rerouted
            ],
        },
        "edges": [
            {
                "input": _column(one.edge.input),
                "output": _column(one.edge.output),
                "before": [of_kind(kind) for kind in _ordered(one.before)],
                "after": [of_kind(kind) for kind in _ordered(one.after)],
                "note": one.note,
            }
            for one in found.changed
        ],
        "broken": [
            _column(column) | {"because": list(map(_column, causes)), "owners": list(change.owners[column.dataset])}
            for column, causes in found.broken.items()
        ],
        "flows": [
            {"tag": one.tag, **_column(one.column), "arriving": one.arriving.value, "path": list(one.path)}
            for one in change.flows
        ],
        "notes": list(change.notes),
    }


def as_json(change: Change) -> str:
    """Return a change as the text of a JSON document."""
    return orjson.dumps(as_document(change), option=orjson.OPT_INDENT_2).decode()


def markdown(change: Change) -> str:
    """Return a change as Markdown: the gravest first, long sections cut."""
    found = change.difference
    sections: Mapping[str, Iterable[str]] = {
        "Tags that newly arrive": [_flow(one.tag, one.column, one.arriving.value, one.path) for one in change.flows],
        "Columns removed": [_code(one) for one in found.removed],
        "Columns retyped": [f"{_code(one.column)}: `{one.before}` → `{one.after}`" for one in found.retyped],
        "Columns made of other columns": [
            f"{_code(one.column)}: {_codes(one.before)} → {_codes(one.after)}" for one in found.rerouted
        ],
        "Edges that changed": [_edge(one) for one in found.changed],
        "What depends on these": [
            f"{_code(column)} on {_codes(causes)}{_owners(change.owners[column.dataset])}"
            for column, causes in found.broken.items()
        ],
        "Columns added": [_code(one) for one in found.added],
    }
    lines = [line for title, some in sections.items() for line in _section(title, list(some))] or [
        "Nothing changes.",
        "",
    ]
    unknown = _section("Not known, as nothing ran", [f"`{in_backticks(one)}`" for one in change.notes])
    return "\n".join(["## Lineage", "", *lines, *unknown]).rstrip()


def html(change: Change) -> str:
    """Return a change as a page of HTML with a picture of the edges that changed, and of the paths of new flows."""
    edges = {one.edge: _drawn(one) for one in change.difference.edges}
    for flow in change.flows:
        for step in flow.steps:
            text = edges[step].text if step in edges else ""
            edges[step] = DrawnEdge(step.input, step.output, Look.TAG, f"{flow.tag}  {text}")
    shown = list(edges.values())[:_MOST_DRAWN]
    left = len(edges) - len(shown)
    return page("Lineage", markdown(change) + (f"\n\n{left} edges are not drawn." if left else ""), picture(shown))


def _drawn(change: ChangedEdge) -> DrawnEdge:
    look = Look.CHANGED if change.before and change.after else Look.ADDED if change.after else Look.REMOVED
    return DrawnEdge(change.edge.input, change.edge.output, look, f"{_kinds(change.before)} -> {_kinds(change.after)}")


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from (f"### {title} ({len(lines)})", "")
        yield from (f"- {line}" for line in lines[:_MOST])
        if len(lines) > _MOST:
            yield f"- and {len(lines) - _MOST} more: `headwater diff --format json` lists all"
        yield ""


def _flow(tag: str, column: ColumnName, arriving: str, path: Iterable[str]) -> str:
    return "\n".join((f"**{tag}** ({arriving}) at {_code(column)}", *(f"  - `{in_backticks(line)}`" for line in path)))


def _edge(change: ChangedEdge) -> str:
    kinds = f"{_kinds(change.before)} → {_kinds(change.after)}"
    return f"**{change.note}**: {_code(change.edge.input)} → {_code(change.edge.output)}: {kinds}"


def _kinds(kinds: Kinds) -> str:
    return transformations_text(PathTransformation(kind) for kind in _ordered(kinds)) or "none"


def _ordered(kinds: Kinds) -> list[Any]:
    return sorted(kinds, key=lambda kind: (kind.subtype.value, kind.masking, kind.opaque))


def _codes(columns: Iterable[ColumnName]) -> str:
    return ", ".join(map(_code, columns)) or "nothing"


def _code(column: ColumnName) -> str:
    return f"`{_plain(column.dataset if column.column == WHOLE else str(column))}`"


def _plain(text: str) -> str:
    """Return a text that stays inside the backticks around it, shortened."""
    return in_backticks(readable(text))


def _owners(owners: Iterable[str]) -> str:
    shown = ", ".join(_plain(one) for one in owners)
    return f" (owners: {shown})" if shown else ""


def _column(column: ColumnName) -> dict[str, str]:
    return {"dataset": column.dataset, "field": column.column}
