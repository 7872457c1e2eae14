"""The errors of a job may hold passwords: none is in what headwater writes."""

import json

import pytest
from tests.capture.conftest import SPARK, Jobs

SECRET = "hunter2Zq"
MESSAGES = (
    f"no postgresql://me:{SECRET}@db.local/shop",
    f"password={SECRET} user=me",
    f"{{'password': '{SECRET}'}}",
    f'{{"api_key": "{SECRET}"}}',
    f"Authorization: Bearer {SECRET}",
    f"GET https://h/c/f?sv=1&sig={SECRET}",
    f"cannot run tool --password {SECRET}",
    f"jdbc:sqlserver://h;password={SECRET}" + ";(),&" * 20_000,
    f"spark.app.name  x\nspark.hadoop.fs.s3a.secret.key   {SECRET}\nspark.master  y",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n{SECRET}==\n-----END PRIVATE KEY-----",
    json.dumps({"body": json.dumps({"token": SECRET, "url": f"jdbc:mysql://h/d?user=me&password={SECRET}&x=y"})}),
    f"redirect=jdbc%3Apostgresql%3A%2F%2Fme%3A{SECRET}%40h%2Fdb",
    f"CREATE TABLE t USING jdbc OPTIONS (url 'jdbc:sqlserver://h;user=me;password={SECRET};x=y')",
)
FAILING = f"""
for number, message in enumerate({MESSAGES!r}):
    failed = items.select(sf.raise_error(sf.lit(message)).cast("long").alias("id"), sf.col("price").alias("token"))
    try:
        failed.write.parquet(f"out/{{number}}")
    except Exception:
        pass
try:
    raise KeyError({MESSAGES[3]!r})
except KeyError as error:
    raise ValueError({MESSAGES[0]!r} + {MESSAGES[2]!r}) from error
"""


@pytest.mark.spark
def test_the_error_of_a_failed_job_is_sent_without_its_secrets(jobs: Jobs) -> None:
    jobs.write(SPARK.replace('"shop"', f'"shop of postgresql://me:{SECRET}@db/shop"') + FAILING)
    store = f"postgresql://me:{SECRET}@127.0.0.1:1/shop"
    environment = {"HEADWATER_STORE": store, "HEADWATER_STRICT": "0"}
    ended = jobs.watched("job.py", environment=environment)
    lines = [line for line in ended.err.splitlines() if "headwater" in line]
    assert [line for line in lines if SECRET in line] == []
    assert any("headwater show --store postgresql://…@127.0.0.1:1/shop" in line or "wait in" in line for line in lines)
    written = "".join(path.read_text() for path in jobs.folder.rglob("*.ndjson"))
    assert SECRET not in written
    failed = [event for event in jobs.events() if event["eventType"] == "FAIL"]
    assert len(failed) == len(MESSAGES) + 1
    outputs = [output for event in failed for output in event["outputs"]]
    names = {field["name"] for output in outputs for field in output["facets"]["schema"]["fields"]}
    assert names == {"id", "token"}
    assert all("errorMessage" in event["run"]["facets"] for event in failed)
    assert "no postgresql://…@db.local/shop" in json.dumps(failed, ensure_ascii=False)
    assert ended.seconds < 120
