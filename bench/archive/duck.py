"""The folding of an archive in DuckDB's SQL: one process, the rules of `headwater.archive.fold`.

It supports only what the synthetic archives have: each dataset is renamed once at most, lineage has one form
of the facet, no stream has lineage while it runs, and equal lineage is equal text. So it has less to do than headwater.
Written are ``events``, ``runs``, ``column_edges`` and ``dataset_edges``; the other tables of an archive are not made.
"""

import re
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

from headwater.model.time import FOREVER

MEMORY = "4GB"
_STEPS = Path(__file__).with_name("folding.sql")


def build(source: Path, into: Path, cores: int, progress: Callable[[str], None]) -> None:
    """Make the tables as Parquet files; ``progress`` is called with the name of each step that is done."""
    into.mkdir(parents=True, exist_ok=True)
    text = Template(_STEPS.read_text()).substitute(source=source, into=into, forever=FOREVER)
    with connected(cores) as connection:
        connection.execute(f"SET temp_directory = '{into}/spill'")
        for name, step in re.findall(r"^-- (\w+)\n(.*?)(?=^-- |\Z)", text, re.MULTILINE | re.DOTALL):
            connection.execute(step)
            progress(name)


def connected(cores: int) -> Any:
    """A connection of so many threads."""
    import duckdb

    connection = duckdb.connect()
    settings = {"threads": cores, "memory_limit": MEMORY, "preserve_insertion_order": False, "TimeZone": "UTC"}
    connection.execute("SET enable_progress_bar = false")
    for key, value in settings.items():
        connection.execute(f"SET {key} = '{value}'")
    return connection
