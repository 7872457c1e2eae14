"""Facets of runs, jobs and datasets as values, of any producer and of older versions of the specification."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from headwater.errors import EventError
from headwater.model import (
    Dataset,
    DatasetDescription,
    FieldChange,
    Gap,
    Job,
    NameChange,
    ReplacedRows,
    SchemaField,
    Symlink,
)
from headwater.model.names import key_of, twins_among
from headwater.openlineage.identifiers import COVERAGE, NAMES, WRITE
from headwater.openlineage.reading.json_values import Record, record, records, remembered, remembered_by_content, text

LONGEST_RUN_ID = 200


@dataclass(frozen=True, slots=True)
class Parent:
    """The run that started a run."""

    run: str
    job: Job


@dataclass(frozen=True, slots=True)
class About:
    """The facets of an event's run and job."""

    parent: Parent | None = None
    engine: str = ""
    error: str = ""
    job_type: str = ""
    streaming: bool = False
    sql: str = ""
    description: str = ""
    location: str = ""
    facets: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def about(value: Record, gaps: list[Gap]) -> About:
    """The facets of an event's run and job; ``gaps`` were found in it elsewhere."""
    run, job = record(value, "run", "facets"), record(value, "job", "facets")
    engine = (text(run, "processing_engine", "name"), text(run, "processing_engine", "version"))
    return About(
        _parent(record(run, "parent")),
        " ".join(filter(None, engine)),
        text(run, "errorMessage", "message"),
        text(job, "jobType", "jobType"),
        text(job, "jobType", "processingType").upper() == "STREAMING",
        text(job, "sql", "query"),
        text(job, "documentation", "description"),
        text(job, "sourceCodeLocation", "url"),
        tuple(map(text, job)),
        (*gaps, *_gaps(run)),
    )


def _parent(facet: Record) -> Parent | None:
    run, job = text(facet, "run", "runId"), record(facet, "job")
    if not run or len(run) > LONGEST_RUN_ID or not text(job, "namespace") or not text(job, "name"):
        return None
    return Parent(run, Job(text(job, "namespace"), text(job, "name")))


def _gaps(run: Record) -> list[Gap]:
    if COVERAGE not in run and "extractionError" not in run:  # as most
        return []
    reported = [
        Gap(text(gap, "kind"), text(gap, "what"), text(gap, "why"), text(gap, "output"))
        for gap in records(run, COVERAGE, "gaps")
    ]
    failed = [
        Gap("error", text(error, "task") or "extraction", text(error, "errorMessage"))
        for error in records(run, "extractionError", "errors")
    ]
    return reported + failed


_DEEPEST = 50  # of nested fields, which the whole event has however deep


class VersionSchema(NamedTuple):
    """The JSON of a schema's fields, and its digest."""

    digest: bytes
    fields: str


@dataclass(frozen=True, slots=True)
class VersionField:
    """A field of a version; ``type`` and ``description`` are empty where the schema has none.

    ``nested`` has its own fields as JSON objects with the members of the schema facet.
    """

    name: str
    type: str = ""
    description: str = ""
    nested: tuple[Record, ...] = ()

    def document(self) -> Record:
        """The field as the schema facet writes it."""
        members = {"name": self.name, "type": self.type, "description": self.description}
        present: Record = {name: one for name, one in members.items() if one}
        return present | {"fields": list(self.nested)} if self.nested else present


def version_schema(fields: Iterable[Record]) -> VersionSchema:
    """The fields of a schema facet, without what the specification does not have and no database can store.

    >>> version_schema([{"name": "a", "type": "int", "_x": 1}]).fields
    '[{"name":"a","type":"int"}]'
    """
    written = orjson.dumps(list(_fields(fields, _DEEPEST)))
    return VersionSchema(blake2b(written, digest_size=16).digest(), written.decode())


def fields_of(written: str) -> tuple[VersionField, ...]:
    """The fields that `version_schema` wrote."""
    read: list[dict[str, Any]] = orjson.loads(written)
    return tuple(
        VersionField(one["name"], one.get("type", ""), one.get("description", ""), tuple(one.get("fields", ())))
        for one in read
    )


def descriptions(field: Record, depth: int = _DEEPEST) -> Iterator[str]:
    """The description of a field of a schema facet, and those of the fields nested in it."""
    if described := text(field, "description"):
        yield described
    for one in records(field, "fields") if depth else ():
        yield from descriptions(one, depth - 1)


def _fields(fields: Iterable[Record], depth: int) -> Iterator[Record]:
    for one in fields:
        if text(one, "name"):
            members: Record = {name: value for name in ("name", "type", "description") if (value := text(one, name))}
            nested = list(_fields(records(one, "fields"), depth - 1)) if depth else []
            yield members | {"fields": nested} if nested else members


_LIFECYCLE = "lifecycleStateChange"
_REPLACED = {one.value: one for one in ReplacedRows}


class Schema(tuple[SchemaField, ...]):
    """The fields of a schema facet; ``twins`` are the names in lower case that several of them have.

    ``digest`` is equal for equal names and types in the same order.
    ``whole`` has nested fields and descriptions too, as a version of the dataset keeps them. ``descriptions`` are those
    of fields by name, each with those of its nested fields.
    """

    digest: bytes
    twins: frozenset[str]
    whole: VersionSchema
    descriptions: dict[str, str]

    @classmethod
    def of(cls, fields: Sequence[Record]) -> "Schema":
        """The schema of these fields."""
        made = cls(_schema_field(field.get("name"), field.get("type")) for field in fields)
        made.digest = key_of(*(part for field in made for part in (field.name, field.type)))
        made.twins = twins_among(field.name for field in made)
        made.whole = version_schema(fields)
        made.descriptions = {text(one, "name"): texts for one in fields if (texts := "\n".join(descriptions(one)))}
        return made


def twins_of(seen: DatasetDescription) -> frozenset[str]:
    """The names in lower case that several fields of a schema facet have."""
    return seen.schema.twins if isinstance(seen.schema, Schema) else frozenset()


def schema_of_version(seen: DatasetDescription) -> VersionSchema | None:
    """The schema of a dataset's version as its facet has it; None without fields."""
    return seen.schema.whole if seen.schema and isinstance(seen.schema, Schema) else None


def schema_digest(seen: DatasetDescription) -> bytes:
    """The digest of a dataset's schema facet."""
    assert isinstance(seen.schema, Schema)
    return seen.schema.digest


def descriptions_of(seen: DatasetDescription) -> Mapping[str, str]:
    """The descriptions of fields in a schema facet, by name."""
    return seen.schema.descriptions if isinstance(seen.schema, Schema) else {}


def dataset(value: Record) -> Dataset:
    """The dataset that ``namespace`` and ``name`` of a JSON object name.

    Raises:
        EventError: one of them is missing, empty or no string.
    """
    return _dataset(value.get("namespace"), value.get("name"))


@remembered(1000)
def _dataset(namespace: object, name: object) -> Dataset:
    named = Dataset(text(namespace), text(name))
    if not named.namespace or not named.name:
        raise EventError(
            f"A dataset has namespace {namespace!r} and name {name!r}: "
            "expected two strings that are not empty. Correct the producer."
        )
    return named


def description(value: Record) -> DatasetDescription:
    """A dataset of an event with its schema, other names, source, lifecycle, version and description.

    Raises:
        EventError: the dataset has no name.
    """
    facets = record(value, "facets")
    named = dataset(value)
    if not facets:  # as those of most inputs
        return DatasetDescription(named)
    return DatasetDescription(
        named,
        _schema(facets.get("schema")),
        tuple(_symlinks(facets)) if "symlinks" in facets else (),
        text(facets, _LIFECYCLE, _LIFECYCLE),
        text(facets, "dataSource", "name"),
        text(facets, "version", "datasetVersion") or text(facets, "datasetVersion", "datasetVersion"),
        tuple(_name_changes(facets, named)) if NAMES in facets or _LIFECYCLE in facets else (),
        tuple(_field_changes(facets)) if NAMES in facets else (),
        text(facets, "documentation", "description"),
    )


class ReplacedVersion(NamedTuple):
    """The rows that an output replaces by its facet ``headwater_write``; None without it, and for unknown values.

    ``partition`` says that it was a part of the dataset. ``restores`` is the version whose rows it has again, empty
    where it is not known; None where none are restored.
    """

    rows: ReplacedRows | None = None
    partition: bool = False
    restores: str | None = None


_NONE_REPLACED = ReplacedVersion()


def replaced_version(output: Record) -> ReplacedVersion:
    """The rows that an output of an event replaces."""
    found = record(output, "outputFacets")
    if not found:
        return _NONE_REPLACED
    facet = record(found, WRITE)
    restores = text(facet, "restores", "version") if isinstance(facet.get("restores"), dict) else None
    return ReplacedVersion(_REPLACED.get(text(facet, "replaces")), bool(record(found, "subset")), restores)


def _name_changes(facets: Record, present: Dataset) -> list[NameChange]:
    """The changes of ``headwater_names``, else that of the standard facet of a rename."""
    listed = records(facets, NAMES, "names")
    if listed or text(facets, _LIFECYCLE, _LIFECYCLE) != "RENAME":
        pairs = [(record(one, "previous"), record(one, "current")) for one in listed]
        return [NameChange(dataset(former), dataset(name) if name else None) for former, name in pairs]
    former = record(facets, _LIFECYCLE, "previousIdentifier")
    if not text(former, "namespace") or not text(former, "name") or dataset(former) == present:
        return []
    return [NameChange(dataset(former), present)]


def _field_changes(facets: Record) -> list[FieldChange]:
    changes = [FieldChange(text(one, "previous"), text(one, "current")) for one in records(facets, NAMES, "fields")]
    return [change for change in changes if change.former and change.present and change.former != change.present]


@remembered_by_content(4 << 20)
def _schema(facet: object) -> Schema:
    return Schema.of([field for field in records(facet, "fields") if text(field, "name")])


@remembered(5000)
def _schema_field(name: object, kind: object) -> SchemaField:
    return SchemaField(text(name), text(kind))


def _symlinks(facets: Record) -> list[Symlink]:
    named = [value for value in records(facets, "symlinks", "identifiers") if text(value, "name")]
    return [Symlink(dataset(value), text(value, "type") or "TABLE") for value in named if text(value, "namespace")]
