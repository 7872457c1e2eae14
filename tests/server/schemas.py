"""Whether answers are as the OpenAPI document says."""

from typing import Any

from jsonschema import Draft202012Validator

Json = dict[str, Any]


def resolved(document: Json, response: Json) -> Json:
    """A response of an operation, or that of the components which it refers to."""
    name = response.get("$ref", "").rpartition("/")[2]
    found: Json = document["components"]["responses"][name] if name else response
    return found


def validator(document: Json, response: Json, media: str = "application/json") -> Draft202012Validator:
    """Validates the bodies of a response."""
    schema = resolved(document, response)["content"][media]["schema"]
    return Draft202012Validator(schema | {"components": document["components"]})
