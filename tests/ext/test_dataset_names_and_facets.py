"""Names and facets that extensions give to datasets, and masking functions."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.ext.extensions import edges, extended, extension, plan_of, running

from headwater.ext import Dataset, DatasetDescription, Facet, Subtype, Symlink, Transformation
from headwater.ext.additions import finished, finished_lineage
from headwater.ext.renaming import datasets_of, renamed
from headwater.extract import ExtractSettings, column_lineage
from headwater.model import ColumnLineage, Dependency, InputField, NameChange, Output, Statement
from headwater.openlineage.writing.events import each_dataset_once

SAME = Transformation(Subtype.IDENTITY)


def in_the_lake(dataset: Dataset) -> Dataset:
    return Dataset("lake", dataset.name.rpartition("/")[2])


def twice(dataset: Dataset) -> Dataset:
    return Dataset(dataset.namespace, dataset.name * 2)


def test_a_rule_names_inputs_outputs_and_edges_alike() -> None:
    found = extended(plan_of("udf", "python"), extension(naming_rules=(in_the_lake,)))
    assert {seen.dataset for seen in found.inputs} == {Dataset("lake", "customers")}
    (output,) = found.outputs
    assert output.description.dataset == Dataset("lake", "out")
    assert output.lineage.inputs == {Dataset("lake", "customers")}


def test_rules_follow_each_other_in_the_order_of_the_extensions() -> None:
    first, then = extension("a", naming_rules=(in_the_lake, twice)), extension("b", naming_rules=(twice,))
    found = extended(plan_of("udf", "python"), first, then)
    assert found.outputs[0].description.dataset == Dataset("lake", "outoutoutout")


def test_symlinks_and_former_names_are_named_by_the_rule_too() -> None:
    seen = DatasetDescription(
        Dataset("file", "/t"),
        symlinks=(Symlink(Dataset("hive", "db/s")), Symlink(Dataset("hive", "db/t"))),
        names=(NameChange(Dataset("hive", "db/old"), Dataset("hive", "db/new")),),
    )
    found = finished(Statement((seen,)), running(extension(naming_rules=(in_the_lake,)))).inputs[0]
    assert found == DatasetDescription(
        Dataset("lake", "t"),
        symlinks=(Symlink(Dataset("lake", "s")),),
        names=(NameChange(Dataset("lake", "old"), Dataset("lake", "new")),),
    )


def test_a_data_frame_that_is_not_written_has_the_names_too() -> None:
    plan = plan_of("udf", "python")
    query = replace(plan, nodes=plan.nodes[:-1])
    settings = ExtractSettings(extensions=running(extension(naming_rules=(in_the_lake,))))
    assert column_lineage(query, settings)[0].inputs == {Dataset("lake", "customers")}
    assert finished_lineage(ColumnLineage(), running()) == ColumnLineage()


names = st.sampled_from("abcdef").map(lambda name: Dataset("n", name))
dependencies = st.frozensets(st.builds(Dependency, st.builds(InputField, names, st.sampled_from("xy")), st.just(SAME)))
lineages = st.builds(ColumnLineage, st.dictionaries(st.sampled_from("uvw"), dependencies), dependencies)
outputs = st.builds(Output, st.builds(DatasetDescription, names), lineages)
statements = st.builds(
    Statement,
    st.lists(st.builds(DatasetDescription, names), max_size=3).map(tuple),
    st.lists(outputs, max_size=2).map(tuple),
)


@given(statements, st.permutations("abcdef"))
def test_a_rule_that_only_exchanges_names_changes_nothing_else(found: Statement, order: list[str]) -> None:
    there = {Dataset("n", a): Dataset("n", b) for a, b in zip("abcdef", order, strict=True)}
    back = {new: former for former, new in there.items()}
    assert renamed(renamed(found, there), back) == found
    assert set(datasets_of(renamed(found, there))) == {there[one] for one in datasets_of(found)}


@given(statements, st.dictionaries(names, names))
def test_no_edge_is_lost_when_names_are_made_one(found: Statement, rule: Mapping[Dataset, Dataset]) -> None:
    after = renamed(found, rule)
    for before, output in zip(found.outputs, after.outputs, strict=True):
        wanted = {(rule.get(e.input.dataset, e.input.dataset), e.input.name) for _, e in before.lineage.edges}
        assert {(e.input.dataset, e.input.name) for _, e in output.lineage.edges} == wanted
    assert {one.dataset for one in each_dataset_once(after).inputs} <= set(datasets_of(after))


def of_owner(dataset: DatasetDescription) -> dict[str, dict[str, Any]]:
    return {"shop_owner": {"team": "sales", "of": dataset.dataset.name}} if dataset.schema else {}


def test_facets_of_datasets_are_added_to_inputs_and_outputs() -> None:
    found = extended(plan_of("udf", "python"), extension(naming_rules=(in_the_lake,), dataset_facets=(of_owner,)))
    described = (*found.inputs, *(output.description for output in found.outputs))
    assert [one.facets for one in described] == [
        (Facet("shop_owner", json.dumps({"of": name, "team": "sales"})),) for name in ("customers", "out")
    ]


def test_a_function_that_hides_values_is_masking_in_any_case() -> None:
    found = extended(plan_of("udf", "python"), extension(masking_functions=("Both",)))
    assert edges(found.outputs[0])["v"] == {"name TRANSFORMATION masking", "country TRANSFORMATION masking"}
