"""Connectors that describe themselves by OpenLineage's interfaces, in a running Spark, without any Python for them."""

import json
import re
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.interfaces.conftest import Acme

from headwater.capture.jvm.tap import SparkTap
from headwater.capture.settings import CaptureSettings
from headwater.extract import column_lineage, statement
from headwater.model import Dataset, DatasetDescription, Gap, Job, Run, RunMoment, RunState, Symlink
from headwater.openlineage.writing.events import run_event, to_json

pytestmark = pytest.mark.spark

SOURCE = "org.acme.published.LakeSource"


def whys(gaps: tuple[Gap, ...]) -> list[str]:
    return [gap.why for gap in gaps if gap.kind == "extension"]


def facet(seen: DatasetDescription, name: str) -> tuple[str, str]:
    """Whose the facet is, and what it holds besides what every facet has."""
    (found,) = (one for one in seen.facets if one.name == name)
    return found.of, re.sub(r'"_(producer|schemaURL)": "[^"]*",? ?', "", found.content)


def test_a_relation_names_its_dataset_and_the_fields_behind_its_columns(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.scan("t")))
    assert lines == ["id    <- IDENTITY t.stored_id", "price <- IDENTITY t.stored_price"]
    assert gaps == ()


def test_facets_of_a_relations_dataset_are_in_the_event(acme: Acme) -> None:
    done = acme.run(acme.make.push("target", acme.make.scan("t")))
    (seen,) = done.inputs
    assert seen.dataset == Dataset("lake://acme", "t")
    assert seen.symlinks == (Symlink(Dataset("hive://acme", "db.t")),)
    assert facet(seen, "version") == ("dataset", '{"datasetVersion": "v7"}')
    assert facet(seen, "dataQualityMetrics")[0] == "input"
    assert '"rowCount": 3' in facet(seen, "dataQualityMetrics")[1]
    assert facet(seen, "acme") == ("dataset", "{}")


def test_a_command_names_what_it_writes(acme: Acme) -> None:
    (output,) = acme.run(acme.make.push("target", acme.make.scan("t"))).outputs
    assert output.description.dataset == Dataset("lake://acme", "target")
    assert {name: {edge.input.name for edge in edges} for name, edges in output.lineage.fields.items()} == {
        "id": {"stored_id"},
        "price": {"stored_price"},
    }


def test_merged_rows_depend_on_the_expressions_of_the_answer(acme: Acme) -> None:
    merged = acme.make.merge(acme.make.scan("new"), acme.make.published("old"))
    lines, gaps = acme.lineage(acme.frame(merged))
    assert lines == [
        "id    <- IDENTITY new.stored_id, IDENTITY old.id",
        "price <- TRANSFORMATION new.stored_price, TRANSFORMATION old.price",
        "*     <- FILTER? new.stored_id, FILTER? new.stored_price, FILTER? old.id, FILTER? old.price",
    ]
    assert gaps == ()


def test_replaced_data_is_that_of_the_relation_it_delegates_to(acme: Acme) -> None:
    acme.spark.sql("CREATE TABLE lake.db.replaced (id INT, price INT)")
    table = acme.spark.table("lake.db.replaced")._jdf.queryExecution().analyzed()
    done = acme.run(acme.make.replace(table, acme.make.scan("t")))
    (output,), (read,) = done.outputs, done.inputs
    assert (read.dataset.name, output.description.dataset.name) == ("t", "lake.db.replaced")
    assert {name: {edge.input.name for edge in edges} for name, edges in output.lineage.fields.items()} == {
        "id": {"stored_id"},
        "price": {"stored_price"},
    }
    assert facet(output.description, "lifecycleStateChange") == ("dataset", '{"lifecycleStateChange": "OVERWRITE"}')
    assert facet(output.description, "outputStatistics") == ("output", '{"rowCount": 5}')
    assert done.gaps == ()
    acme.spark.sql("DROP TABLE lake.db.replaced")


def test_a_delegate_may_itself_implement_the_interfaces(acme: Acme) -> None:
    done = acme.run(acme.make.replace(acme.make.published("target"), acme.make.scan("t")))
    assert done.outputs[0].description.dataset == Dataset("lake://published", "target")
    assert [seen.dataset.name for seen in done.inputs] == ["t"]
    assert done.gaps == ()


def test_the_java_interfaces_of_the_published_jar(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.published("t")))
    assert lines == ["id    <- IDENTITY t.id", "price <- IDENTITY t.price"]
    assert gaps == ()
    (seen,) = acme.run(acme.make.push("target", acme.make.published("t"))).inputs
    assert seen.dataset == Dataset("lake://published", "t")
    assert facet(seen, "documentation")[1] == '{"description": "told at SparkListenerSQLExecutionStart"}'


def test_a_delegate_that_is_nowhere_else_in_the_plan_is_read(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.view(acme.make.published("t"))))
    assert lines == ["id    <- IDENTITY t.id", "price <- IDENTITY t.price"]
    assert gaps == ()


def test_interfaces_that_a_vendor_moved_to_a_package_of_its_own(acme: Acme) -> None:
    (seen,) = acme.run(acme.make.push("target", acme.make.moved("t"))).inputs
    assert seen.dataset == Dataset("lake://moved", "t@SparkListenerSQLExecutionStart")


def test_relations_of_the_v1_api_and_providers_that_write_name_their_datasets(acme: Acme) -> None:
    acme.ran()
    frame = acme.spark.read.format(SOURCE).option("name", "in").load()
    frame.write.format(SOURCE).option("name", "out").mode("append").save()
    (done,) = acme.ran()
    (output,) = done.outputs
    assert [seen.dataset for seen in done.inputs] == [Dataset("lake://relation", "in")]
    assert output.description.dataset == Dataset("lake://provider", "out")
    assert {name: {str(edge.input) for edge in edges} for name, edges in output.lineage.fields.items()}.keys() == {
        "id",
        "price",
    }
    assert done.gaps == ()


def test_the_java_interfaces_for_columns(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.enriched("rates", acme.make.published("t"))))
    assert lines == [
        "id    <- TRANSFORMATION rates.rate, TRANSFORMATION t.id",
        "price <- TRANSFORMATION rates.rate, TRANSFORMATION t.price",
        "*     <- FILTER? t.id, FILTER? t.price",
    ]
    assert gaps == ()


def test_a_provider_by_the_former_name_of_its_interface(acme: Acme) -> None:
    acme.ran()
    acme.spark.range(1).write.format("org.acme.published.FormerSource").option("name", "out").mode("append").save()
    (done,) = acme.ran()
    assert done.outputs[0].description.dataset == Dataset("lake://former", "out")


def test_a_plan_that_is_too_large_keeps_the_names_from_its_relations(acme: Acme) -> None:
    small = SparkTap(acme.spark.sparkContext, replace(CaptureSettings(), plan_nodes=20))
    found = statement(small.plan(acme.frame(acme.make.tower(100, acme.make.scan("t")))))
    assert [seen.dataset for seen in found.inputs] == [Dataset("lake://acme", "t")]
    assert [gap.kind for gap in found.gaps] == ["budget"]


def test_the_event_has_the_facets_on_the_side_they_are_of(acme: Acme) -> None:
    found = acme.run(acme.make.replace(acme.make.published("target"), acme.make.scan("t")))
    run = Run("01890000-0000-7000-8000-000000000001", Job("jobs", "acme"))
    moment = RunMoment(run, RunState.COMPLETE, datetime(2026, 1, 1, tzinfo=UTC), statement=found)
    event = json.loads(to_json(run_event(moment)))
    (read,), (written,) = event["inputs"], event["outputs"]
    assert read["facets"]["version"]["datasetVersion"] == "v7"
    assert read["inputFacets"]["dataQualityMetrics"]["rowCount"] == 3
    assert written["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "OVERWRITE"
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 5
    assert set(written["facets"]["columnLineage"]["fields"]) == {"id", "price"}


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("throws", "getInputs: java.lang.IllegalStateException: password='***' is wrong"),
        ("secret reason", "getInputs: java.io.IOException: no https://host/x?token=***&a=1 with password=***"),
        ("dies", "getInputs: java.lang.NoClassDefFoundError: com/vendor/Missing"),
        ("overflows", "getInputs: java.lang.StackOverflowError"),
        ("null", "getInputs: it gave no list but null"),
        ("nulls", "getInputs: it gave a list with null in it"),
        ("strings", "getInputs: it gave no name but null"),
        ("a number", "getInputs: java.lang.ClassCastException"),
        ("no name", "getInputs: it gave no name but null"),
        ("empty name", "it names a dataset without a namespace or a name"),
        ("long name", "getInputs: it gave a name of more than 4096 characters"),
        ("no dataset", "getInputs: it gave no name but null"),
        ("no node", "getInputs: its delegate is no node of a plan but java.lang.String"),
        ("itself", "it delegated to itself, or to what contains it"),
        ("around itself", "it delegated to itself, or to what contains it"),
        ("an expression", "a dataset was delegated to an expression"),
        ("endless", "getInputs: it gave more than 10000 of them"),
        (
            "strange dependency",
            "columnLevelLineageDependencies: its delegate is no node of a plan but java.lang.String",
        ),
        ("endless dependency", "columnLevelLineageDependencies: it gave more than 10000 of them"),
        ("null dependency", "columnLevelLineageDependencies: it gave no exprId but null"),
    ],
)
def test_what_a_hostile_operator_does_is_a_gap_with_its_name_and_costs_no_other_lineage(
    acme: Acme, how: str, why: str
) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.hostile(how, acme.make.scan("t"))))
    (done,) = (gap for gap in gaps if gap.kind == "extension")
    assert done.what == "org.acme.lake.Hostile"
    assert done.why.startswith(why)
    edges = {line.partition("<-")[0].strip(): line.partition("<-")[2] for line in lines}
    assert "t.stored_id" in edges["id"]
    assert "t.stored_price" in edges["price"]


@pytest.mark.parametrize("how", ["dependency on itself", "unknown dependency"])
def test_a_dependency_that_cannot_be_followed_is_one_upon_everything(acme: Acme, how: str) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.hostile(how, acme.make.scan("t"))))
    assert lines[0] == "id    <- TRANSFORMATION? t.stored_id, TRANSFORMATION? t.stored_price"
    assert gaps


def test_facets_that_are_too_large_are_left_out_and_the_dataset_stays(acme: Acme) -> None:
    found = acme.run(acme.make.push("target", acme.make.hostile("large facets", acme.make.scan("s"))))
    assert any("more than 262144 characters" in why for why in whys(found.gaps))
    assert {seen.dataset.name for seen in found.inputs} == {"s", "t"}


def test_secrets_stay_in_the_jvm(acme: Acme) -> None:
    found = acme.run(acme.make.push("target", acme.make.hostile("secret", acme.make.scan("s"))))
    assert "hunter2" not in repr(found)
    assert "jdbc:postgresql://host:1/db" in {seen.dataset.namespace for seen in found.inputs}


def test_facets_lose_their_secrets_and_stay_json(acme: Acme) -> None:
    found = acme.run(acme.make.push("target", acme.make.hostile("secret facets", acme.make.scan("s"))))
    assert "hunter2" not in repr(found)
    assert whys(found.gaps) == []
    (seen,) = (seen for seen in found.inputs if seen.dataset.name == "t")
    assert facet(seen, "dataSource")[1] == '{"name": "lake", "uri": "mongodb://db:27017/x"}'
    assert facet(seen, "schema")[1] == '{"fields": [{"name": "access_token", "type": "struct<token:string>"}]}'
    text = '{"description": "at https://host/x?token=*** or jdbc:postgresql://db/x"}'
    assert facet(seen, "documentation")[1] == text


@pytest.mark.parametrize(
    ("plain", "unmasked"),
    [
        ('{"acme": {"password": "hunter2", "rows": 7}}', '{"acme":{"password":"***","rows":7}}'),
        ('{"credentials": {"user": "me", "parts": ["a", 1, null, true]}}', None),
        ('[{"name": "fs.s3a.secret.key", "value": "hunter2"}]', '[{"name":"fs.s3a.secret.key","value":"***"}]'),
        ('{"fields": {"token": {"inputFields": ["a"]}}}', '{"fields":{"token":{"inputFields":["a"]}}}'),
        ('{"columnMetrics": {"pwd": {"nullCount": 1.50}}}', '{"columnMetrics":{"pwd":{"nullCount":1.50}}}'),
        ('["token", "id", "a basic table"]', '["token","id","a basic table"]'),
        ('{"uri": "s3a://KEY:hun/ter2@bucket/x"}', '{"uri":"s3a://bucket/x"}'),
        ('{"uri": "abfss://data@host/x"}', '{"uri":"abfss://data@host/x"}'),
        ('{"uri": "https://h/x?sv=1&sig=hunter2"}', '{"uri":"https://h/x?sv=1&sig=***"}'),
        ('{"url": "jdbc:sqlserver://h:1;password=hunter2;databaseName=d"}', None),
        ('{"text": "password = \'my hunter2"}', '{"text":"password = \'***\'"}'),
        ('{"password": "hunter2"', '{"password": ***'),
        ('{"grade": 1} password=hunter2', '{"grade": 1} password=***'),
    ],
)
def test_json_is_masked_value_by_value(acme: Acme, plain: str, unmasked: str | None) -> None:
    masked = acme.make.masked(plain, acme.tap._tap.getClass().getClassLoader())
    assert "hunter2" not in masked
    expected = {
        "credentials": '{"credentials":{"user":"***","parts":["***","***",null,true]}}',
        "url": '{"url":"jdbc:sqlserver://h:1;;databaseName=d"}',
    }
    assert masked == (unmasked or next(text for name, text in expected.items() if name in plain))


def test_masking_takes_as_long_as_the_text_is_long(acme: Acme) -> None:
    loader = acme.tap._tap.getClass().getClassLoader()
    for part in ("//a:", "token", "password=", "?sig", "basic ", "password='''", "a\\'"):
        began = time.monotonic()
        acme.make.masked(json.dumps([start + part * 20_000 for start in ("password='", "jdbc:x://")]), loader)
        assert time.monotonic() - began < 5


def test_a_class_of_an_interface_that_cannot_be_read_is_a_gap_and_costs_no_other_lineage(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.orphan(acme.make.scan("t"))))
    (gap,) = (gap for gap in gaps if gap.kind == "extension")
    assert gap.what == "org.acme.lake.Orphan"
    assert gap.why == "it could not be asked: java.lang.NoClassDefFoundError: com/vendor/gone/Context"
    assert "t.stored_id" in lines[0]


def test_an_operator_that_is_called_as_one_of_sparks_has_columns_of_its_own(acme: Acme) -> None:
    lines, gaps = acme.lineage(acme.frame(acme.make.namesake(acme.make.scan("t"))))
    assert [line.partition(" ")[0] for line in lines] == ["id", "price", "made"]
    assert [gap.what for gap in gaps] == ["com.acme.Join"]


def test_an_operator_that_does_not_answer_is_called_once(acme: Acme) -> None:
    impatient = SparkTap(acme.spark.sparkContext, CaptureSettings(connector_seconds=0.5))
    loops = impatient.plan(acme.frame(acme.make.loops(acme.make.scan("t"))))
    assert whys(column_lineage(loops)[1]) == ["it did not answer within 500 ms"]
    lines, gaps = acme.lineage(acme.frame(acme.make.loops(acme.make.scan("t"))))
    assert whys(gaps) == ["it took too long before, and is not asked again"]
    assert "t.stored_id" in lines[0]


def test_connectors_that_get_no_time_are_not_called_and_a_gap_names_the_setting(acme: Acme) -> None:
    hurried = SparkTap(acme.spark.sparkContext, CaptureSettings(connector_seconds=0))
    _, gaps = column_lineage(hurried.plan(acme.frame(acme.make.scan("t"))))
    assert whys(gaps) == ["no time is left for it (connector_seconds), and it was not called"]


def test_finding_no_interface_in_a_plan_takes_less_than_a_millisecond(acme: Acme) -> None:
    tower = acme.make.tower(1000, acme.make.nothing())
    assert acme.make.nanoseconds(tower, acme.tap._tap.getClass().getClassLoader()) < 1_000_000
