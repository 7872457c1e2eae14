"""The tap on the listener bus, as Python sees it."""

import pytest
from tests.capture.conftest import SPARK, Jobs

TWO_TAPS = (
    SPARK
    + """
from headwater.capture.jvm.tap import SparkTap
from headwater.capture.settings import CaptureSettings

taps = [SparkTap(spark.sparkContext, CaptureSettings()) for _ in range(2)]
for tap in taps:
    tap.connect()
for number in range(200):
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v AS SELECT {number} AS n")
    assert taps[1].drain(60_000)
    kinds = []
    while (rows := taps[1].rows(0)) is not None:
        kinds += [row.kind for row in rows]
    assert "end" in kinds, number
print("all were there")
"""
)


@pytest.mark.spark
def test_a_tap_beside_another_waits_for_its_own_events(jobs: Jobs) -> None:
    jobs.write(TWO_TAPS)
    ended = jobs.plain("job.py")
    assert (ended.code, ended.out) == (0, "all were there\n"), ended.err
