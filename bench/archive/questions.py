"""``make bench-archive-questions``: questions over a large graph of fields, each answer compared with SciPy's.

The graph is made by Spark as tables of an archive: layers of datasets whose fields are made of fields of near datasets
of the layer before, with loops. Asked are the impact of a tag on many fields at once, the cycles, and the roots of all
fields. For each answer the seconds by the clock and of CPU are printed, and what must hold of it is checked.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from bench.archive.process_watch import watching
from headwater.archive import column_roots, cycles, impact
from headwater.archive.tables import TABLES

MEMORY = "4g"
FIELDS, LAYERS = 25, 12  # fields of a dataset, and layers of datasets

Ids = NDArray[np.int64]


def tables(spark: Any, fields: int, folder: str) -> dict[str, Any]:
    """The tables of a graph that questions need, written as Parquet: ``fields`` and edges, and no ``replacements``.

    Each field has one or two edges from the same place in the three nearest datasets of the layer before; of a hundred
    datasets one has an edge to all its fields, and one has fields that are made of one another in pairs.
    """
    layer = fields // LAYERS // FIELDS * FIELDS
    total = layer * LAYERS
    ids = spark.range(total)
    near = f"(id - {layer} + {FIELDS} * (pmod(hash(id, k), 3) - 1)) AS source"
    from_layer = ids.where(f"id >= {layer}").selectExpr("id", "explode(array(0, 1)) AS k").selectExpr("id", near)
    in_pairs = ids.where(f"id div {FIELDS} % 100 = 7 AND id % {FIELDS} < {FIELDS - 1}")
    pairs = in_pairs.selectExpr("id", "id + 1 - 2 * (id % 2) AS source")
    whole = ids.where(f"id >= {layer} AND id % (100 * {FIELDS}) = 0").selectExpr("id", "0 AS k").selectExpr("id", near)
    dataset, valid = "concat('d', {} div " + str(FIELDS) + ")", f"source BETWEEN 0 AND {total - 1}"
    of_output = f"{dataset.format('id')} AS output_dataset_id"
    of_input = (
        "lpad(source, 9, '0') AS input_field_id",
        f"{dataset.format('source')} AS input_dataset_id",
        f"concat('f', source % {FIELDS}) AS input_field",
        "true AS current",
    )
    frames = {
        "fields": ids.selectExpr(
            "lpad(id, 9, '0') AS field_id",
            f"{dataset.format('id')} AS dataset_id",
            "'bench' AS namespace",
            f"{dataset.format('id')} AS dataset",
            f"concat('f', id % {FIELDS}) AS name",
            "'int' AS type",
            "true AS written",
            "false AS left_out",
        ),
        "column_edges": from_layer.union(pairs)
        .distinct()
        .where(valid)
        .selectExpr("lpad(id, 9, '0') AS output_field_id", of_output, *of_input),
        "dataset_edges": whole.where(valid).selectExpr(of_output, *of_input),
        "replacements": spark.createDataFrame([], TABLES["replacements"].schema),
    }
    for name, frame in frames.items():
        frame.to(TABLES[name].schema).write.parquet(f"{folder}/{name}")
    return {name: spark.read.parquet(f"{folder}/{name}") for name in frames}


def links(archive: dict[str, Any]) -> tuple[Ids, Ids]:
    """The ends of all edges between fields, as numbers: sources and targets."""
    between = archive["column_edges"].selectExpr("int(input_field_id)", "int(output_field_id)")
    whole = archive["dataset_edges"].join(
        archive["fields"], archive["fields"].dataset_id == archive["dataset_edges"].output_dataset_id
    )
    pairs = between.union(whole.selectExpr("int(input_field_id)", "int(field_id)")).distinct().toPandas().to_numpy()
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)


def reached(start: Ids, source: Ids, target: Ids, total: int) -> NDArray[np.bool_]:
    """The fields downstream of some, level by level."""
    seen, new = np.zeros(total, dtype=bool), np.zeros(total, dtype=bool)
    new[start] = True
    while new.any():
        found = np.zeros(total, dtype=bool)
        found[target[new[source]]] = True
        new = found & ~seen
        seen |= new
    return seen


def strong(source: Ids, target: Ids, total: int) -> Ids:
    """The strongly connected component of each field."""
    graph = csr_matrix((np.ones(len(source), dtype=np.int8), (source, target)), shape=(total, total))
    return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.int64)


def expected_impact(start: Ids, source: Ids, target: Ids, total: int) -> Ids:
    """The fields downstream of some, without those."""
    seen = reached(start, source, target, total)
    seen[start] = False
    return np.flatnonzero(seen)


def check_impact(answer: Any, start: Ids, source: Ids, target: Ids, total: int) -> int:
    """Compare with a walk in memory; return the number of rows."""
    found = np.sort(numbers(answer, "dataset", "field"))
    assert np.array_equal(found, expected_impact(start, source, target, total)), "the impact is another one"
    return len(found)


def check_cycles(answer: Any, source: Ids, target: Ids, total: int) -> int:
    """Compare components with SciPy's: none has fields of two, and no two are parts of one."""
    rows = answer.selectExpr("int(field_id) AS field", "int(component) AS component").toPandas()
    members, component = rows["field"].to_numpy(), rows["component"].to_numpy()
    labels = strong(source, target, total)
    size = np.bincount(labels)
    in_cycle = size[labels] > 1
    in_cycle[source[source == target]] = True
    assert np.array_equal(np.sort(members), np.flatnonzero(in_cycle)), "other fields are in cycles"
    of_both = set(zip(labels[members].tolist(), component.tolist(), strict=True))
    assert len(of_both) == len(set(component.tolist())) == len({one for one, _ in of_both}), "components are others"
    return len(members)


def check_roots(answer: Any, source: Ids, target: Ids, total: int) -> int:
    """Compare the roots of some fields with walks in memory; all roots have no edge or are in a cycle."""
    sample = np.random.default_rng(1).integers(0, total, 50)
    names = [f"{at:09d}" for at in sample]
    rows = answer.where(answer.field_id.isin(names)).selectExpr("int(field_id)", "int(root_field_id)").collect()
    has_source = np.zeros(total, dtype=bool)
    has_source[target] = True
    labels = strong(source, target, total)
    entered = np.zeros(total, dtype=bool)  # by an edge from another component
    entered[labels[target[labels[source] != labels[target]]]] = True
    for one in set(sample.tolist()):
        above = reached(np.array([one]), target, source, total)
        above[one] = True
        roots = np.flatnonzero(above & ~entered[labels])
        assert sorted(root for field, root in rows if field == one) == roots.tolist(), f"other roots of {one}"
    return int(answer.count())


def numbers(answer: Any, dataset: str, field: str) -> Ids:
    """The numbers of fields by their names."""
    number = f"int(substring({dataset}, 2)) * {FIELDS} + int(substring({field}, 2)) AS number"
    return np.asarray(answer.selectExpr(number).toPandas()["number"], dtype=np.int64)


def measure(spark: Any, fields: int, starts: int, folder: str) -> None:
    """Ask all questions of one graph, and print a row for each."""
    archive = tables(spark, fields, folder)
    total = archive["fields"].count()
    source, target = links(archive)
    start = np.arange(0, total, max(1, total // starts))[:starts]
    tagged = archive["fields"].where(f"int(field_id) % {max(1, total // starts)} = 0 AND int(field_id) <= {start[-1]}")
    print(f"{total:,} fields, {len(source):,} edges between fields, load {os.getloadavg()[0]:.1f}", flush=True)
    print("| question | rows | s | s of CPU | MB at once |\n| - | -: | -: | -: | -: |", flush=True)
    questions: dict[str, tuple[Callable[[], Any], Callable[[Any], int]]] = {
        f"impact of {len(start):,} fields": (
            lambda: impact(archive, tagged),
            lambda rows: check_impact(rows, start, source, target, total),
        ),
        "cycles": (lambda: cycles(archive), lambda rows: check_cycles(rows, source, target, total)),
        "roots of all": (lambda: column_roots(archive), lambda rows: check_roots(rows, source, target, total)),
    }
    for name, (ask, check) in questions.items():
        with watching() as watch:
            rows = ask()
            watch.step(name)
        (step,) = watch.steps
        found = check(rows)
        print(f"| {name} | {found:,} | {step.wall:.0f} | {step.cpu:.0f} | {step.memory:,.0f} |", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask questions of graphs of several sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fields", type=int, nargs="+", default=[6_000, 60_000, 600_000])
    parser.add_argument("--starts", type=int, default=100_000, help="fields at most; a sixth of all at most")
    parser.add_argument("--cores", type=int, default=2)
    chosen = parser.parse_args(arguments)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{chosen.cores}]").config("spark.driver.memory", MEMORY)
    spark = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for fields in chosen.fields:
        with tempfile.TemporaryDirectory() as folder:
            measure(spark, fields, min(chosen.starts, fields // 6), folder)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
