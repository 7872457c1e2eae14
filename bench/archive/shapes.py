"""The lineage of the jobs of a synthetic archive: layers, hubs, cycles, changes, other names and renames.

Each job writes a dataset of 25 columns from three others, by 50 edges between columns and two to the whole dataset.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

LAYERS = 12
WIDTH = 25
"""Columns of a dataset."""

EDGES = 50
"""Edges to columns in an event."""

LAKE, HIVE = "s3://lake", "hive://metastore"
SUBTYPES = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
_INPUTS = 3
_NEAR = 12  # datasets between which inputs are drawn: else all would be upstream of all
_HUBS = 50  # one dataset in so many is read by many
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """So many ``events``, each job with so many ``runs``, one every hour, and two events a run.

    ``skew`` is the share of all edges to columns that one dataset is in, as their input or their output.
    """

    events: int
    runs: int = 50
    skew: float = 0.0
    seed: int = 1

    @property
    def jobs(self) -> int:
        """Jobs, each with an output of its own; beside the one that runs more often than once an hour."""
        return max(LAYERS - 1, round(self.events * (1 - self.half) / 2 / self.runs))

    @property
    def half(self) -> float:
        """The share of runs that write the one dataset, and of the edges of the others that read it."""
        return float(1 - (1 - self.skew) ** 0.5)

    @property
    def often(self) -> int:
        """Runs in an hour of the job that writes the one dataset."""
        return round(self.jobs * self.half / (1 - self.half))

    @property
    def width(self) -> int:
        """Datasets of one layer."""
        return -(-self.jobs // (LAYERS - 1))

    @property
    def datasets(self) -> int:
        """All datasets; the last is the one with the skew."""
        return self.width * LAYERS + 1


class Dataset(NamedTuple):
    """The name of a dataset, and the other name that readers use."""

    name: str
    other: str = ""


class Names:
    """The names of the datasets of a shape; some get new ones."""

    def __init__(self, shape: Shape) -> None:
        self._names = [_first_name(number, shape.width) for number in range(shape.datasets)]

    def __getitem__(self, number: int) -> Dataset:
        return self._names[number]

    def rename(self, number: int) -> tuple[str, str]:
        """Rename a dataset; returns its former and its present name."""
        former = self._names[number].name
        self._names[number] = Dataset(f"{former}_v2")
        return former, self._names[number].name


def _first_name(number: int, width: int) -> Dataset:
    layer, place = divmod(number, width)
    other = f"lake.table_{layer:02}_{place:05}" if place % 10 == 3 else ""
    return Dataset(f"/lake/layer_{layer:02}/table_{place:05}", other)


def renamed_at(shape: Shape, number: int) -> int | None:
    """The hour at which a dataset gets another name: one in twenty does, none of those with two names."""
    chance = random.Random(f"{shape.seed} rename {number}")
    return chance.randrange(1, shape.runs) if number % shape.width % 20 == 7 and shape.runs > 1 else None


class Job:
    """A job with the inputs and edges of its output, which change now and then, and these as JSON."""

    def __init__(self, shape: Shape, number: int) -> None:
        self._chance = random.Random(f"{shape.seed} job {number}")
        self._shape = shape
        self.number = number
        self.output = shape.datasets - 1 if number == shape.jobs else number + shape.width
        self.inputs = self._drawn()
        self._columns = [self._column(place) for place in range(WIDTH)]
        self._cached: tuple[tuple[Dataset, ...], bytes] | None = None

    @cached_property
    def name(self) -> str:
        """The name of the job."""
        return f"make_{self.output:06}"

    def change(self) -> None:
        """Change the edges to one of its columns."""
        place = self._chance.randrange(WIDTH)
        self._columns[place] = self._column(place)
        self._cached = None

    def lineage(self, names: Names) -> bytes:
        """The inputs and outputs of events, as members of a JSON object."""
        called = (*(names[one] for one in self.inputs), names[self.output])
        if self._cached is None or self._cached[0] != called:
            self._cached = (called, self._text(*called))
        return self._cached[1]

    def _drawn(self) -> list[int]:
        """Near datasets of the layer before, now and then a hub of it or one downstream of the output."""
        shape, chance = self._shape, self._chance
        layer, place = divmod(self.output, shape.width)
        if layer >= LAYERS:
            return list(range(_INPUTS))
        low = max(0, min(place - _NEAR // 2, shape.width - _NEAR))
        found = [(layer - 1) * shape.width + low + chance.randrange(min(_NEAR, shape.width)) for _ in range(_INPUTS)]
        if chance.random() < 0.1:
            found[1] = (layer - 1) * shape.width + chance.randrange(-(-shape.width // _HUBS)) * _HUBS
        if chance.random() < 0.02:
            found[2] = min(layer + chance.randrange(3), LAYERS - 1) * shape.width + place
        return found

    def _column(self, place: int) -> list[tuple[int, int, str]]:
        """The edges to a column: input, its column, subtype. Two on average."""
        chance, one = self._chance, self._shape.datasets - 1
        count = 2 if place == WIDTH - 1 else place % 3 + 1
        first = chance.randrange(WIDTH)
        edges = []
        for number in range(count):
            source = self.inputs[(place + number) % _INPUTS]
            is_skewed = self.output != one and chance.random() < self._shape.half
            column = (first + 7 * number) % WIDTH
            edges.append((one if is_skewed else source, column, chance.choice(SUBTYPES)))
        return edges

    def _text(self, *called: Dataset) -> bytes:
        *sources, output = called
        by_number = dict(zip(self.inputs, sources, strict=True))
        by_number[self._shape.datasets - 1] = Dataset(_first_name(self._shape.datasets - 1, self._shape.width).name)
        fields = {
            f"c{place}": {"inputFields": [_input(by_number[one], self.number, *how) for one, *how in edges]}
            for place, edges in enumerate(self._columns)
        }
        whole = [_input(sources[0], self.number, 0, "FILTER"), _input(sources[1], self.number, 1, "JOIN")]
        facets: Json = {"columnLineage": {"fields": fields, "dataset": whole}, "schema": {"fields": _SCHEMA}}
        if output.other:
            links = [{"namespace": HIVE, "name": output.other, "type": "TABLE"}]
            facets["symlinks"] = {"identifiers": links}
        inputs = [{"namespace": LAKE, "name": one.name} for one in sources]
        outputs = [{"namespace": LAKE, "name": output.name, "facets": facets}]
        return json.dumps({"inputs": inputs, "outputs": outputs}, separators=(",", ":"))[1:-1].encode()


_SCHEMA = [{"name": f"c{place}", "type": "string" if place % 3 else "bigint"} for place in range(WIDTH)]


def _input(source: Dataset, job: int, column: int, subtype: str) -> Json:
    """An input field; every other job uses the other name of a dataset, if it has one."""
    namespace, name = (HIVE, source.other) if source.other and job % 2 else (LAKE, source.name)
    kind = "DIRECT" if subtype in SUBTYPES else "INDIRECT"
    transformation = {"type": kind, "subtype": subtype, "description": "", "masking": False}
    return {"namespace": namespace, "name": name, "field": f"c{column}", "transformations": [transformation]}


def jobs_of(shape: Shape) -> Sequence[Job]:
    """The jobs; with skew the last is the one that runs all the time."""
    return [Job(shape, number) for number in range(shape.jobs + (shape.often > 0))]
