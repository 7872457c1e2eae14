"""A job keeps the configuration that it has for the OpenLineage Spark integration."""

import pytest

from headwater.model import Job, Run
from headwater.openlineage.facets import FacetSettings
from headwater.openlineage.settings import Settings, settings_from
from headwater.openlineage.trimming import Trimming

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
def test_what_cannot_be_used_is_told_and_its_default_taken(
    spark_conf: dict[str, str], environment: dict[str, str], message: str
) -> None:
    settings = settings_from(spark_conf, environment)
    assert len(settings.problems) == 1
    assert message in settings.problems[0]
    assert settings == Settings(problems=settings.problems)


def test_keys_of_the_spark_integration_that_mean_nothing_here_are_no_problem() -> None:
    keys = conf(filter__allowedSparkNodes="[x]", circuitBreaker__type="static", job__owners__team="t", debugFacet="x")
    assert settings_from(keys, {}).problems == ()
