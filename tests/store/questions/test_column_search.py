"""The search for columns: the same answers by each of its plans; and one that finds nothing looks at no field."""

import random
from pathlib import Path
from typing import Any

import pytest
from bench.server.layered import Shape, fill
from sqlalchemy import event, select

from headwater.store import Store, open_store, schema
from headwater.store.questions import find_columns
from headwater.store.questions.lists import column_search

WORDS = ("id", "ID", "user", "user_id", "User", "paid", "100%", "a_b")
SEARCHES = ("id", "user", "us", "_", "%", "gold", "d1.id", "gold/d1.us", "none", "none.id", "d1.none", "renamed", "/d2")


def filled(store: Store, words: Any) -> None:
    draw = random.Random(7)
    for place in range(12):
        name = f"{draw.choice(('gold', 'silver'))}/d{place % 5}"
        fields = draw.sample(WORDS, 4)
        store.ingest(
            [words.run_event(f"job {place}", words.written(name, {one: ["raw.id"] for one in fields}), minute=1)]
        )
    store.ingest([words.run_event("alter", words.renamed("raw", "raw", {"id": "renamed_id"}), minute=9)])


def columns(store: Store) -> list[tuple[int, str, str]]:
    field, dataset = schema.field, schema.dataset
    question = select(field.c.id, field.c.name, dataset.c.name.label("dataset"))
    question = question.join(dataset, dataset.c.id == field.c.dataset_id)
    with store.read() as connection:
        return [(row.id, row.name, f"file:{row.dataset}") for row in connection.execute(question.order_by(field.c.id))]


def expected(store: Store, text: str) -> list[tuple[str, int]]:
    """All columns that contain a text, by comparing each."""
    cut = max(text.rfind("."), text.rfind("/"))
    dataset, part = (text[:cut], text[cut + 1 :]) if 0 < cut < len(text) - 1 else ("", text)
    found: dict[str, list[int]] = {"exact": [], "start": [], "part": [], "dataset": []}
    for id_, name, owner in columns(store):
        called, of = name.lower(), owner.lower().replace("/", ".")
        if dataset.replace("/", ".") in of and part in called:
            found["exact" if called == part else "start" if called.startswith(part) else "part"].append(id_)
        elif text.replace("/", ".") in of:
            found["dataset"].append(id_)
    return [(rank, id_) for rank, ids in found.items() for id_ in ids]


@pytest.mark.parametrize("limits", [{}, {"_NEAR": 3}, {"_NEAR": 3, "_FEW_NAMES": 0}, {"_NEAR": 3, "_FEW_FIELDS": 1}])
def test_every_search_finds_the_same(
    store: Store, words: Any, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(store, words)
    for name, limit in limits.items():
        monkeypatch.setattr(column_search, name, limit)
    for text in SEARCHES:
        found, after = [], (0, 0)
        while True:
            page = find_columns(store, text, 3, after=after)
            found += [(one.match.value, one.column.id) for one in page.found]
            if page.next is None:
                break
            after = page.next
        assert found == expected(store, text), text
    assert expected(store, "renamed")


def test_names_are_stored_once(store: Store, words: Any) -> None:
    filled(store, words)
    with store.read() as connection:
        spelled = list(connection.execute(select(schema.field_name.c.name)).scalars())
        assert set(connection.execute(select(schema.field.c.name)).scalars()) <= set(spelled)
    assert len(spelled) == len(set(spelled))


def test_an_unknown_name_is_not_searched_among_all_columns(tmp_path: Path) -> None:
    taken = []
    for edges in (80_000, 160_000):
        with open_store(str(tmp_path / f"{edges}.db")) as store:
            fill(store, Shape(edges))
            taken.append(_steps(store, "nothing_is_called_so"))
    few, many = taken
    datasets = Shape(160_000).datasets * 12 - Shape(80_000).datasets * 12
    assert many - few <= 30 * datasets  # whose names are looked at


def _steps(store: Store, text: str) -> int:
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    with store.read() as connection:
        engine = connection.engine
    event.listen(engine, "checkout", lambda connection, *_: connection.set_progress_handler(step, 1))
    assert find_columns(store, text, 100).found == ()
    return taken
