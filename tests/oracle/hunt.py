"""Generated pipelines, looked at one by one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.extract.case_file import Case
from tests.extract.case_run import run
from tests.extract.case_tables import active, session_of_its_own, spark_for_cases
from tests.extract.edge_text import edges_of, render
from tests.extract.recordings import LivePlans, lineage
from tests.oracle import frames, queries
from tests.oracle.judging import Verdict, examine
from tests.oracle.live import SETTINGS, LiveExperiment, World
from tests.oracle.pipelines import Pipeline, pipelines
from tests.oracle.tally import Tally
from tests.oracle.written import Files, WrittenExperiment

from headwater.model import ColumnLineage

STEPS = {**queries.STEPS, **frames.STEPS}
PRELUDES = {**queries.PRELUDES, **frames.PRELUDES}
GENERATED = pipelines(STEPS, PRELUDES)


class MissingEdge(AssertionError):
    """A change showed where no edge is; the message has the query, the change and the edges."""


class Oracle:
    """Two sessions of one Spark: in one the tables are real, for lineage; in the other they are live."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._plans = LivePlans(spark, folder)
        self._real, self._changeable = spark, spark.newSession()
        self._world = World(spark)
        self._world.show_in(self._changeable)
        self.files = Files(spark, self._world, self._changeable, folder)

    def experiment(self, build: Callable[[Any], Any]) -> LiveExperiment:
        """The experiment on a DataFrame that ``build`` makes in a session."""
        with active(self._real):
            lineage = self._plans.lineage_of(build(self._real))
        with active(self._changeable):
            return LiveExperiment(self._world, build(self._changeable), lineage)

    def clean_experiment(self, build: Callable[[Any], Any]) -> LiveExperiment:
        """The same in sessions of its own, for what leaves views, functions and settings behind."""
        with session_of_its_own(self._real) as session:
            lineage = self._plans.lineage_of(build(session))
        with session_of_its_own(self._real) as session:
            self._world.show_in(session)
            return LiveExperiment(self._world, build(session), lineage)

    def written_experiment(self, case: Case) -> WrittenExperiment:
        """The experiment on a case that writes its output."""
        found = lineage(case, self._plans.plan(case))
        assert found is not None
        return WrittenExperiment(self.files, case, found[0])


def look(oracle: Oracle, pipeline: Pipeline, tally: Tally, *, tightness: bool = False) -> None:
    """Examine one pipeline, unless it came before.

    Raises:
        MissingEdge: a change shows where no edge is.
    """
    if not tally.is_new(pipeline.case.code):
        return
    try:
        experiment = oracle.experiment(lambda session: run(pipeline.case, session, Path()))
        verdict = examine(experiment, tightness=tightness)
    except Exception as error:
        tally.refused("", error)
        return
    tally.add(verdict, pipeline.used)
    if verdict.missing:
        tally.missing.append(told(pipeline.case.code, experiment.lineage, verdict))
        raise MissingEdge(tally.missing[-1])


def told(code: str, lineage: ColumnLineage, verdict: Verdict) -> str:
    """A missing edge with all that is needed to see it."""
    return "\n".join((code, "---", render(edges_of(lineage)), *map(str, verdict.missing)))


def hunt(oracle: Oracle, tally: Tally, count: int, start: int, tightness_of: int = 0) -> None:
    """Examine ``count`` pipelines from the seed ``start``; the first missing edge is made small and raised.

    Of every ``tightness_of`` pipelines one is also asked which of its edges show.
    """

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(GENERATED)
    def examined(pipeline: Pipeline) -> None:
        wanted = tightness_of > 0 and tally.looked_at % tightness_of == 0
        look(oracle, pipeline, tally, tightness=wanted)

    examined()


@contextmanager
def oracle(more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Oracle]:
    """An oracle on a Spark of its own, with ``more`` settings."""
    with TemporaryDirectory() as folder, spark_for_cases(Path(folder), {**SETTINGS, **more}) as spark:
        yield Oracle(spark, Path(folder))
