"""What a launch leaves in the buffers of the host, for later launches: stated on the launch, an entry for each buffer.

parts A of matmul in (p, i, j)                      element (p, i, j) is a part of the result's element (i, j)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cmp_to_key

from ....dsl.records import record
from ...indices.linear import Floor, Linear, Symbol
from ...ir.cloning import LEAVES
from ...ir.functions import arguments
from ...ir.mlir import ancestors, ir
from .payloads import Key


@record
class Left:
    """What lies in a buffer after a launch.

    Args:
        key: the tensor of the payload that its elements are of, or that they are parts of (`parts`); None of a constant.
        at: the element of that, by coordinates of the buffer; None where the launch does not change the buffer.
        parts: they are parts of sums.
        constant: all that it holds.
        each: how many iterations each part has, one after the other; 0 where that is not known.
    """

    key: Key | None
    at: ir.AffineMap | None
    parts: bool = False
    constant: ir.Attribute | None = None
    each: int = 0

    def text(self) -> str:
        """For the attribute."""
        at, constant = (None if each is None else str(each) for each in (self.at, self.constant))
        return json.dumps([self.key, at, self.parts, constant, self.each])

    @classmethod
    def read(cls, text: str) -> Left:
        """Of the attribute."""
        key, at, parts, constant, each = json.loads(text)
        made = None if at is None else ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{at}>")).value
        held = None if constant is None else ir.Attribute.parse(constant)
        return cls(None if key is None else tuple(key), made, parts, held, each)


def as_map(forms: Sequence[Linear], cells: Sequence[Symbol]) -> ir.AffineMap:
    """Forms of coordinates as a map of these."""

    def expression(form: Linear) -> ir.AffineExpr:
        out = ir.AffineExpr.get_constant(form.constant)
        for term, factor in form.terms.items():
            if isinstance(term, Floor):
                out = out + ir.AffineExpr.get_floor_div(expression(term.numerator), term.divisor) * factor
            else:
                out = out + ir.AffineExpr.get_dim(cells.index(term)) * factor
        return out

    return ir.AffineMap.get(len(cells), 0, [expression(form) for form in forms])


def state(launch: ir.Operation, left: dict[ir.Value, Left | None]) -> None:
    """State on a launch what it leaves in the buffers that are passed to it."""
    texts = [json.dumps(None if (found := left.get(value)) is None else found.text()) for value in arguments(launch)]
    launch.attributes[LEAVES] = ir.StringAttr.get("[" + ", ".join(texts) + "]", launch.context)


def found_in(value: ir.Value, root: ir.Operation) -> Left | None:
    """What launches before a loop have left in a buffer of the host; None where that is not known.

    Args:
        value: the buffer.
        root: the loop that is to be launched, in a function's own block.
    """
    block, before = root.block, list[ir.Operation]()
    if block.owner.operation.name != "func.func":
        return None
    for use in value.uses:
        user = next((op for op in (use.owner.operation, *ancestors(use.owner)) if op.block == block), None)
        if user is None:
            return None
        if user != root and user.is_before_in_block(root):
            before.append(user)
    if any(LEAVES not in op.attributes for op in before):
        return None
    for launch in sorted(
        before, key=cmp_to_key(lambda one, other: -1 if one.is_before_in_block(other) else 1), reverse=True
    ):
        text = json.loads(ir.StringAttr(launch.attributes[LEAVES]).value)[arguments(launch).index(value)]
        left = None if text is None else Left.read(text)
        if left is None or left.at is not None or left.constant is not None:
            return left
    return None
