"""Tags that flow over the tables of an archive, to what a store has them arrive at (`headwater.policies.flows`).

Three walks by Spark, each for all tags at once: the value, then what is masked, then influence, of which each leaves
out the columns with the value.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import Edges, cached, materialized, reach, steps_inside, valid_at
from headwater.archive.questions.past import past_edges
from headwater.archive.tables import EDGES
from headwater.model import Dataset, Job, Subtype, Transformation
from headwater.model.names import folded
from headwater.policies.masking import arriving
from headwater.policies.selectors import fits_job, pattern_of, plain
from headwater.policies.tag_file import Breaker, TagFile, TagName
from headwater.store.questions import Direction
from headwater.store.questions.walk.tag_walk import Arriving

Tables = Mapping[str, DataFrame]
Patterns = Mapping[str, re.Pattern[str]]
_FIELD = ("field_id", "dataset_id")
_TAG = ("tag",)
_FOREVER = "9999-01-01"
_KIND = ("subtype", "masking", "opaque", "hint")
_WALKS = ((Arriving.MASKED, {Arriving.VALUE, Arriving.MASKED}), (Arriving.INFLUENCE, set(Arriving)))


def tag_flow(
    archive: Tables,
    start: DataFrame,
    *,
    breakers: Collection[Breaker] = (),
    influence: bool = False,
    at: datetime | None = None,
) -> DataFrame:
    """Return where tags arrive: rows (tag, namespace, dataset, field, arriving, distance), without the tagged fields.

    ``arriving`` is ``value``, ``masked`` (nothing but masked forms of the value) or ``influence``, which may stand
    beside ``masked``. ``distance`` is counted in edges from a field with the tag, of what is masked or influence from
    one with the value. The field ``*`` is of a dataset of which no field is known. Tags of now also flow through the
    lineage that a dataset had when it was read, where its rows were replaced since, to who read it then.

    Args:
        archive: tables as `headwater.archive.build` and `headwater.archive.read` return them.
        start: rows with ``tag``, ``field_id`` and ``dataset_id``, such as those of `tagged_fields`.
        breakers: what keeps the tags back.
        influence: whether INDIRECT edges are followed too.
        at: the lineage of that moment; of now without it.
    """
    return _named(_arrivals(archive, start, breakers, influence=influence, at=at))


def file_flow(
    archive: Tables,
    file: TagFile,
    *,
    today: date | None = None,
    influence: bool = False,
    at: datetime | None = None,
) -> DataFrame:
    """Return where the tags of a file arrive, as `tag_flow` has it: with its breakers, and what ``masked_as`` makes.

    Args:
        archive: as for `tag_flow`.
        file: the tags, breakers and orders of values: a value does not arrive where a stricter one does.
        today: the day by which breakers expire.
        influence: as for `tag_flow`.
        at: as for `tag_flow`.
    """
    starts, found = tagged_fields(archive, file), list[DataFrame]()
    waiting = {TagName(one.masked_as) for one in file.tags if one.masked_as} | {one.name for one in file.tags}
    while waiting:
        made = {file.masked_as(one.tag) for one in waiting}
        ready = {one for one in waiting if one.value or one.tag not in made}
        waiting -= ready
        for breakers, tags in _by_breakers(file, ready, today or datetime.now(UTC).date()).items():
            own = starts.where(sf.col("tag").isin([str(one) for one in tags]))
            arrived = _arrivals(archive, own, breakers, influence=influence, at=at)
            found.append(arrived)
            for one in (one for one in tags if file.masked_as(one.tag)):
                masked = arrived.where((sf.col("tag") == str(one)) & (sf.col("arriving") == Arriving.MASKED.value))
                starts = starts.unionByName(masked.select(sf.lit(file.masked_as(one.tag)).alias("tag"), *_FIELD))
    return _named(_without_overruled(reduce(DataFrame.unionByName, found), starts, file))


def _without_overruled(arrivals: DataFrame, starts: DataFrame, file: TagFile) -> DataFrame:
    """The arrivals without those at fields where as much or more of a stricter value arrives."""
    tags = {one.name for one in file.tags} | {TagName(one.masked_as) for one in file.tags if one.masked_as}
    pairs = [(str(one), str(other)) for one in tags for other in tags if file.is_stricter(other, one)]
    if not pairs:
        return arrivals
    spark, value = arrivals.sparkSession, Arriving.VALUE.value
    own = starts.select(*_TAG, "field_id", sf.lit(value).alias("arriving"))
    present = arrivals.select(*_TAG, "field_id", "arriving").union(own).toDF("stricter", "field_id", "of_stricter")
    stricter = present.join(spark.createDataFrame(pairs, "tag string, stricter string"), "stricter")
    kinds = sf.col("of_stricter").isin(value) | (sf.col("of_stricter") == sf.col("arriving"))
    same = (arrivals.tag == stricter.tag) & (arrivals.field_id == stricter.field_id)
    return arrivals.join(stricter, same & kinds, "left_anti")


def _by_breakers(file: TagFile, tags: Collection[TagName], today: date) -> dict[tuple[Breaker, ...], list[TagName]]:
    found: dict[tuple[Breaker, ...], list[TagName]] = {}
    for one in sorted(tags, key=str):
        found.setdefault(tuple(b for b in file.breakers if b.holds(one.tag, today)), []).append(one)
    return found


def _arrivals(
    archive: Tables, start: DataFrame, breakers: Collection[Breaker], *, influence: bool, at: datetime | None
) -> DataFrame:
    with _edges_with_effects(archive, breakers, at) as (edges, names):
        values = reach(start.select(*_TAG, *_FIELD), _only(edges, {Arriving.VALUE}), Direction.DOWN, carried=_TAG)
        found = values.where("distance > 0").withColumn("arriving", sf.lit(Arriving.VALUE.value))
        for first, passing in _WALKS if influence else _WALKS[:1]:
            begun = _only(edges, {first}).steps(values, Direction.DOWN, _TAG)
            begun = begun.join(values, [*_TAG, "field_id"], "left_anti")
            rest = reach(begun, _only(edges, passing), Direction.DOWN, carried=_TAG, without=values)
            rest = rest.withColumn("distance", sf.col("distance") + 1)
            found = found.unionByName(rest.withColumn("arriving", sf.lit(first.value)))
        return materialized(found.join(names.drop("dataset_id"), "field_id"))


def _named(arrivals: DataFrame) -> DataFrame:
    columns = arrivals.select(*_TAG, "namespace", "dataset", "field", "arriving", "distance")
    return columns.orderBy("tag", "distance", "namespace", "dataset", "field", "arriving")


def tagged_fields(archive: Tables, file: TagFile) -> DataFrame:
    """Return the fields with the tags of a file: rows (tag, field_id, dataset_id); all of a tagged dataset."""
    columns = {str(one.name): [word.text for word in one.columns] for one in file.tags}
    wholes = {str(one.name): [word.text for word in one.datasets] for one in file.tags}
    return _matching(archive, columns, wholes)


def _matching(archive: Tables, columns: Mapping[str, list[str]], wholes: Mapping[str, list[str]]) -> DataFrame:
    """The fields that selectors of each tag fit, by any name of their datasets."""
    of_columns, of_wholes = (
        {tag: pattern_of(some) for tag, some in selectors.items()} for selectors in (columns, wholes)
    )
    # Of functions with hints of types Spark makes others than plain ones
    tags = sf.udf(lambda names, field: _tags_of(names, field, of_columns, of_wholes), "array<string>")
    fields = archive["fields"].select(*_FIELD, "name").join(_present_names(archive), "dataset_id")
    return fields.select(sf.explode(tags("names", "name")).alias("tag"), *_FIELD)


def _present_names(archive: Tables) -> DataFrame:
    """The names that datasets have, or had last, without those of which each name is another's since."""
    each = archive["datasets"].select("dataset_id", sf.inline("names"))
    latest = Window.partitionBy("namespace", "name").orderBy(sf.desc_nulls_last("valid_from"))
    lasting = each.withColumn("place", sf.row_number().over(latest)).where("place = 1").select("dataset_id").distinct()
    until = sf.coalesce("valid_to", sf.lit(_FOREVER).cast("timestamp"))
    last = (
        each.withColumn("until", until)
        .groupBy("dataset_id")
        .agg(sf.max("until").alias("last"), sf.collect_list(sf.struct("namespace", "name", "until")).alias("every"))
    )
    present = sf.transform(
        sf.filter("every", lambda one: one["until"] == sf.col("last")),
        lambda one: sf.struct(one["namespace"], one["name"]),
    )
    return last.join(lasting, "dataset_id", "left_semi").select("dataset_id", present.alias("names"))


def _tags_of(names: list[tuple[str, str]], field: str, of_columns: Patterns, of_wholes: Patterns) -> list[str]:
    texts = [folded(Dataset(*one)) for one in names]
    full = [f"{text}.{plain(field)}" for text in texts]
    fitting = {tag for tag, one in of_columns.items() if any(map(one.fullmatch, full))}
    return sorted(fitting | {tag for tag, one in of_wholes.items() if any(map(one.fullmatch, texts))})


def _only(edges: Edges, effects: Collection[Arriving]) -> Edges:
    """The edges over which one of these flows."""
    among = sf.col("effect").isin([one.value for one in effects])
    return replace(edges, of_fields=edges.of_fields.where(among), of_datasets=edges.of_datasets.where(among))


@contextmanager
def _edges_with_effects(
    archive: Tables, breakers: Collection[Breaker], at: datetime | None
) -> Iterator[tuple[Edges, DataFrame]]:
    """The edges of a moment with what flows over each, those that breakers cut left out, and the names of fields."""
    functions = frozenset(one.pattern.lower() for one in breakers if one.kind == "function")

    def effective(edges: DataFrame) -> DataFrame:
        return _with_effect(_uncut(edges, breakers), functions)

    between, whole = (archive[name].where(valid_at(at)) for name in EDGES)
    fields = _fields(archive, _uncut(whole, breakers))
    closed = [one.pattern for one in breakers if one.kind == "column"]
    open_fields = fields.join(_matching(archive, {"": closed}, {}), "field_id", "left_anti") if closed else fields
    value = {"effect": sf.lit(Arriving.VALUE.value)}
    inside = steps_inside(archive, at).withColumns(value)
    of_fields = effective(between).unionByName(inside, allowMissingColumns=True)
    ends = ("input_field_id", "input_dataset_id", "output_field_id", "output_dataset_id", "effect")
    frames = [
        _into(open_fields, of_fields).select(*ends).distinct(),
        effective(whole).select(*ends[:2], *ends[3:]).distinct(),
        open_fields.select(*_FIELD),
    ]
    with cached(frames) as of_moment:
        edges = Edges(*of_moment)
        past = None
        if at is None:
            past = past_edges(archive, lambda every: _into(edges.fields, effective(every)), value, edges.fields)
        yield edges if past is None else past.with_edges(edges), fields


def _into(fields: DataFrame, edges: DataFrame) -> DataFrame:
    """The edges of a table that lead to some fields, or to whole datasets."""
    if "output_field_id" not in edges.columns:
        return edges
    return edges.join(fields.select(sf.col("field_id").alias("output_field_id")), "output_field_id", "left_semi")


def _fields(archive: Tables, whole: DataFrame) -> DataFrame:
    """The fields with their names, and one called ``*`` of each dataset of which only edges to the whole are known."""
    own = archive["fields"].select(*_FIELD, "namespace", "dataset", sf.col("name").alias("field"))
    written = whole.select(sf.col("output_dataset_id").alias("dataset_id"), "output_namespace", "output_dataset")
    bare = written.distinct().join(own, "dataset_id", "left_anti")
    return own.union(bare.select("dataset_id", "dataset_id", "output_namespace", "output_dataset", sf.lit("*")))


def _uncut(edges: DataFrame, breakers: Collection[Breaker]) -> DataFrame:
    """The edges of jobs that no breaker is for."""
    patterns = [one.pattern for one in breakers if one.kind == "job"]
    if not patterns:
        return edges
    cut = sf.udf(lambda namespace, name: fits_job(patterns, Job(namespace, name)), "boolean")
    jobs = edges.select("job_namespace", "job_name").distinct().where(cut("job_namespace", "job_name"))
    return edges.join(jobs, ["job_namespace", "job_name"], "left_anti")


def _with_effect(edges: DataFrame, functions: frozenset[str]) -> DataFrame:
    """The edges with what flows over each, without those over which nothing does."""
    # Texts of expressions are many, and decide only of these
    speaks = sf.lit(bool(functions)) | (sf.col("masking") & (sf.col("subtype") == Subtype.AGGREGATION.value))
    hint = sf.when(speaks, sf.col("description")).otherwise("")
    hinted = edges.withColumn("hint", sf.coalesce(hint, sf.lit("")))
    effect = sf.udf(lambda *kind: _effect(Transformation(Subtype(kind[0]), *kind[1:]), functions), "string")
    kinds = hinted.select(*_KIND).distinct().withColumn("effect", effect(*_KIND))
    return hinted.join(kinds.where("effect IS NOT NULL"), list(_KIND))


def _effect(one: Transformation, functions: frozenset[str]) -> str | None:
    found = arriving(one, functions)
    return found and found.value
