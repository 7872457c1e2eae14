"""Functions in general: every argument is a TRANSFORMATION; some functions hide the value."""

from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import OPAQUE, TRANSFORMED, Trace, flat, step, union
from headwater.model import Subtype, Transformation
from headwater.plan import Expression

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


def _is_masking(node: Expression, scope: Scope) -> bool:
    known = scope.extraction.settings.masking_functions
    if not known:
        return False
    names = (node.name, node.text("function"), node.text("name"), node.text("udfName"))
    return any(name.lower() in known for name in names if name)


def unreadable(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A text that could not be followed (`headwater.plan.text`): every column in it counts."""
    scope.extraction.report("expression", node.text("text"), "its text could not be read: every column in it counts")
    return step(OPAQUE, union(map(flat, children)))


EXPRESSIONS: Visitors = {**dict.fromkeys(MASKING, masking), "Unreadable": unreadable}
