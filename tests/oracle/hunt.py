"""Generated pipelines, looked at one by one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy
from tests.extract.case_file import Case
from tests.extract.case_run import run
from tests.extract.case_tables import active, session_of_its_own, spark_for_cases
from tests.extract.edge_text import edges_of, render
from tests.extract.recordings import LivePlans, lineage
from tests.oracle import frames, queries
from tests.oracle.judging import Verdict, examine
from tests.oracle.live import SETTINGS, LiveExperiment, World
from tests.oracle.pipelines import Pipeline, pipelines
from tests.oracle.places import placed
from tests.oracle.tally import Tally
from tests.oracle.written import Files, WrittenExperiment

from headwater.model import ColumnLineage

STEPS = {**queries.STEPS, **frames.STEPS}
PRELUDES = {**queries.PRELUDES, **frames.PRELUDES}
GENERATED, PLACED = pipelines(STEPS, PRELUDES), placed()


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
            real = build(self._real)
            lineage = self._plans.lineage_of(real)
        with active(self._changeable):
            return LiveExperiment(self._world, build(self._changeable), lineage, lambda: self._optimized(real))

    def clean_experiment(self, build: Callable[[Any], Any]) -> LiveExperiment:
        """The same in sessions of its own, for what leaves views, functions and settings behind."""
        with session_of_its_own(self._real) as session:
            real = build(session)
            lineage = self._plans.lineage_of(real)
        with session_of_its_own(self._real) as session:
            self._world.show_in(session)
            return LiveExperiment(self._world, build(session), lineage, lambda: self._optimized(real))

    def _optimized(self, frame: Any) -> ColumnLineage:
        """The lineage of what Spark's optimizer makes of a DataFrame: from what it reads then, and nothing else."""
        from pyspark.sql.classic.dataframe import DataFrame

        plan = frame._jdf.queryExecution().optimizedPlan()
        return self._plans.lineage_of(DataFrame(self._world.dataset(plan, frame.sparkSession), frame.sparkSession))

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
        tally.seen.discard(pipeline.case.code)  # it is looked at again while it is made small
        raise MissingEdge(shown(pipeline.case.code, experiment.lineage, verdict))


def shown(code: str, lineage: ColumnLineage, verdict: Verdict) -> str:
    """A missing edge with all that is needed to see it."""
    return "\n".join((code, "---", render(edges_of(lineage)), *map(str, verdict.missing)))


def hunt(
    oracle: Oracle,
    tally: Tally,
    count: int,
    start: int,
    *,
    generated: SearchStrategy[Pipeline] = GENERATED,
    tightness: bool = False,
) -> None:
    """Examine ``count`` pipelines from the seed ``start``; the first missing edge is made small and raised.

    With ``tightness`` they are also asked which of their edges show.
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
    @given(generated)
    def examined(pipeline: Pipeline) -> None:
        look(oracle, pipeline, tally, tightness=tightness)

    try:
        examined()
    except MissingEdge as found:
        tally.missing.append(str(found))
        raise


@contextmanager
def oracle(more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Oracle]:
    """An oracle on a Spark of its own, with ``more`` settings."""
    with TemporaryDirectory() as folder, spark_for_cases(Path(folder), {**SETTINGS, **more}) as spark:
        yield Oracle(spark, Path(folder))
