"""Tags that flow over the tables of an archive, to what a store has them arrive at (`headwater.policies.flows`).

Three walks by Spark, each for all tags at once: the value, then what is masked, then influence, of which each leaves
out the columns with the value.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from headwater.archive.local_rows import local_rows
from headwater.archive.questions.closure import Edges, cached, materialized, reach, steps_inside, valid_at
from headwater.archive.questions.past import PastEdges, past_edges
from headwater.archive.tables import EDGES
from headwater.model import Dataset, Job, Subtype, Transformation
from headwater.model.names import folded
from headwater.model.nested_fields import nested_name, paths_within
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
    with _flowing(archive, [tuple(breakers)], at) as flowing:
        return _named(_arrivals(start, flowing.under(0), flowing.names, influence=influence))


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
    breakers = _breakers(file, waiting, today or datetime.now(UTC).date())
    sets = list(dict.fromkeys(breakers.values()))
    with _flowing(archive, sets, at) as flowing:
        while waiting:
            made = {file.masked_as(one.tag) for one in waiting}
            ready = {one for one in waiting if one.value or one.tag not in made}
            waiting -= ready
            for place, of_set in enumerate(sets):
                tags = [one for one in sorted(ready, key=str) if breakers[one] == of_set]
                if not tags:
                    continue
                own = starts.where(sf.col("tag").isin([str(one) for one in tags]))
                arrived = _arrivals(own, flowing.under(place), flowing.names, influence=influence)
                found.append(arrived)
                starts = reduce(DataFrame.unionByName, _made_by_masking(file, tags, arrived), starts)
    return _named(_without_overruled(reduce(DataFrame.unionByName, found), starts, file))


def _made_by_masking(file: TagFile, tags: Collection[TagName], arrived: DataFrame) -> Iterator[DataFrame]:
    """The fields with the tag that a masked form has, for each of some tags that arrived."""
    for one in tags:
        if made := file.masked_as(one.tag):
            masked = arrived.where((sf.col("tag") == str(one)) & (sf.col("arriving") == Arriving.MASKED.value))
            yield masked.select(sf.lit(made).alias("tag"), *_FIELD)


def _without_overruled(arrivals: DataFrame, starts: DataFrame, file: TagFile) -> DataFrame:
    """The arrivals without those at fields where as much or more of a stricter value arrives."""
    tags = {one.name for one in file.tags} | {TagName(one.masked_as) for one in file.tags if one.masked_as}
    pairs = [(str(one), str(other)) for one in tags for other in tags if file.is_stricter(other, one)]
    if not pairs:
        return arrivals
    spark, value = arrivals.sparkSession, Arriving.VALUE.value
    own = starts.select(*_TAG, "field_id", sf.lit(value).alias("arriving"))
    present = arrivals.select(*_TAG, "field_id", "arriving").union(own).toDF("stricter", "field_id", "of_stricter")
    stricter = present.join(
        local_rows(spark, pairs, StructType().add("tag", "string").add("stricter", "string")), "stricter"
    )
    kinds = sf.col("of_stricter").isin(value) | (sf.col("of_stricter") == sf.col("arriving"))
    same = (arrivals.tag == stricter.tag) & (arrivals.field_id == stricter.field_id)
    return arrivals.join(stricter, same & kinds, "left_anti")


def _breakers(file: TagFile, tags: Collection[TagName], today: date) -> dict[TagName, tuple[Breaker, ...]]:
    return {one: tuple(b for b in file.breakers if b.holds(one.tag, today)) for one in sorted(tags, key=str)}


def _arrivals(start: DataFrame, edges: Edges, names: DataFrame, *, influence: bool) -> DataFrame:
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
    """Return the fields with the tags of a file: rows (tag, field_id, dataset_id); all of a tagged dataset.

    A tag on a field within a column is on the column, as edges of archives are between columns.
    """
    columns = {str(one.name): [word.text for word in one.columns] for one in file.tags}
    wholes = {str(one.name): [word.text for word in one.datasets] for one in file.tags}
    return _matching(archive, columns, wholes, within=True)


def _matching(
    archive: Tables, columns: Mapping[str, list[str]], wholes: Mapping[str, list[str]], *, within: bool = False
) -> DataFrame:
    """The fields that selectors of each tag fit, or ``within`` which fit a field, by any name of their datasets."""
    of_columns, of_wholes = (
        {tag: pattern_of(some) for tag, some in selectors.items()} for selectors in (columns, wholes)
    )
    # Of functions with hints of types Spark makes others than plain ones
    tags = sf.udf(lambda names, field, kind: _tags_of(names, field, kind or "", of_columns, of_wholes), "array<string>")
    kind = sf.col("type") if within else sf.lit("")
    fields = archive["fields"].select(*_FIELD, "name", kind.alias("kind")).join(_present_names(archive), "dataset_id")
    return fields.select(sf.explode(tags("names", "name", "kind")).alias("tag"), *_FIELD)


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


def _tags_of(
    names: list[tuple[str, str]], field: str, kind: str, of_columns: Patterns, of_wholes: Patterns
) -> list[str]:
    texts = [folded(Dataset(*one)) for one in names]
    called = [field, *(nested_name((field, *path)) for path in paths_within(kind))]
    full = [f"{text}.{plain(one)}" for text in texts for one in called]
    fitting = {tag for tag, one in of_columns.items() if any(map(one.fullmatch, full))}
    return sorted(fitting | {tag for tag, one in of_wholes.items() if any(map(one.fullmatch, texts))})


def _only(edges: Edges, effects: Collection[Arriving]) -> Edges:
    """The edges over which one of these flows."""
    among = sf.col("effect").isin([one.value for one in effects])
    return replace(edges, of_fields=edges.of_fields.where(among), of_datasets=edges.of_datasets.where(among))


@dataclass(frozen=True, slots=True)
class _Flowing:
    """Edges over which tags flow under some sets of breakers: in ``flows`` what does, by the place of the set.

    Args:
        edges: those of a moment; ``closed`` of their fields are the sets that close a field.
        past: those that were read before they were replaced.
        names: the names of fields.
    """

    edges: Edges
    past: PastEdges | None
    names: DataFrame

    def under(self, place: int) -> Edges:
        """Return the edges under one of the sets, with what flows over each as ``effect``."""

        def own(frame: DataFrame) -> DataFrame:
            return frame.withColumn("effect", sf.col("flows")[place]).where("effect IS NOT NULL").drop("flows")

        fields = self.edges.fields.where(~sf.array_contains("closed", place)).select(*_FIELD)
        edges = Edges(own(self.edges.of_fields), own(self.edges.of_datasets), fields)
        if self.past is None:
            return edges
        return PastEdges(own(self.past.spans), own(self.past.behind), ("effect",)).with_edges(edges)


@contextmanager
def _flowing(archive: Tables, sets: Sequence[Collection[Breaker]], at: datetime | None) -> Iterator[_Flowing]:
    """The edges of a moment over which tags flow under each of some sets of breakers; they are looked for once."""
    closed = _closed(archive, sets)

    def flowing(edges: DataFrame) -> DataFrame:
        found = _uncut(_with_flows(edges, sets), sets)
        return _without(found, closed, "output_field_id") if "output_field_id" in edges.columns else _passable(found)

    between, whole = (archive[name].where(valid_at(at)) for name in EDGES)
    names = _fields(archive, whole)
    values = {"flows": sf.array(*[sf.lit(Arriving.VALUE.value)] * len(sets))}
    inside = _without(steps_inside(archive, at).withColumns(values), closed, "output_field_id")
    of_fields = flowing(between).unionByName(inside, allowMissingColumns=True)
    ends = ("input_field_id", "input_dataset_id", "output_field_id", "output_dataset_id", "flows")
    frames = [
        of_fields.select(*ends).distinct(),
        flowing(whole).select(*ends[:2], *ends[3:]).distinct(),
        names.select(*_FIELD).join(closed, "field_id", "left").withColumn("closed", _places("closed")),
    ]
    with cached(frames) as of_moment:
        past = None
        if at is None:
            past = past_edges(archive, flowing, values, lambda reads: _without(reads, closed, "input_field_id"))
        yield _Flowing(Edges(*of_moment), past, names)


def _closed(archive: Tables, sets: Sequence[Collection[Breaker]]) -> DataFrame:
    """The fields that breakers close, each with the places of the sets in which one does."""
    columns = {str(place): [one.pattern for one in some if one.kind == "column"] for place, some in enumerate(sets)}
    found = _matching(archive, {place: some for place, some in columns.items() if some}, {})
    found = found.groupBy("field_id").agg(sf.collect_set(sf.col("tag").cast("int")).alias("closed"))
    return materialized(found) if any(columns.values()) else found.where("false")


def _without(edges: DataFrame, closed: DataFrame, end: str) -> DataFrame:
    """The edges over which something flows in a set that does not close the field at one end."""
    found = edges.join(closed.withColumnRenamed("field_id", end), end, "left")
    return _passable(_cutting(found, "closed"))


def _cutting(edges: DataFrame, places: str) -> DataFrame:
    """The edges with nothing flowing in the sets whose places a column has, which is dropped."""
    flows = sf.transform("flows", lambda one, place: sf.when(~sf.array_contains(_places(places), place), one))
    return edges.withColumn("flows", flows).drop(places)


def _passable(edges: DataFrame) -> DataFrame:
    return edges.where(sf.exists("flows", lambda one: one.isNotNull()))


def _places(name: str) -> Column:
    return sf.coalesce(name, sf.array().cast("array<int>"))


def _fields(archive: Tables, whole: DataFrame) -> DataFrame:
    """The fields with their names, and one called ``*`` of each dataset of which only edges to the whole are known."""
    own = archive["fields"].select(*_FIELD, "namespace", "dataset", sf.col("name").alias("field"))
    written = whole.select(sf.col("output_dataset_id").alias("dataset_id"), "output_namespace", "output_dataset")
    bare = written.distinct().join(own, "dataset_id", "left_anti")
    return own.union(bare.select("dataset_id", "dataset_id", "output_namespace", "output_dataset", sf.lit("*")))


def _uncut(edges: DataFrame, sets: Sequence[Collection[Breaker]]) -> DataFrame:
    """The edges with nothing flowing in the sets of which a breaker is for their job."""
    patterns = [[one.pattern for one in some if one.kind == "job"] for some in sets]
    if not any(patterns):
        return edges
    cut = sf.udf(
        lambda namespace, name: [
            place for place, some in enumerate(patterns) if some and fits_job(some, Job(namespace, name))
        ],
        "array<int>",
    )
    jobs = edges.select("job_namespace", "job_name").distinct()
    jobs = jobs.withColumn("cut", cut("job_namespace", "job_name"))
    return _cutting(edges.join(jobs, ["job_namespace", "job_name"]), "cut")


def _with_flows(edges: DataFrame, sets: Sequence[Collection[Breaker]]) -> DataFrame:
    """The edges with what flows over each under each set of breakers."""
    functions = [frozenset(one.pattern.lower() for one in some if one.kind == "function") for some in sets]
    # Texts of expressions are many, and decide only of these
    speaks = sf.lit(any(functions)) | (sf.col("masking") & (sf.col("subtype") == Subtype.AGGREGATION.value))
    hint = sf.when(speaks, sf.col("description")).otherwise("")
    hinted = edges.withColumn("hint", sf.coalesce(hint, sf.lit("")))
    flows = sf.udf(
        lambda *kind: [_effect(Transformation(Subtype(kind[0]), *kind[1:]), some) for some in functions],
        "array<string>",
    )
    kinds = hinted.select(*_KIND).distinct().withColumn("flows", flows(*_KIND))
    return hinted.join(kinds, list(_KIND))


def _effect(transformation: Transformation, functions: frozenset[str]) -> str | None:
    found = arriving(transformation, functions)
    return found and found.value
