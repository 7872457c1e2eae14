"""Tables behind JDBC are named as the OpenLineage naming specification says, and no secret is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Dataset
from headwater.openlineage.naming.jdbc_url import jdbc_dataset, jdbc_source

TABLES = [
    ("jdbc:postgresql://h/db", "t", "postgres://h:5432", "db.public.t"),
    ("jdbc:postgresql://h/db", "S.T", "postgres://h:5432", "db.s.t"),
    ("jdbc:oracle:thin:@//h/svc", 's."t"', "oracle://h:1521", "svc.S.t"),
    ("jdbc:mysql://h/db", "T", "mysql://h:3306", "db.T"),
    ("jdbc:postgresql://h/db", "s.t", "postgres://h:5432", "db.s.t"),
    ("jdbc:postgresql://h/db", '"My.Schema"."T"', "postgres://h:5432", "db.My.Schema.T"),
    ("jdbc:postgresql://h/db", "other.s.t", "postgres://h:5432", "other.s.t"),
    ("JDBC:POSTGRESQL://U:P@H1:5433,H2/db?user=a", "t", "postgres://h1:5433,h2:5432", "db.public.t"),
    ("jdbc:postgresql:db", "t", "postgres://localhost:5432", "db.public.t"),
    ("jdbc:mysql://u:p@h/db?x=1", "t", "mysql://h:3306", "db.t"),
    ("jdbc:mysql:loadbalance://u:p@h:1,h2/db", "t", "mysql://h:1,h2:3306", "db.t"),
    ("jdbc:mysql://address=(host=h)(port=3)(user=u)(password=p)/db", "t", "mysql://h:3", "db.t"),
    ("jdbc:mariadb://h/db", "`other`.`t`", "mysql://h:3306", "other.t"),
    ("jdbc:sqlserver://h;databaseName=db;user=u;password=p", "t", "mssql://h:1433", "db.dbo.t"),
    ("jdbc:sqlserver://h\\INST;databaseName=db", "[s].[t]", "mssql://h/inst", "db.s.t"),
    ("jdbc:sqlserver://;serverName=h;portNumber=7;database=db", "t", "mssql://h:7", "db.dbo.t"),
    ("jdbc:jtds:sqlserver://h:1433/db;user=u", "t", "mssql://h:1433", "db.dbo.t"),
    ("jdbc:oracle:thin:scott/tiger@//h:1522/svc", "s.t", "oracle://h:1522", "svc.S.T"),
    ("jdbc:oracle:thin:@h:1521:orcl", "s.t", "oracle://h:1521", "orcl.S.T"),
    ("jdbc:oracle:thin:@h:orcl", "s.t", "oracle://h:1521", "orcl.S.T"),
    ("jdbc:oracle:thin:@[3ffe:8311::9]:1522", "s.t", "oracle://[3ffe:8311::9]:1522", "S.T"),
    (
        "jdbc:oracle:thin:u/p@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=7))(CONNECT_DATA=(SERVICE_NAME=svc)))",
        "s.t",
        "oracle://h:7",
        "svc.S.T",
    ),
    ("jdbc:redshift://c1.x.eu-west-1.redshift.amazonaws.com/dev", "t", "redshift://c1.eu-west-1:5439", "dev.public.t"),
    ("jdbc:redshift://proxy:5439/dev", "t", "redshift://proxy:5439", "dev.public.t"),
    ("jdbc:snowflake://org-acc.snowflakecomputing.com/?db=D&schema=S&user=u", "T", "snowflake://org-acc", "D.S.T"),
    (
        "jdbc:snowflake://loc.eu-west-1.aws.snowflakecomputing.com",
        "D.S.T",
        "snowflake://loc.eu-west-1.aws",
        "D.S.T",
    ),
    ("jdbc:trino://u:p@h:8443/hive/sales?SSL=true", "t", "trino://h:8443", "hive.sales.t"),
    ("jdbc:trino://h/hive", "s.t", "trino://h:443", "hive.s.t"),
    ("jdbc:db2://h:50000/SAMPLE:user=u;password=p;", "S.T", "db2://h:50000", "SAMPLE.S.T"),
    ("jdbc:clickhouse:http://h:8443/db", "t", "clickhouse://h:8443", "db.t"),
    ("jdbc:ch://h", "t", "clickhouse://h:8123", "default.t"),
    ("jdbc:teradata://h/DATABASE=d,DBS_PORT=1026,USER=u,PASSWORD=p", "t", "teradata://h:1026", "d.t"),
    ("jdbc:derby:/tmp/x;create=true;user=u;password=p", "T", "derby:/tmp/x", "APP.T"),
    ("jdbc:derby:;databaseName=/tmp/x;create=true", "S.T", "derby:/tmp/x", "S.T"),
    ("jdbc:derby://h:1527/x;user=u", "T", "derby://h:1527", "x.APP.T"),
    ("jdbc:h2:mem:test;DB_CLOSE_DELAY=-1", "T", "h2:mem:test", "PUBLIC.T"),
    ("jdbc:h2:tcp://h/~/test;PASSWORD=p", "T", "h2://h:9092", "~/test.PUBLIC.T"),
    ("jdbc:sqlite:/data/my db.sqlite?cache=shared", "t", "sqlite:/data/my db.sqlite", "t"),
    ("jdbc:duckdb:/data/x.duckdb", "t", "duckdb:/data/x.duckdb", "main.t"),
    ("jdbc:newdb://u:p@h:1/db?x=1", "s.t", "newdb://h:1", "db.s.t"),
    ("jdbc:newdb:somewhere;password=p", "t", "newdb:somewhere", "t"),
]


@pytest.mark.parametrize(("url", "table", "namespace", "name"), TABLES)
def test_a_table_has_one_name(url: str, table: str, namespace: str, name: str) -> None:
    assert jdbc_dataset(url, table) == Dataset(namespace, name)


SECRET = "tOpSeCrEt"
WITH_SECRETS = [
    f"jdbc:postgresql://me:{SECRET}@h/db",
    f"jdbc:postgresql://me:a/{SECRET}@h/db",
    f"jdbc:postgresql://h/db?user=me&password={SECRET}",
    f"jdbc:mysql://(host=h,port=3,user=u,password={SECRET})/db",
    f"jdbc:mysql://me:{SECRET}@h1,me:{SECRET}@h2/db",
    f"jdbc:sqlserver://h;databaseName=db;password={SECRET}",
    f"jdbc:oracle:thin:me/{SECRET}@h:1521:x",
    f"jdbc:oracle:oci:me/{SECRET}@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1)))",
    f"jdbc:snowflake://a.snowflakecomputing.com/?password={SECRET}&db=d",
    f"jdbc:db2://h:1/D:user=u;password={SECRET};",
    f"jdbc:teradata://h/USER=u,PASSWORD={SECRET}",
    f"jdbc:derby:/x;password={SECRET}",
    f"jdbc:h2:~/x;PASSWORD={SECRET}",
    f"jdbc:sqlite:/x?key={SECRET}",
    f"jdbc:newdb:me/{SECRET}@somewhere",
    f"jdbc:newdb://me:{SECRET}@h",
]


@pytest.mark.parametrize("url", WITH_SECRETS)
def test_no_secret_is_left_in_a_name(url: str) -> None:
    assert SECRET.lower() not in (str(jdbc_dataset(url, "t")) + jdbc_source(url)).lower()


def test_the_source_is_a_url_of_the_database() -> None:
    assert jdbc_source("jdbc:postgresql://me:pw@h/db?ssl=true") == "jdbc:postgres://h:5432/db"


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_text_gives_some_name(url: str, table: str) -> None:
    assert jdbc_dataset(f"jdbc:{url}", table).namespace
