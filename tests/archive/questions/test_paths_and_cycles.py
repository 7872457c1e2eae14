"""Paths and cycles in the tables of an archive are those of the store's graph."""

import random
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sqlalchemy import text
from typer.testing import CliRunner

from headwater.archive import Archive, cycles, paths
from headwater.archive.questions.components import components
from headwater.cli.main import app
from headwater.store.questions.lookup.find import ExactName
from headwater.store.questions.paths import paths_between
from tests.archive.conftest import Both, Named
from tests.extract.case_file import some

from .test_lineage import downstream

pytestmark = pytest.mark.spark

LINKS = (
    "SELECT input_field, output_field FROM edge UNION SELECT e.input_field, f.id FROM dataset_edge e "
    "JOIN field f ON f.dataset_id = e.output_dataset"
)


def components_of(links: Iterable[tuple[Any, Any]]) -> set[frozenset[Any]]:
    """The strongly connected components of a graph that have a link in them, by scipy."""
    links = set(links)
    nodes = sorted({node for link in links for node in link})
    place = {node: number for number, node in enumerate(nodes)}
    ends = [place[one] for one, _ in links], [place[other] for _, other in links]
    _, labels = connected_components(coo_array(([1] * len(links), ends), shape=(len(nodes),) * 2), connection="strong")
    found = defaultdict(set)
    for node, label in zip(nodes, labels.tolist(), strict=True):
        found[label].add(node)
    return {frozenset(one) for one in found.values() if len(one) > 1 or (*one, *one) in links}


@pytest.mark.parametrize("few", [0, 1_000], ids=["workers", "driver"])
def test_cycles_are_the_strongly_connected_components_of_any_graph(spark: Any, monkeypatch: Any, few: int) -> None:
    """Thirty random graphs at once: cycles in a row, beside and within one another, and of one field."""
    monkeypatch.setattr("headwater.archive.questions.components.DRIVER_LINKS", few)
    chance = random.Random(3)
    links = set()
    for graph in range(30):
        size, count = chance.randrange(1, 9), chance.randrange(1, 16)
        links |= {tuple(f"{graph:02}.{chance.randrange(size)}" for _ in range(2)) for _ in range(count)}
    rows = components(spark.createDataFrame(sorted(links), "source string, target string")).collect()
    found = defaultdict(set)
    for row in rows:
        found[row.component].add(row.field_id)
    assert {frozenset(one) for one in found.values()} == components_of(links)
    assert all(row.size == len(found[row.component]) and row.component == min(found[row.component]) for row in rows)
    assert components(spark.createDataFrame([("a", "b")], "source string, target string")).isEmpty()


def test_cycles_of_an_archive_are_those_of_the_store(both: Both) -> None:
    with both.store.read() as connection:
        ids = [row for row in connection.execute(text(LINKS)) if both.fields.keys() >= set(row)]
    links = [(both.fields[one], both.fields[other]) for one, other in ids]
    compared = set(both.fields.values())
    found = defaultdict(set)
    for row in cycles(both.archive).collect():
        found[row.component].add((row.namespace, row.dataset, row.field))
    assert {frozenset(one) for one in found.values() if one <= compared} == components_of(links)
    assert {len(one) for one in found.values()} >= {1, 3}


def test_a_path_is_as_short_as_the_store_says(both: Both) -> None:
    """Between fields that are far apart; and between fields without a path. The command is asked backward."""
    each = sorted(both.fields)[::8]  # a walk in the store for each
    far = [(down[0], key, name) for key in each for name, down in _down(both, key).items()]
    ends = [(both.fields[key], name) for _, key, name in sorted(far, reverse=True)[:40:20]]
    for one, other in some([*ends, ends[0][::-1]], 3):
        (store,) = paths_between(both.store, ExactName(*one), ExactName(*other), most=1).paths
        source, target = (_named(end) for end in (store.columns[0], store.columns[-1]))
        steps = _steps(both.archive, one, other)
        assert len(steps) == len(store.steps) > 0
        assert [steps[0][0], steps[-1][1]] == [source, target]
        assert all(before[1] == after[0] for before, after in pairwise(steps))
    stage = next(name for name in both.fields.values() if name[1:] == ("/two", "z"))
    for source in some((5, 1), 2):  # what two was made of had read the stage while the source was in it
        start = (stage[0], f"/source{source}", "a")
        (path,) = paths_between(both.store, ExactName(*start), ExactName(*stage), most=1).paths
        assert [end[1] for _, end in _steps(both.archive, start, stage)] == [
            one.dataset.dataset.name for one in path.columns[1:]
        ]
    first, *others = sorted(both.fields)
    reached = _down(both, first)
    apart = next(both.fields[key] for key in others if both.fields[key] not in reached)
    if not paths_between(both.store, ExactName(*both.fields[first]), ExactName(*apart), most=1).paths:
        assert _steps(both.archive, both.fields[first], apart) == []
    assert _steps(both.archive, ends[0][0], ends[0][0]) == []


def _down(both: Both, key: int) -> dict[Named, tuple[Any, ...]]:
    from headwater.store.questions import Bounds

    return downstream(both, [key], Bounds())


def _named(column: Any) -> Named:
    return column.dataset.dataset.namespace, column.dataset.dataset.name, column.name


def _steps(archive: Archive, one: Named, other: Named) -> list[tuple[Named, Named]]:
    """The fields of each step; that a step has several edges makes no difference."""
    start, end = (
        archive.fields.where(f"namespace = '{space}' AND dataset = '{dataset}' AND name = '{name}'")
        for space, dataset, name in (one, other)
    )
    rows = paths(archive, start, end).collect()
    found = {row.step: (tuple(row)[1:4], tuple(row)[4:7]) for row in rows}
    assert list(found) == list(range(1, len(found) + 1))
    return list(found.values())


def test_the_commands_print_paths_and_cycles(both: Both) -> None:
    def printed(*words: str) -> list[str]:
        command = ["archive", *words, "--into", both.into, "--format", "parquet"]
        result = CliRunner().invoke(app, command, env={"COLUMNS": "250"})
        assert result.exit_code == 0, result.output
        return [" ".join(line.split()) for line in result.stdout.splitlines()]

    path = printed("paths", "kfiles.x", "raw.f1")[1:]
    assert [line.split()[:7] for line in path] == [
        ["1", "file", "/raw", "f1", "file", "/lfiles", "_c0"],
        ["2", "file", "/lfiles", "_c0", "file", "/lfiles", "value"],
        ["3", "file", "/lfiles", "value", "file", "/kfiles", "x"],
    ]
    assert sum(line.endswith(" 3") and "file /l" in line for line in printed("cycles")) == 3
