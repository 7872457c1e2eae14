"""Columns that a Delta table works out itself, from the text of an UPDATE of one of its columns by itself.

The server does not describe them; the plan of an UPDATE has the value of every column of the table.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headwater.extract import column_lineage
from headwater.plan.text import TextFacts, analyzed_plan, decode_text, updated_values

_MAY_GENERATE = re.compile(r"delta\.feature\.generatedColumns=supported|delta\.minWriterVersion=[456]\b")


def may_generate(properties: str) -> bool:
    """Whether the text of a table's properties says that its columns may be generated."""
    return _MAY_GENERATE.search(properties) is not None


def generated_columns(
    name: str, types: Mapping[str, str], explained: Callable[[str], str]
) -> Mapping[str, list[Mapping[str, Any]]]:
    """The inputs of each generated column of a table: columns of the same row, and how.

    An UPDATE hides how the column that it sets is generated: two are explained, so that each is seen in one of them.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for column in tuple(types)[:2]:
        text = analyzed_plan(explained(f"UPDATE {name} SET `{column}` = `{column}`"))
        values, columns = updated_values(text)
        for made, value in values.items():
            if not re.fullmatch(rf"{re.escape(made)}#\d+L?", value):
                found[made] = list(_origins(made, value, columns, types))
    return found


def _origins(name: str, value: str, columns: str, types: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    text = f"Project [{value} AS {name}#0]\n+- Relation row[{columns}]"
    lineage, _ = column_lineage(decode_text(text, TextFacts({"row": {"types": types}})))
    for edge in lineage.fields[name]:
        how = edge.transformation
        yield {
            "column": edge.input.name,
            "subtype": how.subtype.value,
            "masking": how.masking,
            "opaque": how.opaque,
        }
