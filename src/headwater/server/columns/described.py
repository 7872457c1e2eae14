"""What the OpenAPI document says of the answers: their form, and a real one of each question.

Answers are written by hand, because a model of each value would make large ones slow; so is this.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import orjson
from fastapi import FastAPI

from headwater.model import Subtype

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
NEXT: Schema = {"type": ["string", "null"], "description": "The cursor of the next page; null on the last."}
_SIDE = "Only with direction=both: the distance on this side, null where it is not on it."
_GUESS = "Nobody told this. Only with guess=true, and only where something is a guess."
TRUNCATED: Schema = {
    "type": "array",
    "items": {"enum": ["columns", "depth", "paths", "time"]},
    "description": "The limits that cut the answer; empty when it is whole.",
}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _also(schema: Schema, **properties: Schema) -> Schema:
    required = [*schema["required"], *properties]
    return {**_object(**{**schema["properties"], **properties}), "required": required}


def _may_be_absent(schema: Schema, name: str) -> Schema:
    return {**schema, "required": [one for one in schema["required"] if one != name]}


def _maybe_a_guess(schema: Schema, guess: Schema) -> Schema:
    return _may_be_absent(_also(schema, guess=guess | {"description": _GUESS}), "guess")


def _with_sides(schema: Schema, side: Schema) -> Schema:
    both = _also(schema, up=side | {"description": _SIDE}, down=side | {"description": _SIDE})
    return _may_be_absent(_may_be_absent(both, "up"), "down")


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


NAME = _object(namespace=TEXT, name=TEXT)
DATASET = _also(NAME, symlinks=_list(NAME))
COLUMN = _also(NAME, field=TEXT)
START: Schema = {"anyOf": [COLUMN, DATASET]}
KIND = _maybe_a_guess(
    _object(
        type={"enum": ["DIRECT", "INDIRECT"]},
        subtype={"enum": [one.value for one in Subtype]},
        masking=FLAG,
        opaque=FLAG,
    ),
    FLAG,
)
STEP = _also(KIND, description=TEXT)
WAY = _also(KIND, wholeDataset=FLAG)
ENDS = {"input": COLUMN, "output": _may_be_absent(COLUMN, "field")}
OVERWRITTEN = _list(_object(run=TEXT, job=NAME, at=TEXT))
HOP = _may_be_absent(
    _object(**ENDS, transformations=_list(STEP), job=NAME, possiblyReplaced=OVERWRITTEN), "possiblyReplaced"
)
WALKED = {"start": START, "direction": {"enum": ["up", "down", "both"]}}
IMPACTED = _object(field=TEXT, distance=NUMBER, transformations=_list(WAY))
ROOT = _may_be_absent(
    _object(
        column=COLUMN,
        origin={"enum": ["source", "constant", "unknown", "cycle", "filtered"]},
        evidence={
            "enum": ["unwritten", "literal", "partial", "no lineage", "unnamed", "replaced", "cycle", "filtered"]
        },
        near=_list(COLUMN),
        transformations=_list(WAY),
        distance=NUMBER,
        jobs=_list(NAME),
        applications=_list(NAME),
        possiblyReplaced=OVERWRITTEN,
    ),
    "possiblyReplaced",
)
TOTAL = _object(datasets=NUMBER, columns=NUMBER, jobs=NUMBER)
GRAPH = _object(
    **WALKED,
    columns=_list(_with_sides(_also(COLUMN, distance=NUMBER), _nullable(NUMBER))),
    hops=_list(HOP),
    truncated=TRUNCATED,
    next=NEXT,
)
IDS = _object(
    **WALKED,
    columns=_maybe_a_guess(
        _with_sides(_object(id=_list(NUMBER), distance=_list(NUMBER)), _list(_nullable(NUMBER))), _list(FLAG)
    ),
    truncated=TRUNCATED,
    next=NEXT,
)
COMPACT = _object(
    **WALKED,
    datasets=_object(id=_list(NUMBER), namespace=_list(TEXT), name=_list(TEXT)),
    columns=_with_sides(
        _object(id=_list(NUMBER), dataset=_list(NUMBER), field=_list(TEXT), distance=_list(NUMBER)),
        _list(_nullable(NUMBER)),
    ),
    transformations=_maybe_a_guess(
        _object(
            id=_list(NUMBER),
            type=_list(TEXT),
            subtype=_list(TEXT),
            masking=_list(FLAG),
            opaque=_list(FLAG),
            description=_list(TEXT),
        ),
        _list(FLAG),
    ),
    jobs=_object(id=_list(NUMBER), namespace=_list(TEXT), name=_list(TEXT)),
    edges=_object(input=_list(NUMBER), output=_list(NUMBER), transformation=_list(NUMBER), job=_list(NUMBER)),
    truncated=TRUNCATED,
    next=NEXT,
)
COLLAPSED = _object(
    **WALKED,
    datasets=_list(_with_sides(_also(DATASET, distance=NUMBER), _nullable(NUMBER))),
    hops=_list(_object(input=NAME, output=NAME, transformations=_list(KIND), jobs=_list(NAME), edges=NUMBER)),
    truncated=TRUNCATED,
)
WALK: Schema = {"anyOf": [GRAPH, COMPACT, IDS, COLLAPSED]}
AFFECTED = _may_be_absent(
    _also(DATASET, distance=NUMBER, jobs=_list(NAME), columns=_list(IMPACTED), transformations=_list(WAY)),
    "transformations",
)
AFFECTED = _may_be_absent(_also(AFFECTED, possiblyReplaced=OVERWRITTEN), "possiblyReplaced")
BY_JOB = _object(job=NAME, columns=_list(_maybe_a_guess(_also(COLUMN, distance=NUMBER), FLAG)))

SCHEMAS: Mapping[str, Schema] = {
    "upstream": WALK,
    "downstream": WALK,
    "lineage": WALK,
    "roots": _object(
        column=COLUMN,
        origin=_nullable(ROOT["properties"]["origin"]),
        evidence=_nullable(ROOT["properties"]["evidence"]),
        near=_list(COLUMN),
        roots=_list(ROOT),
        truncated=TRUNCATED,
        next=NEXT,
    ),
    "impact": {
        "anyOf": [
            _object(start=START, datasets=_list(AFFECTED), truncated=TRUNCATED, total=TOTAL, next=NEXT),
            _object(start=START, jobs=_list(BY_JOB), truncated=TRUNCATED, total=TOTAL, next=NEXT),
        ]
    },
    "paths": _object(
        source=COLUMN,
        target=COLUMN,
        paths=_list(_object(columns=_list(COLUMN), steps=_list(_list(HOP)))),
        truncated=TRUNCATED,
    ),
    "diff": _object(
        before=TEXT,
        after=_nullable(TEXT),
        about={"anyOf": [COLUMN, DATASET, _object(job=NAME)]},
        added=_list(HOP),
        removed=_list(HOP),
        changed=_list(_also(HOP, before=_list(STEP))),
        columns=_object(
            added=_list(_also(COLUMN, type=TEXT)),
            removed=_list(_also(COLUMN, type=TEXT)),
            changed=_list(_also(COLUMN, type=TEXT, before=_object(field=TEXT, type=TEXT))),
        ),
        truncated=TRUNCATED,
    ),
    "columns": _object(
        columns=_list(_also(COLUMN, id=NUMBER, type=TEXT, match={"enum": ["exact", "start", "part", "dataset"]})),
        next=NEXT,
    ),
    "datasets": _object(
        datasets=_list(_also(DATASET, columns=_list(_object(id=NUMBER, field=TEXT, type=TEXT)))), next=NEXT
    ),
    "search": _object(
        results=_list(
            _may_be_absent(
                _also(
                    NAME,
                    kind={"enum": ["dataset", "column", "job"]},
                    field=TEXT,
                    **{"in": {"enum": ["name", "tag", "description", "sql"]}},
                    excerpt=TEXT,
                ),
                "field",
            )
        ),
        next=NEXT,
    ),
    "versions": _object(
        dataset=DATASET,
        versions=_list(
            _object(
                version=TEXT,
                at=TEXT,
                run=_nullable(TEXT),
                state=TEXT,
                job=_nullable(NAME),
                columns=_list(_object(field=TEXT, type=TEXT)),
            )
        ),
        next=NEXT,
    ),
    "coverage": _object(
        outputs=_list(
            _object(
                coverage={"enum": ["none", "partial", "opaque", "full"]},
                output=_nullable(NAME),
                job=NAME,
                run=TEXT,
                gaps=_list(_object(kind=TEXT, what=TEXT, why=TEXT)),
            )
        ),
        total=_object(none=NUMBER, partial=NUMBER, opaque=NUMBER, full=NUMBER),
        next=NEXT,
    ),
    "changes": _object(
        change={"enum": ["first", "changed"]},
        job=NAME,
        output=DATASET,
        run=TEXT,
        at=TEXT,
        edges=_object(now=NUMBER, added=NUMBER, removed=NUMBER),
    ),
}
_MEDIA = {"changes": "text/event-stream"}
_PROBLEMS = {
    400: "The question has no meaning: the message says what was met and what was expected.",
    404: "Nothing has that name.",
    409: "Several have it.",
}


def examples() -> dict[str, dict[str, Any]]:
    """By route the requests that are shown, and their answers."""
    read: dict[str, dict[str, Any]] = orjson.loads(files(__package__).joinpath("examples.json").read_bytes())
    return read


def illustrate(app: FastAPI) -> None:
    """Puts the examples into the application's OpenAPI document.

    Afterwards, because FastAPI takes every null out of what routes say of themselves, and answers have some.
    """
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        document = plain()
        for route, answers in examples().items():
            described = document["paths"][f"/api/v2/{route}"]["get"]["responses"]["200"]["content"]
            for content in described.values():
                content["examples"] = {f"GET {request}": {"value": answer} for request, answer in answers.items()}
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def described(route: str) -> dict[str, Any]:
    """The arguments of a route that describe its answers."""
    content = {_MEDIA.get(route, "application/json"): {"schema": SCHEMAS[route]}}
    responses: dict[int, Any] = {200: {"description": "The answer.", "content": content}}
    if route != "changes":
        responses[304] = {"description": "It is still the answer that If-None-Match names."}
    problem = _object(code=NUMBER, message=TEXT)
    for status, meaning in _PROBLEMS.items():
        responses[status] = {"description": meaning, "content": {"application/json": {"schema": problem}}}
    return {"responses": responses, "operation_id": route}
