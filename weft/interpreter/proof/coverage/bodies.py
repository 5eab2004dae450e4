"""The bodies of structured ops: what is inside, and what their masks are."""

from __future__ import annotations

from ...ir.mlir import ir, made_by, ops_of, users


def conjuncts(condition: ir.Value) -> list[ir.Value]:
    """What a condition asks for, all of it."""
    made = made_by(condition, "arith.andi")
    return [condition] if made is None else [part for operand in made.operands for part in conjuncts(operand)]


def inside(block: ir.Block, name: str) -> list[ir.Operation]:
    """The ops of a name in a body, in program order."""
    found: list[ir.Operation] = []
    for op in ops_of(block):
        found += [op] if op.name == name else []
        found += [inner for region in op.regions for nested in region.blocks for inner in inside(nested, name)]
    return found


def choice_of(value: ir.Value) -> tuple[ir.Operation, int, ir.Attribute | None] | None:
    """The choice, a `select` or a branch, that takes a value or what is made of it alone; which arm the value is of;
    and the constant that the other one is, if it is one."""
    while len(asked := users(value)) == 1:
        (user,) = asked
        if user.name == "arith.select" and value in list(user.operands)[1:]:
            arm = list(user.operands)[1:].index(value)
            other = made_by(user.operands[2 - arm], "arith.constant")
            return None if other is None else (user, arm, other.attributes["value"])
        if user.name == "scf.yield" and user.parent.operation.name == "scf.if":
            choice, number = user.parent.operation, list(user.operands).index(value)
            blocks = [region.blocks[0] for region in choice.regions if len(region.blocks)]
            arm = blocks.index(user.block)
            ends = ops_of(blocks[1 - arm])[-1] if len(blocks) == 2 else None
            other = None if ends is None else made_by(ends.operands[number], "arith.constant")
            return choice, arm, None if other is None else other.attributes["value"]
        if len(user.results) != 1 or len(user.regions):
            break
        value = user.results[0]
    return None
