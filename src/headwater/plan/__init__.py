"""Spark plans as values: the seam between a running Spark and the lineage."""

from headwater.plan.decode import decode, decode_document
from headwater.plan.tojson import Facts, LeafKey, decode_tojson
from headwater.plan.tree import Column, Expression, Node, Operator, Plan

__all__ = [
    "Column",
    "Expression",
    "Facts",
    "LeafKey",
    "Node",
    "Operator",
    "Plan",
    "decode",
    "decode_document",
    "decode_tojson",
]
