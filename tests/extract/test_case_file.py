"""The format of the cases: read, written, and compared."""

import pytest
from tests.extract.case_file import cases, difference, parse
from tests.extract.edge_text import CaseError, Edge, Edges, edges_of, last_component, quoted, read, render, unquoted

from headwater.model import ColumnLineage, Dataset, Dependency, Gap, InputField, Subtype, Transformation

TEXT = """\
# title: a little of everything
# spark: 4.0+
# conf: spark.sql.ansi.enabled=true
# conf: spark.sql.caseSensitive=false
CREATE TABLE t AS SELECT 1;
CREATE TABLE out AS SELECT 2
---
id      <- IDENTITY customers.id
`a <- b` <- AGGREGATION! orders.`c, d`, TRANSFORMATION!? `my dir`.note
none <-
* <- FILTER orders.status
* <- JOIN customers.id
gap: opaque tidy
"""


def depends(dataset: str, field: str, subtype: Subtype, masking: bool = False, opaque: bool = False) -> Dependency:
    return Dependency(InputField(Dataset("file", dataset), field), Transformation(subtype, masking, opaque, "text"))


def test_a_case_has_headers_statements_and_lineage() -> None:
    case = parse(TEXT, "family", "name")
    assert (str(case), case.title) == ("family/name", "a little of everything")
    assert case.conf == (("spark.sql.ansi.enabled", "true"), ("spark.sql.caseSensitive", "false"))
    assert case.statements == ("CREATE TABLE t AS SELECT 1", "CREATE TABLE out AS SELECT 2")
    assert (case.output, case.frame, case.python, case.ordered) == ("out", "", False, True)


def test_a_case_says_from_which_version_it_holds() -> None:
    versions = ("3.5.9", "4.0.0", "4.1.4", "5.0.0")
    assert tuple(filter(parse(TEXT).is_for, versions)) == versions[1:]


def test_a_python_case_may_look_at_a_frame() -> None:
    headers = "# title: t\n# language: python\n# lineage: df\n# order: any\n"
    case = parse(f"{headers}df = spark.range(1)\n# a comment\n---\nid <-\n")
    assert (case.python, case.frame, case.ordered) == (True, "df", False)
    assert case.code == "df = spark.range(1)\n# a comment"


def test_edges_are_read_with_their_marks_and_quoted_names() -> None:
    edges = parse(TEXT).expected
    masked = Edge("AGGREGATION", "orders", "c, d", masking=True)
    both = Edge("TRANSFORMATION", "my dir", "note", masking=True, opaque=True)
    assert dict(edges.columns) == {"id": {Edge("IDENTITY", "customers", "id")}, "a <- b": {masked, both}, "none": set()}
    assert edges.dataset == {Edge("FILTER", "orders", "status"), Edge("JOIN", "customers", "id")}
    assert edges.gaps == {("opaque", "tidy")}


def test_what_is_rendered_is_read_back() -> None:
    edges = parse(TEXT).expected
    assert read(render(edges)) == edges
    assert render(read(render(edges))) == render(edges)


def test_the_text_is_aligned_and_sorted() -> None:
    edges = read("b <- WINDOW t.x, TRANSFORMATION t.z, TRANSFORMATION t.y\nlong <- IDENTITY t.a\n")
    assert render(edges) == "b    <- TRANSFORMATION t.y, TRANSFORMATION t.z, WINDOW t.x\nlong <- IDENTITY t.a\n"


@pytest.mark.parametrize("name", ["a", "größe", "_c0", "a b", "c.d", "e`f", "*", "a <- b", "`"])
def test_every_name_survives_quoting(name: str) -> None:
    assert unquoted(quoted(name)) == name
    assert read(render(Edges(((name, frozenset({Edge("IDENTITY", "t", name)})),)))).columns[0][0] == name


@pytest.mark.parametrize(
    ("name", "last"),
    [("/w/orders", "orders"), ("/w/shop.db/orders/", "orders"), ("cat.db.orders", "orders"), ("orders", "orders")],
)
def test_a_dataset_goes_by_the_last_component_of_its_name(name: str, last: str) -> None:
    assert last_component(name) == last


def test_a_lineage_becomes_text() -> None:
    lineage = ColumnLineage(
        {"n": frozenset({depends("/w/orders", "note", Subtype.AGGREGATION, masking=True)}), "m": frozenset()},
        frozenset({depends("/w/orders", "a b", Subtype.FILTER, opaque=True)}),
    )
    text = render(edges_of(lineage, [Gap("operator", "Foo", "why")]))
    assert text == "n <- AGGREGATION! orders.note\nm <-\n* <- FILTER? orders.`a b`\ngap: operator Foo\n"


def test_a_difference_is_shown_line_by_line() -> None:
    case = parse("# title: t\nSELECT\n---\na <- IDENTITY t.x\nb <-\n")
    lineage = ColumnLineage({"a": frozenset({depends("db.t", "y", Subtype.IDENTITY)}), "b": frozenset()})
    assert difference(case, lineage).splitlines()[-2:] == ["-a <- IDENTITY t.x", "+a <- IDENTITY t.y"]


def test_equal_lineages_have_no_difference() -> None:
    case = parse("# title: t\nSELECT\n---\na <- SORT t.y, IDENTITY t.x\n* <- FILTER t.y\ngap: opaque f\n")
    edges = frozenset({depends("db.t", "x", Subtype.IDENTITY), depends("db.t", "y", Subtype.SORT)})
    lineage = ColumnLineage({"a": edges}, frozenset({depends("db.t", "y", Subtype.FILTER)}))
    assert difference(case, lineage, [Gap("opaque", "f", "")]) == ""
    assert "-gap: opaque f" in difference(case, lineage)


@pytest.mark.parametrize(("header", "equal"), [("", False), ("# order: any\n", True)])
def test_the_order_of_columns_counts_by_default(header: str, equal: bool) -> None:
    case = parse(f"# title: t\n{header}SELECT\n---\na <-\nb <-\n")
    assert (difference(case, ColumnLineage({"b": frozenset(), "a": frozenset()})) == "") is equal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# title: t\nSELECT 1\n", "no line `---`"),
        ("SELECT 1\n---\na <-\n", "needs `# title"),
        ("# title: t\n---\na <-\n", "needs `# title"),
        ("# titel: t\nSELECT 1\n---\na <-\n", "`titel` is unknown"),
        ("# title: t\n# title: u\nSELECT 1\n---\na <-\n", "`title` is unknown or repeated"),
        ("# title: t\n# spark: newest\nSELECT 1\n---\na <-\n", "like 4.0\\+"),
        ("# title: t\nSELECT 1\n---\na = IDENTITY t.x\n", "Cannot read 'a = IDENTITY t.x'"),
        ("# title: t\nSELECT 1\n---\na <- IDENTICAL t.x\n", "after one of IDENTITY"),
        ("# title: t\nSELECT 1\n---\na <- IDENTITY t\n", "Cannot read 'IDENTITY t'"),
        ("# title: t\nSELECT 1\n---\na <- IDENTITY t.x IDENTITY t.y\n", "Cannot read"),
        ("# title: t\nSELECT 1\n---\na <- IDENTITY t.x,\n", "Cannot read"),
        ("# title: t\nSELECT 1\n---\na <-\na <- IDENTITY t.x\n", "a has two lines"),
    ],
)
def test_a_faulty_case_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        parse(text)


def test_every_case_file_can_be_read() -> None:
    found = cases()
    assert len(found) >= 300
    assert [case for case in found if not case.expected.columns] == []
    assert len({case.title for case in found}) > 0.9 * len(found)
