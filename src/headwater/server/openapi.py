"""The OpenAPI document: FastAPI's, with who may ask, how requests are refused, and real answers as examples.

Schemas of answers are documentation: answers are dictionaries, and validating large ones would take longer than making
them. Tests validate instead.
"""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel

from headwater.server.routes import requirements_of

Json = dict[str, Any]

REFUSALS = {
    400: ("BadRequest", "The request has no meaning: the message says what is wrong and what was expected."),
    401: ("Unauthorized", "The request has no key or token, or not a valid one."),
    403: ("Forbidden", "The key or token is valid, and may not do this; or a page of another site asks."),
    404: ("NotFound", "Nothing has that name, or nothing that the caller may see."),
    408: ("TooSlow", "The body came too slowly."),
    409: ("Conflict", "Several have that name, or it is taken."),
    413: ("TooLarge", "The body, or the number of events in it, is above the server's limit."),
    415: ("UnknownEncoding", "The Content-Encoding of the body is neither gzip nor identity."),
    422: ("Unprocessable", "A parameter or a member of the body is missing, unknown or of another type."),
    429: ("TooManyRequests", "The caller has sent more requests than `--rate` allows."),
    503: ("Unavailable", "The store cannot be read or written now, or the server is too busy."),
}
"""The name and the meaning of each status of a refusal; the body is a `Problem`."""

_GUARDED = (401, 403, 429, 503)
_WITH_BODY = (400, 408, 413, 415)
_RETRIED = (429, 503)
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key, or a token of the identity provider."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key."},
}


class Schema(BaseModel):
    """An object with these members and no others."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Problem(Schema):
    """The body of a refusal."""

    code: int = Field(description="The status of the response.")
    message: str = Field(description="What is wrong, what was expected, and what to do.")


def absent(description: str) -> Any:
    """Return a member that is left out where it does not apply, and never null."""
    return Field(None, description=description)


def page_of(name: str, description: str, *, counted: bool = True, **items: type[Schema]) -> type[Schema]:
    """Return the schema of a page of items, with the number of those on all pages."""
    members: dict[str, Any] = {member: (list[item], ...) for member, item in items.items()}  # type: ignore[valid-type]
    members |= {"total_count": (int, ...)} if counted else {}
    module = next(iter(items.values())).__module__
    return create_model(name, __base__=Schema, __doc__=description, __module__=module, **members)


def examples() -> dict[str, dict[str, Any]]:
    """Return requests and their answers by the route of ``/api/v2`` that they show."""
    read: dict[str, dict[str, Any]] = orjson.loads(
        files("headwater.server.columns").joinpath("examples.json").read_bytes()
    )
    return read


def complete(app: FastAPI) -> None:
    """Add to the application's document what FastAPI does not know of."""
    plain = app.openapi

    def openapi() -> Json:
        if app.openapi_schema is None:
            _complete(plain(), app)
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _complete(document: Json, app: FastAPI) -> None:
    components = document["components"]
    components["securitySchemes"] = _SECURITY
    components["responses"] = {name: _refusal(status, meaning) for status, (name, meaning) in REFUSALS.items()}
    components["schemas"]["Problem"] = Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    for operation, guarded in _operations(document, app):
        if guarded:
            operation["security"] = [{name: []} for name in _SECURITY]
        _add_refusals(operation, guarded)
    _add_examples(document)
    # FastAPI takes the class of sse-starlette, which names no media type, for one of JSON.
    stream = document["paths"]["/api/v2/changes"]["get"]["responses"]["200"]
    stream["content"] = {"text/event-stream": stream["content"]["application/json"]}


def _operations(document: Json, app: FastAPI) -> Iterator[tuple[Json, bool]]:
    """Return each operation of the document, and whether its route asks who it is."""
    for route in iter_route_contexts(app.routes):
        if isinstance(route.original_route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                guarded = any(True for _ in requirements_of(route.original_route.dependant))
                yield document["paths"][route.path_format][method.lower()], guarded


def _add_refusals(operation: Json, guarded: bool) -> None:
    responses = operation["responses"]
    statuses = {int(status) for status in responses if int(status) in REFUSALS and "content" not in responses[status]}
    statuses |= {422} & {int(status) for status in responses}
    statuses |= {*(_GUARDED if guarded else ()), *(_WITH_BODY if "requestBody" in operation else ())}
    for status in sorted(statuses):
        responses[str(status)] = {"$ref": f"#/components/responses/{REFUSALS[status][0]}"}


def _refusal(status: int, meaning: str) -> Json:
    response: Json = {
        "description": meaning,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    if status in _RETRIED:
        seconds = {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}
        response["headers"] = {"Retry-After": seconds}
    return response


def _add_examples(document: Json) -> None:
    """Add the examples here, because FastAPI takes every null out of what routes say of themselves."""
    for route, answers in examples().items():
        content = document["paths"][f"/api/v2/{route}"]["get"]["responses"]["200"]["content"]["application/json"]
        content["examples"] = {f"GET {request}": {"value": answer} for request, answer in answers.items()}
