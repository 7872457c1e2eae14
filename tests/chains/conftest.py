"""Runs all pairs of a kind in one Spark application, and takes its events into a store of each database."""

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from sqlalchemy import create_engine, text

from headwater.store import Store, open_store

from ..connectors import AVRO, DELTA, ICEBERG, LAKE, POSTGRESQL, packages
from ..sources.postgres import PASSWORD, Postgres, running_postgres
from ..sources.watched import COMMON, run_watched
from .long import long_chains
from .pairs import Pair, pairs_of

SCRIPT = Path(__file__).parent / "application.py"
DRIVER = "org.postgresql.Driver"
Rows = Mapping[str, list[Any]]
PEOPLE: Rows = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cleo"], "country": ["DE", "FR", "DE"]}
ORDERS: Rows = {"customer": [1, 2, 1], "amount": [5.0, 7.5, 2.5]}
TYPES = {
    "id": pa.field("id", pa.int32()),
    "name": pa.field("name", pa.string()),
    "country": pa.field("country", pa.string()),
    "customer": pa.field("customer", pa.int32()),
    "amount": pa.field("amount", pa.float64()),
}
OWN = {"spark.master": "local[1]", "spark.app.name": "chains"}
CONF: Mapping[str, Mapping[str, str]] = {
    "plain": {
        "spark.jars.packages": packages(POSTGRESQL, AVRO),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.sql.catalog.pg": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.pg.url": "{url}?user=postgres&password={password}",
        "spark.sql.catalog.pg.driver": DRIVER,
    },
    "lake": {
        "spark.sql.catalogImplementation": "in-memory",
        **LAKE,
        "spark.jars.packages": packages(DELTA, ICEBERG, POSTGRESQL, AVRO),
    },
}
SETUP = {
    "plain": ["CREATE DATABASE chains"],
    "lake": ["CREATE DATABASE chains", "CREATE NAMESPACE ice.d"],
}


class Application:
    """A finished application: what its pairs and jobs raised, by number or title, and its events."""

    def __init__(self, kind: str, folder: Path, server: Postgres, long: Path) -> None:
        self.folder = folder
        _write_parquet(folder / "unwatched_parquet", PEOPLE)
        _write_csv(folder / "unwatched_csv", PEOPLE)
        plan = {**_plan(kind, folder, server.url), "long": str(long), "jobs": [*_jobs(kind)]}
        (folder / "plan.json").write_text(json.dumps(plan))
        run_watched(SCRIPT, str(folder / "plan.json"), folder=folder)
        self.errors: Mapping[str, str] = json.loads((folder / "ran.json").read_text())
        self.events = (folder / "events.ndjson").read_text().splitlines()


def _plan(kind: str, folder: Path, url: str) -> dict[str, Any]:
    conf = {**COMMON, **OWN, **CONF[kind]}
    filled = {
        key: value.replace("{folder}", str(folder)).replace("{url}", url).replace("{password}", PASSWORD)
        for key, value in conf.items()
    }
    writers: dict[int, dict[str, Any]] = {}
    for pair in pairs_of(kind):
        writers.setdefault(pair.made, _writer(pair))["readers"].append(_reader(pair))
    jdbc = {"url": url, "user": "postgres", "password": PASSWORD, "driver": DRIVER}
    return {"conf": filled, "folder": str(folder), "setup": SETUP[kind], "jdbc": jdbc, "writers": [*writers.values()]}


def _writer(pair: Pair) -> dict[str, Any]:
    writer = pair.writer
    return {
        "number": pair.made,
        "title": writer.title,
        "code": writer.code,
        "format": writer.format,
        "options": writer.options,
        "partitioned": "partitioned" in writer.traits,
        "managed": "table" in writer.traits and "external" not in writer.traits,
        "readers": [],
    }


def _reader(pair: Pair) -> dict[str, Any]:
    return {
        "number": pair.number,
        "title": pair.reader.title,
        "code": pair.reader.code,
        "columns": pair.reader.words("columns") or pair.writer.columns(pair.reader.by_path),
        "select": [f"`{column}` AS {out}" for out, column in pair.columns.items()],
    }


def _jobs(kind: str) -> Iterator[dict[str, Any]]:
    for chain in long_chains():
        for place, (application, code) in enumerate(chain.jobs):
            if application == kind:
                yield {"chain": chain.number, "title": f"{chain}, job {place}", "code": code}


def _write_parquet(folder: Path, rows: Rows) -> None:
    folder.mkdir(parents=True)
    parquet.write_table(pa.table(rows, pa.schema(TYPES[name] for name in rows)), folder / "part-00000.parquet")


def _write_csv(folder: Path, rows: Rows) -> None:
    folder.mkdir(parents=True)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    (folder / "part-00000.csv").write_text("\n".join(lines))


def _new_database(server: Postgres) -> str:
    base = f"postgresql://postgres:{PASSWORD}@{server.address}"
    name = f"chains_{uuid.uuid4().hex}"
    engine = create_engine(f"{base.replace('://', '+psycopg://')}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{base}/{name}"


class Chains:
    """The applications, each run when a test asks for it first, ``plain`` before ``lake``; and stores of their events.

    A store has the events of an application, or those of the jobs of both.
    """

    def __init__(self, folders: pytest.TempPathFactory, running: ExitStack) -> None:
        self._folders, self._running = folders, running
        self.server = running.enter_context(running_postgres(folders.mktemp("postgres"), "CREATE SCHEMA sales;"))
        self.long = folders.mktemp("long")
        self._ran: dict[str, Application] = {}
        self._stores: dict[tuple[str, str], Store] = {}
        for chain in long_chains():
            _write_csv(self.long / str(chain.number) / "people", PEOPLE)
            _write_parquet(self.long / str(chain.number) / "orders", ORDERS)

    def application(self, kind: str) -> Application:
        """The application of a kind; jobs of ``lake`` read what those of ``plain`` have written."""
        if kind == "lake":
            if not (DELTA and ICEBERG):
                pytest.skip("there is no build of Delta and Iceberg for this Spark")
            self.application("plain")
        if kind not in self._ran:
            self._ran[kind] = Application(kind, self._folders.mktemp(kind), self.server, self.long)
        return self._ran[kind]

    def store(self, database: str, *kinds: str) -> Store:
        """The store in ``sqlite`` or ``postgres`` with the events of applications."""
        key = (database, "_".join(kinds))
        if key not in self._stores:
            events = [event for kind in kinds for event in self.application(kind).events]
            url = _new_database(self.server) if database == "postgres" else f"sqlite:///{self.long / key[1]}.db"
            self._stores[key] = self._running.enter_context(open_store(url))
            assert not self._stores[key].ingest(events).rejected
        return self._stores[key]


@pytest.fixture(scope="session")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chains]:
    with ExitStack() as running:
        yield Chains(tmp_path_factory, running)
