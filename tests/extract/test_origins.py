"""Origins of rows that leave a plan are remembered within bounds, and a gap names what was forgotten."""

from typing import Any

from headwater.extract import Origins, column_lineage, origin
from headwater.extract.origins import Origin
from headwater.extract.relations.rdds import PROGRAM
from headwater.extract.trace import source
from headwater.model import Dataset, InputField
from headwater.plan import Plan, decode_document

SOURCES = [{"class": "FileScanRDD", "paths": ["file:/data/in/day=1"], "columns": ["a", "b"]}]


def over_rdd(**facts: Any) -> Plan:
    """A plan that reads one column ``x`` of an RDD."""
    column: list[Any] = ["AttributeReference", [], {}, {"id": 1, "name": "x", "dataType": "int"}]
    rows: list[Any] = ["LogicalRDD", [], {"output": [0]}, {"rdd": {"class": "MapPartitionsRDD", **facts}}, 1]
    return decode_document({"nodes": [column, rows], "output": [[1, "x", "int"]]})


def made_of(*names: str) -> Origin:
    return Origin(tuple(source(InputField(Dataset("file", "/in"), name)) for name in names))


def known(*rdds: int) -> Origins:
    found = Origins()
    for rdd in rdds:
        found.remember(rdd, made_of(f"c{rdd}"))
    return found


def sources_of(plan: Plan, origins: Origins) -> tuple[set[tuple[str, bool]], set[tuple[str, str]]]:
    lineage, gaps = column_lineage(plan, origins=origins)
    edges = {(edge.input.name, edge.transformation.opaque) for edge in lineage.fields["x"]}
    return edges, {(gap.kind, gap.what) for gap in gaps}


def test_a_checkpoint_is_read_through() -> None:
    assert sources_of(over_rdd(rdd=7, known=[7], sources=[]), known(7)) == ({("c7", False)}, set())


def test_an_rdd_depends_on_every_rdd_it_is_made_of_and_on_its_files() -> None:
    found = sources_of(over_rdd(rdd=9, known=[7, 8], sources=SOURCES), known(7, 8))
    assert found == ({("c7", True), ("c8", True), ("a", True), ("b", True)}, {("opaque", "RDD")})


def test_forgotten_origins_have_a_gap() -> None:
    found = sources_of(over_rdd(rdd=9, known=[6, 7], sources=[]), known(7))
    assert found == ({("c7", True)}, {("opaque", "RDD"), ("budget", "RDD")})
    assert sources_of(over_rdd(rdd=6, known=[6], sources=[]), known(7)) == (set(), {("budget", "RDD")})


def test_an_rdd_without_known_sources_is_named_in_a_gap() -> None:
    cut_off = over_rdd(rdd=9, known=[], sources=[{"class": "ReliableCheckpointRDD"}])
    assert sources_of(cut_off, known()) == (set(), {("relation", "ReliableCheckpointRDD")})
    assert sources_of(over_rdd(), known()) == (set(), {("relation", "LogicalRDD")})
    program = over_rdd(rdd=9, known=[], sources=[{"class": "ParallelCollectionRDD"}])
    assert sources_of(program, known()) == (set(), {("relation", PROGRAM)})


def test_an_origin_is_made_of_those_before_it() -> None:
    origins = known(7)
    origins.remember(8, origin(over_rdd(rdd=7, known=[7], sources=[]), origins=origins))
    assert sources_of(over_rdd(rdd=8, known=[8], sources=[]), origins) == ({("c7", False)}, set())


def test_those_not_used_for_the_longest_time_are_forgotten() -> None:
    origins = Origins(most_paths=6)
    for rdd in (1, 2, 3):
        origins.remember(rdd, made_of("a"))
    assert set(origins) == {1, 2, 3}
    assert 1 in origins  # asked for: the others are older now
    origins.remember(4, made_of("a"))
    assert set(origins) == {1, 3, 4}
    origins.remember(5, made_of(*"abcdefgh"))
    assert set(origins) == {5}
    origins.remember(5, made_of("a"))
    origins.remember(6, made_of("a"))
    assert set(origins) == {5, 6}
