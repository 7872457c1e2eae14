"""What events told, each once, without their texts: what the tables are made of.

Updates keep it in tables of their own beside the others, so that nothing is parsed twice. They are no part of an
archive: nobody else should read them. The table ``events`` has all that they have, and after a whole build they are
made from it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, StructType

from headwater.archive.cache import Keep
from headwater.archive.events.parser import parsed
from headwater.archive.events.schema import EVENT, LINE
from headwater.archive.formats.differences import without
from headwater.archive.tables import Made, Table

_APART = ("shapes", "schemas")
_TEXT = "payload"


def _table(columns: StructType, key: str) -> Table:
    made = {one.name: Made(one.dataType, "as `headwater.archive.events.schema` has it") for one in columns.fields}
    return Table(made, (key,), key=(key,))


def _element(name: str) -> StructType:
    kind = EVENT[name].dataType
    assert isinstance(kind, ArrayType)
    assert isinstance(kind.elementType, StructType)
    return kind.elementType


STAGED: Mapping[str, Table] = MappingProxyType(
    {
        "parsed": _table(StructType([one for one in EVENT.fields if one.name not in {*_APART, _TEXT}]), "digest"),
        "parsed_shapes": _table(_element("shapes"), "shape"),
        "parsed_schemas": _table(_element("schemas"), "schema"),
    }
)
"""By name the tables of what is staged."""


@dataclass(frozen=True, slots=True)
class Told:
    """Events as `headwater.archive.events.schema.EVENT` has them, with lineage and schemas apart, each once.

    ``events`` of a source have their texts, those that were staged have not.
    """

    events: DataFrame
    shapes: DataFrame
    schemas: DataFrame

    def staged(self) -> dict[str, DataFrame]:
        """The rows of the tables of `STAGED`."""
        frames = dict(zip(STAGED, (self.events, self.shapes, self.schemas), strict=True))
        return {name: STAGED[name].made_of(frame) for name, frame in frames.items()}

    def new_to(self, known: "Told | None", keep: Keep) -> "Told":
        """What of it is not known: kept, for the known may be added to."""
        if known is None:
            return Told(keep(self.events), self.shapes, self.schemas)
        return Told(
            keep(without(self.events, known.events.select("digest"), ["digest"])),
            keep(without(self.shapes, known.shapes.select("shape"), ["shape"])),
            keep(without(self.schemas, known.schemas.select("schema"), ["schema"])),
        )

    def with_(self, known: "Told | None") -> "Told":
        """It and what was known, to which it is new; without texts."""
        mine = self.staged()
        if known is None:
            return Told(*mine.values())
        other = known.staged()
        return Told(*(other[name].unionByName(mine[name]) for name in STAGED))


def told_by(read: DataFrame, keep: Keep) -> Told:
    """What rows of `headwater.archive.events.schema.EVENT` tell, of which some are told several times.

    A row has the lineage that it is the first to tell of in its part of the source, so that what is taken of two equal
    rows may be the one without: lineage is looked for in all rows.
    """
    events = read.where("digest IS NOT NULL")
    apart = {
        name: keep(events.select(sf.explode(name).alias("one")).select("one.*").dropDuplicates([key]))
        for name, key in zip(_APART, ("shape", "schema"), strict=True)
    }
    return Told(events.drop(*_APART).dropDuplicates(["digest"]), **apart)


def told_again(events: DataFrame, keep: Keep) -> Told:
    """What the events of the table ``events`` tell: their texts are parsed again."""
    return told_by(keep(parsed(as_lines(events)).select("event.*")), keep)


def as_lines(events: DataFrame) -> DataFrame:
    """The texts of the table ``events`` as `headwater.archive.events.schema.LINE` has them."""
    given = {"source": sf.lit("events"), "place": sf.col("digest"), "value": sf.col(_TEXT)}
    return events.select(*(given.get(one.name, sf.lit(None)).cast(one.dataType).alias(one.name) for one in LINE))
