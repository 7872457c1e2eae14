"""The three tables in Spark's memory, so that their values can be changed under a query that is already analyzed.

A relation of rows in memory (LocalRelation) keeps an array of rows; a change copies other cells into them. Each run
makes a new physical plan of the analyzed query. Spark's scheduler takes longer to serialize the task of so small a
query than the query takes, so a plan without exchanges is computed here, in the driver's own thread.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import MappingProxyType
from typing import Any

from tests.class_archive import QUICK
from tests.oracle.judging import ORDER, Result
from tests.oracle.rows import CHANGES, SCATTERED, SOURCES, TABLES, Places, Source, Table

from headwater.model import ColumnLineage

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "spark.driver.extraJavaOptions": QUICK,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    }
)
"""A query of a few rows spends its time on compiling: of generated code, and of Spark itself."""

INTERPRETED = {"spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""For the live tables alone: PySpark's catalog cannot be listed with it."""

SCHEDULED = ("Exchange", "Python", "Pandas", "Arrow", "Cartesian", "FileScan", "BatchScan", "ExistingRDD", "InMemory")
HIDDEN = ("RDD", "InMemory")
"""Nodes that do not show what they read."""

TASK = 2**40
Lineage = Callable[[], ColumnLineage]

KINDS = ("few", "any", "whole rows")
"""Databases at random: cells of few values, cells of any, and few rows again and again."""

CELL, NULL = "\x01", "\x00"


class LiveTable:
    """One table whose cells can be changed; ``relation`` is its plan, of one partition."""

    def __init__(self, spark: Any, table: Table) -> None:
        jvm = spark._jvm
        plans = jvm.org.apache.spark.sql.catalyst.plans.logical
        self.count = count = len(table.rows)
        rows = self._rows(spark, table)[:count]
        self._stock = [row.values() for row in self._rows(spark, table)]
        self._cells = [row.values() for row in rows]
        self._copy = jvm.java.lang.System.arraycopy
        self._forth, self._back, self._live = (
            spark.sparkContext._gateway.new_array(jvm.java.lang.Object, count) for _ in range(3)
        )
        for place, row in enumerate(rows):
            self._live[place] = self._forth[place] = self._back[count - 1 - place] = row
        full = self._relation(spark, table)
        parts = spark.sparkContext._gateway.new_array(jvm.java.lang.Object, full.productArity())
        for place in range(full.productArity()):
            parts[place] = full.productElement(place)
        parts[1] = jvm.scala.collection.immutable.ArraySeq.unsafeWrapArray(self._live)
        self.relation = plans.Repartition(1, False, full.makeCopy(parts))
        self._columns = {name: place for place, name in enumerate(table.columns)}

    def change(self, column: str, places: Places) -> None:
        """Give the rows of the table the values at ``places``."""
        cell = self._columns[column]
        for cells, place in zip(self._cells, places, strict=True):
            self._copy(self._stock[place], cell, cells, cell, 1)

    def turn(self, back: bool) -> None:
        """Put the rows from the last to the first, or as they were."""
        self._copy(self._back if back else self._forth, 0, self._live, 0, self.count)

    def _relation(self, spark: Any, table: Table) -> Any:
        return spark.sql(table.query)._jdf.queryExecution().optimizedPlan()

    def _rows(self, spark: Any, table: Table) -> list[Any]:
        data = self._relation(spark, table).data()
        return [data.apply(place) for place in range(data.size())]


class Local:
    """Computes plans without exchanges in the driver's thread, as a task would."""

    def __init__(self, spark: Any) -> None:
        jvm = spark._jvm
        self._contexts = _module(jvm, "org.apache.spark.TaskContext$")
        self._metrics = _module(jvm, "org.apache.spark.executor.TaskMetrics$")
        self._nobody, self._nothing = (
            _module(jvm, "scala.None$"),
            _module(jvm, "scala.collection.immutable.Map$").empty(),
        )
        self._properties = jvm.java.util.Properties()  # a task takes its settings from here (SQLConf.get)
        for key, value in {**dict(spark.sparkContext.getConf().getAll()), **INTERPRETED}.items():
            self._properties.setProperty(key, value)
        self._new_memory, self._new_context = (
            jvm.org.apache.spark.memory.TaskMemoryManager,
            jvm.org.apache.spark.TaskContextImpl,
        )
        self._manager = jvm.org.apache.spark.SparkEnv.get().memoryManager()
        self._as_java = jvm.scala.jdk.javaapi.CollectionConverters.asJava
        self._join = jvm.org.apache.commons.lang3.StringUtils.join

    def lines(self, plan: Any) -> list[str]:
        """The rows of a physical plan that has one column of text."""
        rows, memory = plan.execute(), self._new_memory(self._manager, TASK)
        context = self._context(memory)
        self._contexts.setTaskContext(context)
        try:
            parts = (self._as_java(rows.iterator(part, context)) for part in rows.partitions())
            return [_text(row) for part in parts for row in str(self._join(part, ";")).split(";") if row]
        finally:
            context.markTaskCompleted(self._nobody)
            self._contexts.unset()
            memory.cleanUpAllAllocatedMemory()

    def _context(self, memory: Any) -> Any:
        known = (0, 0, 0, TASK, 0, 1, memory, self._properties, None, self._metrics.empty(), 1, self._nothing)
        return self._new_context(*known)


def _module(jvm: Any, name: str) -> Any:
    """The one instance of a Scala object."""
    return jvm.java.lang.Class.forName(name).getField("MODULE$").get(None)


def _text(row: str) -> str:
    """The text in a row of one column, from the words that UnsafeRow shows: NULL bits, place and size, the text.

    >>> _text("[0,1000000007,327c36347c4544]")
    'DE|46|2'
    """
    words = [int(word, 16).to_bytes(8, "little") for word in row.strip("[]").split(",")]
    return b"".join(words[2:])[: int.from_bytes(words[1][:4], "little")].decode()


class LiveFrame:
    """A DataFrame over the live tables, run again and again."""

    def __init__(self, world: "World", frame: Any) -> None:
        from pyspark.sql import functions

        self._world, self.names = world, tuple(frame.columns)
        numbered = frame.toDF(*(f"c{place}" for place in range(len(self.names))))
        texts = (
            functions.coalesce(functions.col(name).cast("string"), functions.lit(NULL)) for name in numbered.columns
        )
        one = numbered.select(functions.concat_ws(CELL, *texts).alias("row"))
        self._frame, self._analyzed = one, one._jdf.queryExecution().analyzed()
        shown = one._jdf.queryExecution().executedPlan().toString()
        self._scheduled = any(name in shown for name in SCHEDULED)
        read = self._analyzed.toString()
        hidden = any(name in read for name in HIDDEN)
        self.sources = tuple(source for source in SOURCES if hidden or source[0] in read)

    def result(self) -> Result:
        """The result now."""
        dataset = self._world.dataset(self._analyzed)
        if self._scheduled:
            lines = [row.getString(0) for row in dataset.collectAsList()]
        else:
            lines = self._world.local.lines(dataset.queryExecution().executedPlan())
        return Result(self.names, tuple(tuple(line.split(CELL)) for line in lines))


class World:
    """A session in which the three tables are live."""

    def __init__(self, spark: Any) -> None:
        self._datasets = getattr(spark._jvm, spark.range(1)._jdf.getClass().getName())
        self.spark, self.local = spark.newSession(), Local(spark)
        for key, value in INTERPRETED.items():
            self.spark.conf.set(key, value)
        self._tables = {name: LiveTable(spark, table) for name, table in TABLES.items()}
        self._database = 0

    def dataset(self, plan: Any, session: Any = None) -> Any:
        """A new Dataset, not yet optimized, of a plan."""
        return self._datasets.ofRows((session or self.spark)._jsparkSession, plan)

    def show_in(self, session: Any) -> None:
        """Let the live tables be what a session finds under their names."""
        for name, table in self._tables.items():
            self.dataset(table.relation, session).createOrReplaceTempView(name)

    @contextmanager
    def scattered(self, number: int) -> Iterator[None]:
        """Another database: the cells of all columns at random; afterwards they are as before."""
        self._database = number
        self._set(SOURCES, "")
        try:
            yield
        finally:
            self._database = 0
            self._set(SOURCES, "")

    def changed(self, sources: Collection[Source], change: str) -> AbstractContextManager[None]:
        """The columns ``sources`` changed in the way ``change``; afterwards they are as before."""
        if change == ORDER:
            return self._turned({name for name, _ in sources})
        return self._exchanged(sources, change) if change else nullcontext()

    @contextmanager
    def _turned(self, tables: Collection[str]) -> Iterator[None]:
        for name in tables:
            self._tables[name].turn(back=True)
        try:
            yield
        finally:
            for name in tables:
                self._tables[name].turn(back=False)

    @contextmanager
    def _exchanged(self, sources: Collection[Source], change: str) -> Iterator[None]:
        try:
            self._set(sources, change)
            yield
        finally:
            self._set(sources, "")

    def _set(self, sources: Collection[Source], change: str) -> None:
        for source in sources:
            self._tables[source[0]].change(source[1], self._places(source, change))

    def _places(self, source: Source, change: str) -> Places:
        table = TABLES[source[0]]
        if change == SCATTERED or (self._database and not change):
            kind = KINDS[self._database % len(KINDS)]
            whole = kind == "whole rows" and not change
            return table.scattered(f"{self._database} {source[0] if whole else source} {change}", few=kind != "any")
        if not change:
            return range(len(table.rows))
        return CHANGES[change](len(table.rows))


class LiveExperiment:
    """A DataFrame over the live tables, with the lineage it has over real ones."""

    changes = tuple(CHANGES)
    databases = 45

    def __init__(self, world: World, frame: Any, lineage: ColumnLineage, optimized: Lineage) -> None:
        self.lineage, self._world, self._frame = lineage, world, LiveFrame(world, frame)
        self._optimized = optimized
        self.sources = self._frame.sources

    def optimized(self) -> ColumnLineage:
        """The lineage of the plan that Spark's optimizer makes of the DataFrame over real tables."""
        return self._optimized()

    def result(self, changed: Collection[Source] = (), change: str = "") -> Result:
        """The result when ``change`` is made to these columns."""
        with self._world.changed(changed, change):
            return self._frame.result()

    def scattered(self, number: int) -> AbstractContextManager[None]:
        """Another database, its cells at random."""
        return self._world.scattered(number)
