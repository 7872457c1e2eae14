"""Paths and catalog tables are named as the OpenLineage naming specification says."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Dataset, DatasetDescription, Symlink
from headwater.openlineage.naming.locations import Catalog, catalog_dataset, location_dataset, path_dataset

PATHS = [
    ("file:/a/b", "file", "/a/b"),
    ("file:///a/b/", "file", "/a/b"),
    ("/a//b", "file", "/a/b"),
    ("", "file", "/"),
    ("file:/", "file", "/"),
    ("file://localhost/a", "file", "/a"),
    ("file://host/a", "file://host", "/a"),
    ("file:/a b/ü/日本", "file", "/a b/ü/日本"),
    ("file:/a%20b?c#d", "file", "/a%20b?c#d"),
    ("/a:b/c", "file", "/a:b/c"),
    ("hdfs://nn:8020/a", "hdfs://nn:8020", "/a"),
    ("hdfs://cluster/a/", "hdfs://cluster", "/a"),
    ("HDFS:/a", "hdfs", "/a"),
    ("s3a://bucket/k/l/", "s3://bucket", "k/l"),
    ("s3n://bucket", "s3://bucket", "/"),
    ("s3://bucket/", "s3://bucket", "/"),
    ("s3a://KEY:SEC/RET@bucket/k", "s3://bucket", "k"),
    ("gs://bucket/k", "gs://bucket", "k"),
    ("abfs://c@acc.dfs.core.windows.net/x", "abfss://c@acc.dfs.core.windows.net", "x"),
    ("abfss://c@acc.dfs.core.windows.net/x", "abfss://c@acc.dfs.core.windows.net", "x"),
    ("wasb://c:key@acc.blob.core.windows.net/x", "wasbs://c@acc.blob.core.windows.net", "x"),
    ("dbfs:/mnt/x", "dbfs", "/mnt/x"),
    ("dbfs://workspace/x", "dbfs://workspace", "/x"),
    ("viewfs://c/x", "viewfs://c", "/x"),
    ("https://me:pw@host/a.csv?sig=1", "https://host", "/a.csv"),
    ("abfss://c@a.dfs.core.windows.net/x?sv=1&sig=pw", "abfss://c@a.dfs.core.windows.net", "x"),
    ("/data/a?b=c", "file", "/data/a?b=c"),
    ("C:\\a\\b", "file", "/C:/a/b"),
    ("file:/C:/a", "file", "/C:/a"),
    ("/C:/a/", "file", "/C:/a"),
]


@pytest.mark.parametrize(("path", "namespace", "name"), PATHS)
def test_a_path_has_one_name(path: str, namespace: str, name: str) -> None:
    assert path_dataset(path) == Dataset(namespace, name)


segments = st.text(st.characters(exclude_characters="/\\", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.lists(segments, min_size=1, max_size=4).map("/".join))
def test_odd_names_survive_as_paths_and_as_uris(path: str) -> None:
    expected = Dataset("file", f"/{path}")
    if path[1:2] != ":":  # a drive
        assert path_dataset(f"file:/{path}") == expected
        assert location_dataset(f"file:/{quote(path)}") == expected
    assert path_dataset(f"hdfs://nn/{path}") == Dataset("hdfs://nn", f"/{path}")
    assert location_dataset(f"hdfs://nn/{quote(path)}") == Dataset("hdfs://nn", f"/{path}")


def named(dataset: Dataset, *symlinks: Dataset) -> DatasetDescription:
    return DatasetDescription(dataset, symlinks=tuple(Symlink(link) for link in symlinks))


TABLE = ("spark_catalog", "db", "t")
CATALOGS = [
    (
        TABLE,
        "file:/wh/db.db/t",
        Catalog(metastore="thrift://ms:9083,thrift://other:9083", warehouse="file:/wh"),
        named(Dataset("file", "/wh/db.db/t"), Dataset("hive://ms:9083", "db.t")),
    ),
    (
        TABLE,
        "file:/wh/db.db/t%20x",
        Catalog(warehouse="file:/wh/"),
        named(Dataset("file", "/wh/db.db/t x"), Dataset("file:/wh", "db.t")),
    ),
    (
        TABLE,
        "file:/elsewhere/dt=1",
        Catalog(warehouse="file:/wh"),
        named(Dataset("file", "/elsewhere/dt=1"), Dataset("file:/elsewhere/dt=1", "db.t")),
    ),
    (
        TABLE,
        "s3a://b/t",
        Catalog(warehouse="file:/wh"),
        named(Dataset("s3://b", "t"), Dataset("s3://b/t", "db.t")),
    ),
    (
        TABLE,
        "file:/wh-old/t",
        Catalog(warehouse="file:/wh"),
        named(Dataset("file", "/wh-old/t"), Dataset("file:/wh-old/t", "db.t")),
    ),
    (
        TABLE,
        "s3a://b/t",
        Catalog(metastore="thrift://ms:9083", warehouse="s3://b/wh"),
        named(Dataset("s3://b", "t"), Dataset("hive://ms:9083", "db.t")),
    ),
    (
        ("ice", "db", "t"),
        "s3a://b/wh/db/t",
        Catalog(warehouse="s3://b/wh"),
        named(Dataset("s3://b", "wh/db/t"), Dataset("s3://b/wh", "ice.db.t")),
    ),
    (
        TABLE,
        "s3://b/t",
        Catalog(glue="arn:aws:glue:eu-west-1:123", metastore="thrift://ms:9083"),
        named(Dataset("s3://b", "t"), Dataset("arn:aws:glue:eu-west-1:123", "table/db/t")),
    ),
    (("db", "v"), "", Catalog(warehouse="hdfs://nn:8020/wh"), named(Dataset("hdfs://nn:8020/wh", "db.v"))),
    (("db", "v"), "", Catalog(warehouse="file:/"), named(Dataset("file", "db.v"))),
    (("v",), "", Catalog(), named(Dataset("inmemory://", "v"))),
]


@pytest.mark.parametrize(("identifier", "location", "catalog", "expected"), CATALOGS)
def test_a_table_is_named_by_its_location_and_known_by_its_catalog_name(
    identifier: tuple[str, ...], location: str, catalog: Catalog, expected: DatasetDescription
) -> None:
    assert catalog_dataset(identifier, location, catalog) == expected


@pytest.mark.parametrize(
    ("catalog", "namespace"),
    [
        (Catalog(service="https://me:hunter2@h:8181/api/?token=hunter2"), "https://h:8181/api"),
        (Catalog(service="https://h/catalog/"), "https://h/catalog"),
        (Catalog(service="https://me:hun/ter2@h/api"), "https://h/api"),
        (Catalog(service="h:8181/api"), "h:8181/api"),
        (Catalog(metastore="thrift://me:hunter2@h:9083?token=hunter2"), "hive://h:9083"),
    ],
)
def test_the_namespace_of_a_catalog_has_no_secret(catalog: Catalog, namespace: str) -> None:
    assert catalog_dataset(("c", "db", "t"), "", catalog).dataset.namespace == namespace
