"""A store that is loaded from an archive is the same as one to which the events were sent, also afterwards.

The archive is built of the export of another store.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.archive import Archive, load, read, store_loader
from headwater.cli.main import app
from headwater.errors import ArchiveError
from headwater.store import Store, open_store
from headwater.store.questions import Bounds, impact_of, roots_of
from headwater.store.questions.lookup.find import ExactName
from tests.store.conftest import contents, new_database, postgres, run_event, store, url, written

from .conftest import THEN, Both, clear_fields
from .test_archive_laws import of_store

pytestmark = pytest.mark.spark
FIXTURES = (postgres, new_database, url, store)
"""A store of each kind."""


@pytest.fixture
def archive(spark: Any, both: Both) -> Archive:
    return read(spark, both.into, format="parquet")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Transactions of few events, from many parts."""
    monkeypatch.setattr(store_loader, "AT_ONCE", 15)
    monkeypatch.setattr(store_loader, "PARTITION_BYTES", 40_000)


@pytest.fixture
def direct(tmp_path: Path) -> Iterator[Store]:
    """A store to which all events are sent."""
    with open_store(str(tmp_path / "direct.db")) as opened:
        yield opened


def rows_of(store: Store) -> dict[str, list[str]]:
    """All rows of a store, the same for each kind of database."""
    of_intake = {name: [re.sub("True|False", _number, row) for row in rows] for name, rows in contents(store).items()}
    return {f"of intake: {name}": sorted(rows) for name, rows in of_intake.items()} | of_store(store)


def _number(word: re.Match[str]) -> str:
    return str(int(word[0] == "True"))


def answers(store: Store) -> dict[tuple[str, ...], list[str]]:
    """The roots and the impact of some columns: now, and at another time."""
    found = {}
    for name in random.Random(2).sample(sorted(clear_fields(store).values()), 12):
        for at in (None, THEN):
            up, down = (question(store, ExactName(*name), Bounds(as_of=at)) for question in (roots_of, impact_of))
            roots = [(str(one.column.dataset.dataset), one.column.name, one.distance) for one in up.roots]
            impact = [
                (str(one.dataset.dataset), [(field.column.name, field.distance) for field in one.columns])
                for one in down.datasets
            ]
            found[*name, str(at)] = [str(sorted(roots)), str(sorted(impact))]
    return found


def test_a_loaded_store_equals_one_that_ingested_the_events_and_takes_later_ones(
    archive: Archive, both: Both, direct: Store, store: Store, small: None
) -> None:
    """On SQLite and PostgreSQL."""
    done = load(archive, store)
    direct.ingest(both.archived)
    assert (done.added, done.known, done.rejected) == (archive.events.count(), 0, ())
    assert rows_of(store) == rows_of(direct)
    assert answers(store) == answers(direct)
    store.ingest(both.later)
    direct.ingest(both.later)
    assert rows_of(store) == rows_of(direct)
    assert answers(store) == answers(direct)


def test_an_interrupted_load_continues(archive: Archive, both: Both, direct: Store, store: Store, small: None) -> None:
    """After any transaction, and without events that were ingested before."""
    chance = random.Random(9)
    many = archive.events.count()
    while (done := load_until(chance.randint(1, 12), archive, store)) is None:
        pass
    assert done.known + done.added == many
    assert done.known > 0
    direct.ingest(both.archived)
    assert rows_of(store) == rows_of(direct)
    again = load(archive, store)
    assert (again.added, again.known) == (0, many)


class Interrupted(Exception):
    """Somebody ends it."""


def load_until(last: int, archive: Archive, store: Store) -> Any:
    """Loads, and is ended after so many transactions; None when it was."""
    left = last

    def count(done: int, all: int) -> None:
        nonlocal left
        left -= done > known
        if not left:
            raise Interrupted

    with store.read() as connection:
        known = connection.exec_driver_sql("SELECT count(*) FROM event").scalar_one()
    try:
        return load(archive, store, progress=count)
    except Interrupted:
        return None


def test_a_store_with_other_lineage_is_refused(archive: Archive, both: Both, direct: Store, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "other.db")) as other:
        other.ingest([run_event("j", written("out", {"x": ["raw.x"]}), run="other")])
        with pytest.raises(ArchiveError, match=r"holds other lineage: of its first 1 events 1 are not in the archive"):
            load(archive, other)
        assert load(archive, other, add=True).added == archive.events.count()
    direct.ingest(both.archived[:3])
    direct.ingest(both.later)
    with pytest.raises(ArchiveError, match="holds other lineage"):
        load(archive, direct)


def test_the_command_prints_the_numbers_of_events(archive: Archive, both: Both, tmp_path: Path) -> None:
    many = archive.events.count()
    command = ["archive", "load", "--into", both.into, "--format", "parquet", "--store", str(tmp_path / "new.db")]
    for added, known in ((many, 0), (0, many)):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
        assert result.stdout == f"events: {added} added, {known} known already, 0 rejected\n"
