"""Every operator, and every expression that is no plain function, is accounted for on every version of Spark."""

from collections.abc import Sequence

import pytest
from tests.contract.contract import DISPATCH, TABLE, VERSIONS, in_plans, notes, present, state, table
from tests.contract.document import DOCUMENT, document
from tests.contract.jars import KINDS, below, classes, installed, names, read_class, written

every_kind = pytest.mark.parametrize("kind", KINDS)


def unknown(kind: str, found: Sequence[str]) -> list[str]:
    return [name for name in found if state(kind, name) is None]


@every_kind
@pytest.mark.parametrize("version", VERSIONS)
def test_every_class_of_a_version_is_accounted_for(version: str, kind: str) -> None:
    assert unknown(kind, written(version)[kind]) == [], f"give them a rule in extract, or a line in {TABLE.name}"


def test_the_installed_spark_has_the_classes_that_were_written_down() -> None:
    version, folder = installed()
    minor = ".".join(version.split(".")[:2])
    assert minor in VERSIONS, "a new Spark: `make classes`, then account for what is new"
    for kind, found in names(folder).items():
        assert unknown(kind, found) == [], f"give them a rule in extract, or a line in {TABLE.name}"
        assert list(found) == list(written(minor)[kind]), "`make classes` writes them anew"


@every_kind
def test_no_class_has_both_a_rule_and_a_line(kind: str) -> None:
    twice = sorted(table(kind).keys() & DISPATCH[kind].keys())
    assert twice == [], f"they have a rule now: take them out of {TABLE.name}, then `make coverage`"


@every_kind
def test_no_line_is_about_a_class_that_no_spark_has(kind: str) -> None:
    assert sorted(table(kind).keys() - present(kind).keys()) == []


def test_no_rule_is_about_an_operator_that_nobody_has() -> None:
    """Classes outside of ``org.apache.spark`` have names with dots, and are their connectors' own business."""
    ours = {name for name in DISPATCH["operators"] if "." not in name}
    assert sorted(ours - present("operators").keys()) == sorted(notes("others"))


def test_every_operator_with_a_rule_occurs_in_a_test() -> None:
    handled = {name for name in DISPATCH["operators"] if "." not in name}
    unmet = sorted(handled - in_plans().keys())
    assert unmet == sorted(notes("shown")), "a case shows it: take it out; none does: add one, or say what else does"


def test_the_document_is_what_the_tables_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "`make coverage` writes it anew"


def test_class_files_are_read_as_the_virtual_machine_reads_them() -> None:
    """Known relations of Spark's: a class, its traits, an abstract class, and what is below it."""
    _, folder = installed()
    known = classes(folder)
    logical = "org/apache/spark/sql/catalyst/plans/logical/"
    assert known[f"{logical}UnaryNode"].abstract
    assert f"{logical}Project" in below([f"{logical}LogicalPlan"], known)
    assert known[f"{logical}LogicalPlan"].abstract
    assert f"{logical}Project" in below([f"{logical}UnaryNode"], known)


def test_what_is_no_class_file_is_refused() -> None:
    with pytest.raises(ValueError, match="0xCAFEBABE"):
        read_class(b"PK\x03\x04 and so on")
