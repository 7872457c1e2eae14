"""Every column that changes with the first source of a history has a root in the store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.extract.case_tables import jvm_of_its_own
from tests.oracle.__main__ import logged
from tests.oracle.histories.experiment import HistoryExperiment
from tests.oracle.histories.history import History
from tests.oracle.histories.hunt import EVENTS, LINKS, generated, watched, with_delta
from tests.oracle.histories.store import lineage_in
from tests.oracle.hunt import Oracle
from tests.oracle.judging import source_of, unexplained
from tests.oracle.logbook import append, read
from tests.oracle.rows import TABLES
from tests.oracle.tally import Tally
from tests.store.conftest import run_event, written

from headwater.model import Subtype
from headwater.store import open_store

FILLED = History(
    (
        'spark.sql("DECLARE VARIABLE most DOUBLE")\n'
        'spark.sql("SET VAR most = (SELECT max(amount) FROM orders WHERE qty > 1)")\n'
        'spark.sql("SELECT id, country, most FROM customers").write.parquet(f"{folder}/mid")',
        'spark.read.parquet(f"{folder}/mid").where("country IS NOT NULL").select("ID", "most")'
        '.write.parquet(f"{folder}/out")',
    ),
    frozenset({"by hand"}),
)
REPLACED = History(
    (
        'spark.table("customers").select("id", "country").write.parquet(f"{folder}/mid")',
        'spark.table("orders").selectExpr("order_id AS id", "status AS country")'
        '.write.mode("overwrite").parquet(f"{folder}/mid")',
        'spark.read.parquet(f"{folder}/mid").write.parquet(f"{folder}/kept")',
        'spark.range(1).selectExpr("id", "\'none\' AS country").write.mode("overwrite").parquet(f"{folder}/mid")',
        'spark.read.parquet(f"{folder}/kept").write.parquet(f"{folder}/out")',
    ),
    frozenset({"by hand"}),
)
"""A folder that is filled, overwritten, read, and overwritten again."""


def test_every_kind_of_hand_over_is_generated_and_is_python() -> None:
    found = generated(1, 40)
    assert {f"link {name}" for name in LINKS} <= {form for history in found for form in history.used}
    assert {len(history.jobs) for history in found} >= {2, 3, 4, 5}
    for history in found:
        for job in history.jobs:
            compile(job, "job", "exec")


def test_a_seed_generates_the_same_histories_again() -> None:
    assert generated(7, 10) == generated(7, 10) != generated(8, 10)


def test_a_log_is_read_as_it_was_written(tmp_path: Path) -> None:
    tally = Tally(looked_at=3, runs=20, missing=["a\nb"])
    tally.claims[Subtype.JOIN] = 4
    tally.unshown[Subtype.SORT, "step view"] = 2
    tally.invalid["ValueError: x"] = 1
    append(tmp_path / "log", 5, tally)
    append(tmp_path / "log", 6, Tally())
    assert list(read(tmp_path / "log")) == [(5, tally), (6, Tally())]
    total = Tally()
    for _, one in read(tmp_path / "log"):
        total.take(one)
        total.take(one)
    assert (total.count, total.claims[Subtype.JOIN], total.missing) == (8, 8, ["a\nb", "a\nb"])


def test_a_log_keeps_cases_placed_packings_and_pipelines_apart(tmp_path: Path) -> None:
    for key, runs in (("case join/inner", 1), ("placed 5", 2), ("placed 6", 4), (5, 8), (5, 8)):
        append(tmp_path / "log", key, Tally(runs=runs))
    assert [logged(tmp_path / "log", kind).runs for kind in ("case", "placed", "")] == [1, 6, 8]


@pytest.mark.parametrize("table", TABLES)
def test_scattered_places_are_the_same_for_a_seed(table: str) -> None:
    one, other = (TABLES[table].scattered(seed) for seed in ("1", "2"))
    assert one == TABLES[table].scattered("1") != other
    assert len(one) == len(TABLES[table].rows)


def test_a_source_of_every_column_but_a_literal_may_decide_on_the_rows_of_the_literal(tmp_path: Path) -> None:
    edges = {"d": [], "e": ["orders.ts CONDITIONAL"], "a": ["orders.qty", "orders.ts JOIN"]}
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.ingest([run_event("j", written("h/out", edges))])
        lineage = lineage_in(store, Path("/h"), ("d", "e", "a"))
        without = lineage_in(store, Path("/h"), ("e", "a"))
    assert {source_of(edge.input) for edge in lineage.dataset} == {("orders", "ts")}
    assert not without.dataset


@pytest.fixture(scope="module")
def live() -> Iterator[Oracle]:
    with jvm_of_its_own(), with_delta() as found:
        yield found


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_history_has_every_root_and_one_that_is_taken_away_is_missed(live: Oracle, tmp_path: Path) -> None:
    assert watched((FILLED, REPLACED), tmp_path) == {"h0": "", "h1": ""}
    with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        store.ingest((tmp_path / EVENTS).read_text().splitlines())
        lineage = lineage_in(store, tmp_path / "h0", ("ID", "most"))
        of_replaced = lineage_in(store, tmp_path / "h1", ("id", "country"))
    experiment = HistoryExperiment(live.files, FILLED, lineage)
    changed = {("orders", "amount")}
    before, after = experiment.result(), experiment.result(changed, "other values")
    assert unexplained(lineage, changed, before, after) == ()
    poorer = replace(lineage, fields={**lineage.fields, "most": frozenset()})
    assert unexplained(poorer, changed, before, after) == ("most",)
    assert {source_of(edge.input) for edge in lineage.dataset} == {("customers", "country")}
    replaced = HistoryExperiment(live.files, REPLACED, of_replaced)
    status, town = {("orders", "status")}, {("customers", "country")}
    before = replaced.result()
    assert replaced.result(town, "other values") == before, "nothing of it is in the rows any more"
    assert unexplained(of_replaced, status, before, replaced.result(status, "other values")) == ()
    sources = {source_of(edge.input) for edges in of_replaced.fields.values() for edge in edges}
    assert sources == {("orders", "order_id"), ("orders", "status")}
