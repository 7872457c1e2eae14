"""Bodies of requests that create or describe something: the members of Marquez's Meta classes."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from headwater.openlineage.reading.json_values import text

Name = Annotated[str, Field(min_length=1, max_length=10_000)]


DEEPEST = 100
"""The depth of nested lists and objects; a job's ``context`` is a few deep."""


class Body(BaseModel):
    """A JSON object; unknown members are ignored."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _with_fit_texts(cls, value: Any) -> Any:
        """Return the value with texts that a database can store."""
        return _fit(value)


def _fit(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise ValueError(f"values nested more than {DEEPEST} deep: expected a description")
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_fit(one, depth + 1) for one in value]
    if isinstance(value, dict):
        return {_fit(key): _fit(one, depth + 1) for key, one in value.items()}
    return value


class NamespaceBody(Body):
    """NamespaceMeta."""

    owner_name: Name
    description: str | None = None


class SourceBody(Body):
    """SourceMeta."""

    type: Name
    connection_url: Name
    description: str | None = None


class TagBody(Body):
    """The description of a tag."""

    description: str | None = None


class FieldBody(Body):
    """Field."""

    name: Name
    type: str | None = None
    tags: tuple[Name, ...] = ()
    description: str | None = None


class DatasetBody(Body):
    """DbTableMeta or StreamMeta; the physical name is taken for the name, which it is."""

    type: Literal["DB_TABLE", "STREAM"]
    physical_name: Name
    source_name: Name
    fields: tuple[FieldBody, ...] | None = None
    tags: tuple[Name, ...] | None = None
    description: str | None = None
    run_id: UUID | None = None
    schema_location: str | None = None


class DatasetName(Body):
    """DatasetId."""

    namespace: Name
    name: Name


class JobBody(Body):
    """JobMeta; ``context`` may hold the statement as ``sql``."""

    type: Literal["BATCH", "STREAM", "SERVICE"]
    inputs: tuple[DatasetName, ...] = ()
    outputs: tuple[DatasetName, ...] = ()
    location: str | None = None
    description: str | None = None
    context: dict[str, Any] | None = None
    run_id: UUID | None = None
    tags: tuple[Name, ...] | None = None


class RunBody(Body):
    """RunMeta."""

    id: UUID | None = None
    nominal_start_time: datetime | None = None
    nominal_end_time: datetime | None = None
    args: dict[str, str] | None = None
