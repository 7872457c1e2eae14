"""Owners and tags that a configuration gives to jobs and runs (``job.owners``, ``job.tags``, ``run.tags``)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from openlineage.client.generated.ownership_job import Owner, OwnershipJobFacet
from openlineage.client.generated.tags_job import TagsJobFacet, TagsJobFacetFields
from openlineage.client.generated.tags_run import TagsRunFacet, TagsRunFacetFields

from headwater.redaction import MASK, is_secret, redact

_BETWEEN_TAGS = re.compile(r"(?<!\\);")
_BETWEEN_PARTS = re.compile(r"(?<!\\):")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of a job or run; its value and source are those of the Spark integration where none is set."""

    key: str
    value: str = "true"
    source: str = "CONFIG"


def tags_from(text: str) -> tuple[Tag, ...]:
    r"""The tags ``key``, ``key:value`` or ``key:value:source`` with semicolons between; a backslash escapes both.

    >>> [(tag.key, tag.value, tag.source) for tag in tags_from(r"nightly;env:prod;team:a\:b:HR")]
    [('nightly', 'true', 'CONFIG'), ('env', 'prod', 'CONFIG'), ('team', 'a:b', 'HR')]
    """
    return tuple(_tag(one) for one in _BETWEEN_TAGS.split(text.strip().strip("[]")) if one.strip())


def _tag(text: str) -> Tag:
    parts = [re.sub(r"\\([:;])", r"\1", part).strip() for part in _BETWEEN_PARTS.split(text)]
    if len(parts) > 1 and is_secret(parts[0]):
        parts[1] = MASK
    return Tag(*map(redact, parts[:3]))


def owners_from(keys: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The owners of keys ``job.owners.<type>``, as (type, name).

    >>> owners_from({"job.owners.team": "Sales", "job.tags": "a"})
    (('team', 'Sales'),)
    """
    prefix = "job.owners."
    return tuple(
        (key.removeprefix(prefix), redact(name)) for key, name in sorted(keys.items()) if key.startswith(prefix)
    )


def tags_job_facet(tags: tuple[Tag, ...], producer: str) -> TagsJobFacet | None:
    """The facet of a job's tags (TagsJobFacet 1-0-0); None without tags."""
    fields = [TagsJobFacetFields(tag.key, tag.value, tag.source) for tag in tags]
    return TagsJobFacet(fields, producer=producer) if fields else None


def tags_run_facet(tags: tuple[Tag, ...], producer: str) -> TagsRunFacet | None:
    """The facet of a run's tags (TagsRunFacet 1-0-0); None without tags."""
    fields = [TagsRunFacetFields(tag.key, tag.value, tag.source) for tag in tags]
    return TagsRunFacet(fields, producer=producer) if fields else None


def ownership_facet(owners: tuple[tuple[str, str], ...], producer: str) -> OwnershipJobFacet | None:
    """The facet of a job's owners (OwnershipJobFacet 1-0-1); None without owners."""
    found = [Owner(name, kind) for kind, name in owners]
    return OwnershipJobFacet(found, producer=producer) if found else None
