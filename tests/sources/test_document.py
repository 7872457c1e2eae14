"""docs/datasets.md says what the code does: its tables are run."""

import re
from pathlib import Path

import pytest

from headwater.model import Dataset
from headwater.openlineage.naming.locations import jdbc_dataset, path_dataset
from headwater.openlineage.naming.trimming import RULES, Trimming, trim
from headwater.openlineage.settings import settings_from

DOCUMENT = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text()


def rows(heading: str) -> list[list[list[str]]]:
    """The rows of the first table below a heading, each cell as the code in it."""
    section = DOCUMENT.split(f"{heading}\n", 1)[1].split("\n#", 1)[0]
    first = re.search(r"(?m)(?:^\|.*\|\n?)+", section)
    assert first, f"there is no table below {heading}"
    lines = re.findall(r"(?m)^\|(.*)\|$", first[0])[2:]
    table = lines[: next((place for place, line in enumerate(lines) if line.startswith(" key ")), len(lines))]
    return [[re.findall(r"`([^`]+)`", cell) for cell in line.split(" | ")] for line in table]


@pytest.mark.parametrize("row", rows("## Files"), ids=str)
def test_paths_are_named_as_the_document_says(row: list[list[str]]) -> None:
    assert path_dataset(row[0][0]) == Dataset(row[1][0], row[2][0])


@pytest.mark.parametrize("row", rows("### Partitions, dates and globs"), ids=str)
def test_every_rule_takes_off_what_the_document_says(row: list[list[str]]) -> None:
    rule, example = row[0][0], row[2]
    only = Trimming(frozenset(RULES) - {rule})
    for path in example:
        dataset = Dataset("file", path.replace("….", "12345678."))
        assert trim(dataset, only).name != dataset.name
        assert trim(dataset, Trimming()).name == "/data/t"


def test_the_document_lists_every_rule() -> None:
    assert {row[0][0] for row in rows("### Partitions, dates and globs")} == set(RULES)


@pytest.mark.parametrize("row", rows("## Tables behind JDBC"), ids=str)
def test_tables_are_named_as_the_document_says(row: list[list[str]]) -> None:
    assert jdbc_dataset(row[0][0], row[1][0]) == Dataset(*row[2])


def test_every_setting_of_the_document_is_known() -> None:
    keys = re.findall(r"`(spark\.openlineage\.[\w.]+)`", DOCUMENT)
    assert keys
    assert settings_from(dict.fromkeys(keys, ""), {}).problems == ()
