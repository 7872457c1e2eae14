"""Tempo's Fourier transform on a real Spark: what headwater tells of it without this package, and with it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from tempo import TSDF

import headwater

READINGS = {
    "ann": {0: 60.0, 1: 62.0, 2: 61.0, 3: 65.0},
    "bob": {0: 60.0, 1: 90.0, 2: 61.0, 3: 65.0},  # one pulse is another
    "cid": {9: 60.0, 1: 62.0, 2: 61.0, 3: 65.0},  # the first was taken last
}
ADDED = ("freq", "ft_real", "ft_imag")
OPAQUE = [f"TRANSFORMATION opaque {column}" for column in ("at", "patient", "pulse")]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def readings(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    folder = str(tmp_path_factory.mktemp("lake") / "readings")
    rows = [(patient, second, pulse) for patient, pulses in READINGS.items() for second, pulse in pulses.items()]
    frame = spark.createDataFrame(rows, "patient string, second int, pulse double")
    frame.select("patient", sf.timestamp_seconds("second").alias("at"), "pulse").write.parquet(folder)
    return spark.read.parquet(folder)


def spectrum(readings: DataFrame, by: list[str]) -> DataFrame:
    return TSDF(readings, ts_col="at", partition_cols=by).fourier_transform(timestep=1, valueCol="pulse").df


def edges(frame: DataFrame, column: str | None) -> list[str]:
    found = headwater.lineage(frame).edges(column)
    return [
        f"{one.transformation.subtype.value}{' opaque' * one.transformation.opaque} {one.input.name}" for one in found
    ]


@pytest.fixture
def without_extension(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    headwater.attach(spark, events=str(tmp_path / "events.ndjson"), extensions_disabled=["tempo"])
    yield
    headwater.detach(spark)


def test_without_it_every_column_counts_and_the_function_is_a_gap(readings: DataFrame, without_extension: None) -> None:
    frame = spectrum(readings, ["patient"])
    assert [(gap.kind, gap.what) for gap in headwater.lineage(frame).gaps] == [("opaque", "tempo_fourier_util")]
    assert {column: edges(frame, column) for column in frame.columns} == dict.fromkeys(frame.columns, OPAQUE)
    assert edges(frame, None) == ["GROUP_BY patient"]


def test_with_it_nothing_is_opaque(readings: DataFrame) -> None:
    frame = spectrum(readings, ["patient"])
    assert headwater.lineage(frame).gaps == ()
    assert {column: edges(frame, column) for column in frame.columns} == {
        "patient": ["IDENTITY patient"],
        "at": ["IDENTITY at"],
        "pulse": ["IDENTITY pulse"],
        "freq": ["WINDOW at", "WINDOW patient"],
        "ft_real": ["AGGREGATION pulse", "WINDOW at", "WINDOW patient"],
        "ft_imag": ["AGGREGATION pulse", "WINDOW at", "WINDOW patient"],
    }
    assert edges(frame, None) == []


def test_one_series_is_not_grouped_by_anything(readings: DataFrame) -> None:
    frame = spectrum(readings, [])
    assert {column: edges(frame, column) for column in ADDED} == {
        "freq": ["WINDOW at"],
        "ft_real": ["AGGREGATION pulse", "WINDOW at"],
        "ft_imag": ["AGGREGATION pulse", "WINDOW at"],
    }
    assert headwater.lineage(frame).gaps == ()


def test_a_function_of_somebody_else_is_left_alone(readings: DataFrame) -> None:
    frame = readings.groupBy("patient").applyInPandas(lambda rows: rows, readings.schema)
    assert edges(frame, "pulse") == OPAQUE


def test_the_events_of_a_job_have_these_edges(readings: DataFrame, spark: SparkSession, tmp_path: Path) -> None:
    headwater.attach(spark, events=str(tmp_path / "events.ndjson"))
    frame = spectrum(readings, ["patient"])
    frame.write.parquet(str(tmp_path / "spectrum"))
    headwater.detach(spark)
    events = map(json.loads, (tmp_path / "events.ndjson").read_text().splitlines())
    *_, written = (event for event in events if event["outputs"])
    inputs = written["outputs"][0]["facets"]["columnLineage"]["fields"]["ft_real"]["inputFields"]
    assert sorted((one["field"], one["transformations"][0]["subtype"]) for one in inputs) == [
        ("at", "WINDOW"),
        ("patient", "WINDOW"),
        ("pulse", "AGGREGATION"),
    ]


def test_the_edges_are_true_of_the_data(readings: DataFrame) -> None:
    """Two readings are alike for Ann, Bob and Cid; they change where another one changes."""
    alike = spectrum(readings, ["patient"]).where(sf.second("at").isin(2, 3)).orderBy("patient", "at").collect()
    ann, bob, cid = alike[:2], alike[2:4], alike[4:]

    def differing(patient: list[Row]) -> set[str]:
        pairs = list(zip(ann, patient, strict=True))
        return {name for name in ("at", "pulse", *ADDED) if any(one[name] != other[name] for one, other in pairs)}

    assert differing(bob) == {"ft_real", "ft_imag"}
    assert differing(cid) == {"freq", "ft_real", "ft_imag"}
