"""Edges as the ``inputFields`` of the ``columnLineage`` facet, 1-2-0: in the client's classes, and as JSON."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from functools import cache, lru_cache

import attr
import orjson
from openlineage.client.generated import column_lineage_dataset as wire

from headwater.model import Dependency, InputField, Subtype, Transformation
from headwater.openlineage.writing.facets import FacetSettings
from headwater.redaction import hold_no_literals, redact_literals

COARSE = Transformation(Subtype.TRANSFORMATION, opaque=True, description="an edge of the whole dataset, to save space")
"""The step of an edge that stands for all fields of its output."""

_OPAQUE = "opaque"
_NAMES = {subtype: (subtype.type.value, subtype.value) for subtype in Subtype}
_Names = tuple[str, str, str]
_Step = tuple[str, str, bool, bool, str]


@attr.define
class OpaqueTransformation(wire.Transformation):
    """A conservative edge: headwater could not see inside the step. The description says so, too."""

    opaque: bool = True


class EdgeWriter:
    """Turns the edges of a field into its input fields, each once, in order, with its transformations."""

    def __init__(self, settings: FacetSettings, redact: Callable[[str], str] = redact_literals) -> None:
        self._settings = settings
        self._redact = redact
        self._cached_step = cache(self._step)
        self._transformation = cache(_transformation)

    def input_fields(self, edges: Collection[Dependency]) -> list[wire.InputField]:
        """The input fields in the client's classes; equal transformations are one object, for there are few of them."""
        return [
            wire.InputField(*names, [self._transformation(step) for step in steps])
            for names, steps in self._by_input(edges)
        ]

    def text(self, edges: Collection[Dependency]) -> str:
        """The JSON of ``Fields``: what the client writes of `input_fields`."""
        if len(edges) == 1:  # as most columns of a wide frame have
            (edge,) = edges
            column, step = edge.input, edge.transformation
            text, marks = self._description(step), _marks_text(*_NAMES[step.subtype], step.masking, step.opaque)
            return f'{{"inputFields":[{_edge_text(*names_of(column), _step_text(text, marks))}]}}'
        parts = [
            _edge_text(*names, ",".join([_step_text(text, _marks_text(*marks)) for *marks, text in steps]))
            for names, steps in self._by_input(edges)
        ]
        return f'{{"inputFields":[{",".join(parts)}]}}'

    def _by_input(self, edges: Collection[Dependency]) -> Iterator[tuple[_Names, Collection[_Step]]]:
        by_input: defaultdict[_Names, set[_Step]] = defaultdict(set)
        for edge in edges:
            by_input[names_of(edge.input)].add(self._cached_step(edge.transformation))
        for names in sorted(by_input):
            yield names, sorted(by_input[names])

    def _step(self, step: Transformation) -> _Step:
        return (*_NAMES[step.subtype], step.masking, step.opaque, self._description(step))

    def _description(self, step: Transformation) -> str:
        """The text of the facet: redacted, shortened, or none."""
        text = step.description
        if text:
            text = self._redact(text) if self._settings.descriptions_enabled or step == COARSE else ""
        if len(text) > self._settings.max_description:
            text = text[: self._settings.max_description] + "…"
        if step.opaque:
            return f"{_OPAQUE}: {text}" if text else _OPAQUE
        return text


class FacetOfEdges(wire.ColumnLineageDatasetFacet):
    """The client's facet of edges, which makes its fields when they are looked at.

    `members` makes none of them, for a wide table has thousands.
    """

    def __init__(
        self, edges: Mapping[str, Set[Dependency]], on_dataset: Set[Dependency], settings: FacetSettings
    ) -> None:
        self._edges = edges
        self._settings = settings
        self._writer = EdgeWriter(settings)
        super().__init__({}, self._writer.input_fields(on_dataset) or None, producer=settings.producer)

    @property
    def fields(self) -> dict[str, wire.Fields]:
        """The input fields of each field."""
        return {name: wire.Fields(self._writer.input_fields(edges)) for name, edges in self._edges.items()}

    @fields.setter
    def fields(self, none: dict[str, wire.Fields]) -> None:
        """For the client's class, which sets all its attributes."""

    @property
    def members(self) -> dict[str, object]:
        """The members of the facet for the JSON encoder, the fields already as JSON.

        Of a wide frame most columns have one edge: the texts of those are looked at together.
        """
        single = {name: one for name, one in self._edges.items() if len(one) == 1}
        texts = [edge.transformation.description for one in single.values() for edge in one]
        plain = EdgeWriter(self._settings, str) if hold_no_literals(texts) else self._writer
        parts = [
            f"{quoted(name)}:{(plain if name in single else self._writer).text(edges)}"
            for name, edges in sorted(self._edges.items())
        ]
        base: dict[str, object] = {
            "_producer": self._producer,
            "_schemaURL": self._schemaURL,
            "fields": orjson.Fragment(f"{{{','.join(parts)}}}"),
        }
        return base | ({"dataset": self.dataset} if self.dataset else {})


def names_of(column: InputField) -> _Names:
    """Namespace, dataset and field: what input fields are ordered by."""
    return column.dataset.namespace, column.dataset.name, column.name


@lru_cache(maxsize=4096)
def quoted(text: str) -> str:
    """A text as JSON."""
    return orjson.dumps(text).decode()


def _transformation(step: _Step) -> wire.Transformation:
    kind, subtype, masking, opaque, description = step
    return (OpaqueTransformation if opaque else wire.Transformation)(kind, subtype, description or None, masking)


def _edge_text(namespace: str, dataset: str, field: str, steps: str) -> str:
    names = f'"field":{quoted(field)},"name":{quoted(dataset)},"namespace":{quoted(namespace)}'
    return f'{{{names},"transformations":[{steps}]}}'


def _step_text(description: str, marks: str) -> str:
    """The description is written by itself: of many columns each has another."""
    return f'{{"description":{orjson.dumps(description).decode()},{marks}}}' if description else f"{{{marks}}}"


@cache
def _marks_text(kind: str, subtype: str, masking: bool, opaque: bool) -> str:
    marks = {"masking": masking, "opaque": opaque, "subtype": subtype, "type": kind}
    return orjson.dumps({name: value for name, value in marks.items() if opaque or name != "opaque"}).decode()[1:-1]
