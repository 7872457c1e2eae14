"""Tags flow over the tables of an archive to where a store has them arrive."""

import os
import random
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import pytest
from pyspark.sql import Row

from headwater.archive import file_flow
from headwater.policies.flows import Flows
from headwater.policies.tag_file import TagFile, read_tag_file
from headwater.store import Store, open_store
from headwater.store.questions.walk.tag_walk import Arriving
from tests.archive.conftest import MOMENT, THEN, Both, Build, Event, clear_fields
from tests.store.conftest import ITEMS, nested, packed, run_event, written

pytestmark = pytest.mark.spark
TODAY = date(2026, 6, 1)
MOMENTS = {"now": None} | ({"then": MOMENT} if "EVERY_CASE" in os.environ else {})
TERMS = "reason: r, owner: o, expires: 2999-01-01"
KINDS = ("IDENTITY", "TRANSFORMATION", "TRANSFORMATION masked", "AGGREGATION masked", "CONDITIONAL", "FILTER masked")
FILE = f"""\
version: 1
tags:
  one: {{columns: [d0.x, d3.y]}}
  whole: {{datasets: [d1], masked_as: made}}
  held: {{columns: ["d0.*", d2.x]}}
  risk=high: {{columns: [d0.x, d4.y]}}
  risk=low: {{columns: ["d0.*", "d1.*"]}}
  risk: {{columns: ["d2.*"]}}
order:
  risk: [high, low]
breakers:
  - {{job: make d4, tags: [held, whole], {TERMS}}}
  - {{column: d5.x, tags: [held, whole], {TERMS}}}
  - {{function: count, tags: [held, whole], {TERMS}}}
  - {{job: make d5, tags: [one], reason: r, owner: o, expires: 2026-01-01}}
"""


def world(seed: int) -> list[Event]:
    """Jobs that make each of six datasets of some columns of others, a few of them of a whole one.

    With the seed below what arrives is other without any one of the breakers of the file or without its order, with
    the breaker that has expired, and with what an earlier run made the last of. Each level of a walk is a plan of its
    own, for each set of breakers: more of them are only slower.
    """
    chance, names = random.Random(seed), [f"d{place}" for place in range(6)]
    found = []
    for place, name in enumerate(names[1:], 1):
        near = names[max(0, place - 3) : place] + chance.sample(names, 1)
        fields = {
            column: [f"{chance.choice(near)}.{chance.choice('xyz')} {chance.choice(KINDS)}" for _ in range(2)]
            for column in "xyz"
        }
        if place % 4 == 0:
            fields["*"] = [f"{chance.choice(near)}.x {kind}" for kind in ("FILTER", "TRANSFORMATION")]
        found.append(run_event(f"make {name}", written(name, fields), minute=place, run=name))
    bare = written("bare", {"*": ["d1.x TRANSFORMATION"]})
    earlier = run_event("make d5", written("d5", {"y": ["d1.x"]}), run="earlier")
    return [earlier, *found, run_event("make bare", bare, run="bare")]


def arrivals(store: Store, rows: Sequence[Row], file: TagFile, at: datetime | None) -> tuple[set[object], set[object]]:
    """Return what arrives where at fields with one meaning: by the rows of an archive, and by the store."""
    fields = clear_fields(store)
    compared = set(fields.values())
    assert len(rows) == len({tuple(row)[:5] for row in rows})
    named = {(row.tag, row.arriving, (row.namespace, row.dataset, row.field)) for row in rows}
    right: set[object] = set()
    with store.read() as connection:
        flows = Flows(connection, file, TODAY, guess=False, influence=True, as_of=None if at is None else THEN)
        for tag in flows.tags:
            for kind in Arriving:
                nodes = set(flows.of(tag).reached(kind)) - flows.overruled(tag, kind)
                right |= {(str(tag), kind.value, fields[node]) for node in nodes if node in fields}
    return {one for one in named if one[2] in compared}, right


def arrived(built: Build, events: list[Event], tags: str, folder: Path) -> tuple[list[Row], set[object]]:
    """Return the rows of an archive of events, and what they say, which is what a store of these says."""
    (folder / "tags.yml").write_text(tags)
    file, archive = read_tag_file(folder / "tags.yml"), built(events)
    with open_store(str(folder / "lineage.db")) as store:
        store.ingest(events)
        rows = file_flow(archive, file, today=TODAY, influence=True).collect()
        found, right = arrivals(store, rows, file, None)
    assert found == right
    return rows, right


def test_they_arrive_where_the_store_has_them_arrive(built: Build, tmp_path: Path) -> None:
    rows, right = arrived(built, world(5), FILE, tmp_path)
    kinds = Counter((tag, kind) for tag, kind, _ in right)  # type: ignore[misc]
    assert all(kinds["whole", kind.value] for kind in Arriving), kinds
    assert kinds["made", "value"], kinds
    assert kinds["held", "value"] < kinds["one", "value"], kinds
    assert kinds["risk=low", "value"], kinds
    assert (
        not {one[2] for one in right if one[0] == "risk=low"}
        & {  # type: ignore[index]
            one[2]
            for one in right
            if one[:2] == ("risk=high", "value")  # type: ignore[index]
        }
    )
    bare = {(row.tag, row.field, row.arriving) for row in rows if row.dataset == "/bare"}
    assert ("whole", "*", "value") in bare


@pytest.mark.parametrize("at", MOMENTS.values(), ids=MOMENTS)
def test_they_arrive_in_every_world(both: Both, tmp_path: Path, at: datetime | None) -> None:
    full = ["{}:{}.{}".format(*name) for name in sorted(both.fields.values())]
    tags = f'{{t: {{columns: {random.Random(11).sample(full, 80)}}}, whole: {{datasets: ["raw/*"]}}}}'
    (tmp_path / "tags.yml").write_text(f"version: 1\ntags: {tags}\n".replace("'", '"'))
    file = read_tag_file(tmp_path / "tags.yml")
    rows = file_flow(both.archive, file, today=TODAY, influence=True, at=at).collect()
    found, right = arrivals(both.store, rows, file, at)
    assert found == right
    assert len(right) > 20


PAST = f"""\
version: 1
tags:
  city: {{columns: [shop.city, people.city]}}
  all: {{datasets: [shop, people]}}
breakers:
  - {{column: stage.e, tags: [all, city], {TERMS}}}
  - {{job: count, tags: [all, city], {TERMS}}}
"""


def staged() -> list[Event]:
    """A stage that is filled three times and emptied, with who read it when; one reads a whole dataset."""
    steps = [
        (
            "fill",
            written("stage", {"e": ["shop.name"], "f": ["shop.city"], "*": ["shop.open FILTER"]}, write="ALL_ROWS"),
        ),
        ("first", written("first", {"e": ["stage.e"], "f": ["stage.f"]}, write="ALL_ROWS")),
        ("refill", written("stage", {"e": ["people.mail"], "f": ["people.city"]}, write="ALL_ROWS")),
        ("second", written("second", {"e": ["stage.e"], "f": ["stage.f TRANSFORMATION masked"]}, write="ALL_ROWS")),
        ("count", written("counts", {"n": ["stage.e"], "*": ["stage.f TRANSFORMATION"]}, write="ALL_ROWS")),
        ("copy", written("copied", {"x": ["second.f"]}, write="ALL_ROWS")),
        ("fill", written("stage", {"e": ["shop.name"], "*": ["shop.open TRANSFORMATION"]}, write="ALL_ROWS")),
        ("third", written("third", {"e": ["stage.e"], "f": ["stage.f"]}, write="ALL_ROWS")),
        ("empty", written("stage", write="TRUNCATE")),
        ("again", written("second", {"e": ["shop.name"]}, write="ALL_ROWS")),
    ]
    return [run_event(job, output, minute=at, run=f"{job} {at}") for at, (job, output) in enumerate(steps)]


def test_they_arrive_at_who_read_a_stage_while_it_had_them(built: Build, tmp_path: Path) -> None:
    rows, _ = arrived(built, staged(), PAST, tmp_path)
    named = {f"{row.tag} {row.arriving} {row.dataset.lstrip('/')}.{row.field}" for row in rows}
    assert {"city value first.f", "city masked copied.x", "all value third.f"} <= named
    assert not {"city value third.f", "all value first.e", "city value counts.n", "all value counts.n"} & named


def test_a_tag_on_a_leaf_is_on_its_column(built: Build, tmp_path: Path) -> None:
    tags = "price: {columns: [orders.items.price]}, rate: {columns: ['*.rate']}, none: {columns: [orders.items.weight]}"
    closing = f"breakers: [{{column: clean.items.price, tags: [rate], {TERMS}}}]"
    (tmp_path / "tags.yml").write_text(f"version: 1\ntags: {{{tags}}}\n{closing}\n")
    leaves = {f"items.{leaf}": [f"orders.items.{leaf}"] for leaf in ("price", "sku", "tax.rate")}
    taken = {"total": ["clean.items.price AGGREGATION"], "label": ["clean.items.sku"]}
    events = [
        run_event("pack", packed()),
        run_event("copy", nested("clean", leaves, {"items": ITEMS}), minute=1, run="copy"),
        run_event("take", nested("gold", taken), minute=2, run="take"),
    ]
    file, archive = read_tag_file(tmp_path / "tags.yml"), built(events)
    found = {
        f"{row.tag} {row.dataset.lstrip('/')}.{row.field}" for row in file_flow(archive, file, today=TODAY).collect()
    }
    with open_store(str(tmp_path / "lineage.db")) as store:
        store.ingest(events)
        with store.read() as connection:
            flows = Flows(connection, file, TODAY, guess=False)
            paths = [path for tag in flows.tags for path in flows.paths(tag, tuple(Arriving))]
    right = {f"{one.tag} {one.column.dataset.dataset.name[1:]}.{one.column.name.split('.')[0]}" for one in paths}
    assert {"price clean.items", "price gold.total"} <= right
    assert right <= found
    assert {"price gold.total", "price gold.label", "rate gold.label"} <= found
    assert not {one for one in found if one.startswith("none ")}
