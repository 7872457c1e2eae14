"""The parts of a job, with their lines, without Spark."""

import json
from pathlib import Path

import pytest

from headwater.dryrun.sources import REFUSE, parts, statements
from headwater.errors import SettingError

DATABRICKS = """\
# Databricks notebook source
# MAGIC %md
# MAGIC Totals; of each day

# COMMAND ----------

rows = spark.table("orders")
# COMMAND ----------
# MAGIC %sql
# MAGIC CREATE TABLE a AS SELECT 1;
# MAGIC DROP TABLE a
"""


class Session:
    """Records what ``spark.sql`` is called with."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def sql(self, text: str) -> None:
        self.texts.append(text)

    def table(self, name: str) -> str:
        return name


def test_statements_end_at_semicolons_outside_of_texts_and_comments() -> None:
    text = (
        "-- first; not a statement\nSELECT ';' AS a; /* ; */\n\nINSERT INTO t\nSELECT 1;;\nSELECT `b;c` FROM t -- end\n"
    )
    assert list(statements(text)) == [
        (2, "SELECT ';' AS a"),
        (4, "INSERT INTO t\nSELECT 1"),
        (6, "SELECT `b;c` FROM t"),
    ]


def test_a_script_is_one_statement() -> None:
    text = "BEGIN\n  DECLARE a INT;\n  INSERT INTO t SELECT a;\nEND;\n"
    assert list(statements(text)) == [(1, "BEGIN\n  DECLARE a INT;\n  INSERT INTO t SELECT a;\nEND")]


def test_an_sql_file_calls_the_session_on_the_line_of_each_statement(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1;\n\nSELECT\n  2\n")
    (part,) = parts(tmp_path / "a.sql")
    session = Session()
    exec(part.code(), {"spark": session})
    assert session.texts == ["SELECT 1", "SELECT\n  2"]
    assert {line for _, _, line in part.code().co_lines() if line} == {1, 3}


def test_a_folder_has_its_sql_files_by_name(tmp_path: Path) -> None:
    for name in ("b.sql", "a/z.sql", "a/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("SELECT 1")
    assert [one.name for one in parts(tmp_path)] == [f"{tmp_path}/a/z.sql", f"{tmp_path}/b.sql"]


def test_cells_of_a_notebook_keep_their_numbers_and_lines(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ["%pip install x\n", "rows = 1\n"]},
        {"cell_type": "code", "source": "%%sql\nSELECT 1;\nSELECT 2"},
    ]
    (tmp_path / "n.ipynb").write_text(json.dumps({"cells": cells}))
    python, sql = parts(tmp_path / "n.ipynb")
    assert (python.name, sql.name) == (f"{tmp_path}/n.ipynb#2", f"{tmp_path}/n.ipynb#3")
    session, refused = Session(), []
    for one in (python, sql):
        exec(one.code(), {"spark": session, REFUSE: refused.append})
    assert (session.texts, refused) == (["SELECT 1", "SELECT 2"], ["%pip install x"])
    assert {line for _, _, line in sql.code().co_lines() if line} == {2, 3}


def test_a_notebook_of_databricks_is_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "d.py").write_text(DATABRICKS)
    session = Session()
    for one in parts(tmp_path / "d.py"):
        exec(one.code(), {"spark": session})
    assert session.texts == ["CREATE TABLE a AS SELECT 1", "DROP TABLE a"]


@pytest.mark.parametrize(("name", "text"), [("job.txt", "x"), ("n.ipynb", "{}"), ("n.ipynb", "no"), ("empty/x", "")])
def test_what_is_no_job_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    with pytest.raises(SettingError):
        parts(tmp_path / name if "/" not in name else tmp_path / "empty")
