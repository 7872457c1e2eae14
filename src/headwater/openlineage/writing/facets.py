"""Facets of runs, jobs and datasets, made of openlineage-python's own classes.

Five things are ours: ``headwater_coverage`` says what a run's lineage does not cover, ``headwater_names`` what a
statement did to the names of a dataset and its fields (in ``names``), ``headwater_write`` which rows a write replaces
(in ``run_facets``), ``headwater_nestedLineage`` has the edges of fields within columns (in ``nested_lineage``), and a
transformation may carry ``opaque`` (the specification allows more properties there).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar
from urllib.parse import quote

import attr
from openlineage.client.generated.base import DatasetFacet, JobFacet, RunFacet
from openlineage.client.generated.catalog_dataset import CatalogDatasetFacet
from openlineage.client.generated.dataset_version_dataset import DatasetVersionDatasetFacet
from openlineage.client.generated.datasource_dataset import DatasourceDatasetFacet
from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
from openlineage.client.generated.extraction_error_run import Error, ExtractionErrorRunFacet
from openlineage.client.generated.job_type_job import JobTypeJobFacet
from openlineage.client.generated.lifecycle_state_change_dataset import (
    LifecycleStateChange,
    LifecycleStateChangeDatasetFacet,
    PreviousIdentifier,
)
from openlineage.client.generated.ownership_job import Owner, OwnershipJobFacet
from openlineage.client.generated.parent_run import Job, ParentRunFacet, Root, RootJob, RootRun, Run
from openlineage.client.generated.processing_engine_run import ProcessingEngineRunFacet
from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields
from openlineage.client.generated.source_code_location_job import SourceCodeLocationJobFacet
from openlineage.client.generated.sql_job import SQLJobFacet
from openlineage.client.generated.storage_dataset import StorageDatasetFacet
from openlineage.client.generated.symlinks_dataset import Identifier, SymlinksDatasetFacet
from openlineage.client.generated.tags_job import TagsJobFacet, TagsJobFacetFields
from openlineage.client.generated.tags_run import TagsRunFacet, TagsRunFacetFields
from openlineage.client.utils import RedactMixin

from headwater import model
from headwater.model.nested_fields import nested_fields
from headwater.openlineage.identifiers import COVERAGE, NAMES, PRODUCER, own_schema
from headwater.openlineage.writing.extension_facets import with_extension_facets
from headwater.openlineage.writing.names import names_facet
from headwater.redaction import redact, redact_literals

_Facet = TypeVar("_Facet")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:|$)")
_DEEPEST = 50  # fields within fields


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of a job or run; its value and source are those of the Spark integration where none is set."""

    key: str
    value: str = "true"
    source: str = "CONFIG"


@dataclass(frozen=True, slots=True)
class FacetSettings:
    """Choices and values for the facets.

    ``dataset_lineage_enabled`` False puts the edges that touch every column on every column
    (``spark.openlineage.columnLineage.datasetLineageEnabled``). ``descriptions_enabled`` puts the SQL text of an
    expression on its edges, up to ``max_description`` characters. ``max_edges`` bounds the column lineage of one
    output: what is above it is coarser, and the coverage facet reports it. ``disabled`` names facets
    that are left out (``spark.openlineage.facets.<name>.disabled``). ``explicit_lineage_enabled`` says the edges in
    the ``lineage`` job facet as well (``spark.openlineage.columnLineage.explicitLineageEnabled``). ``job_tags``,
    ``run_tags`` and ``owners`` (type and name of each) are those of every job and run.
    """

    dataset_lineage_enabled: bool = True
    descriptions_enabled: bool = True
    max_edges: int = 100_000
    max_description: int = 300
    disabled: frozenset[str] = frozenset()
    producer: str = PRODUCER
    explicit_lineage_enabled: bool = False
    job_tags: tuple[Tag, ...] = ()
    run_tags: tuple[Tag, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()


@attr.define
class CoverageGap(RedactMixin):
    """One thing that the lineage does not cover; the fields of model.Gap."""

    kind: str
    what: str
    why: str
    output: str | None = None


@attr.define
class OutputCoverage(RedactMixin):
    """How many fields an output has, and how many of them have at least one edge of their own."""

    namespace: str
    name: str
    fields: int
    fieldsWithLineage: int  # noqa: N815


@attr.define
class HeadwaterCoverageRunFacet(RunFacet):
    """Coverage of the run's column lineage; its schema is ``schemas/HeadwaterCoverageRunFacet.json``."""

    outputs: list[OutputCoverage]
    gaps: list[CoverageGap]

    @staticmethod
    def _get_schema() -> str:
        return own_schema("HeadwaterCoverageRunFacet")


def run_facets(moment: model.RunMoment, gaps: Iterable[model.Gap], settings: FacetSettings) -> dict[str, RunFacet]:
    """The facets of a run at that moment; ``gaps`` are the statement's and those that a limit added."""
    gaps = tuple(gaps)
    return _enabled(
        {
            "parent": _parent(moment.run, settings),
            "processing_engine": _engine(moment.engine, settings),
            "extractionError": _extraction_error(gaps, settings),
            "tags": _tags_run_facet(settings.run_tags, settings),
            COVERAGE: _coverage(moment.statement, gaps, settings),
        },
        settings,
    ) | end_facets(moment, settings)


def end_facets(moment: model.RunMoment, settings: FacetSettings) -> dict[str, RunFacet]:
    """Those facets of a run that its end has and its start has not."""
    return _enabled({"errorMessage": _error_message(moment, settings)}, settings)


def job_facets(moment: model.RunMoment, settings: FacetSettings) -> dict[str, JobFacet]:
    """The facets of the job; one without a statement is the application itself."""
    kind = "SQL_JOB" if moment.statement else "APPLICATION"
    processing = "STREAMING" if moment.streaming else "BATCH"
    return _enabled(
        {
            "jobType": JobTypeJobFacet(processing, "SPARK", jobType=kind, producer=settings.producer),
            "sql": SQLJobFacet(redact_literals(moment.sql), dialect="spark", producer=settings.producer)
            if moment.sql
            else None,
            "sourceCodeLocation": _source_code(moment.source, settings),
            "tags": _tags_job_facet(settings.job_tags, settings),
            "ownership": _ownership_facet(settings),
        },
        settings,
    )


def dataset_facets(seen: model.DatasetDescription, settings: FacetSettings) -> dict[str, DatasetFacet]:
    """The facets of a dataset, whichever side it is on: headwater's own, and those that others give."""
    version = DatasetVersionDatasetFacet(seen.version, producer=settings.producer) if seen.version else None
    own = _enabled(
        {
            "schema": _schema(seen.schema, settings),
            "dataSource": _data_source(seen, settings),
            "symlinks": _symlinks(seen.symlinks, settings),
            "lifecycleStateChange": _lifecycle(seen, settings),
            "version": version,
            "catalog": _catalog(seen.catalog, settings),
            "storage": _storage(seen.storage, settings),
            NAMES: names_facet(seen, settings.producer),
        },
        settings,
    )
    return with_extension_facets(own, seen, "dataset", settings.disabled, settings.producer)


def _enabled(facets: Mapping[str, _Facet | None], settings: FacetSettings) -> dict[str, _Facet]:
    return {name: facet for name, facet in facets.items() if facet is not None and name not in settings.disabled}


def _parent(run: model.Run, settings: FacetSettings) -> ParentRunFacet | None:
    if run.parent is None:
        return None
    root = run.parent
    while root.parent is not None:
        root = root.parent
    return ParentRunFacet(
        run=Run(run.parent.id, facets=None),
        job=Job(run.parent.job.namespace, run.parent.job.name, facets=None),
        root=Root(RootRun(root.id, facets=None), RootJob(root.job.namespace, root.job.name, facets=None)),
        producer=settings.producer,
    )


def _engine(engine: model.Engine, settings: FacetSettings) -> ProcessingEngineRunFacet | None:
    if not engine.version:
        return None
    adapter = engine.adapter_version or None
    return ProcessingEngineRunFacet(engine.version, engine.name, adapter, producer=settings.producer)


def _error_message(moment: model.RunMoment, settings: FacetSettings) -> ErrorMessageRunFacet | None:
    if not moment.error and moment.state is not model.RunState.FAIL:
        return None
    in_python = moment.statement is None or "Traceback (most recent call last)" in moment.stack_trace
    message = redact(moment.error) or "The run failed without a message."
    language = "PYTHON" if in_python else "JAVA"
    return ErrorMessageRunFacet(message, language, redact(moment.stack_trace) or None, producer=settings.producer)


def _extraction_error(gaps: Iterable[model.Gap], settings: FacetSettings) -> ExtractionErrorRunFacet | None:
    errors = [Error(errorMessage=redact(gap.why), task=redact(gap.what)) for gap in gaps if gap.kind == "error"]
    if not errors:
        return None
    return ExtractionErrorRunFacet(len(errors), len(errors), errors, producer=settings.producer)


def _coverage(
    statement: model.Statement | None, gaps: Iterable[model.Gap], settings: FacetSettings
) -> HeadwaterCoverageRunFacet | None:
    if statement is None:
        return None
    listed = sorted({(gap.output, gap.kind, redact(gap.what), redact(gap.why)) for gap in gaps})
    return HeadwaterCoverageRunFacet(
        outputs=[_output_coverage(output) for output in statement.outputs],
        gaps=[CoverageGap(kind, what, why, output or None) for output, kind, what, why in listed],
        producer=settings.producer,
    )


def _output_coverage(output: model.Output) -> OutputCoverage:
    dataset, fields = output.description.dataset, output.lineage.fields
    return OutputCoverage(dataset.namespace, dataset.name, len(fields), sum(1 for edges in fields.values() if edges))


def _tags_job_facet(tags: tuple[Tag, ...], settings: FacetSettings) -> TagsJobFacet | None:
    """The facet of a job's tags (TagsJobFacet 1-0-0); None without tags."""
    fields = [TagsJobFacetFields(tag.key, tag.value, tag.source) for tag in tags]
    return TagsJobFacet(fields, producer=settings.producer) if fields else None


def _tags_run_facet(tags: tuple[Tag, ...], settings: FacetSettings) -> TagsRunFacet | None:
    """The facet of a run's tags (TagsRunFacet 1-0-0); None without tags."""
    fields = [TagsRunFacetFields(tag.key, tag.value, tag.source) for tag in tags]
    return TagsRunFacet(fields, producer=settings.producer) if fields else None


def _ownership_facet(settings: FacetSettings) -> OwnershipJobFacet | None:
    """The facet of a job's owners (OwnershipJobFacet 1-0-1); None without owners."""
    found = [Owner(name, kind) for kind, name in settings.owners]
    return OwnershipJobFacet(found, producer=settings.producer) if found else None


def _source_code(source: str, settings: FacetSettings) -> SourceCodeLocationJobFacet | None:
    """The facet is for a URL of the web; from a path the client itself finds the repository."""
    url = _uri(redact(source)) if source.startswith(("http://", "https://")) else None
    return SourceCodeLocationJobFacet(type="git", url=url, producer=settings.producer) if url else None


def _schema(fields: Iterable[model.SchemaField], settings: FacetSettings) -> SchemaDatasetFacet | None:
    columns = [_field(field.name, field.type) for field in fields]
    return SchemaDatasetFacet(columns, producer=settings.producer) if columns else None


@lru_cache(maxsize=4096)
def _field(name: str, kind: str, depth: int = 0) -> SchemaDatasetFacetFields:
    """One object for equal columns, since a job reads and writes the same wide tables again and again."""
    within = (nested_fields(kind) if depth <= _DEEPEST else None) or ()
    fields = [_field(one.name, one.type, depth + 1) for one in within]
    return SchemaDatasetFacetFields(name, kind or None, fields=fields or None)


def _catalog(entry: model.CatalogEntry | None, settings: FacetSettings) -> CatalogDatasetFacet | None:
    if entry is None:
        return None
    return CatalogDatasetFacet(
        framework=entry.framework,
        type=entry.type,
        name=entry.name,
        metadataUri=redact(entry.metadata_uri) or None,
        warehouseUri=redact(entry.warehouse_uri) or None,
        source="spark",
        catalogProperties=None,
        producer=settings.producer,
    )


def _storage(storage: model.Storage | None, settings: FacetSettings) -> StorageDatasetFacet | None:
    if storage is None:
        return None
    return StorageDatasetFacet(storage.layer, storage.file_format or None, producer=settings.producer)


def _data_source(seen: model.DatasetDescription, settings: FacetSettings) -> DatasourceDatasetFacet:
    namespace = seen.dataset.namespace
    return DatasourceDatasetFacet(redact(seen.source) or namespace, _uri(namespace), producer=settings.producer)


def _uri(text: str) -> str | None:
    """The text as a URI (RFC 3986): ``file`` alone is none, nor is a path with spaces; None when it cannot be one."""
    quoted = quote(text, safe="/:@?&=+$,;~*'()!%#[]", errors="replace")
    scheme = _SCHEME.match(quoted)
    if not scheme:
        return None
    return quoted if scheme.end() < len(quoted) else f"{quoted}:/"


def _symlinks(symlinks: Iterable[model.Symlink], settings: FacetSettings) -> SymlinksDatasetFacet | None:
    names = [Identifier(link.dataset.namespace, link.dataset.name, link.type) for link in symlinks]
    return SymlinksDatasetFacet(names, producer=settings.producer) if names else None


def _lifecycle(seen: model.DatasetDescription, settings: FacetSettings) -> LifecycleStateChangeDatasetFacet | None:
    known = LifecycleStateChange.__members__.get(seen.lifecycle)
    if known is None:
        return None
    former = next((change.former for change in seen.names if change.present is not None), None)
    previous = PreviousIdentifier(former.name, former.namespace) if former else None
    return LifecycleStateChangeDatasetFacet(known, previous, producer=settings.producer)
