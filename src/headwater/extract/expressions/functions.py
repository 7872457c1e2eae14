"""Functions in general: every argument is a TRANSFORMATION; some functions hide the value."""

from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import CONDITION, NOTHING, OPAQUE, TRANSFORMED, Paths, Trace, flat, step, union
from headwater.model import Subtype, Transformation
from headwater.plan import Expression, Node

_MASKED = Transformation(Subtype.TRANSFORMATION, masking=True)

MASKING = (
    "CollationAwareMurmur3Hash",
    "CollationAwareXxHash64",
    "Count",
    "CountIf",
    "Crc32",
    "HiveHash",
    "HyperLogLogPlusPlus",
    "Mask",
    "Md5",
    "Murmur3Hash",
    "Sha1",
    "Sha2",
    "XxHash64",
)
"""The classes behind crc32, hash, md5, mask, sha, sha1, sha2, xxhash64, count, count_if, approx_count_distinct."""


def function(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """Any function or operator without a rule of its own, user-defined ones included."""
    arguments = union(map(flat, children))
    return step(_MASKED if _is_masking(node, scope) else TRANSFORMED, arguments) if arguments else arguments


def masking(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A function that hides the value of its arguments."""
    return step(_MASKED, union(map(flat, children)))


def counted(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``count(x)``, which hides the values of x but not those of the column of a PIVOT."""
    arguments = union(map(flat, children))
    if not scope.picks_labels:
        return step(_MASKED, arguments)
    shown = arguments & union(_pivoted(child, scope) for child in node.children)
    return union((step(_MASKED, arguments - shown), shown))


def _pivoted(argument: Node, scope: Scope) -> Paths:
    """How the columns of a PIVOT take part in ``IF(column <=> 'label', x, NULL)`` (`operators.pivots`)."""
    column = argument.children[0].children[0]
    columns = [one.values.get("id", -1) for one in (column, *column.children)]
    return step(CONDITION, step(TRANSFORMED, union(flat(scope.columns.get(one, NOTHING)) for one in columns)))


def _is_masking(node: Expression, scope: Scope) -> bool:
    known = scope.extraction.settings.masking_functions
    if not known:
        return False
    names = (node.name, node.text("function"), node.text("name"), node.text("udfName"))
    return any(name.lower() in known for name in names if name)


def unreadable(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A text that could not be parsed (`headwater.plan.text`): every column in it counts.

    The gap names the columns and not the text, which may have secret literals: only those in quotes can be masked.
    """
    names = ", ".join(dict.fromkeys(str(one.values["name"]) for one in node.children if "name" in one.values))
    what = node.text("text") or f"an expression of {names or 'no column'}"
    scope.extraction.report("expression", what, "its text could not be read: every column in it counts")
    return step(OPAQUE, union(map(flat, children)))


def of_type(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``typeof(x)``, ``collation(x)``: a constant, known before any value is."""
    return NOTHING


EXPRESSIONS: Visitors = {
    **dict.fromkeys(MASKING, masking),
    **dict.fromkeys(("Count", "CountIf", "HyperLogLogPlusPlus"), counted),
    **dict.fromkeys(("Collation", "TypeOf"), of_type),
    "Unreadable": unreadable,
}
