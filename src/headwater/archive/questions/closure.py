"""All fields upstream or downstream of others, level by level, over any number of edges.

Each level joins the fields that were new in the last one with the edges, without the fields that were reached before
(semi-naive evaluation), so that no path is followed twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from headwater.archive.cache import CachedFrames, in_one_process, settings_for_few
from headwater.openlineage.naming.locations import FILE_SYSTEMS
from headwater.openlineage.reading.lineage_facets import WHOLE
from headwater.store.questions import Direction
from headwater.store.questions.walk.steps_inside import STRINGS
from headwater.store.read_model.presence import BYTES, TEXT

FEW_EDGES = 200_000
"""Edges and fields over which walks are not compiled and adapted: there the cost is in plans, not rows."""

LINK = ("source", "target")
_FIELD = ("field_id", "dataset_id")
_WHOLE = ("input_field_id", "input_dataset_id", "input_field")
_ENDS = ("input_field_id", "input_dataset_id", "output_field_id", "output_dataset_id")
_LEVELS = 8  # after which their rows are materialized together: else the plan grows with each level


@dataclass(frozen=True, slots=True)
class Edges:
    """The ends of edges as ids: ``of_fields`` between fields, ``of_datasets`` to all fields of a dataset.

    ``fields`` are the fields of all datasets.
    """

    of_fields: DataFrame
    of_datasets: DataFrame
    fields: DataFrame

    def steps(self, near: DataFrame, direction: Direction, carried: tuple[str, ...] = ()) -> DataFrame:
        """The fields one step from those in ``near``, as rows (…carried, field_id, dataset_id), each once."""
        once = [*carried, "field_id"]  # and by no more: what they are joined by next needs no other shuffle
        if direction is Direction.UP:
            over = near.join(self.of_fields, near.field_id == self.of_fields.output_field_id)
            whole = near.join(self.of_datasets, near.dataset_id == self.of_datasets.output_dataset_id)
            return _ends(over, "input", carried).union(_ends(whole, "input", carried)).dropDuplicates(once)
        over = near.join(self.of_fields, near.field_id == self.of_fields.input_field_id)
        whole = near.join(self.of_datasets, near.field_id == self.of_datasets.input_field_id)
        written = whole.select(*carried, sf.col("output_dataset_id").alias("dataset_id")).distinct()
        of_written = self.fields.join(written, "dataset_id").select(*carried, *_FIELD)
        return _ends(over, "output", carried).union(of_written).dropDuplicates(once)

    def links(self) -> DataFrame:
        """The pairs of fields with an edge between them, as rows (source, target), each once."""
        whole = self.of_datasets.withColumnRenamed("output_dataset_id", "dataset_id").drop("input_dataset_id")
        written = whole.join(self.fields, "dataset_id").select("input_field_id", "field_id")
        return self.of_fields.select("input_field_id", "output_field_id").union(written).toDF(*LINK).distinct()

    def numbered(self) -> tuple["Edges", DataFrame]:
        """The edges with numbers as ids, a quarter as large; and rows (field_id, dataset_id, field, dataset)."""
        each = materialized(self.fields.withColumn("field", sf.monotonically_increasing_id()))
        dataset = each.groupBy("dataset_id").agg(sf.min("field").alias("dataset"))
        numbers = materialized(each.join(dataset, "dataset_id"))
        source, target = (
            numbers.select(*(sf.col(name).alias(f"{end}_{name}") for name in numbers.columns))
            for end in ("input", "output")
        )
        between = self.of_fields.select("input_field_id", "output_field_id")
        whole = self.of_datasets.select("input_field_id", "output_dataset_id")
        written = target.select("output_dataset_id", "output_dataset").distinct()
        frames = (
            between.join(source, "input_field_id").join(target, "output_field_id"),
            whole.join(source, "input_field_id").join(written, "output_dataset_id"),
            numbers,
        )
        return Edges(*(materialized(_by_number(one)) for one in frames)), numbers


def _by_number(frame: DataFrame) -> DataFrame:
    """A frame with the numbers beside its ids in place of these."""
    return frame.select(*(sf.col(one).alias(f"{one}_id") for one in frame.columns if not one.endswith("_id")))


def _ends(edges: DataFrame, side: str, carried: tuple[str, ...]) -> DataFrame:
    return edges.select(*carried, *(edges[f"{side}_{name}"].alias(name) for name in _FIELD))


@contextmanager
def edges_at(tables: Mapping[str, DataFrame], at: datetime | None) -> Iterator[Edges]:
    """The edges that were current at a moment, or are now; Spark caches them while they are in use."""
    between, whole = (tables[name].where(valid_at(at)) for name in ("column_edges", "dataset_edges"))
    frames = [
        between.select(*_ENDS).unionByName(steps_inside(tables, at)),
        whole.select("input_field_id", "input_dataset_id", "output_dataset_id"),
        tables["fields"].select(*_FIELD),
    ]
    with cached([frame.distinct() for frame in frames]) as of_moment:
        yield Edges(*of_moment)


@contextmanager
def cached(frames: Sequence[DataFrame]) -> Iterator[list[DataFrame]]:
    """The rows of frames that walks join on each level; Spark caches them in this context.

    In one process they come without how they are made, which else is analyzed, and sent to tasks, on each level.
    """
    spark = frames[0].sparkSession
    with closing(CachedFrames(StorageLevel.MEMORY_AND_DISK, checkpoints=in_one_process(spark))) as cache:
        found = [cache(frame) for frame in frames]
        few = sum(frame.count() for frame in found) <= FEW_EDGES
        with settings_for_few(spark) if few else nullcontext():
            yield found


def steps_inside(tables: Mapping[str, DataFrame], at: datetime | None) -> DataFrame:
    """The steps between fields of one dataset that are in no event, as ids of both ends, if an edge reads the latter.

    They lead to the field that stands for all columns, and to the fields of files that are read in another format than
    they were written in (`headwater.store.questions.walk.steps_inside`).
    """
    between, whole = (tables[name].where(valid_at(at)) for name in ("column_edges", "dataset_edges"))
    read = between.select(*_WHOLE).union(whole.select(*_WHOLE)).distinct()
    pairs = _whole_sources(read, tables["fields"]).unionByName(_format_steps(between, tables["fields"]))
    return pairs.join(read.select(sf.col("input_field_id").alias("output_field_id")), "output_field_id", "left_semi")


def _whole_sources(read: DataFrame, fields: DataFrame) -> DataFrame:
    """From each column of a dataset that is read as a whole to the field that stands for all of them."""
    stars = read.where(sf.col("input_field") == WHOLE).select(
        *(sf.col(f"input_{name}").alias(f"output_{name}") for name in _FIELD)
    )
    columns = fields.select(*(sf.col(name).alias(f"input_{name}") for name in _FIELD))
    steps = columns.join(stars, columns.input_dataset_id == stars.output_dataset_id)
    return steps.where("input_field_id != output_field_id")


def _format_steps(between: DataFrame, fields: DataFrame) -> DataFrame:
    """From each column that is written into files to each that may hold it where they are read in another format."""
    name, scheme = sf.lower("name"), sf.substring_index("namespace", "://", 1)
    of_files = fields.where(scheme.isin(*FILE_SYSTEMS) | sf.col("dataset").startswith("/"))
    with_contents = of_files.where(name.isin(TEXT, BYTES)).select("dataset_id").distinct()
    made = between.select(sf.col("output_field_id").alias("field_id"), sf.lit(True).alias("made")).distinct()
    columns = of_files.join(with_contents, "dataset_id", "left_semi").join(made, "field_id", "left")
    named = sf.col("written") | sf.col("made").isNotNull()
    of_text = (name == TEXT) & sf.coalesce("type", sf.lit("")).isin(*STRINGS)
    inputs = columns.where(named).select(*(sf.col(one).alias(f"input_{one}") for one in _FIELD), of_text.alias("text"))
    contents = name.isin(TEXT, BYTES).alias("contents")
    others = columns.where(~named).select(*(sf.col(one).alias(f"output_{one}") for one in _FIELD), contents)
    steps = inputs.join(others, inputs.input_dataset_id == others.output_dataset_id)
    return steps.where("text OR contents").select(*_ENDS)


def valid_at(at: datetime | None) -> Column:
    """Whether an edge was current at a moment; now without one."""
    if at is None:
        return sf.col("current")
    return (sf.col("valid_from") <= at) & (sf.col("valid_to").isNull() | (sf.col("valid_to") > at))


def reach(  # noqa: PLR0913 - each bound of a walk by its name
    start: DataFrame,
    edges: Edges,
    direction: Direction,
    within: DataFrame | None = None,
    *,
    carried: tuple[str, ...] = (),
    until: DataFrame | None = None,
    without: DataFrame | None = None,
) -> DataFrame:
    """The fields that edges lead to from those in ``start``, and those: (…carried, field_id, dataset_id, distance).

    Args:
        start: with ``field_id``, ``dataset_id``, and the columns that are carried.
        edges: the edges to follow.
        direction: `Direction.UP` or `Direction.DOWN`.
        within: the fields to which the walk is limited, by ``field_id``.
        carried: columns of ``start``, with a walk of its own for each of their values.
        until: fields by ``field_id``; the walk ends on the level of the first of them.
        without: fields that the walk leaves out, by ``field_id`` and the columns that are carried.
    """
    reached = frontier = materialized(start.select(*carried, *_FIELD, sf.lit(0).alias("distance")).distinct())
    for level in count(1):
        if until is not None and not frontier.join(until, "field_id", "left_semi").isEmpty():
            break
        found = edges.steps(frontier, direction, carried).join(reached, [*carried, "field_id"], "left_anti")
        if within is not None:
            found = found.join(within, "field_id", "left_semi")
        if without is not None:
            found = found.join(without, [*carried, "field_id"], "left_anti")
        frontier, many = counted(found.select(*carried, *_FIELD, sf.lit(level).alias("distance")))
        if not many:
            break
        reached = reached.union(frontier)
        if level % _LEVELS == 0:
            reached = materialized(reached)
    return reached


def materialized(frame: DataFrame) -> DataFrame:
    """A frame of the rows without their plan: on disks of workers, or in the application's folder of checkpoints."""
    reliably = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if reliably else frame.localCheckpoint()


def counted(frame: DataFrame) -> tuple[DataFrame, int]:
    """A frame as `materialized` returns it, and the number of its rows, by one job where that is possible."""
    reliably = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    # Reliable checkpoints that are not made at once make the rows a second time
    found = frame.checkpoint() if reliably else frame.localCheckpoint(eager=False)
    return found, found.count()
