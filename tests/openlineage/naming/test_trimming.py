"""A writer of a part and a reader of the whole meet under one name."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from openlineage.client.dataset import DatasetConfig, DatasetReducer

from headwater.errors import SettingError
from headwater.model import Dataset
from headwater.openlineage.naming.trimming import RULES, Trimming, trim, trimming_from

TRIMMED = [
    ("/data/t", "/data/t"),
    ("/data/t/dt=2026-01-01", "/data/t"),
    ("/data/t/country=DE/dt=2026-01-01/hour=7", "/data/t"),
    ("/data/t/a=b=c", "/data/t/a=b=c"),
    ("/data/t/2026-01-01", "/data/t"),
    ("/data/t/01.12.2026", "/data/t"),
    ("/data/t/20260101", "/data/t"),
    ("/data/t/20260101T0901Z", "/data/t"),
    ("/data/t/2026/01/02", "/data/t"),
    ("/data/t/2026/01", "/data/t"),
    ("/data/t/202601", "/data/t"),
    ("/data/t/2026-01", "/data/t"),
    ("/data/t/2026-13", "/data/t/2026-13"),
    ("/data/t/99999999", "/data/t/99999999"),
    ("/data/t/dt=1/2026/01/02/x=1", "/data/t"),
    ("/data/t/*", "/data/t"),
    ("/data/t/*/*", "/data/t"),
    ("/data/{a,b}/x*.csv", "/data"),
    ("/data/t/part-*.parquet", "/data/t"),
    ("/data/t/dt=2026-*/x.csv", "/data/t"),
    ("/data/t/[ab].csv", "/data/t"),
    ("/data/t/a?.csv", "/data/t"),
    ("/data/t/a\\*b.csv", "/data/t/a\\*b.csv"),
    ("/data/t/part-00000-5d8c-c000.snappy.parquet", "/data/t"),
    ("/data/t/part-r-00000.gz.parquet", "/data/t"),
    ("/data/t/part-list.csv", "/data/t/part-list.csv"),
    ("/data/t/2026", "/data/t"),
    ("/data/t/2026/", "/data/t"),
    ("/data/t/2026/01/02/13", "/data/t"),
    ("/data/t/2026/01/02/13/45", "/data/t"),
    ("/data/t/2026-01-02/13", "/data/t"),
    ("/data/t/20260102/13", "/data/t"),
    ("/data/t/year=2026/10", "/data/t"),
    ("/data/t/year=2026/10/03", "/data/t"),
    ("/data/t/2026/part-00000-5d8c-c000.snappy.parquet", "/data/t"),
    ("/data/t/2026/*", "/data/t"),
    ("/data/t/env=prod/orders", "/data/t/env=prod/orders"),
    ("/data/t/7", "/data/t/7"),
    ("/data/t/3026", "/data/t/3026"),
    ("/data/t2026", "/data/t2026"),
    ("/2026", "/2026"),
    ("/dt=1", "/dt=1"),
    ("/*", "/*"),
    ("/", "/"),
    ("/C:/dt=1", "/C:/dt=1"),
    ("/C:/t/dt=1", "/C:/t"),
]


@pytest.mark.parametrize(("name", "root"), TRIMMED)
def test_a_name_is_trimmed_to_the_root_of_its_dataset(name: str, root: str) -> None:
    assert trim(Dataset("file", name), Trimming()).name == root


def test_keys_of_object_stores_are_trimmed_too() -> None:
    assert trim(Dataset("s3://b", "t/dt=1"), Trimming()) == Dataset("s3://b", "t")
    assert trim(Dataset("s3://b", "dt=1"), Trimming()) == Dataset("s3://b", "dt=1")


def test_names_that_are_no_paths_stay() -> None:
    for dataset in (Dataset("hive://ms:9083", "db.t*"), Dataset("arn:aws:glue:r:1", "table/db/20260101")):
        assert trim(dataset, Trimming()) == dataset


def test_each_rule_can_be_switched_off() -> None:
    every_rule = Trimming(disabled=frozenset(RULES))
    assert all(trim(Dataset("file", name), every_rule).name == name for name, _ in TRIMMED)


def test_a_path_that_is_written_has_no_globs() -> None:
    assert trim(Dataset("file", "/data/a[1]/dt=1"), Trimming().literal).name == "/data/a[1]"


def test_settings_name_rules_as_the_clients_do() -> None:
    rules = trimming_from(
        {"disabled": "io.openlineage.client.dataset.partition.trimmer.DateTrimmer;glob", "patterns": r"batch-\d+"}
    )
    assert rules.disabled == {"date", "glob"}
    assert trim(Dataset("file", "/t/batch-12"), rules).name == "/t"
    assert trim(Dataset("file", "/t/a/batch-12x"), rules).name == "/t/a/batch-12x"


def test_the_client_s_name_of_the_date_directories_stands_for_their_parts_too() -> None:
    rules = trimming_from({"disabled": "MultiDirDateTrimmer"})
    assert [trim(Dataset("file", f"/t/{rest}"), rules).name for rest in ("2026", "2026/01")] == [
        "/t/2026",
        "/t/2026/01",
    ]


def test_a_pattern_of_the_spark_integration_cuts_its_group_out() -> None:
    rules = trimming_from({"patterns": r"(.*)(?<remove>/run_\d+/v\d+)"})
    assert trim(Dataset("s3://b", "t/run_7/v2"), rules).name == "t"


@pytest.mark.parametrize("settings", [{"disabled": "dates"}, {"patterns": "(["}])
def test_a_rule_that_cannot_be_used_is_refused(settings: dict[str, str]) -> None:
    with pytest.raises(SettingError, match=r"expected one of|is no regular expression"):
        trimming_from(settings)


pieces = st.sampled_from(
    [
        "a",
        "t",
        "*",
        "{a,b}",
        "dt=1",
        "2026",
        "01",
        "02",
        "20260101",
        "2026-01",
        "202601",
        "part-00000-x",
        "C:",
        "[a]",
        "ü ",
    ]
)


@given(st.lists(pieces, min_size=1, max_size=7).map("/".join))
def test_dates_and_keys_are_those_of_the_client(name: str) -> None:
    ours = Trimming(frozenset({"glob", "part_file", "date_parts"}))
    theirs = DatasetReducer(DatasetConfig())._trim(name)[0]
    assume(theirs != "C:")  # of a drive they leave its name: see below
    assert trim(Dataset("s3://b", name), ours).name == theirs


def test_a_drive_is_nothing_to_trim_to() -> None:
    assert trim(Dataset("file", "C:/dt=2026-01-01"), Trimming()).name == "C:/dt=2026-01-01"


@given(st.lists(pieces, min_size=1, max_size=7).map(lambda parts: "/" + "/".join(parts)))
def test_trimming_ends_at_a_root_that_is_not_nothing(name: str) -> None:
    trimmed = trim(Dataset("file", name), Trimming())
    assert trim(trimmed, Trimming()) == trimmed
    assert trimmed.name.strip("/")
    assert name.startswith(trimmed.name)
