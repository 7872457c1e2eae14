"""The lineage of columns as values: columnLineage of all versions, and explicit lineage (LineageFacet 1-0-0).

Explicit lineage may have whole datasets and jobs as sources. A dataset of which no column is named gives an edge from
its field `WHOLE`, which stands for all of its columns, and a gap. The event's own job as a source means all datasets
that feed it. Of another job nobody knows which output is meant: it gives a gap.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from headwater.errors import EventError
from headwater.model import Dataset, Gap, InputField, Job, Subtype, Transformation
from headwater.model.names import twins_among
from headwater.openlineage.identifiers import COVERAGE, WRITE
from headwater.openlineage.reading.facets import dataset
from headwater.openlineage.reading.json_values import Part, Record, record, records, remembered_by_content, text


class Named(NamedTuple):
    """An edge by names; ``field`` is None for one that acts on all fields of the output."""

    field: str | None
    input: InputField
    transformation: Transformation


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class EncodedLineage:
    """The lineage of one output of an event.

    ``fields`` are the output's; ``sources`` has the names of the fields that edges start from, by dataset; ``inputs``
    are the same fields, each as the place of its dataset in ``sources`` and its name. Each of the ``edges`` is the
    place of a field, of an input and of a transformation; those of ``dataset``, which act on all fields, have no field.
    ``twins`` are the names in lower case that several of the fields have, ``references`` the datasets that the
    sender of the event does not own.
    """

    fields: tuple[str, ...]
    sources: Mapping[Dataset, tuple[str, ...]]
    inputs: tuple[tuple[int, str], ...]
    transformations: tuple[Transformation, ...]
    edges: tuple[tuple[int, int, int], ...]
    dataset: tuple[tuple[int, int], ...]
    twins: frozenset[str] = frozenset()
    references: frozenset[Dataset] = frozenset()

    def named(self) -> tuple[Named, ...]:
        """The edges by names, each once; last, without a field, those that act on all of them."""
        return tuple(dict.fromkeys(self._named()))

    def _named(self) -> Iterator[Named]:
        datasets = tuple(self.sources)
        inputs = [InputField(datasets[place], name) for place, name in self.inputs]
        for written, source, step in self.edges:
            yield Named(self.fields[written], inputs[source], self.transformations[step])
        for source, step in self.dataset:
            yield Named(None, inputs[source], self.transformations[step])


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

    def _is_own(self, entry: Record) -> bool:
        own, place = record(self.event, "job"), _place(entry)
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


def _is_job(entry: Record) -> bool:
    return text(entry, "type").upper() == "JOB"


def _place(entry: Record) -> tuple[str, str]:
    return text(entry, "namespace"), text(entry, "name")


_OLD_TYPES = {"IDENTITY": ("IDENTITY", False), "MASKED": ("TRANSFORMATION", True)}

Names = tuple[Any, ...]
"""The members of an input field."""


def column_lineage(output: Record, entry: Record) -> EncodedLineage | None:
    """The lineage of an output of an event, None when it has none.

    The explicit ``lineage``, whose entry of this output is ``entry``, goes before columnLineage (LineageFacet
    1-0-0, "Consumers"); where it names no column it goes after.

    Raises:
        EventError: a facet is there but is not what the specification says.
    """
    facet = record(output, "facets").get("columnLineage")
    if earlier := record(output, "outputFacets", WRITE, "earlier"):
        return _with_earlier(entry, facet, earlier)
    if not entry:  # as most
        return None if facet is None else _column_lineage(facet)
    if _names_columns(entry):
        return _explicit(entry)
    wholes = records(entry, "inputs")
    if facet is None:
        return _explicit(entry) if any(text(one, "field") for one in wholes) else None
    lineage = _column_lineage(facet)
    others = [one for one in wholes if text(one, "field") and dataset(one) not in lineage.sources]
    return _with_wholes(facet.value if isinstance(facet, Part) else facet, others) if others else lineage


def _with_earlier(entry: Record, facet: object, earlier: Record) -> EncodedLineage | None:
    """The lineage of a run, and of those of its job before it whose rows it has left there (``headwater_write``)."""
    if _names_columns(entry):
        own = entry
    elif facet is None:
        return None
    else:
        facet = facet.value if isinstance(facet, Part) else facet
        _require_fields(facet)
        own = record(facet)
    reading, names = _Reading(), record(own, "fields")
    spelled = {name.casefold(): name for name in names}
    for one in (own, earlier):
        for name, value in record(one, "fields").items():
            of_field = record(value)
            inputs = records(of_field.get("inputFields")) or _columns(records(of_field, "inputs"))
            reading.field(text(name if name in names else spelled.get(name.casefold(), name)), inputs, of_field)
    return reading.lineage([*_columns(records(own, "inputs")), *records(own, "dataset"), *records(earlier, "dataset")])


def _with_wholes(facet: Record, wholes: list[Record]) -> EncodedLineage:
    """The columnLineage facet, and datasets that it does not name and that feed the output all the same."""
    return _column_lineage({**facet, "dataset": [*records(facet, "dataset"), *wholes]})


def _names_columns(entry: Record) -> bool:
    """Whether an entry has columns; one of datasets alone goes after columnLineage."""
    return bool(record(entry, "fields")) or any(
        text(one, "field") not in ("", WHOLE) for one in records(entry, "inputs")
    )


@remembered_by_content(48 << 20)
def _explicit(entry: Record) -> EncodedLineage:
    reading = _Reading()
    for name, value in record(entry, "fields").items():
        reading.field(text(name), _columns(records(value, "inputs")), {})
    return reading.lineage(_columns(records(entry, "inputs")))


def _columns(inputs: list[Record]) -> list[Record]:
    """The sources that are columns."""
    return [one for one in inputs if text(one, "field")]


@remembered_by_content(48 << 20)
def _column_lineage(facet: object) -> EncodedLineage:
    """The columnLineage facet of an output dataset.

    Versions 1-0-0 to 1-2-0 are read; an input field without transformations counts as TRANSFORMATION,
    because its producer says that the value depends on it and not how.

    Raises:
        EventError: the facet is not an object with ``fields`` or ``dataset``.
    """
    _require_fields(facet)
    reading = _Reading()
    for name, value in record(facet, "fields").items():
        of_field = record(value)
        reading.field(text(name), records(of_field.get("inputFields")), of_field)
    return reading.lineage(records(facet, "dataset"))


def _require_fields(facet: object) -> None:
    if not isinstance(record(facet).get("fields", {}), dict) or not isinstance(facet, dict):
        raise EventError("The columnLineage facet is no object with an object `fields`. Correct the producer.")


class _Reading:
    """Reads a facet, in which the same few datasets and transformations stand again and again."""

    def __init__(self) -> None:
        self._fields: dict[str, int] = {}
        self._inputs = _Inputs()
        self._steps: dict[Transformation, int] = {}
        self._lists = _Lists(self._steps, "CONDITIONAL")
        self._edges: list[tuple[int, int, int]] = []

    def field(self, name: str, inputs: list[Record], field: Record) -> None:
        """Read the inputs of a field; ``field`` has its other members."""
        place = self._fields.setdefault(name, len(self._fields))
        self._edges += [(place, source, step) for source, step in self._pairs(inputs, field, self._lists)]

    def lineage(self, inputs: list[Record]) -> EncodedLineage:
        """The lineage of the fields that were read, and of inputs that act on all of them.

        A DIRECT edge to all fields is opaque: its producer did not look into what made them.
        """
        of_all = self._pairs(inputs, {}, _Lists(self._steps, "FILTER", opaque=True))
        return EncodedLineage(
            tuple(self._fields),
            self._inputs.sources,
            tuple(self._inputs.all),
            tuple(self._steps),
            tuple(dict.fromkeys(self._edges)),
            tuple(dict.fromkeys(of_all)),
            twins_among(self._fields),
        )

    def _pairs(self, inputs: list[Record], field: Record, lists: "_Lists") -> list[tuple[int, int]]:
        """The place of each input with that of each of its transformations."""
        return [
            (self._inputs.place(one), step)
            for one in inputs
            for step in lists.places(one.get("transformations")) or lists.old(field)
        ]


class _Inputs:
    """The input fields that were read, each with its place: that of its dataset, and its name."""

    def __init__(self) -> None:
        self.all: list[tuple[int, str]] = []
        self._known: dict[Names, int] = {}
        self._names: dict[Dataset, tuple[int, dict[str, None]]] = {}
        self._sources: dict[Names, tuple[int, dict[str, None]]] = {}

    @property
    def sources(self) -> dict[Dataset, tuple[str, ...]]:
        """The names of the fields by dataset."""
        return {owner: tuple(names) for owner, (_, names) in self._names.items()}

    def place(self, input_field: Record) -> int:
        """The place of an input field.

        Raises:
            EventError: it names no dataset or no field.
        """
        named = input_field.get("namespace"), input_field.get("name"), input_field.get("field")
        try:
            place = self._known.get(named)
        except TypeError:  # a list or an object, which has no hash
            raise EventError(
                f"An input field is {str(named)[:60]}: expected a column's name and those of its dataset."
            ) from None
        if place is None:
            place = self._known[named] = self._add(*named)
        return place

    def _add(self, namespace: Any, name: Any, field: Any) -> int:
        named = text(field)
        if not named:
            raise EventError(
                f"An input field of {namespace}/{name} has field {field!r}: "
                "expected a column's name. Correct the producer."
            )
        place, names = self._sources.get((namespace, name)) or self._source(namespace, name)
        names[named] = None
        self.all.append((place, named))
        return len(self.all) - 1

    def _source(self, *named: Any) -> tuple[int, dict[str, None]]:
        owner = dataset(dict(zip(("namespace", "name"), named, strict=True)))
        source = self._sources[named] = self._names.setdefault(owner, (len(self._names), {}))
        return source


class _Lists:
    """Lists of transformations that were read, each of which has a place.

    ``unnamed`` is the subtype of INDIRECT ones that have none. With ``opaque`` all DIRECT ones are opaque.
    """

    def __init__(self, places: dict[Transformation, int], unnamed: str, *, opaque: bool = False) -> None:
        self._places = places
        self._unnamed = unnamed
        self._opaque = opaque
        self._known: dict[bytes, list[int]] = {}

    def places(self, listed: object) -> list[int]:
        """The places of the transformations in a list."""
        try:
            key = orjson.dumps(listed)  # which is quicker than to read it
        except orjson.JSONEncodeError:
            return self._read(listed)
        if key not in self._known:
            self._known[key] = self._read(listed)
        return self._known[key]

    def old(self, field: Record) -> list[int]:
        """The place of the one transformation that facet 1-0-0 has of a field (``transformationType``)."""
        subtype, masking = _OLD_TYPES.get(text(field, "transformationType").upper(), ("TRANSFORMATION", False))
        step = Transformation(Subtype(subtype), masking, False, text(field, "transformationDescription"))
        return [self._place(step)]

    def _read(self, listed: object) -> list[int]:
        return [self._place(transformation(one, self._unnamed)) for one in records(listed)]

    def _place(self, step: Transformation) -> int:
        step = replace(step, opaque=True) if self._opaque and step.direct else step
        return self._places.setdefault(step, len(self._places))


def transformation(step: Record, unnamed: str) -> Transformation:
    """The transformation that a facet has of an input field; an INDIRECT one without a subtype is ``unnamed``."""
    found = _subtype(text(step, "type"), text(step, "subtype"), unnamed)
    return Transformation(found, step.get("masking") is True, step.get("opaque") is True, text(step, "description"))


def _subtype(kind: str, subtype: str, unnamed: str) -> Subtype:
    try:
        return Subtype(subtype.upper())
    except ValueError:
        return Subtype(unnamed) if kind.upper() == "INDIRECT" else Subtype.TRANSFORMATION
