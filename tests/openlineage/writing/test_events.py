"""Moments of a run become events that the specification's schemas accept, and that say all there is to say."""

import json
import string
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import ValidationError
from openlineage.client.serde import Serde

from headwater.errors import EventError
from headwater.model import (
    IDENTITY,
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Dependency,
    Engine,
    FieldChange,
    Gap,
    InputField,
    Job,
    NameChange,
    Output,
    ReplacedRows,
    Run,
    RunMoment,
    RunState,
    SchemaField,
    Statement,
    Statistics,
    Subtype,
    Symlink,
    Transformation,
)
from headwater.openlineage.writing.events import end_event, read_event, run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings

Check = Callable[[dict[str, Any]], None]

RUN = "01890000-0000-7000-8000-00000000000%x"
ORDERS, PEOPLE, SALES = Dataset("file", "/orders"), Dataset("s3://lake", "people"), Dataset("file", "/sales")
ROOT = Run(RUN % 1, Job("airflow", "daily"))
PARENT = Run(RUN % 2, Job("jobs", "shop"), ROOT)

AMOUNT, NAME, DAY = InputField(ORDERS, "amount"), InputField(PEOPLE, "name"), InputField(ORDERS, "day")
LINEAGE = ColumnLineage(
    {
        "who": frozenset(
            {Dependency(NAME, Transformation(Subtype.TRANSFORMATION, masking=True, description="md5(name)"))}
        ),
        "total": frozenset(
            {
                Dependency(AMOUNT, Transformation(Subtype.AGGREGATION, description="sum(amount)")),
                Dependency(AMOUNT, Transformation(Subtype.CONDITIONAL)),
                Dependency(NAME, Transformation(Subtype.TRANSFORMATION, opaque=True, description="score(name)")),
            }
        ),
        "one": frozenset(),
    },
    frozenset({Dependency(DAY, Transformation(Subtype.FILTER))}),
)
STATEMENT = Statement(
    inputs=(DatasetDescription(ORDERS, (SchemaField("amount", "int"), SchemaField("day", "date")), source="file"),),
    outputs=(
        Output(
            DatasetDescription(
                SALES,
                (SchemaField("who", "string"), SchemaField("total", "bigint"), SchemaField("one", "int")),
                (Symlink(Dataset("file:/wh", "shop.sales")),),
                lifecycle="OVERWRITE",
                version="7",
            ),
            LINEAGE,
        ),
    ),
    gaps=(Gap("opaque", "score", "a Python function that cannot be seen into", "file:/sales"),),
)
MOMENT = RunMoment(
    Run(RUN % 3, Job("jobs", "shop.sales"), PARENT),
    RunState.COMPLETE,
    datetime(2026, 1, 2, 3, 4, 5, 678, UTC),
    Engine("spark", "4.1.4", "0.1.0"),
    STATEMENT,
    sql="INSERT OVERWRITE sales SELECT …",
)


def written(moment: RunMoment = MOMENT, facets: FacetSettings | None = None) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(to_json(run_event(moment, facets or FacetSettings())))
    return event


def edges(event: dict[str, Any]) -> dict[str, list[str]]:
    """The lineage of the only output, as text: column, or ``*`` for the dataset, to its edges."""
    facet = event["outputs"][0]["facets"]["columnLineage"]
    found = {name: field["inputFields"] for name, field in facet["fields"].items()} | {"*": facet.get("dataset", [])}
    return {
        name: [
            f"{one['name']}.{one['field']} {step['subtype']}"
            + " masking" * step["masking"]
            + " opaque" * step.get("opaque", False)
            for one in inputs
            for step in one["transformations"]
        ]
        for name, inputs in found.items()
    }


def test_an_event_says_who_did_what(check: Check) -> None:
    event = written()
    check(event)
    assert (event["eventType"], event["eventTime"]) == ("COMPLETE", "2026-01-02T03:04:05.000678Z")
    run, job = event["run"]["facets"], event["job"]["facets"]
    assert run["parent"]["run"]["runId"] == PARENT.id
    assert run["parent"]["root"] == {"run": {"runId": ROOT.id}, "job": {"namespace": "airflow", "name": "daily"}}
    assert run["processing_engine"]["version"] == "4.1.4"
    assert job["sql"]["query"] == MOMENT.sql
    assert (job["jobType"]["jobType"], job["jobType"]["integration"]) == ("SQL_JOB", "SPARK")
    assert [one["name"] for one in event["inputs"]] == ["/orders", "people"]
    facets = event["outputs"][0]["facets"]
    assert [field["name"] for field in facets["schema"]["fields"]] == ["who", "total", "one"]
    assert facets["symlinks"]["identifiers"] == [{"namespace": "file:/wh", "name": "shop.sales", "type": "TABLE"}]
    assert facets["lifecycleStateChange"]["lifecycleStateChange"] == "OVERWRITE"
    assert facets["version"]["datasetVersion"] == "7"


def test_column_lineage_has_every_edge_and_marks_opaque_ones() -> None:
    event = written()
    assert edges(event) == {
        "who": ["people.name TRANSFORMATION masking"],
        "total": ["/orders.amount AGGREGATION", "/orders.amount CONDITIONAL", "people.name TRANSFORMATION opaque"],
        "one": [],
        "*": ["/orders.day FILTER"],
    }
    assert event["outputs"][0]["facets"]["columnLineage"]["fields"]["total"]["inputFields"][1]["transformations"] == [
        {
            "type": "DIRECT",
            "subtype": "TRANSFORMATION",
            "masking": False,
            "opaque": True,
            "description": "opaque: score(name)",
        }
    ]


def test_descriptions_are_cut_at_their_limit() -> None:
    text = json.dumps(written(facets=FacetSettings(max_description=5)), ensure_ascii=False)
    assert '"sum(a…"' in text
    assert '"opaque: score…"' in text


def test_descriptions_can_be_switched_off() -> None:
    assert "sum(amount)" not in json.dumps(written(facets=FacetSettings(descriptions_enabled=False)))


def test_quoted_literals_are_masked_in_statements_and_descriptions() -> None:
    named = Transformation(Subtype.TRANSFORMATION, description="nullif(name, 'Jane Doe')")
    moment = replace(with_lineage(ColumnLineage({"x": frozenset([Dependency(NAME, named)])})), sql="SELECT 'Jane Doe'")
    text = json.dumps(written(moment), ensure_ascii=False)
    assert "Jane" not in text
    assert "nullif(name, '…')" in text
    assert "SELECT '…'" in text


def test_edges_that_differ_in_a_description_that_is_left_out_are_one() -> None:
    twice = {
        Dependency(NAME, Transformation(Subtype.TRANSFORMATION, description=text)) for text in ("f(name)", "g(name)")
    }
    event = written(with_lineage(ColumnLineage({"x": frozenset(twice)})), FacetSettings(descriptions_enabled=False))
    assert edges(event)["x"] == ["people.name TRANSFORMATION"]


def with_lineage(lineage: ColumnLineage) -> RunMoment:
    return replace(MOMENT, statement=Statement(outputs=(Output(DatasetDescription(SALES), lineage),)))


def test_dataset_edges_stand_on_every_field_with_the_setting() -> None:
    found = edges(written(facets=FacetSettings(dataset_lineage_enabled=False)))
    assert all("/orders.day FILTER" in found[name] for name in ("who", "total", "one"))
    assert found["*"] == []


def many(columns: int, inputs: int) -> ColumnLineage:
    """The first column is narrow, each other one comes from all the inputs."""
    wide = frozenset(Dependency(InputField(ORDERS, f"x{i}"), IDENTITY) for i in range(inputs))
    return ColumnLineage({"narrow": frozenset({Dependency(NAME, IDENTITY)})} | {f"c{i}": wide for i in range(columns)})


def gaps(event: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = event["run"]["facets"]["headwater_coverage"]["gaps"]
    return found


def test_lineage_above_a_limit_is_coarser_and_the_coverage_says_so(check: Check) -> None:
    event = written(with_lineage(many(50, 10)), FacetSettings(max_edges=60))
    check(event)
    found = edges(event)
    assert found["narrow"] == ["people.name IDENTITY"]
    assert found["*"] == [f"/orders.x{i} TRANSFORMATION opaque" for i in range(10)]
    assert sum(map(len, found.values())) <= 60
    assert len(found) == 52
    assert [(gap["kind"], gap["output"]) for gap in gaps(event)] == [("budget", "file:/sales")]


def test_only_inputs_above_the_limit_cost_an_edge_with_a_gap() -> None:
    event = written(with_lineage(many(3, 100)), FacetSettings(max_edges=60))
    assert sum(map(len, edges(event).values())) == 60
    assert "41 of 101 input columns are left out" in gaps(event)[0]["why"]


def test_edges_of_the_dataset_stay_apart_when_they_are_too_many_for_every_field() -> None:
    lineage = replace(many(10, 2), dataset=LINEAGE.dataset)
    event = written(with_lineage(lineage), FacetSettings(max_edges=25, dataset_lineage_enabled=False))
    assert edges(event)["*"] == ["/orders.day FILTER"]
    assert [gap["what"] for gap in gaps(event)] == ["dataset lineage"]


def test_coverage_counts_fields_and_lists_gaps(check: Check) -> None:
    moment = replace(MOMENT, statement=replace(STATEMENT, gaps=(Gap("error", "Foo", "it broke"), *STATEMENT.gaps)))
    event = written(moment)
    check(event)
    coverage = event["run"]["facets"]["headwater_coverage"]
    assert coverage["outputs"] == [{"namespace": "file", "name": "/sales", "fields": 3, "fieldsWithLineage": 2}]
    assert [gap["kind"] for gap in coverage["gaps"]] == ["error", "opaque"]
    assert event["run"]["facets"]["extractionError"]["errors"] == [{"errorMessage": "it broke", "task": "Foo"}]


def test_an_application_is_a_run_without_datasets(check: Check) -> None:
    event = written(RunMoment(PARENT, RunState.START, datetime(2026, 1, 1), Engine("spark", "4.1.4")))
    check(event)
    assert event["job"]["facets"]["jobType"]["jobType"] == "APPLICATION"
    assert event["inputs"] == event["outputs"] == []
    assert "headwater_coverage" not in event["run"]["facets"]


def test_a_failure_has_its_error_and_the_lineage_it_would_have_had(check: Check) -> None:
    event = written(replace(MOMENT, state=RunState.FAIL, error="[TABLE] not there", stack_trace="at org.apache.spark…"))
    check(event)
    assert event["run"]["facets"]["errorMessage"]["message"] == "[TABLE] not there"
    assert edges(event)["who"]


def test_outputs_written_twice_by_a_statement_are_one() -> None:
    other = Output(DatasetDescription(SALES), ColumnLineage({"who": frozenset({Dependency(DAY, IDENTITY)})}))
    event = written(replace(MOMENT, statement=replace(STATEMENT, outputs=(*STATEMENT.outputs, other))))
    assert len(event["outputs"]) == 1
    assert edges(event)["who"] == ["/orders.day IDENTITY", "people.name TRANSFORMATION masking"]


def test_a_rename_says_which_names_ended() -> None:
    names = (NameChange(ORDERS, SALES), NameChange(Dataset("hive", "db.orders")))
    renamed = replace(
        STATEMENT.outputs[0].description, lifecycle="RENAME", names=names, fields=(FieldChange("a", "b"),)
    )
    facets = written(replace(MOMENT, statement=Statement(outputs=(Output(renamed, LINEAGE),))))["outputs"][0]["facets"]
    assert facets["lifecycleStateChange"]["previousIdentifier"] == {"namespace": "file", "name": "/orders"}
    assert facets["headwater_names"]["names"] == [
        {"previous": {"namespace": "file", "name": "/orders"}, "current": {"namespace": "file", "name": "/sales"}},
        {"previous": {"namespace": "hive", "name": "db.orders"}},
    ]
    assert facets["headwater_names"]["fields"] == [{"previous": "a", "current": "b"}]


def test_facets_can_be_left_out() -> None:
    event = written(facets=FacetSettings(disabled=frozenset({"columnLineage", "sql", "schema", "parent"})))
    assert "sql" not in event["job"]["facets"]
    assert "parent" not in event["run"]["facets"]
    assert not {"columnLineage", "schema"} & event["outputs"][0]["facets"].keys()


def test_a_run_id_that_is_no_uuid_is_refused() -> None:
    with pytest.raises(EventError, match="'7' is no UUID"):
        run_event(replace(MOMENT, run=Run("7", Job("a", "b"))))


def test_our_json_is_the_clients() -> None:
    event = run_event(MOMENT)
    assert json.loads(to_json(event)) == Serde.to_dict(event)


def test_an_event_survives_being_written_and_read() -> None:
    line = to_json(run_event(MOMENT))
    assert to_json(read_event(line)) == line


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"run": {"runId": "x"}}', '"text"', "null"])
def test_what_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(EventError, match="Not an OpenLineage run event"):
        read_event(line)


def test_the_schemas_refuse_what_is_wrong(check: Check) -> None:
    event = written()
    del event["outputs"][0]["facets"]["columnLineage"]["fields"]["who"]["inputFields"][0]["field"]
    with pytest.raises(ValidationError):
        check(event)


texts = st.one_of(st.text(max_size=12), st.text(string.ascii_letters, min_size=1, max_size=5))
datasets = st.builds(Dataset, texts, texts)
dependencies = st.frozensets(
    st.builds(
        Dependency,
        st.builds(InputField, datasets, texts),
        st.builds(Transformation, st.sampled_from(Subtype), st.booleans(), st.booleans(), texts),
    ),
    max_size=3,
)
schemas = st.lists(st.builds(SchemaField, texts, texts), max_size=3).map(tuple)
descriptions = st.builds(
    DatasetDescription,
    datasets,
    schemas,
    st.lists(st.builds(Symlink, datasets, texts), max_size=2).map(tuple),
    st.sampled_from(["", "CREATE", "TRUNCATE", "RENAME", "NONSENSE"]),
    texts,
    texts,
    st.lists(st.builds(NameChange, datasets, st.none() | datasets), max_size=2).map(tuple),
    st.lists(st.builds(FieldChange, texts, texts), max_size=2).map(tuple),
    statistics=st.none() | st.builds(Statistics, *[st.none() | st.integers(0, 2**62)] * 3),
)
outputs = st.builds(
    Output, descriptions, st.builds(ColumnLineage, st.dictionaries(texts, dependencies, max_size=3), dependencies)
)
statements = st.builds(
    Statement,
    st.lists(descriptions, max_size=3).map(tuple),
    st.lists(outputs, max_size=3).map(tuple),
    st.lists(st.builds(Gap, texts, texts, texts, texts), max_size=3).map(tuple),
)
moments = st.builds(
    RunMoment,
    st.just(MOMENT.run),
    st.sampled_from(RunState),
    st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)),
    st.builds(Engine, texts, texts, texts),
    st.none() | statements,
    texts,
    texts,
    texts,
    texts,
)
facet_settings = st.builds(FacetSettings, st.booleans(), st.booleans(), st.integers(0, 8), st.integers(0, 8))


@settings(max_examples=60)
@given(moments, facet_settings)
def test_any_moment_gives_a_valid_event(check: Check, moment: RunMoment, facets: FacetSettings) -> None:
    event = written(moment, facets)
    check(event)
    assert event == written(moment, facets)
    listed = {(one["namespace"], one["name"]) for one in event["inputs"] + event["outputs"]}
    sources = {
        (one["namespace"], one["name"])
        for output in event["outputs"]
        for facet in [output["facets"].get("columnLineage", {"fields": {}})]
        for one in [*facet.get("dataset", []), *(x for f in facet["fields"].values() for x in f["inputFields"])]
    }
    assert sources <= listed
    assert len({(one["namespace"], one["name"]) for one in event["inputs"]}) == len(event["inputs"])


@settings(max_examples=40)
@given(moments, facet_settings)
def test_the_end_of_a_run_has_the_facets_of_its_start_and_more(moment: RunMoment, facets: FacetSettings) -> None:
    begun = run_event(replace(moment, state=RunState.START, error="", stack_trace=""), facets)
    to_json(begun)
    ended = replace(moment, time=moment.time + timedelta(seconds=1))
    assert json.loads(to_json(end_event(begun, ended, facets))) == written(ended, facets)


@given(dependencies, st.integers(1, 6))
def test_a_limit_never_drops_an_input_that_fits(inputs: frozenset[Dependency], limit: int) -> None:
    event = written(with_lineage(ColumnLineage({"a": inputs, "b": inputs})), FacetSettings(max_edges=limit))
    facet = event["outputs"][0]["facets"]["columnLineage"]
    found = [*facet.get("dataset", []), *(one for field in facet["fields"].values() for one in field["inputFields"])]
    distinct = {edge.input for edge in inputs}
    assert len({(one["namespace"], one["name"], one["field"]) for one in found}) == min(len(distinct), max(limit, 0))


def test_five_thousand_columns_are_written_fast() -> None:
    tables = [Dataset("file", f"/t{i}") for i in range(4)]
    fields = {
        f"c{i}": frozenset(Dependency(InputField(table, f"x{i}"), IDENTITY) for table in tables) for i in range(5_000)
    }
    moment = with_lineage(ColumnLineage(fields))
    started = process_time()
    line = to_json(run_event(moment))
    assert process_time() - started < 3  # about 0.4 s
    assert line.count('"field":') == 20_000


def test_the_end_of_a_run_counts_what_was_read_and_written(check: Check) -> None:
    begun = run_event(replace(MOMENT, state=RunState.START))
    read = replace(STATEMENT.inputs[0], statistics=Statistics(12, 900, 2))
    made = replace(
        STATEMENT.outputs[0], description=replace(STATEMENT.outputs[0].description, statistics=Statistics(5))
    )
    event = json.loads(to_json(end_event(begun, replace(MOMENT, statement=Statement((read,), (made,))))))
    check(event)
    facet = event["inputs"][0]["inputFacets"]["inputStatistics"]
    assert (facet["rowCount"], facet["size"], facet["fileCount"]) == (12, 900, 2)
    assert event["outputs"][0]["outputFacets"]["outputStatistics"]["rowCount"] == 5
    assert "size" not in event["outputs"][0]["outputFacets"]["outputStatistics"]


def test_what_two_writes_of_a_statement_count_is_at_the_end_as_at_the_start() -> None:
    empty = Output(DatasetDescription(SALES), ColumnLineage())
    counted = Output(DatasetDescription(SALES, statistics=Statistics(5)), ColumnLineage())
    moment = replace(MOMENT, statement=Statement((), (counted, empty)))
    begun = run_event(replace(moment, state=RunState.START))
    assert json.loads(to_json(end_event(begun, moment))) == written(moment)


NESTED = {
    "struct<city:string,at:struct<x:double,y:decimal(10,2)>>": {
        "city": "string",
        "at": {"x": "double", "y": "decimal(10,2)"},
    },
    "array<struct<sku:string>>": {"_element": {"sku": "string"}},
    "map<string,array<int>>": {"key": "string", "value": {"_element": "int"}},
    "struct<a:array<map<string,struct<b:int>>>,c:date>": {
        "a": {"_element": {"key": "string", "value": {"b": "int"}}},
        "c": "date",
    },
}


@pytest.mark.parametrize("kind", NESTED)
def test_the_schema_has_the_fields_within_a_column(check: Check, kind: str) -> None:
    seen = DatasetDescription(ORDERS, (SchemaField("whole", kind), SchemaField("plain", "interval day to second")))
    event = written(replace(MOMENT, statement=Statement((seen,))))
    check(event)
    whole, plain = event["inputs"][0]["facets"]["schema"]["fields"]
    assert (whole["type"], tree(whole["fields"])) == (kind, NESTED[kind])
    assert "fields" not in plain


def tree(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["name"]: tree(one["fields"]) if "fields" in one else one["type"] for one in fields}


@pytest.mark.parametrize(
    "kind", ["struct<", "struct<>", "array<a,b>", "map<int>", "struct<a b>", "array<" * 200 + ">" * 200]
)
def test_a_type_that_cannot_be_read_has_no_fields_or_some(check: Check, kind: str) -> None:
    check(written(replace(MOMENT, statement=Statement((DatasetDescription(ORDERS, (SchemaField("a", kind),)),)))))


@pytest.mark.parametrize("replaces", ReplacedRows)
def test_an_output_says_which_rows_the_run_replaced(check: Check, replaces: ReplacedRows) -> None:
    written = DatasetDescription(SALES, replaces=replaces)
    begun = run_event(replace(MOMENT, statement=Statement(outputs=(Output(written, ColumnLineage()),))))
    counted = Output(replace(written, version="8", statistics=Statistics(5)), ColumnLineage())
    ended = end_event(begun, replace(MOMENT, state=RunState.COMPLETE, statement=Statement(outputs=(counted,))))
    for event in (begun, ended):
        found = json.loads(to_json(event))
        check(found)
        assert found["outputs"][0]["outputFacets"]["headwater_write"]["replaces"] == replaces.value


@pytest.mark.parametrize(("version", "expected"), [("3", {"version": "3"}), ("", {}), (None, None)])
def test_an_output_says_which_version_the_run_restored(check: Check, version: str | None, expected: object) -> None:
    output = Output(DatasetDescription(SALES, replaces=ReplacedRows.SOME), ColumnLineage(), restores=version)
    begun = run_event(replace(MOMENT, statement=Statement(outputs=(output,))))
    after = replace(output, description=replace(output.description, version="8"))
    ended = end_event(begun, replace(MOMENT, state=RunState.COMPLETE, statement=Statement(outputs=(after,))))
    for event in (begun, ended):
        found = json.loads(to_json(event))
        check(found)
        assert found["outputs"][0]["outputFacets"]["headwater_write"].get("restores") == expected


def test_a_run_that_adds_rows_brings_along_what_its_job_wrote_before(check: Check) -> None:
    written = DatasetDescription(SALES, replaces=ReplacedRows.SOME)
    own, before = (
        ColumnLineage({"net": frozenset({Dependency(InputField(ORDERS, name), Transformation(Subtype.IDENTITY))})})
        for name in ("price", "cost")
    )
    begun = run_event(replace(MOMENT, statement=Statement(outputs=(Output(written, own),))))
    statement = Statement(outputs=(Output(written, own, earlier=before),))
    ended = replace(MOMENT, state=RunState.COMPLETE, statement=statement)
    for event in (end_event(begun, ended), run_event(ended)):
        found = json.loads(to_json(event))
        check(found)
        (output,) = found["outputs"]
        earlier = output["outputFacets"]["headwater_write"]["earlier"]
        fields = [
            one["fields"]["net"]["inputFields"][0]["field"] for one in (output["facets"]["columnLineage"], earlier)
        ]
        assert fields == ["price", "cost"]


def test_an_output_that_one_part_of_a_statement_replaces_is_replaced() -> None:
    parts = [Output(DatasetDescription(SALES, replaces=one), ColumnLineage()) for one in ReplacedRows]
    for outputs in (parts, parts[::-1]):
        event = run_event(replace(MOMENT, statement=Statement(outputs=tuple(outputs))))
        (output,) = json.loads(to_json(event))["outputs"]
        assert output["outputFacets"]["headwater_write"]["replaces"] == "ALL_ROWS"


def test_a_run_about_one_partition_says_which() -> None:
    emptied = DatasetDescription(SALES, lifecycle="TRUNCATE", partition=(("day", "2026-01-01"),))
    moment = replace(MOMENT, statement=Statement(outputs=(Output(emptied, ColumnLineage()),)))
    (found,) = json.loads(to_json(end_event(run_event(moment), moment)))["outputs"]
    condition = found["outputFacets"]["subset"]["outputCondition"]
    assert condition == {"type": "partition", "partitions": [{"dimensions": {"day": "2026-01-01"}}]}
    left_out = run_event(moment, FacetSettings(disabled=frozenset({"subset"})))
    assert "outputFacets" not in json.loads(to_json(left_out))["outputs"][0]
