"""The SQL that JDBC hands to a database: which columns its columns are made of."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.extract.queries import QueryLineage, is_query, query_lineage
from headwater.extract.trace import Paths
from headwater.model import InputField

CASES = re.split(r"(?m)^(?=# title: )", Path(__file__).with_name("queries.case").read_text())[1:]
POSTGRES = "jdbc:postgresql://h/db"


def header(case: str, name: str) -> str:
    found = re.search(rf"(?m)^# {name}: (.*)$", case)
    assert found, f"the case has no line '# {name}: …'"
    return found[1]


def edges(paths: Paths) -> str:
    found = ((origin, how) for origin, how in paths if isinstance(origin, InputField))
    return ", ".join(
        sorted(
            f"{how.subtype.value}{'!' * how.masking}{'?' * how.opaque} {origin.dataset.name}.{origin.name}"
            for origin, how in found
        )
    )


def text(found: QueryLineage, names: list[str]) -> str:
    lines = [f"  {name} <- {edges(paths)}" for name, paths in zip(names, found.columns, strict=True)]
    lines += [f"  * <- {edges(found.deciding)}"] if found.deciding else []
    lines.append(f"tables: {', '.join(table.name for table in found.tables)}")
    lines += [f"problem: {problem}" for problem in found.problems]
    return "\n".join(line.rstrip() for line in lines)


@pytest.mark.parametrize("case", CASES, ids=lambda case: header(case, "title"))
def test_columns_of_a_query_come_from_columns_of_tables(case: str) -> None:
    above, _, below = case.partition("\n---\n")
    names = header(case, "columns").split()
    query = re.sub(r"(?m)^# .*\n?", "", above)
    assert text(query_lineage(header(case, "url"), query, names), names) == below.rstrip()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("orders", False),
        ('sales."Order lines (old)"', False),
        ("[My Table]", False),
        ("`a b`.`c`", False),
        ("(SELECT 1) t", True),
        ("orders o", True),
        ("f(1)", True),
    ],
)
def test_a_name_is_distinguished_from_a_query(table: str, *, expected: bool) -> None:
    assert is_query(table) is expected


def test_what_stands_before_the_query_is_part_of_it() -> None:
    found = query_lineage(POSTGRES, "(SELECT * FROM w) q", ["a"], prefix="WITH w AS (SELECT b AS a FROM t)")
    assert edges(found.columns[0]) == "IDENTITY db.public.t.b"


def test_functions_that_the_user_names_hide_values() -> None:
    found = query_lineage(POSTGRES, "(SELECT scramble(a) AS a FROM t) q", ["a"], masking=frozenset({"scramble"}))
    assert edges(found.columns[0]) == "TRANSFORMATION! db.public.t.a"


@given(st.text(alphabet="SELECTFROMselectfrom ()*,.'\"`[]ab1=;-/%\n", max_size=60), st.integers(0, 4))
def test_any_text_gives_a_trace_for_every_column_and_never_an_error(text: str, columns: int) -> None:
    found = query_lineage(POSTGRES, text, [f"c{place}" for place in range(columns)])
    assert len(found.columns) == columns


def test_an_unpivot_of_hundreds_of_columns_is_read_once() -> None:
    listed = ", ".join(f"c{number}" for number in range(800))
    query = f"(SELECT v FROM (SELECT r, {listed} FROM a) s UNPIVOT (v FOR c IN ({listed})) u) t"
    began = time.process_time()
    found = query_lineage("jdbc:sqlserver://h;databaseName=db", query, ["v"])
    assert time.process_time() - began < 30  # where it is read for each column: minutes
    assert (found.problems, len(found.columns[0]), len(found.tables)) == ((), 800, 1)
