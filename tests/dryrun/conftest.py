"""Jobs in a folder with data, run dry by the command line and run as they are."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.capture.conftest import PYTHON, SPARK, Ended, Jobs
from tests.dryrun.sealed import can_seal, sealed, temporary

from headwater.openlineage.reading.events import read_event

Edges = dict[str, set[tuple[str, str, str]]]

LAKE = f"""{SPARK}
orders = spark.createDataFrame(
    [(1, "DE", 2, 9.5), (2, "FR", 1, 3.0)], "id int, country string, qty int, amount double"
)
orders.write.parquet("lake/orders")
orders.select("country", "id").write.csv("lake/countries", header=True)
orders.select("id", "qty").write.json("lake/quantities")
"""


class DryJobs(Jobs):
    """Jobs beside a lake with data; ``state`` is a digest of every file of the folder."""

    def fill(self) -> "DryJobs":
        self.write(LAKE, "lake.py")
        assert self.plain("lake.py").code == 0
        return self

    def plan(self, *words: object) -> Ended:
        """A plan of a job, on a sealed machine where the user may have that and no store is written."""
        free = self.folder.with_name(f"{self.folder.name}.free")
        free.mkdir(exist_ok=True)
        command: list[object] = [PYTHON, "-m", "headwater", "plan", *words]
        if can_seal(free) and "--store" not in words:
            command = list(sealed(free, command))
        return self.run(command, environment=temporary(free))

    def planned(self, *words: object) -> dict[str, Any]:
        """The JSON document of a plan, with its exit code and what was on standard error."""
        ended = self.plan("--format", "json", *words)
        assert ended.out, ended.err
        return {**json.loads(ended.out), "code": ended.code, "err": ended.err[-3000:]}

    def run_edges(self, *job: object) -> Edges:
        """The edges that a real run of the job has."""
        ended = self.watched(*job)
        assert ended.code == 0, ended.err
        return edges([event for event in self.events() if event["eventType"] == "COMPLETE"])

    def state(self) -> dict[str, str]:
        files = sorted(self.folder.rglob("*"))
        return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "" for file in files}


def edges(events: Sequence[Mapping[str, Any]]) -> Edges:
    """By output, each edge as the column (``*`` for all), the input column and the subtype."""
    found: Edges = {}
    for event in events:
        for output in read_event(event).outputs:
            named = output.lineage.named() if output.lineage else ()
            found.setdefault(output.description.dataset.name, set()).update(
                (one.field or "*", f"{one.input.dataset.name}.{one.input.name}", one.transformation.subtype.value)
                for one in named
            )
    return found


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> DryJobs:
    return DryJobs(tmp_path_factory.mktemp("dry")).fill()
