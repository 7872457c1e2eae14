"""Runs all pairs of a kind in one Spark application, and takes its events into a store of each database."""

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
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
from .pairs import Pair, pairs_of

SCRIPT = Path(__file__).parent / "application.py"
DRIVER = "org.postgresql.Driver"
ROWS = {"id": [1, 2, 3], "name": ["Ann", "Bob", "Cleo"], "country": ["DE", "FR", "DE"]}
QUICK = {
    "spark.master": "local[1]",
    "spark.app.name": "chains",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
}
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
    "lake": {"spark.sql.catalogImplementation": "in-memory", **LAKE},
}
SETUP = {
    "plain": ["CREATE DATABASE chains"],
    "lake": ["CREATE DATABASE chains", "CREATE NAMESPACE ice.d"],
}


class Chains:
    """A finished application: what its pairs raised, by number, and stores with its events, by database."""

    def __init__(self, kind: str, folder: Path, server: Postgres) -> None:
        self.folder = folder
        self._server = server
        self._stores: dict[str, Store] = {}
        for format_, path in (("parquet", "unwatched_parquet"), ("csv", "unwatched_csv")):
            _write_source(folder / path, format_)
        (folder / "plan.json").write_text(json.dumps(_plan(kind, folder, server.url)))
        run_watched(SCRIPT, str(folder / "plan.json"), folder=folder)
        self.errors: Mapping[str, str] = json.loads((folder / "ran.json").read_text())
        self.events = (folder / "events.ndjson").read_text().splitlines()

    def store(self, database: str, running: ExitStack) -> Store:
        """The store in ``sqlite`` or ``postgres``, with all events; closed with ``running``."""
        if database not in self._stores:
            url = f"sqlite:///{self.folder / 'lineage.db'}" if database == "sqlite" else _new_database(self._server)
            store = self._stores[database] = running.enter_context(open_store(url))
            report = store.ingest(self.events)
            assert not report.rejected
        return self._stores[database]


def _plan(kind: str, folder: Path, url: str) -> dict[str, Any]:
    conf = {**COMMON, **QUICK, **CONF[kind]}
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
        "columns": pair.writer.columns(pair.reader.by_path),
        "select": [f"`{column}` AS {out}" for out, column in pair.columns.items()],
    }


def _write_source(folder: Path, format_: str) -> None:
    folder.mkdir()
    if format_ == "parquet":
        types = pa.schema([("id", pa.int32()), ("name", pa.string()), ("country", pa.string())])
        parquet.write_table(pa.table(ROWS, types), folder / "part-00000.parquet")
    else:
        lines = [",".join(ROWS), *(",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True))]
        (folder / "part-00000.csv").write_text("\n".join(lines))


def _new_database(server: Postgres) -> str:
    base = f"postgresql://postgres:{PASSWORD}@{server.address}"
    name = f"chains_{uuid.uuid4().hex}"
    engine = create_engine(f"{base.replace('://', '+psycopg://')}/postgres", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return f"{base}/{name}"


@pytest.fixture(scope="session")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Chains]]:
    """The application of a kind; it runs when a test asks for it first."""
    ran: dict[str, Chains] = {}
    with ExitStack() as running:
        folder = tmp_path_factory.mktemp("postgres")
        server = running.enter_context(running_postgres(folder, "CREATE SCHEMA sales;"))

        def of_kind(kind: str) -> Chains:
            if kind == "lake" and not (DELTA and ICEBERG):
                pytest.skip("there is no build of Delta and Iceberg for this Spark")
            if kind not in ran:
                ran[kind] = Chains(kind, tmp_path_factory.mktemp(kind), server)
            return ran[kind]

        yield of_kind


@pytest.fixture(scope="session")
def store(chains: Callable[[str], Chains]) -> Iterator[Callable[[str, str], Store]]:
    """The store with the events of the application of a kind, in a database."""
    with ExitStack() as running:
        yield lambda kind, database: chains(kind).store(database, running)
