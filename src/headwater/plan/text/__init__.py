"""Plans from the text that ``EXPLAIN EXTENDED`` prints: all that a client of Spark Connect can get of them."""

from headwater.plan.text.bodies import Body, body_of, calls_in
from headwater.plan.text.commands import COMMANDS, V2_COMMANDS, updated_values
from headwater.plan.text.lines import analyzed_plan, result_columns, schema_types
from headwater.plan.text.reading import decode_text
from headwater.plan.text.relations import TextFacts, tables_of
from headwater.plan.text.tokens import session_variable

__all__ = [
    "COMMANDS",
    "V2_COMMANDS",
    "Body",
    "TextFacts",
    "analyzed_plan",
    "body_of",
    "calls_in",
    "decode_text",
    "result_columns",
    "schema_types",
    "session_variable",
    "tables_of",
    "updated_values",
]
