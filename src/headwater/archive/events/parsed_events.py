"""Events that were parsed, each once, with their lineage and schemas apart: the tables are made of them.

Updates write them, without their texts, into tables of their own beside the others, so that nothing is parsed twice.
Those tables are no part of an archive, and only updates read them; after a whole build they are made again from the
table ``events``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from headwater.archive.cache import MANY_EVENTS, Cache, CachedFrames
from headwater.archive.events.packed_rows import unpacked
from headwater.archive.events.parser import parse
from headwater.archive.events.schema import EVENT, FIELDS, LINEAGE, SCHEMA, SHAPE, event_day
from headwater.archive.events.sources import as_lines
from headwater.archive.formats.differences import without
from headwater.archive.tables import Table, TableColumn

_APART = {"shapes": ("shape", LINEAGE), "schemas": ("schema", FIELDS)}  # with their digests, and what is packed
_TEXT = "payload"
_IS_EVENT = "digest IS NOT NULL"
_ROW, _FIRST = "row", "first_row"  # numbers of rows in both frames of parsed lines, which come in one order
_FILES_OF_A_DAY = 3
_FEW_FILES = 50
_MOST_BROADCAST = 1_000_000  # digests, of 32 characters each


def staged_table(columns: StructType, *order: str) -> Table:
    """A table that only updates read, with the order of its rows; the last column of that is its key."""
    comment = "as `headwater.archive` has it between updates"
    return Table({one.name: TableColumn(one.dataType, comment) for one in columns.fields}, order, key=order[-1:])


STAGED: Mapping[str, Table] = MappingProxyType(
    {
        "parsed": staged_table(
            # By time: those of a batch are looked for among those of the same time.
            StructType([one for one in EVENT.fields if one.name not in {*_APART, _TEXT}]),
            *("at", "digest"),
        ),
        "parsed_shapes": staged_table(SHAPE, "shape"),
        "parsed_schemas": staged_table(SCHEMA, "schema"),
    }
)
"""The tables in which updates stage parsed events, by name."""


@dataclass(frozen=True, slots=True)
class EventFeatures:
    """Which rare things occur in events: plans are made without those that do not.

    Args:
        links: other names of datasets.
        renames: new names of datasets or fields, or the end of a name.
        twins: fields of a dataset whose names differ in case only.
        parents: parents of runs.
        replaced: runs that replaced or restored rows of a dataset.
        spelled: names of fields that are not in lower case.
    """

    links: bool = True
    renames: bool = True
    twins: bool = True
    parents: bool = True
    replaced: bool = True
    spelled: bool = True


EVERYTHING = EventFeatures()
_OCCURS: Mapping[str, str] = MappingProxyType(
    {
        "links": "size(links) > 0",
        "renames": "renames IS NOT NULL",
        "twins": "size(twins) > 0",
        "parents": "parent IS NOT NULL",
        "replaced": "exists(datasets, one -> one.replaces IS NOT NULL OR one.restores IS NOT NULL)",
        "spelled": "exists(schemas, one -> one.spelled) OR exists(shapes, one -> one.spelled)",
    }
)
"""The conditions of `EventFeatures`, on an event."""


@dataclass(frozen=True, slots=True)
class ParsedEvents:
    """Events as `headwater.archive.events.schema.EVENT` has them, with lineage and schemas apart, each once.

    ``events`` of a source have their texts, staged ones have none.
    """

    events: DataFrame
    shapes: DataFrame
    schemas: DataFrame
    occurring: EventFeatures = EVERYTHING

    def staged(self) -> dict[str, DataFrame]:
        """The rows of the tables of `STAGED`."""
        frames = dict(zip(STAGED, (self.events, self.shapes, self.schemas), strict=True))
        return {name: STAGED[name].select_from(frame) for name, frame in frames.items()}

    def without_texts(self, cache: Cache) -> "ParsedEvents":
        """These without texts, cached: texts are most of the bytes, and Spark reads whole rows of cached frames."""
        return replace(self, events=cache(self.staged()["parsed"]))

    def new_to(self, before: "ParsedEvents | None", cache: Cache) -> "ParsedEvents":
        """Those that are not among others; cached, because rows may be added to the tables of the others."""
        if before is None:
            return ParsedEvents(cache(self.events), self.shapes, self.schemas)
        first, last = self.events.agg(sf.min("at"), sf.max("at")).first() or (None, None)
        same_time = before.events.where(sf.col("at").between(sf.lit(first), sf.lit(last))).select("digest")
        return ParsedEvents(
            cache(without(self.events, same_time, ["digest"])),
            cache(without(self.shapes, before.shapes.select("shape"), ["shape"])),
            cache(without(self.schemas, before.schemas.select("schema"), ["schema"])),
        )

    def union(self, before: "ParsedEvents | None") -> "ParsedEvents":
        """These and others, none of which are among these; without texts."""
        mine = self.staged()
        if before is None:
            return ParsedEvents(*mine.values())
        other = before.staged()
        return ParsedEvents(*(other[name].unionByName(mine[name]) for name in STAGED))


@dataclass(frozen=True, slots=True)
class LineFeatures:
    """Properties of all lines, known once they are parsed.

    Args:
        count: the number of lines.
        days: days that their events are of, about.
        files: files that tasks write where each writes the events that it has, one for each day of them, about.
        occurring: what occurs in events.
    """

    count: int
    days: int
    files: int
    occurring: EventFeatures

    @property
    def ordered(self) -> bool:
        """Whether events come so nearly in the order of time that the tasks that have them write few files of a day."""
        return self.count <= MANY_EVENTS and self.files <= _FILES_OF_A_DAY * self.days + _FEW_FILES


@dataclass(frozen=True, slots=True)
class ParsedLines:
    """Lines that were read, cached: ``whole`` ones, and ``lean`` ones without the texts of events.

    Spark reads whole rows of cached frames, and texts are most of the bytes: only the table ``events`` needs them.
    """

    whole: DataFrame
    lean: DataFrame

    def events(self) -> DataFrame:
        """The events among them without texts, as often as they are there."""
        return self.lean.where(_IS_EVENT)

    def looked_through(self) -> LineFeatures:
        """The number of lines, their order, and what occurs in them; by this they are cached."""
        occurs = (sf.coalesce(sf.bool_or(sf.expr(one)), sf.lit(False)).alias(name) for name, one in _OCCURS.items())
        file_of_task = sf.concat_ws(" ", event_day(), sf.spark_partition_id())
        placed = self.lean.withColumns({"day": event_day(), "file": file_of_task})
        many = (sf.approx_count_distinct(name) for name in ("day", "file"))
        count, days, files, *found = placed.agg(sf.count("*"), *many, *occurs).first() or (0, 0, 0)
        return LineFeatures(count, days, files, EventFeatures(*found))


def parsed_lines(lines: DataFrame, cache: CachedFrames) -> ParsedLines:
    """Read lines of sources, as `headwater.archive.events.parser.parse` does, and cache them."""
    whole = cache.whole_rows(parse(lines).select("event.*", "rejected"))
    return ParsedLines(whole, cache.whole_rows(whole.drop(_TEXT)))


def distinct_events(parsed: ParsedLines, cache: Cache) -> ParsedEvents:
    """The distinct events, lineage and schemas in lines.

    Lineage is in the first row of its partition that refers to it. So of two equal rows the one that is dropped may be
    the one that has it, and lineage is looked for in all rows.
    """
    apart = {name: cache(_each_apart(parsed, name)) for name in _APART}
    return ParsedEvents(_each_once(parsed, cache).drop(*_APART, "rejected"), **apart)


def _each_apart(parsed: ParsedLines, name: str) -> DataFrame:
    """The lineage or the schemas of all events, each once."""
    key, content = _APART[name]
    every = parsed.events().select(sf.explode(name).alias("one")).select("one.*").drop("spelled")
    return unpacked(every.dropDuplicates([key]), content)


def _each_once(parsed: ParsedLines, cache: Cache) -> DataFrame:
    """Events with distinct digests: of equal ones the first.

    Nearly all have one that no other has: only the digests of all are shuffled, and not their texts.
    """
    whole, lean = (frame.withColumn(_ROW, sf.monotonically_increasing_id()) for frame in (parsed.whole, parsed.lean))
    digests = lean.where(_IS_EVENT).groupBy("digest").agg(sf.count("*").alias("times"), sf.min(_ROW).alias(_FIRST))
    repeated = cache(digests.where("times > 1").select("digest", _FIRST))
    count = repeated.count()
    events = whole.where(_IS_EVENT)
    if not count:
        return events.drop(_ROW)
    repeated = sf.broadcast(repeated) if count <= _MOST_BROADCAST else repeated
    joined = events.join(repeated, "digest", "left")
    return joined.where(f"{_FIRST} IS NULL OR {_FIRST} = {_ROW}").drop(_ROW, _FIRST)


def reparsed_events(events: DataFrame, cache: CachedFrames) -> ParsedEvents:
    """The events of the table ``events``, whose texts are parsed again."""
    lines = as_lines(events, sf.lit("events"), place=sf.col("digest"), value=sf.col(_TEXT))
    return distinct_events(parsed_lines(lines, cache), cache)
