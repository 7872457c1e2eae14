"""Reports of a check: a table for people, JSON, SARIF, JUnit, and annotations of GitHub."""

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

import orjson
from junitparser import Failure, JUnitXml, Skipped, TestCase, TestSuite

from headwater.answers.labels import readable
from headwater.policies.check import CheckResult
from headwater.policies.findings import Finding
from headwater.policies.policy_file import Rule, Severity

Report = Callable[[CheckResult], str]

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def summary(checked: CheckResult) -> str:
    """Return the numbers of findings as one line."""
    counted = [one for one in checked.findings if not one.accepted]
    numbers = [(severity.value, sum(one.rule.severity is severity for one in counted)) for severity in Severity]
    shown = ", ".join(f"{number} {name}{'s' if number != 1 else ''}" for name, number in numbers if number)
    accepted = len(checked.findings) - len(counted)
    rules = len(checked.policy.rules)
    found = f"{rules} rule{'s' if rules != 1 else ''}: {shown or 'nothing found'}"
    return f"{found}; {accepted} accepted" if accepted else found


def table(checked: CheckResult) -> str:
    """Return each finding with its path below it; those that are accepted come last, on one line each."""
    return "\n".join([line for one in checked.findings for line in _lines(one)] + [summary(checked)])


def _lines(finding: Finding) -> Iterator[str]:
    owners = f"  (owners: {', '.join(finding.owners)})" if finding.owners else ""
    if finding.accepted:
        yield readable(f"accepted  {finding.rule.name}  {finding.subject}: {finding.accepted}")
        return
    place = f"  ({finding.place})" if finding.word is not None else ""
    subject = f"{readable(finding.subject)}: {_message(finding)}"
    yield f"{finding.rule.severity.value:8}  {finding.rule.name}  {subject}{owners}{place}"
    yield from (f"            {line}" for line in finding.path)


def _message(finding: Finding) -> str:
    return f"{finding.rule.message}: {finding.message}" if finding.rule.message else finding.message


def as_json(checked: CheckResult) -> str:
    """Return the findings as a document."""
    document = {
        "failed": checked.failed,
        "rules": len(checked.policy.rules),
        "findings": [
            {
                "rule": one.rule.name,
                "severity": one.rule.severity.value,
                "policy": {
                    "file": one.place.file,
                    "line": one.place.line,
                    "column": one.place.column,
                },
                "on": one.subject,
                "about": one.about,
                "message": _message(one),
                "path": list(one.path),
                "owners": list(one.owners),
                "accepted": one.accepted,
                "fingerprint": one.fingerprint,
            }
            for one in checked.findings
        ],
        "notes": list(checked.notes),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def sarif(checked: CheckResult) -> str:
    """Return the findings as SARIF 2.1.0, each at the line of its rule, with the path as a code flow."""
    driver = {
        "name": "headwater",
        "version": version("headwater"),
        "rules": [
            {
                "id": rule.name,
                "shortDescription": {"text": rule.message or f"{rule.kind} {rule.name}"},
                "defaultConfiguration": {"level": rule.severity.value},
            }
            for rule in checked.policy.rules
        ],
    }
    numbers = {rule.name: number for number, rule in enumerate(checked.policy.rules)}
    results = [_sarif_result(one, numbers[one.rule.name]) for one in checked.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    document = {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _sarif_result(finding: Finding, number: int) -> dict[str, Any]:
    place = _sarif_place(finding) | {"logicalLocations": [{"fullyQualifiedName": finding.subject}]}
    result: dict[str, Any] = {
        "ruleId": finding.rule.name,
        "ruleIndex": number,
        "level": finding.rule.severity.value,
        "message": {"text": f"{finding.subject}: {_message(finding)}"},
        "locations": [place],
        "partialFingerprints": {"headwater/v1": finding.fingerprint},
    }
    if finding.path:
        steps = [{"location": _sarif_place(finding) | {"message": {"text": line}}} for line in finding.path]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.accepted:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": finding.accepted}]
    return result


def _sarif_place(finding: Finding) -> dict[str, Any]:
    region = {"startLine": finding.place.line, "startColumn": finding.place.column}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(finding.place.file)}, "region": region}}


def junit(checked: CheckResult) -> str:
    """Return a test case for each rule, and one for each of its findings: failed, or skipped where it is accepted."""
    suite = TestSuite("headwater check")
    for rule in checked.policy.rules:
        own = [one for one in checked.findings if one.rule == rule]
        suite.add_testcases([_junit_case(rule, one) for one in own] or [TestCase(rule.name, rule.kind)])
    document = JUnitXml("headwater")
    document.add_testsuite(suite)
    return str(document.tostring().decode())


def _junit_case(rule: Rule, finding: Finding) -> TestCase:
    case = TestCase(finding.subject, rule.name)
    text = "\n".join((_message(finding), *finding.path))
    if finding.accepted:
        case.result = [Skipped(finding.accepted)]
    elif rule.severity is Severity.ERROR:
        case.result = [Failure(text, str(finding.place))]
    else:
        case.system_out = f"{rule.severity.value}: {text}"
    return case


def github(checked: CheckResult) -> str:
    """Return the findings as workflow commands of GitHub Actions, which show them at the line of the policy."""
    commands = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
    lines = []
    for one in checked.findings:
        if not one.accepted:
            place = one.place
            title = _property(one.rule.name)
            where = f"file={_property(place.file)},line={place.line},col={place.column},title={title}"
            text = _data("\n".join((f"{one.subject}: {_message(one)}", *one.path)))
            lines.append(f"::{commands[one.rule.severity]} {where}::{text}")
    return "\n".join([*lines, summary(checked)])


def _data(text: str) -> str:
    """Return a text as the data of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return a text as a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")


REPORTS: Mapping[str, Report] = {"table": table, "json": as_json, "sarif": sarif, "junit": junit, "github": github}
"""The forms of a report, by name."""
