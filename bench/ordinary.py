"""How long the steps of one ordinary statement take: its capture, its extraction, its event."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from headwater.capture.jvm.tap import SparkTap
from headwater.capture.rows import unpack
from headwater.capture.settings import CaptureSettings
from headwater.extract import statement
from headwater.model import Engine, Job, Run, RunMoment, RunState
from headwater.openlineage.writing.events import run_event, to_json
from headwater.plan import decode

REPEATED = 40

STATEMENTS = (
    "SELECT id, b AS x, b + c AS y FROM narrow",
    "SELECT id, sum(b) AS total, count(*) AS many FROM narrow WHERE c > 2 GROUP BY id HAVING sum(b) > 10",
    "SELECT l.id, l.b, r.c FROM narrow l JOIN narrow r ON l.id = r.id AND l.c < r.c",
    "SELECT id, row_number() OVER (PARTITION BY c ORDER BY b DESC) AS place FROM narrow",
    "SELECT id, CASE WHEN b > 10 THEN c ELSE coalesce(b, c) END AS chosen FROM narrow ORDER BY id LIMIT 10",
    "SELECT id, b FROM narrow UNION ALL SELECT c, id FROM narrow",
    "WITH big AS (SELECT * FROM narrow WHERE b > 100), few AS (SELECT c, max(b) AS most FROM big GROUP BY c) "
    "SELECT big.id, few.most FROM big JOIN few USING (c)",
    "SELECT id, (SELECT max(b) FROM narrow i WHERE i.c = o.c) AS most FROM narrow o WHERE EXISTS "
    "(SELECT 1 FROM narrow x WHERE x.id = o.b)",
    "SELECT c, grouping_id() AS level, avg(b) AS mean FROM narrow GROUP BY ROLLUP (c, id)",
    "SELECT id, part FROM narrow LATERAL VIEW explode(split(cast(b AS string), '1')) parts AS part",
    "SELECT * FROM (SELECT c, b FROM narrow) PIVOT (sum(b) FOR c IN (1, 2, 3))",
    "SELECT " + ", ".join(f"c{i} + c{i + 1} AS d{i}" for i in range(50)) + " FROM broad WHERE c0 > 1",
)

_T = TypeVar("_T")
_RUN = Run(str(UUID(int=1)), Job("bench", "bench"))


def ordinary(spark: Any) -> dict[str, list[float]]:
    """Seconds of each step, for each of the statements, many times over after as many to warm up."""
    tap = SparkTap(spark.sparkContext, CaptureSettings())
    frames = [spark.sql(text) for text in STATEMENTS]
    for _ in range(REPEATED):
        for frame in frames:
            _steps(tap, frame, {})
    seconds: dict[str, list[float]] = {}
    for _ in range(REPEATED):
        for frame in frames:
            _steps(tap, frame, seconds)
    return seconds


def _steps(tap: SparkTap, frame: Any, seconds: dict[str, list[float]]) -> None:
    def timed(step: str, work: Callable[[], _T]) -> _T:
        begun = time.perf_counter()
        found = work()
        seconds.setdefault(step, []).append(time.perf_counter() - begun)
        return found

    reply = timed("read", lambda: tap.read(frame))
    plan = timed("decode", lambda: decode(unpack(reply)))
    found = timed("extract", lambda: statement(plan))
    moment = RunMoment(_RUN, RunState.START, datetime.now(UTC), Engine("spark", "4.1"), found)
    timed("event", lambda: to_json(run_event(moment)))
