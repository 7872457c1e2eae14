"""Facets that extensions and connectors give to a dataset, beside those that headwater makes itself.

Where both have one of a name, headwater's own stands, because its edges and its schema go together; but of the source
of a dataset and of what a write did to it (`THEIRS_FIRST`) the one who makes it knows more. `OURS_ONLY`: never taken.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, TypeVar

from openlineage.client.generated.base import BaseFacet, DatasetFacet, InputDatasetFacet, OutputDatasetFacet

from headwater.model import DatasetDescription, Facet, Gap
from headwater.openlineage.identifiers import NAMES, NESTED, WRITE
from headwater.redaction import redact_json

THEIRS_FIRST = frozenset({"dataSource", "lifecycleStateChange"})
OURS_ONLY = frozenset({"columnLineage", NAMES, NESTED, WRITE})

_BASES: Mapping[str, type[BaseFacet]] = {
    "dataset": DatasetFacet,
    "input": InputDatasetFacet,
    "output": OutputDatasetFacet,
}
_OF_ALL = ("_producer", "_schemaURL")
_LISTS = {"schema": "fields", "symlinks": "identifiers"}
_Own = TypeVar("_Own")


def with_extension_facets(
    facets: Mapping[str, _Own], seen: DatasetDescription, of: str, disabled: frozenset[str], producer: str
) -> dict[str, Any]:
    """Return ``facets`` and those of extensions, ``of`` a dataset itself or of an input or output of this run.

    Those named in ``disabled`` are left out, and those that are no JSON objects, which `facet_gaps` reports.
    """
    found: dict[str, Any] = dict(facets)
    for facet in seen.facets:
        content = _content(facet)
        usable = facet.of == of and content is not None and facet.name not in disabled | OURS_ONLY
        if usable and (facet.name not in facets or facet.name in THEIRS_FIRST):
            found[facet.name] = _base(of, producer) | (content or {})
    return found


def facet_gaps(datasets: Iterable[DatasetDescription]) -> tuple[Gap, ...]:
    """A gap for each facet that is no JSON object, or is of something that no dataset has."""
    return tuple(
        Gap("extension", facet.name, f"the facet of {seen.dataset} is no JSON object: it is left out")
        for seen in datasets
        for facet in seen.facets
        if _content(facet) is None or facet.of not in _BASES
    )


def _base(of: str, producer: str) -> dict[str, Any]:
    """The members that every facet has."""
    base = _BASES[of](producer=producer)
    return {"_producer": base._producer, "_schemaURL": base._schemaURL}


@lru_cache(maxsize=256)
def _content(facet: Facet) -> dict[str, Any] | None:
    try:
        content = json.loads(facet.content, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not facet.name or not _is_of_its_shape(facet.name, content):
        return None
    known = {name: value for name, value in content.items() if name not in _OF_ALL or isinstance(value, str)}
    redacted: dict[str, Any] = redact_json(known)
    return redacted


def _is_of_its_shape(name: str, content: Mapping[str, Any]) -> bool:
    """Whether what names things by a list has one: a consumer may refuse the whole event else."""
    if name not in _LISTS:
        return True
    items = content.get(_LISTS[name])
    return isinstance(items, list) and all(isinstance(one, dict) and isinstance(one.get("name"), str) for one in items)


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    return float(text) if isfinite(float(text)) else _refused(text)
