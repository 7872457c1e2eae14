"""Lineage of the Fourier transform of Tempo (``dbl-tempo``): an extension of headwater.

``TSDF.fourier_transform`` hands each series to a function in pandas, into which headwater cannot see. It hands on the
columns that it gets, of which the last two, the value and the time, are copies for its own use, and adds three.
"""

from collections.abc import Sequence

from headwater.ext import ExpressionDependency, Extension, Operator, OperatorVisitor, Subtype, Transformation

LAST = ["tdval", "tpoints", "freq", "ft_real", "ft_imag"]
OVER_SERIES = Transformation(Subtype.AGGREGATION)
WINDOW = Transformation(Subtype.WINDOW)


class FourierTransform(OperatorVisitor):
    """Each of the added columns is one of a series, in the order of time: as over a window, no row comes or goes."""

    classes = ("FlatMapGroupsInPandas",)

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency] | None:
        function = node.expression("functionExpr")
        if function is None or function.text("name") != "tempo_fourier_util":
            return None
        received, output = function.children, node.expressions("output")
        handed_on, added = output[:-3], output[-3:]
        if [column.label for column in output[-5:]] != LAST or len(handed_on) != len(received):
            return None  # a Tempo that this was not written for
        value, time = received[-2:]
        window = (*node.expressions("groupingAttributes"), time)
        return [
            *(ExpressionDependency(new.expr_id, (old,)) for new, old in zip(handed_on, received, strict=True)),
            *(ExpressionDependency(column.expr_id, window, WINDOW) for column in added),
            *(ExpressionDependency(column.expr_id, (value,), OVER_SERIES) for column in added[1:]),
        ]


tempo = Extension("tempo", "0.1.0", api=1, operators=(FourierTransform(),))
