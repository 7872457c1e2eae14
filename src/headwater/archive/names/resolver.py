"""The datasets and fields that names mean at a moment, as columns: joins with the few names that events change."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType

from headwater.archive.cache import Cache
from headwater.archive.events.parsed_events import EVERYTHING, EventFeatures
from headwater.archive.events.schema import COUNT, TEXT, columns
from headwater.archive.local_rows import local_rows
from headwater.archive.names.name_meanings import (
    Cuts,
    FieldMeaning,
    Links,
    Meaning,
    Names,
    Twins,
    changed_names,
    meanings_of_names,
    names_in,
)
from headwater.archive.names.undisputed_names import declared_names, disputed_datasets, undisputed_meanings
from headwater.model import Dataset
from headwater.model.time import BEGINNING, FOREVER

MEANING = columns(
    m_namespace=TEXT,
    m_name=TEXT,
    m_since=COUNT,
    m_until=COUNT,
    p_namespace=TEXT,
    p_name=TEXT,
    p_begun=COUNT,
    p_fields=TEXT,
)
"""From a moment on, up to but not including another, a name means the dataset with a present name, since ``p_begun``.

``p_fields`` is a digest of all that events change about the names of its fields.
"""

_FIELD = columns(
    f_namespace=TEXT,
    f_dataset=TEXT,
    f_dataset_begun=COUNT,
    f_name=TEXT,
    f_since=COUNT,
    f_until=COUNT,
    f_first=TEXT,
    f_begun=COUNT,
    f_present=TEXT,
)
_RENAMED = columns(
    r_namespace=TEXT, r_dataset=TEXT, r_begun=COUNT, r_first=TEXT, r_first_begun=COUNT, r_own=TEXT, r_former=TEXT
)
_SPELLED = columns(s_namespace=TEXT, s_dataset=TEXT, s_begun=COUNT, s_own=TEXT, s_spelling=TEXT)
_TWIN = columns(t_namespace=TEXT, t_dataset=TEXT, t_begun=COUNT, t_name=TEXT)
_NAME = columns(namespace=TEXT, name=TEXT)
_CONCERNS_NAMES = "renames IS NOT NULL OR size(links) > 0 OR size(twins) > 0"
_MOST_SENT = 100_000  # meanings that are sent to all tasks of a join
_CUT = columns(c_namespace=TEXT, c_name=TEXT, c_moments=COUNT)
_CUTS = columns(namespace=TEXT, name=TEXT, cuts=ArrayType(COUNT))


def id_of(*parts: Column) -> Column:
    """The id of a dataset or field, a digest of 32 characters; NULL parts are left out.

    Parts are joined by NUL, which no name has: the store's reader takes it out.
    """
    return sf.md5(sf.concat_ws("\0", *parts))


@dataclass(frozen=True, slots=True)
class Resolver:
    """The meanings of names, as frames to join with.

    ``names`` are those that depend on several events, ``meanings`` rows of `MEANING` of all of them, ``count`` the
    number of these, and ``digest`` a digest of them.
    """

    spark: SparkSession
    names: Names
    meanings: DataFrame
    renamed: DataFrame
    twins: DataFrame
    count: int
    digest: str

    @property
    def changes_fields(self) -> bool:
        """Whether fields were renamed, or differ in case only."""
        return bool(self.names.fields or self.names.renamed or self.names.spellings or self.names.twins)

    def datasets(self, frame: DataFrame, at: str, prefix: str = "", to: str = "") -> DataFrame:
        """Add the dataset that a name means at the moment in the column ``at`` (microseconds since 1970).

        Args:
            frame: with the columns ``<prefix>namespace`` and ``<prefix>name``.
            at: the column of the moment.
            prefix: the prefix of the columns of the name.
            to: the prefix of the columns that are added: ``<to>dataset_id``, ``<to>dataset_namespace``,
                ``<to>dataset`` (its present name) and ``<to>begun`` (since when, NULL for ever).
        """
        namespace, name = sf.col(f"{prefix}namespace"), sf.col(f"{prefix}name")
        begun: Column = sf.lit(None).cast("long")
        if self.count:
            valid = (sf.col("m_since") <= sf.col(at)) & (sf.col("m_until") > sf.col(at))
            same = (namespace == sf.col("m_namespace")) & (name == sf.col("m_name")) & valid
            few = self.count <= _MOST_SENT
            frame = frame.join(sf.broadcast(self.meanings) if few else self.meanings, same, "left")
            namespace, name = sf.coalesce("p_namespace", namespace), sf.coalesce("p_name", name)
            begun = sf.nullif("p_begun", sf.lit(BEGINNING))
        added = {
            f"{to}dataset_id": id_of(namespace, name, begun.cast("string")),
            f"{to}dataset_namespace": namespace,
            f"{to}dataset": name,
            f"{to}begun": begun,
        }
        return frame.withColumns(added).drop(*MEANING.fieldNames())

    def fields(self, frame: DataFrame, at: str, field_name: str, of: str = "") -> DataFrame:
        """Add the field of a dataset that a name means at a moment: ``<of>field_id`` and ``<of>own``, its own name now.

        ``<of>spelled`` is the name if it is a spelling of ``own``, and NULL where the field has another name now.

        Args:
            frame: with the columns ``<of>…`` that `datasets` adds.
            at: the column of the moment.
            field_name: the column of the field's name; that of the name in lower case is ``<of>own`` too.
            of: the prefix of the columns of the dataset.
        """
        dataset, first = sf.col(f"{of}dataset_id"), sf.col(f"{of}own")
        if self.names.twins:
            same = (dataset == sf.col("t_id")) & (first == sf.col("t_name"))
            frame = frame.join(sf.broadcast(self.twins), same, "left")
            own = sf.when(sf.col("t_id").isNotNull(), sf.col(field_name)).otherwise(first)
            frame = frame.withColumn(f"{of}own", own).drop("t_id", *_TWIN.fieldNames())
        present, begun = first, sf.lit(None).cast("string")
        if self.names.fields:
            valid = (sf.col("f_since") <= sf.col(at)) & (sf.col("f_until") > sf.col(at))
            same = (dataset == sf.col("f_id")) & (first == sf.col("f_name")) & valid
            frame = frame.join(sf.broadcast(self.renamed), same, "left")
            present, first = sf.coalesce("f_present", first), sf.coalesce("f_first", first)
            begun = sf.nullif("f_begun", sf.lit(BEGINNING)).cast("string")
        spelled = sf.when(present == sf.col(f"{of}own"), sf.col(field_name))
        added = {f"{of}field_id": id_of(dataset, first, begun), f"{of}own": present, f"{of}spelled": spelled}
        return frame.withColumns(added).drop("f_id", *_FIELD.fieldNames())

    def with_epoch(self, frame: DataFrame) -> DataFrame:
        """Add to rows (namespace, name, at) the last moment until ``at`` at which the name changed its meaning.

        That is ``epoch``.
        """
        if not self.names.cuts:
            return frame.withColumn("epoch", sf.lit(BEGINNING))
        rows = [(*_parts(one), list(moments)) for one, moments in self.names.cuts.items()]
        cuts = local_rows(self.spark, rows, _CUTS)
        placed = frame.join(sf.broadcast(cuts), ["namespace", "name"], "left")
        return placed.withColumn("epoch", epoch_at("at")).drop("cuts")

    def every_dataset(self, frame: DataFrame) -> DataFrame:
        """Add to rows (namespace, name) each dataset that the name ever means: ``dataset_id``."""
        if not self.count:
            return frame.withColumn("dataset_id", id_of(sf.col("namespace"), sf.col("name")))
        same = (sf.col("namespace") == sf.col("m_namespace")) & (sf.col("name") == sf.col("m_name"))
        found = frame.join(self.meanings, same, "left")
        own = id_of(sf.coalesce("p_namespace", "namespace"), sf.coalesce("p_name", "name"), _text("p_begun"))
        return found.withColumn("dataset_id", own).drop(*MEANING.fieldNames())

    def epochs(self, frame: DataFrame, names: Column, key: Sequence[str]) -> DataFrame | None:
        """The moments (``cuts``) by key at which one of the names changes its meaning; None when none ever does.

        Args:
            frame: with the columns of the key.
            names: a list of structs with ``namespace`` and ``name``.
            key: the columns of the key.
        """
        return cuts_of(self.spark, frame, names, key, self.names.cuts) if self.names.cuts else None

    def all_names(self) -> DataFrame:
        """The names of the datasets that have or had several: ``dataset_id`` and ``names``."""
        own = id_of(sf.col("p_namespace"), sf.col("p_name"), _text("p_begun"))
        shown = sf.struct(
            sf.col("m_namespace").alias("namespace"),
            sf.col("m_name").alias("name"),
            _moment("m_since", BEGINNING).alias("valid_from"),
            _moment("m_until", FOREVER).alias("valid_to"),
        )
        by_dataset = self.meanings.groupBy(own.alias("dataset_id"))
        return by_dataset.agg(sf.sort_array(sf.collect_list(shown)).alias("names"))

    def renamed_fields(self) -> DataFrame:
        """The renamed fields, with the columns of `headwater.archive.fold.edges.lineage_fields`."""
        rows = [(*_parts(one.dataset), *one[1:]) for one in self.names.renamed]
        own_id = id_of(sf.col("r_namespace"), sf.col("r_dataset"), _text("r_begun"))
        return local_rows(self.spark, rows, _RENAMED).select(
            own_id.alias("dataset_id"),
            sf.col("r_namespace").alias("dataset_namespace"),
            sf.col("r_dataset").alias("dataset"),
            sf.nullif("r_begun", sf.lit(BEGINNING)).alias("begun"),
            id_of(own_id, sf.col("r_first"), _text("r_first_begun")).alias("field_id"),
            sf.col("r_own").alias("own"),
            sf.col("r_former").alias("spelled"),
            sf.lit(False).alias("written"),
        )

    def rename_spellings(self) -> DataFrame:
        """The spellings of present names in renames: ``dataset_id``, ``own`` and ``renamed``."""
        rows = [(*_parts(one.dataset), *one[1:]) for one in self.names.spellings]
        own_id = id_of(sf.col("s_namespace"), sf.col("s_dataset"), _text("s_begun"))
        spelled = sf.col("s_own").alias("own"), sf.col("s_spelling").alias("renamed")
        return local_rows(self.spark, rows, _SPELLED).select(own_id.alias("dataset_id"), *spelled)


def name_resolver(
    spark: SparkSession, events: DataFrame, cache: Cache, occurring: EventFeatures = EVERYTHING
) -> Resolver:
    """The meanings of all names in events, as `headwater.archive.events.schema.EVENT` has them."""
    if not (occurring.links or occurring.renames or occurring.twins):
        return _no_names(spark)
    events = cache(events.where(_CONCERNS_NAMES).select("at", "renames", "links", "twins"))
    if events.isEmpty():
        return _no_names(spark)
    with_renames = events.where("renames IS NOT NULL").select("renames").distinct()
    renames = sorted(row.renames for row in with_renames.toLocalIterator()) if occurring.renames else []
    changed = changed_names(renames)
    links, twins = cache(_links(spark, events, changed)), _twins(spark, events, changed)
    twins = cache(twins) if occurring.twins else twins.limit(0)
    in_renames = local_rows(spark, sorted(map(_parts, names_in(renames))), _NAME)
    declared = cache(declared_names(links))
    disputed = cache(disputed_datasets(declared, in_renames.union(twins.select(*_NAME.names))))
    # What depends on more than one event goes through a store on the driver.
    some = links.join(disputed, _NAME.names, "left_semi").toLocalIterator()
    found_twins = map(_twins_of, twins.toLocalIterator()) if occurring.twins else ()
    found = meanings_of_names(renames, map(_links_of, some), found_twins)
    of_fields = found.fields_digests()
    rows = [(*_meaning_row(one), of_fields.get((one.present, one.begun), "")) for one in found.meanings]
    meanings = cache(local_rows(spark, rows, MEANING).union(undisputed_meanings(declared, disputed)))
    fields = local_rows(spark, list(map(_field_row, found.fields)), _FIELD)
    of_dataset = id_of(sf.col("f_namespace"), sf.col("f_dataset"), _text("f_dataset_begun"))
    several = local_rows(spark, [(*_parts(one.dataset), *one[1:]) for one in found.twins], _TWIN)
    of_twin = id_of(sf.col("t_namespace"), sf.col("t_dataset"), _text("t_begun"))
    renamed, own = fields.withColumn("f_id", of_dataset), several.withColumn("t_id", of_twin)
    return Resolver(spark, found, meanings, renamed, own, *_counted(meanings))


def _no_names(spark: SparkSession) -> Resolver:
    """The meanings where no event links or changes names: each means itself."""
    meanings, fields, twins = (local_rows(spark, [], one) for one in (MEANING, _FIELD, _TWIN))
    return Resolver(spark, Names(), meanings, fields, twins, 0, "")


def _counted(meanings: DataFrame) -> tuple[int, str]:
    """The number of meanings, and a digest of all of them, whatever their order."""
    hashes = (sf.bit_xor(sf.xxhash64(*MEANING.names, sf.lit(seed))) for seed in (0, 1))
    count, *parts = meanings.agg(sf.count("*"), *hashes).first() or (0,)
    return count, " ".join(map(str, (count, *parts)))


def _links(spark: SparkSession, events: DataFrame, changed: Cuts) -> DataFrame:
    """The other names that events have of datasets, at the first moment in each epoch."""
    links = events.select("at", sf.explode("links").alias("one")).select("at", "one.*")
    key = ["namespace", "name", "links"]
    epoch: Column = sf.lit(BEGINNING)
    moment: Column = sf.lit(0)
    if changed:
        named = sf.concat(sf.array(sf.struct("namespace", "name")), _only_names("links"))
        cuts = cuts_of(spark, links.select(*key).distinct(), named, key, changed)
        links = links.join(sf.broadcast(cuts), key, "left")
        epoch, moment = epoch_at("at"), sf.when(sf.col("cuts").isNull(), 0).otherwise(sf.col("at"))
    return links.groupBy(*key, epoch.alias("epoch")).agg(sf.min(moment).alias("at"))


def _links_of(row: Row) -> Links:
    others = tuple((Dataset(one.namespace, one.name), one.type) for one in row.links)
    return Links(Dataset(row.namespace, row.name), others, row.at)


def _twins(spark: SparkSession, events: DataFrame, changed: Cuts) -> DataFrame:
    """The fields of datasets that differ in case only, at the first moment in each epoch."""
    shown = events.select(sf.explode("twins").alias("one")).select("one.*")
    key = ["namespace", "name", "names"]
    epoch: Column = sf.lit(BEGINNING)
    if changed:
        named = sf.array(sf.struct("namespace", "name"))
        cuts = cuts_of(spark, shown.select(*key).distinct(), named, key, changed)
        shown, epoch = shown.join(sf.broadcast(cuts), key, "left"), epoch_at("at")
    return shown.groupBy(*key, epoch.alias("epoch")).agg(sf.min("at").alias("at"))


def _twins_of(row: Row) -> Twins:
    return Twins(Dataset(row.namespace, row.name), tuple(row.names), row.at)


def changed_meanings(before: DataFrame, after: DataFrame) -> DataFrame:
    """The rows of `MEANING` that are in one of two frames only."""
    both = before.unionByName(after).groupBy(*MEANING.names).count()
    return both.where("count = 1").drop("count")


def meant_datasets(meanings: DataFrame) -> DataFrame:
    """The datasets, by ``dataset_id``, that names mean, and those that they mean without any meaning."""
    present = id_of(sf.col("p_namespace"), sf.col("p_name"), _text("p_begun"))
    own = id_of(sf.col("m_namespace"), sf.col("m_name"))
    return meanings.select(sf.explode(sf.array(present, own)).alias("dataset_id")).distinct()


def cuts_of(spark: SparkSession, frame: DataFrame, names: Column, key: Sequence[str], cuts: Cuts) -> DataFrame:
    """The moments by key at which one of its names changes its meaning: the list ``cuts``, no row without any."""
    rows = [(one.namespace, one.name, moment) for one, moments in cuts.items() for moment in moments]
    moments = sf.broadcast(local_rows(spark, rows, _CUT))
    exploded = frame.select(*key, sf.explode(names).alias("one"))
    same = (sf.col("one.namespace") == sf.col("c_namespace")) & (sf.col("one.name") == sf.col("c_name"))
    return exploded.join(moments, same).groupBy(*key).agg(sf.collect_set("c_moments").alias("cuts"))


def epoch_at(at: str) -> Column:
    """The last of ``cuts`` at or before a moment; until the next one the meanings stay the same."""
    before = sf.filter("cuts", lambda one: one <= sf.col(at))
    return sf.coalesce(sf.array_max(before), sf.lit(BEGINNING))


def _only_names(links: str) -> Column:
    return sf.transform(links, lambda one: sf.struct(one["namespace"].alias("namespace"), one["name"].alias("name")))


def _moment(name: str, never: int) -> Column:
    return sf.timestamp_micros(sf.nullif(name, sf.lit(never)))


def _text(begun: str) -> Column:
    return sf.nullif(begun, sf.lit(BEGINNING)).cast("string")


def _meaning_row(meaning: Meaning) -> tuple[str | int, ...]:
    return (*_parts(meaning.name), meaning.since, meaning.until, *_parts(meaning.present), meaning.begun)


def _field_row(meaning: FieldMeaning) -> tuple[str | int, ...]:
    return (*_parts(meaning.dataset), *meaning[1:])


def _parts(dataset: Dataset) -> tuple[str, str]:
    return dataset.namespace, dataset.name
