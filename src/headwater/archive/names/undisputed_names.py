"""Other names of datasets that nothing disputes: all of them mean the dataset that declares them, for ever.

Most datasets with several names are tables, each with its location and its name in a catalog. Where nobody else
declares these names, where they declare none themselves, and where no event renames them,
`headwater.store.ingest.datasets` lets them mean the one dataset for all time. Spark finds those, however many there
are; only the others go through a store.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.model.time import BEGINNING, FOREVER

_NAME = ["namespace", "name"]
_OTHER = ["other_namespace", "other_name"]


def declared_names(links: DataFrame) -> DataFrame:
    """The pairs of a dataset and another name of it, each once: ``namespace``, ``name``, ``other_…``.

    ``links`` have the other names of a dataset as a list of structs in ``links``.
    """
    one = links.select(*_NAME, sf.explode("links").alias("one"))
    other = sf.col("one.namespace").alias(_OTHER[0]), sf.col("one.name").alias(_OTHER[1])
    return one.select(*_NAME, *other).distinct()


def disputed_datasets(declared: DataFrame, changed: DataFrame) -> DataFrame:
    """The datasets (namespace, name) that declare names which do not mean them alone for ever.

    All that share a name, directly or through others, are disputed together.

    Args:
        declared: rows of `declared_names`.
        changed: names (namespace, name) whose meaning, or that of whose fields, depends on more.
    """
    declaring = declared.select(*_NAME).distinct()
    shared = declared.groupBy(*_OTHER).count().where("count > 1").select(*_OTHER)
    doubtful = changed.union(declaring).union(shared).distinct().toDF(*_OTHER)
    by_others = declared.join(doubtful, _OTHER, "left_semi").select(*_NAME)
    itself = declaring.join(changed.union(declared.select(*_OTHER)), _NAME, "left_semi")
    return by_others.union(itself).distinct()


def undisputed_meanings(declared: DataFrame, disputed: DataFrame) -> DataFrame:
    """The meanings of the names of all other datasets: rows of `headwater.archive.names.resolver.MEANING`."""
    clear = declared.join(disputed, _NAME, "left_anti")
    own = clear.select(*_NAME, *(sf.col(name).alias(other) for name, other in zip(_NAME, _OTHER, strict=True)))
    return clear.union(own.distinct()).select(
        sf.col("other_namespace").alias("m_namespace"),
        sf.col("other_name").alias("m_name"),
        sf.lit(BEGINNING).alias("m_since"),
        sf.lit(FOREVER).alias("m_until"),
        sf.col("namespace").alias("p_namespace"),
        sf.col("name").alias("p_name"),
        sf.lit(BEGINNING).alias("p_begun"),
        sf.lit("").alias("p_fields"),
    )
