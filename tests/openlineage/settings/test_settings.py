"""A job keeps the configuration that it has for the OpenLineage Spark integration."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.extract.case_file import cases
from tests.extract.recordings import recorded

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.executions import Executions
from headwater.errors import SettingError
from headwater.extract import ExtractSettings
from headwater.model import Dataset, Engine, Job, Run, RunMoment, RunState
from headwater.openlineage.delivery import client_targets
from headwater.openlineage.naming.resolvers import ConfiguredNames
from headwater.openlineage.naming.trimming import Trimming
from headwater.openlineage.settings import Settings, settings_from
from headwater.openlineage.writing.events import run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings
from headwater.plan import decode_document

ID, OTHER = "01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"


def conf(**values: str) -> dict[str, str]:
    return {f"spark.openlineage.{key.replace('__', '.')}": value for key, value in values.items()}


def test_nothing_configured_gives_the_defaults() -> None:
    assert settings_from({"spark.app.name": "x"}, {"HOME": "/"}) == Settings()


def test_the_spark_conf_comes_before_the_environment_and_that_before_the_file() -> None:
    environment, file = {"OPENLINEAGE_NAMESPACE": "environment"}, {"namespace": "file"}
    assert settings_from(conf(namespace="conf"), environment, file).namespace == "conf"
    assert settings_from({}, environment, file).namespace == "environment"
    assert settings_from({}, {}, file).namespace == "file"


def test_the_parent_is_read_from_the_environment() -> None:
    environment = {"OPENLINEAGE_PARENT_ID": f"ns/a/b/{ID}", "OPENLINEAGE_ROOT_PARENT_ID": f"ns/dag/{OTHER}"}
    root = Run(OTHER, Job("ns", "dag"))
    assert settings_from({}, environment).parent == Run(ID, Job("ns", "a/b"), root)


def test_the_parent_is_read_from_the_spark_conf() -> None:
    settings = settings_from(conf(parentJobNamespace="ns", parentJobName="j", parentRunId=ID), {})
    assert settings.parent == Run(ID, Job("ns", "j"))
    assert not settings.problems


def test_facets_and_trimming_follow_the_conf() -> None:
    settings = settings_from(
        conf(
            columnLineage__datasetLineageEnabled="false",
            columnLineage__descriptionsEnabled="TRUE",
            columnLineage__maxEdges="5",
            facets__disabled="[sql;schema]",
            facets__parent__disabled="true",
            facets__debug__disabled="false",
            dataset__disabledTrimmers="DateTrimmer",
        ),
        {},
    )
    expected = FacetSettings(False, True, 5, disabled=frozenset({"sql", "schema", "parent"}))
    assert (settings.facets, settings.trimming) == (expected, Trimming(frozenset({"date"})))
    assert not settings.problems


def test_the_transport_of_the_conf_becomes_the_clients() -> None:
    keys = {
        "transport.type": "http",
        "transport.url": "http://h",
        "transport.auth.type": "api_key",
        "transport.auth.apiKey": "k",
        "transport.timeoutInMillis": "2500",
    }
    settings = settings_from({f"spark.openlineage.{key}": value for key, value in keys.items()}, {})
    assert settings.transport == {
        "transport": {"type": "http", "url": "http://h", "auth": {"type": "api_key", "apiKey": "k"}, "timeout": 2.5}
    }


PROBLEMS = [
    (conf(parentRunId="7", parentJobName="j", parentJobNamespace="n"), {}, "'7' is no UUID"),
    (conf(parentRunId=ID), {}, "parentJobNamespace and spark.openlineage.parentJobName must be set too"),
    (conf(columnLineage__datasetLineageEnabled="yes"), {}, "'yes' was found where true or false was expected"),
    (conf(columnLineage__maxEdges="-1"), {}, "'-1' was found where a whole number"),
    (conf(dataset__removePath__pattern="(["), {}, "is no regular expression"),
    (conf(dataset__disabledTrimmers="x"), {}, "No trimming rule is called 'x'"),
    (conf(namespce="x"), {}, "did you mean spark.openlineage.namespace?"),
    ({}, {"OPENLINEAGE_PARENT_ID": "a/b"}, "<job namespace>/<job name>/<run id> was expected"),
    ({}, {"OPENLINEAGE_PARENT_ID": "a/b/c"}, "'c' is no UUID"),
]


@pytest.mark.parametrize(("spark_conf", "environment", "message"), PROBLEMS)
def test_an_unusable_setting_is_reported_and_its_default_used(
    spark_conf: dict[str, str], environment: dict[str, str], message: str
) -> None:
    settings = settings_from(spark_conf, environment)
    assert len(settings.problems) == 1
    assert message in settings.problems[0]
    assert settings == Settings(problems=settings.problems)


def test_keys_of_the_spark_integration_without_effect_are_named_in_one_line() -> None:
    keys = conf(filter__allowedSparkNodes="[x]", circuitBreaker__type="static", job__owners__team="t", debugFacet="x")
    (problem,) = settings_from(keys, {}).problems
    assert all(key in problem for key in keys if "owners" not in key)
    assert "owners" not in problem


def test_owners_and_tags_are_facets_of_jobs_and_runs() -> None:
    keys = conf(job__owners__team="Sales", job__tags=r"nightly;env:prod;a\:b:c:HR", run__tags="cause:backfill")
    settings = settings_from(keys, {})
    assert not settings.problems
    moment = RunMoment(Run(ID, Job("ns", "j")), RunState.COMPLETE, datetime(2026, 1, 1, tzinfo=UTC))
    event = json.loads(to_json(run_event(moment, settings.facets)))
    job = event["job"]["facets"]
    assert [(one["type"], one["name"]) for one in job["ownership"]["owners"]] == [("team", "Sales")]
    tags = [(tag["key"], tag["value"], tag["source"]) for tag in job["tags"]["tags"]]
    assert tags == [("nightly", "true", "CONFIG"), ("env", "prod", "CONFIG"), ("a:b", "c", "HR")]
    assert event["run"]["facets"]["tags"]["tags"][0]["key"] == "cause"


RESOLVERS = conf(
    dataset__namespaceResolvers__shop__type="hostList",
    dataset__namespaceResolvers__shop__hosts="[db1.local;db2.local]",
    dataset__namespaceResolvers__shop__schema="postgres",
    dataset__namespaceResolvers__broker__type="pattern",
    dataset__namespaceResolvers__broker__regex=r"b\d+:9092",
    dataset__namespaceResolvers__any__type="patternGroup",
    dataset__namespaceResolvers__any__regex=r"(?<cluster>[a-z]+)-\d+\.company\.com",
    dataset__namespaceResolvers__any__matchingGroup="cluster",
)


@pytest.mark.parametrize(
    ("namespace", "resolved"),
    [
        ("postgres://DB1.local:5432", "postgres://shop:5432"),
        ("postgres://mydb1.local:5432", "postgres://mydb1.local:5432"),
        ("mysql://db1.local:3306", "mysql://db1.local:3306"),
        ("kafka://b12:9092", "kafka://broker"),
        ("hdfs://east-7.company.com:8020", "hdfs://east:8020"),
        ("file", "file"),
    ],
)
def test_resolvers_make_one_namespace_of_several_hosts(namespace: str, resolved: str) -> None:
    settings = settings_from(RESOLVERS, {})
    assert not settings.problems
    dataset = Dataset(namespace, "t")
    assert settings.names.other_names([dataset]).get(dataset, dataset) == Dataset(resolved, "t")


def test_resolvers_may_stand_in_the_file() -> None:
    file = {"dataset": {"namespace_resolvers": {"shop": {"type": "hostList", "hosts": ["db1"]}}}}
    found = settings_from({}, {}, file).names.other_names([Dataset("postgres://db1:5432", "t")])
    assert list(found.values()) == [Dataset("postgres://shop:5432", "t")]


@pytest.mark.parametrize(
    "keys",
    [
        {"dataset__namespaceResolvers__a__type": "list"},
        {"dataset__namespaceResolvers__a__type": "hostList"},
        {"dataset__namespaceResolvers__a__type": "pattern", "dataset__namespaceResolvers__a__regex": "("},
        {
            "dataset__namespaceResolvers__a__type": "patternGroup",
            "dataset__namespaceResolvers__a__regex": "b",
            "dataset__namespaceResolvers__a__matchingGroup": "c",
        },
    ],
)
def test_a_resolver_that_cannot_be_used_is_left_out_and_reported(keys: dict[str, str]) -> None:
    settings = settings_from(conf(**keys), {})
    assert settings.names == ConfiguredNames()
    assert "'a'" in settings.problems[0]


def statement_of(keys: dict[str, str], *, by_operator: bool = False) -> list[RunMoment]:
    """The moments of a recorded write under a configuration."""
    settings = settings_from(keys, {})
    extract = ExtractSettings(trimming=settings.trimming, names=settings.names)
    executions = Executions(
        Run(ID, Job("ns", "shop")),
        Engine(),
        extract,
        job_names=replace(settings.job_names, by_operator=by_operator),
        denied_nodes=settings.denied_nodes,
    )
    plan = decode_document(dict(recorded("4.1", next(case for case in cases() if str(case) == "write/external_table"))))
    return list(executions.moments(ExecutionRow("start", 1, datetime(2026, 1, 1, tzinfo=UTC), plan=plan)))


def test_a_pattern_is_removed_from_the_names_of_tables_of_the_catalog_too() -> None:
    (plain,), (moment,) = statement_of({}), statement_of(conf(dataset__removePath__pattern="(?<remove>/data)"))
    assert plain.statement
    assert moment.statement
    before, after = plain.statement.outputs[0], moment.statement.outputs[0]
    assert after.description.dataset.name == before.description.dataset.name.replace("/data", "", 1)
    assert {one.name for one in after.lineage.inputs} == {
        one.name.replace("/data", "", 1) for one in before.lineage.inputs
    }


def test_nothing_is_emitted_for_a_denied_node() -> None:
    (moment,) = statement_of({}, by_operator=True)
    node = moment.run.job.name.split(".")[1].title().replace("_", "")
    assert not statement_of(conf(filter__deniedSparkNodes=f"[org.apache.spark.sql.{node};x]"))


def test_the_parts_of_a_job_name_follow_the_conf() -> None:
    (plain,) = statement_of({}, by_operator=True)
    application, command, dataset = plain.run.job.name.split(".")
    keys = conf(jobName__appendDatasetName="false", jobName__replaceDotWithUnderscore="true")
    assert statement_of(keys, by_operator=True)[0].run.job.name == f"{application}_{command}"
    assert dataset


def test_without_the_operator_a_job_is_named_by_its_target_whatever_is_appended() -> None:
    (plain,), (dotless,) = statement_of({}), statement_of(conf(jobName__replaceDotWithUnderscore="true"))
    assert plain.run.job.name == "shop.default.out"
    assert dotless.run.job.name == "shop_default_out"
    assert statement_of(conf(jobName__appendDatasetName="false"))[0].run.job.name == plain.run.job.name


UNUSABLE = ("-1", "nan", "inf", "9" * 5000, "4294967296", "1.5", "x", "password=hunter2", "(a+", "\0")
CHECKED = {
    **dict.fromkeys(("columnLineage__maxEdges", "columnLineage__maxDescription"), UNUSABLE),
    **dict.fromkeys(("columnLineage__datasetLineageEnabled", "disabled", "facets__sql__disabled"), UNUSABLE),
    **dict.fromkeys(("columnLineage__descriptionsEnabled", "columnLineage__explicitLineageEnabled"), UNUSABLE),
    **dict.fromkeys(("jobName__appendDatasetName", "jobName__replaceDotWithUnderscore"), UNUSABLE),
    **dict.fromkeys(("applicationRunId", "dataset__disabledTrimmers"), UNUSABLE),
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in CHECKED.items() for value in values])
def test_a_value_that_cannot_be_used_is_one_short_problem_and_its_default_is_used(key: str, value: str) -> None:
    settings = settings_from(conf(**{key: value}), {})
    (problem,) = settings.problems
    assert settings == Settings(problems=settings.problems)
    assert key.replace("__", ".") in problem
    assert len(problem) < 400
    assert "hunter2" not in problem


def test_a_namespace_that_is_no_text_is_a_problem() -> None:
    settings = settings_from({}, {}, {"namespace": ["password=hunter2"]})
    assert settings.namespace == "default"
    assert settings.problems == ("namespace in openlineage.yml: ['password=… was found where a text was expected.",)


@pytest.mark.parametrize("value", ["-1", "nan", "x", "9" * 5000])
def test_a_timeout_that_cannot_be_used_stops_at_the_transport(value: str) -> None:
    known = settings_from(conf(transport__type="http", transport__url="http://h", transport__timeoutInMillis=value), {})
    with pytest.raises(SettingError, match="its timeout is"):
        client_targets(known.transport)
