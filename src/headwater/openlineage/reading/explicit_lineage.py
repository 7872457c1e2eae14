"""Sources in the explicit ``lineage`` facets (LineageFacet 1-0-0) that are no columns: whole datasets, and jobs.

A dataset of which no column is named gives an edge from the field `WHOLE` of it, which stands for every column that it
has, and a gap. The event's own job stands for all that feeds it; of another job it is not known which of its outputs is
meant: a gap says so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from headwater.model import Dataset, Gap, Job
from headwater.openlineage.identifiers import COVERAGE
from headwater.openlineage.reading.encoded_lineage import EncodedLineage
from headwater.openlineage.reading.json_values import Record, record, records, text

WHOLE = "*"
"""The name of the field that stands for every column of a dataset."""

_STEP = {
    "type": "DIRECT",
    "subtype": "TRANSFORMATION",
    "description": "the event names the dataset, and no column of it",
}
_WHY = "the event names the dataset as a source, and no column of it: each column of it is taken to go in"


@dataclass
class ExplicitLineage:
    """The explicit ``lineage`` facets of one event; ``gaps`` are of the outputs whose entries were read.

    Events of headwater list in theirs also datasets of which no column goes in: they have gaps of their own, in the
    coverage facet, and nothing is added to them.
    """

    event: Record
    gaps: list[Gap] = field(default_factory=list)

    def entry(self, item: Record, output: Dataset) -> Record:
        """The entry of an output, each source as a column; empty where no facet has one.

        The facet of the dataset goes before that of the job.
        """
        entry = record(item, "facets", "lineage") or self._entries.get(output, {})
        if not entry or record(self.event, "run", "facets", COVERAGE):
            return entry
        fields = record(entry, "fields")
        of_fields = {text(name): self._sources(records(one, "inputs"), output) for name, one in fields.items()}
        whole = self._sources(records(entry, "inputs"), output)
        named = {_place(one) for some in (whole, *of_fields.values()) for one in some if one["field"] != WHOLE}
        # Columns of a dataset are finer than the dataset as a whole beside them.
        of_dataset = [one for one in whole if one["field"] != WHOLE or _place(one) not in named]
        return {"inputs": of_dataset, "fields": {name: {"inputs": some} for name, some in of_fields.items()}}

    @cached_property
    def _entries(self) -> dict[Dataset, Record]:
        """The entries of the job's facet by dataset."""
        entries = records(self.event, "job", "facets", "lineage", "entries")
        return {Dataset(text(one, "namespace"), text(one, "name")): one for one in entries if not _is_job(one)}

    def _sources(self, inputs: Iterable[Record], output: Dataset) -> list[Record]:
        return [source for one in inputs for source in self._columns(one, output)]

    def _columns(self, source: Record, output: Dataset) -> Iterator[Record]:
        if not _is_job(source):
            yield source if text(source, "field") else _whole(source)
        elif self._is_own(source):
            yield from map(_whole, self._read())
        else:
            job = Job(text(source, "namespace"), text(source, "name"))
            why = "the event names a job as a source, and not which of its outputs is read"
            self.gaps.append(Gap("facet", f"{job.namespace}/{job.name}", why, str(output)))

    def _is_own(self, one: Record) -> bool:
        own, place = record(self.event, "job"), _place(one)
        return place in (("", ""), (text(own, "namespace"), text(own, "name")))

    def _read(self) -> list[Record]:
        """The datasets that feed the event's job: those that its own entry names, else all inputs."""
        entries = records(self.event, "job", "facets", "lineage", "entries")
        sources = [
            one for entry in entries if _is_job(entry) and self._is_own(entry) for one in records(entry, "inputs")
        ]
        return [one for one in sources if not _is_job(one)] or records(self.event, "inputs")


def whole_sources(lineage: EncodedLineage | None, output: Dataset) -> list[Gap]:
    """A gap for each dataset that stands as a whole in the lineage of an output."""
    sources = {} if lineage is None else lineage.sources
    return [Gap("opaque", str(one), _WHY, str(output)) for one, names in sources.items() if WHOLE in names]


def _whole(source: Record) -> Record:
    steps = records(source, "transformations") or [_STEP]
    named = {"namespace": source.get("namespace"), "name": source.get("name"), "field": text(source, "field") or WHOLE}
    return named | {"transformations": [one | {"opaque": True} for one in steps]}


def _is_job(one: Record) -> bool:
    return text(one, "type").upper() == "JOB"


def _place(one: Record) -> tuple[str, str]:
    return text(one, "namespace"), text(one, "name")
