"""Tags on columns: put by hand, by a file that is the source of truth, and from exports of catalogs."""

import json
from pathlib import Path

import pytest
from tests.policies.conftest import Run
from tests.store.conftest import run_event, written

from headwater.errors import PolicyError
from headwater.policies.assignments import add_tag, apply_file, tagged_names
from headwater.policies.tag_export import exported_tags, tag_file_text
from headwater.policies.tag_file import read_tag_file, tag_name
from headwater.store import Store

FILE = """\
version: 1
tags:
  pii.email:
    columns: [warehouse.customers.email, "landing.*.mail"]
  sensitivity=low:
    columns: ["reports.*"]
  sensitivity=high:
    columns: [reports.daily.who]
  retention=30d:
    datasets: [lake/contacts]
order:
  sensitivity: [high, low]
"""


def listed(store: Store) -> dict[str, str]:
    return {f"{one.on} {one.tag.tag}": one.tag.value or one.source for one in tagged_names(store)}


def tag_file(folder: Path, text: str) -> Path:
    path = folder / "tags.yml"
    path.write_text(text)
    return path


def test_a_tag_is_put_listed_and_removed(headwater: Run) -> None:
    assert headwater("tag", "add", "warehouse.customers.email", "pii.email").output == (
        "pii.email on file:/lake/customers.email\n"
    )
    assert headwater("tag", "add", "lake/contacts", "retention=30d").exit_code == 0
    found = json.loads(headwater("tag", "list", "--format", "json").output)
    assert [(one.get("field"), one["tag"], one["value"], one["source"]) for one in found] == [
        (None, "retention", "30d", "API"),
        ("email", "pii.email", "", "API"),
    ]
    assert "pii.email" not in headwater("tag", "list", "ret*").output
    assert headwater("tag", "remove", "customers.email", "PII.email").exit_code == 0
    again = headwater("tag", "remove", "customers.email", "pii.email")
    assert (again.exit_code, "nothing was removed" in again.output) == (1, True)


def test_a_tag_of_an_unknown_column_is_refused_with_near_names(headwater: Run) -> None:
    refused = headwater("tag", "add", "customers.emial", "pii.email")
    assert (refused.exit_code, "customers.email" in refused.output) == (1, True)
    assert headwater("tag", "add", "customers.email", "=high").exit_code == 2


def test_a_file_puts_its_tags_and_takes_back_its_own_alone(store: Store, tmp_path: Path) -> None:
    add_tag(store, "customers.city", tag_name("pii.place"))
    done = apply_file(store, read_tag_file(tag_file(tmp_path, FILE)))
    assert (done.added, done.removed, done.unmatched) == (5, 0, ())
    assert listed(store) == {
        "file:/lake/customers.city pii.place": "API",
        "file:/lake/customers.email pii.email": "FILE",
        "file:/landing/people.mail pii.email": "FILE",
        "file:/reports/daily.domain sensitivity": "low",
        "file:/reports/daily.who sensitivity": "high",  # the stricter of two values, by the declared order
        "file:/lake/contacts retention": "30d",
    }
    less = FILE.replace('warehouse.customers.email, "landing.*.mail"', "warehouse.customers.email")
    done = apply_file(store, read_tag_file(tag_file(tmp_path, less)))
    assert (done.added, done.removed, done.unchanged) == (0, 1, 4)
    assert "file:/landing/people.mail pii.email" not in listed(store)
    assert "file:/lake/customers.city pii.place" in listed(store)


def test_a_dry_run_changes_nothing(store: Store, headwater: Run, tmp_path: Path) -> None:
    done = headwater("tag", "apply", tag_file(tmp_path, FILE), "--dry-run")
    assert done.output == "5 would be added, 0 would be removed, 0 unchanged\n"
    assert listed(store) == {}


def test_tags_of_a_file_stay_when_a_producer_sends_tags(store: Store, tmp_path: Path) -> None:
    apply_file(store, read_tag_file(tag_file(tmp_path, FILE)))
    output = written("lake/customers", {"email": ["landing/people.mail"]}, ["warehouse.customers"])
    output["facets"]["tags"] = {"tags": [{"key": "gold", "value": "yes", "source": "dbt"}]}
    store.ingest([run_event("load", output, minute=5)])
    assert listed(store)["file:/lake/customers.email pii.email"] == "FILE"
    assert listed(store)["file:/lake/customers gold"] == "yes"


def test_tags_of_a_file_stay_when_a_dataset_gets_another_name(store: Store, tmp_path: Path) -> None:
    apply_file(store, read_tag_file(tag_file(tmp_path, FILE)))
    store.ingest(
        [run_event("load", written("lake/people", {"email": ["landing/people.mail"]}, ["warehouse.customers"]))]
    )
    assert list(listed(store).values()).count("FILE") == 2


def test_a_selector_that_fits_nothing_is_named_with_its_line(headwater: Run, tmp_path: Path) -> None:
    path = tag_file(tmp_path, FILE.replace("customers.email", "customers.e_mail"))
    done = headwater("tag", "apply", path)
    assert done.exit_code == 1
    why = "'warehouse.customers.e_mail' fits nothing in the store: pii.email is not put there."
    assert f"{path}:4:15: {why} Did you mean 'warehouse.customers.email'?" in done.output


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("columns: [ware", "colums: [ware", "tags.yml:4:5: unknown key 'colums'. Did you mean 'columns'?"),
        ("version: 1", "version: 3", "tags.yml:1:10: the version is '3': this headwater reads version 1."),
        ("version: 1\n", "", "tags.yml:1:1: the key 'version' lacks here. Add it."),
        ("  sensitivity=low:", "  pii.email:", "tags.yml:5:3: 'pii.email' is there twice."),
        ("columns: [reports.daily.who]", "columns: {a: b}",
         "tags.yml:8:14: expected a text as an item of 'columns', found keys"),
        ('"landing', "'landing", "tags.yml:13:1: no YAML:"),
        ("  pii.email:\n    columns: [", "  pii.email: &a\n    columns: [*a, ", "found keys and values."),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_named_with_line_column_and_nearest_word(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    assert before in FILE
    with pytest.raises(PolicyError) as refused:
        read_tag_file(tag_file(tmp_path, FILE.replace(before, after, 1)), "tags.yml")
    assert message in str(refused.value)


BREAKER = "breakers:\n  - {job: clean, reason: reviewed, owner: dpo@example.org, expires: 2027-01-31}\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("reason: reviewed, ", "", "the key 'reason' lacks here"),
        ("reviewed", "''", "'reason' is empty"),
        ("2027-01-31", "next year", "'expires' is 'next year': expected a date such as 2027-01-31."),
        ("job: clean", "job: clean, column: a.b", "exactly one of job, function and column, found 2"),
        ("job: clean, ", "", "exactly one of job, function and column, found 0"),
    ],
)
def test_a_breaker_without_reason_owner_and_expiry_is_refused(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    assert read_tag_file(tag_file(tmp_path, FILE + BREAKER)).breakers[0].owner == "dpo@example.org"
    with pytest.raises(PolicyError) as refused:
        read_tag_file(tag_file(tmp_path, FILE + BREAKER.replace(before, after)))
    assert message in str(refused.value)


EXPORTS = {
    "unity": "catalog_name,schema_name,table_name,column_name,tag_name,tag_value\nmain,crm,people,mail,pii.email,\n",
    "glue": "DatabaseName,TableName,ColumnName,TagKey,TagValues\ncrm,people,mail,pii.email,\n",
    "datahub": "resource,subresource,tags,owners\n"
    '"urn:li:dataset:(urn:li:dataPlatform:hive,crm.people,PROD)",mail,[urn:li:tag:pii.email|urn:li:tag:core],\n'
    '"urn:li:dataset:(urn:li:dataPlatform:hive,crm.people,PROD)",,,urn:li:corpuser:ann\n',
    "headwater": "dataset,column,tag,value\ncrm.people,mail,pii.email,\ncrm.people,,retention,30d\n",
}


@pytest.mark.parametrize("catalog", EXPORTS)
def test_an_export_of_a_catalog_becomes_a_file_of_tags(catalog: str, tmp_path: Path, headwater: Run) -> None:
    path = tmp_path / "export.csv"
    path.write_text(EXPORTS[catalog])
    printed = headwater("tag", "import", path)
    assert printed.exit_code == 0
    file = read_tag_file(tag_file(tmp_path, printed.output))
    found = {str(tag.name): [word.text for word in (*tag.columns, *tag.datasets)] for tag in file.tags}
    dataset = "main.crm.people" if catalog == "unity" else "crm.people"
    assert found["pii.email"] == [f"{dataset}.mail"]
    assert set(found) - {"pii.email"} == {"datahub": {"core"}, "headwater": {"retention=30d"}}.get(catalog, set())


def test_an_export_that_nobody_knows_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"x.csv:1:1: headings of no known export"):
        exported_tags("dataset,colum,tag\na,b,c\n", "x.csv")
    with pytest.raises(PolicyError, match=r"x.csv:2:1: the line names no dataset or no tag"):
        exported_tags("dataset,column,tag,value\na,b,,\n", "x.csv")
    assert read_back(tag_file_text(exported_tags("dataset,column,tag,value\na,b,t,\n", "x.csv"))) == ["t"]


def read_back(text: str) -> list[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return [str(tag.name) for tag in read_tag_file(tag_file(Path(folder), text)).tags]


def test_a_circle_of_masked_tags_is_refused(tmp_path: Path) -> None:
    text = "version: 1\ntags:\n  a: {masked_as: b}\n  b: {masked_as: a}\n"
    with pytest.raises(PolicyError, match=r"tags.yml:3:3: 'masked_as' leads back to 'a' \(a -> b -> a\)"):
        read_tag_file(tag_file(tmp_path, text), "tags.yml")
