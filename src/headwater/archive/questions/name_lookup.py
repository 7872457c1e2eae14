"""Fields of an archive by names as people type them."""

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.errors import AmbiguousName, UnknownName
from headwater.model import Dataset
from headwater.model.names import caseless
from headwater.store.questions.lookup.typed_names import fit, tail, typed

_MOST = 1_000  # datasets whose names end in the text
_SHOWN = 5


def find_fields(archive: Mapping[str, DataFrame], name: str) -> DataFrame:
    """The field that a name ``DATASET.COLUMN`` means, or all fields of ``DATASET``: rows of the table ``fields``.

    The name is any ending that fits only one, as for the other commands. A field that a run left out when it replaced
    all rows of the dataset is found by its own name only.

    Raises:
        UnknownName, AmbiguousName: it fits none, or several datasets.
    """
    fields = archive["fields"]
    read = typed(name)
    for dataset, field in ((read.text, ""), *read.splits()):
        same = _same_name(fields, field) if field else fields
        found = _ending(same, dataset)
        if len(found) > 1:
            shown = ", ".join(sorted(str(one) for one in found.values())[:_SHOWN])
            raise AmbiguousName(f"{name!r} fits several datasets of the archive: {shown}. Write more of the name.")
        for dataset_id in found:
            of_dataset = fields.where(sf.col("dataset_id") == dataset_id)
            return _same_name(of_dataset, field) if field else _lasting(archive, of_dataset)
    raise UnknownName(f"No dataset or column of the archive has a name that ends in {name!r}.")


def _lasting(archive: Mapping[str, DataFrame], fields: DataFrame) -> DataFrame:
    """The fields that datasets have now (`headwater.store.read_model.fields.ended_fields`)."""
    written = archive["column_edges"].where("current").select(sf.col("output_field_id").alias("field_id"))
    return fields.where("NOT left_out").unionByName(fields.where("left_out").join(written, "field_id", "left_semi"))


def _same_name(fields: DataFrame, name: str) -> DataFrame:
    """The fields with a name: those of this spelling, else those that differ in case only."""
    same = fields.where(sf.col("name") == name)
    return fields.where(sf.lower("name") == caseless(name)) if same.isEmpty() else same


def _ending(fields: DataFrame, ending: str) -> dict[str, Dataset]:
    """The datasets of fields whose names end in a text, those that fit best."""
    full = sf.lower(sf.replace(sf.concat_ws(":", "namespace", "dataset"), sf.lit("/"), sf.lit(".")))
    rows = fields.where(full.endswith(sf.lit(tail(ending)))).select("dataset_id", "namespace", "dataset").distinct()
    named = {row.dataset_id: Dataset(row.namespace, row.dataset) for row in rows.limit(_MOST).collect()}
    fits = {key: how for key, one in named.items() if (how := fit(one, ending)) is not None}
    return {key: named[key] for key, how in fits.items() if how == min(fits.values())}
