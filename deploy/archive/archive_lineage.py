"""An extension that describes how ``headwater archive`` reads events: an example for functions of one's own.

Spark's plan shows that a Python function makes all of its columns of all others, and nothing of what it does. Whoever
wrote the function knows: an event is made of its line alone, and empty lines are left out. With this, no edge in the
lineage of a build is opaque:

    export PYTHONPATH=deploy/archive HEADWATER_EXTENSIONS=archive_lineage:archive
    headwater run deploy/archive/archive_job.py build events --into tables
"""

from collections.abc import Sequence

from headwater.archive.events.parser import READER
from headwater.archive.events.schema import LINE
from headwater.ext import (
    EVERY_ROW,
    Expression,
    ExpressionDependency,
    Extension,
    Operator,
    OperatorVisitor,
    Subtype,
    Transformation,
)

_READ, _LEFT_OUT = Transformation(Subtype.TRANSFORMATION), Transformation(Subtype.FILTER)
_OF_LINE = "value"


class EventReader(OperatorVisitor):
    """Columns of `headwater.archive.events.schema.PARSED`, made of those of `headwater.archive.events.schema.LINE`."""

    classes = ("MapInArrow", "PythonMapInArrow")

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency] | None:
        """``event`` depends on the line, ``rejected`` also on where it is; None for other functions."""
        function = node.expression("functionExpr")
        if function is None or function.text("name") != READER:
            return None
        received = dict(zip(LINE.names, _expressions(function), strict=True))
        of = {"event": (received[_OF_LINE],), "rejected": tuple(received.values())}
        columns = (ExpressionDependency(one.expr_id, of[one.label], _READ) for one in node.expressions("output"))
        return (*columns, ExpressionDependency(EVERY_ROW, of["event"], _LEFT_OUT))


def _expressions(function: Expression) -> Sequence[Expression]:
    return [one for one in function.children if isinstance(one, Expression)]


archive = Extension("headwater-archive", "1.0", api=1, operators=(EventReader(),))
