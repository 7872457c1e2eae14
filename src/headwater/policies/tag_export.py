"""Tags exported from catalogs as CSV, as a file of tags."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from headwater.errors import PolicyError
from headwater.policies.tag_file import VERSION, TagName
from headwater.yaml_map import nearest


@dataclass(frozen=True, slots=True)
class Layout:
    """The headings by which a catalog exports tags: parts of a dataset's name, its column, the tag and the value."""

    dataset: tuple[str, ...]
    column: str
    tag: str
    value: str = ""


LAYOUTS: Mapping[str, Layout] = {
    "headwater": Layout(("dataset",), "column", "tag", "value"),
    # information_schema.column_tags and table_tags of Unity Catalog
    "unity": Layout(("catalog_name", "schema_name", "table_name"), "column_name", "tag_name", "tag_value"),
    # LF-tags of Lake Formation, which the tables of Glue have
    "glue": Layout(("databasename", "tablename"), "columnname", "tagkey", "tagvalues"),
    # the file of DataHub's source csv-enricher
    "datahub": Layout(("resource",), "subresource", "tags"),
}
"""The layouts by name; headings are compared without case."""

_URN = re.compile(r"urn:li:dataset:\(urn:li:dataPlatform:[^,]+,(?P<name>[^,]+),[^)]*\)")
_TAG_URN = "urn:li:tag:"

Exported = tuple[str, str, TagName]
"""A dataset, a column of it or nothing, and the tag."""


def exported_tags(text: str, file: str) -> list[Exported]:
    """Return the tags of an export.

    Args:
        text: the CSV, with headings of one of `LAYOUTS`.
        file: its name, for messages.

    Raises:
        PolicyError: the headings are of no known layout, or a line has no dataset or no tag.
    """
    lines = csv.DictReader(io.StringIO(text))
    headings = {name.strip().casefold(): name for name in lines.fieldnames or ()}
    layout = next((one for one in LAYOUTS.values() if {*one.dataset, one.column, one.tag} <= headings.keys()), None)
    if layout is None:
        first = next(iter(headings), "")
        known = sorted({heading for one in LAYOUTS.values() for heading in (*one.dataset, one.column, one.tag)})
        raise PolicyError(f"{file}:1:1: headings of no known export ({first!r} first). {nearest(first, known)}")
    return [one for row in lines for one in _tags(row, layout, headings, f"{file}:{lines.line_num}:1")]


def _tags(row: Mapping[str, str], layout: Layout, headings: Mapping[str, str], place: str) -> Iterator[Exported]:
    def cell(name: str) -> str:
        return (row.get(headings.get(name, "")) or "").strip()

    dataset = ".".join(cell(name) for name in layout.dataset)
    urn = _URN.fullmatch(dataset)
    tags = [one for one in re.split(r"[|,]", cell(layout.tag).strip("[]")) if one.strip()]
    if not dataset.strip(".") or not tags:
        if layout.value:
            raise PolicyError(f"{place}: the line names no dataset or no tag. Complete or remove it.")
        return  # DataHub's file also has lines of owners and descriptions alone
    for tag in tags:
        yield (
            urn["name"] if urn else dataset,
            cell(layout.column),
            TagName(tag.strip().removeprefix(_TAG_URN), cell(layout.value)),
        )


def tag_file_text(exported: list[Exported]) -> str:
    """Return the YAML of a file of tags that puts these."""
    tags: dict[str, dict[str, list[str]]] = {}
    for dataset, column, tag in exported:
        own = tags.setdefault(str(tag), {})
        own.setdefault("columns" if column else "datasets", []).append(f"{dataset}.{column}" if column else dataset)
    document = {
        "version": int(VERSION),
        "tags": {tag: {kind: sorted(set(names)) for kind, names in own.items()} for tag, own in sorted(tags.items())},
    }
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return text
