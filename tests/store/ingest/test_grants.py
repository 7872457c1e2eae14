"""Events of keys with limits in the store: the same in any order, on either database, and out and in again."""

import random
import zlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.server.attacks import FAMILIES, HIVE, LINEAGE, MINE, OWN, world
from tests.store.conftest import contents

from headwater.model.names import run_within, shown_run
from headwater.openlineage.reading import read_event
from headwater.openlineage.reading.grants import GRANT, Grant, granted
from headwater.server.auth.access import Caller, Scope
from headwater.store import Store, open_store, schema

Json = dict[str, Any]


def events() -> list[Json]:
    """The events of an owner, and those about the owner's that a writer with another key may send."""
    sent = [one if key == "root" else granted(one, [OWN, HIVE]) for key, one in world()]
    families = ("references", "names", "runs", "facets")
    attacks = [one for family in families for one in FAMILIES[family] if one.path == LINEAGE and one.status == 201]
    return sent + [granted(one.body, [MINE]) for one in attacks if one.body is not None]


def taken(path: Path, sent: list[Json]) -> dict[str, list[str]]:
    with open_store(f"sqlite:///{path}") as store:
        report = store.ingest(sent)
        assert report.rejected == ()
        return contents(store)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return taken(tmp_path_factory.mktemp("grants") / "in order.db", events())


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_events_is_no_matter(seed: int, expected: dict[str, list[str]], tmp_path: Path) -> None:
    sent = events()
    random.Random(seed).shuffle(sent)
    with open_store(f"sqlite:///{tmp_path}/shuffled.db") as store:
        for some in (sent[:40], sent[40:41], sent[41:]):
            store.ingest(some)
        assert contents(store) == expected


def test_both_databases_agree_and_what_goes_out_comes_in_again(
    store: Store, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    store.ingest(events())
    # SQLite has numbers for what is true.
    assert str(contents(store)).replace("False", "0").replace("True", "1") == str(expected)
    with store.read() as connection:
        out = [zlib.decompress(payload) for payload in connection.execute(select(schema.event.c.payload)).scalars()]
    assert taken(tmp_path / "again.db", out) == expected  # type: ignore[arg-type]


def test_the_grant_is_that_of_the_key_whatever_the_sender_wrote() -> None:
    forged = granted({"eventTime": "2026-01-01T00:00:00Z", GRANT: ["*"]}, ["b", "a*"])
    assert forged[GRANT] == ["a*", "b"]
    grant = Grant(("a*", "b"))
    covered = {one: grant.covers(one) for one in ("a", "ab", "b", "A", "ba", "b ", "")}
    assert covered == {"a": True, "ab": True, "b": True, "A": False, "ba": False, "b ": False, "": False}


def test_an_event_that_lists_no_namespace_owns_nothing() -> None:
    (_, sent), *_ = world()
    for odd in ([], "own", None, {"own": 1}):
        event = read_event({**sent, GRANT: odd, "inputs": [{"namespace": OWN, "name": "x", "facets": {"a": {}}}]})
        assert (len(event.references), event.facets) == ((1, {}) if odd is not None else (0, event.facets))


def test_an_id_of_a_run_comes_back() -> None:
    for run in ("cde39d2c-dc09-54f6-aadf-248ad1b194ba", "odd @ id", "x @" + "0" * 32, "a\nb"):
        assert shown_run(run_within(run, "own")) == run
        assert run_within(run, "own") != run_within(run, "a")
    assert shown_run("mail @home") is None


@pytest.mark.parametrize(
    ("pattern", "covered", "others"),
    [
        ("a*", ["a", "a1", "a\nb", "a\u0301"], ["A", "\uff41", "\u0430", "\u00e1", "ba", ""]),
        ("caf\u00e9", ["caf\u00e9"], ["cafe\u0301", "CAF\u00c9", "cafe"]),
        ("stra\u00dfe", ["stra\u00dfe"], ["strasse", "STRASSE", "stra\u1e9ee"]),
        ("postgres://[[]::1]:5432", ["postgres://[::1]:5432"], ["postgres://1:5432", "postgres://::5432"]),
        ("s[?]", ["s?"], ["s1", "s"]),
    ],
    ids=ascii,
)
def test_a_pattern_covers_names_as_they_are_written(pattern: str, covered: list[str], others: list[str]) -> None:
    """Not as databases or file systems fold them: owners of names that look alike are several."""
    for holds in (Grant((pattern,)).covers, Caller("x", Scope.READ, (pattern,)).sees):
        assert [holds(one) for one in (*covered, *others)] == [True] * len(covered) + [False] * len(others)
