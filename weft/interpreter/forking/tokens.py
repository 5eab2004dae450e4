"""Device ops, rebuilt with a token operand and a token result; loops and branches that carry a
token.

A loop carries one token: the operations of an iteration wait for the previous iteration, and users
of the loop for its result. Both arms of a branch start from one token and yield one.
"""

from __future__ import annotations

from ..ir.mlir import attributes, children, ir, operations
from ..memory.effects import is_memref
from ..memory.views import terminator
from ..proof.hosts.effects import DEVICE, Effects
from ..proof.hosts.events import TOKEN, is_token

BOUNDS = {"scf.for": 3, "scf.if": 1}
"""The number of operands that are not carried values."""
ASYNCHRONOUS = ("gpu.launch_func", "gpu.alloc", "gpu.memcpy", "gpu.memset", "gpu.dealloc", "memref.copy")
HOST_ALLOCATIONS = ("memref.alloc", "memref.alloca")


def token_type() -> ir.Type:
    """The type `!gpu.async.token`."""
    return ir.Type.parse(TOKEN)


def may_be_async(op: ir.Operation) -> bool:
    """Whether a device executes it asynchronously to the host. Memory that host and device share is
    allocated by the host."""
    return op.name in ASYNCHRONOUS and "hostShared" not in op.attributes


def made_async(op: ir.Operation, dependency: ir.Value) -> ir.Operation:
    """A copy of `op`, placed before it, that waits for `dependency`, and has its token as its last
    result. The other results replace those of `op`. A `memref.copy` becomes a `gpu.memcpy`."""
    given = attributes(op)
    operands = [v for v in op.operands if not is_token(v)]
    name = op.name
    if name == "memref.copy":
        name, operands = "gpu.memcpy", operands[::-1]
    elif "operandSegmentSizes" in given:  # tokens come first
        sizes = list(ir.DenseI32ArrayAttr(given["operandSegmentSizes"]))
        given["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, *sizes[1:]])
    kept = [r for r in op.results if not is_token(r)]
    made = ir.Operation.create(
        name,
        results=[*(r.type for r in kept), token_type()],
        operands=[dependency, *operands],
        attributes=given,
        loc=op.location,
    )
    for old, new in zip(kept, made.results, strict=False):
        old.replace_all_uses_with(new)
    return made


def may_carry(op: ir.Operation, effects: Effects) -> bool:
    """Whether `op` is a loop or a branch in which the host needs no result of the device.

    Memory that it allocates stays inside, and is not freed there by the host, which would have to
    wait for its users.
    """
    if op.name not in BOUNDS or any(is_memref(r) for r in op.results):
        return False
    inner = children(op)
    return all(_needs_nothing(each, effects) for each in inner) and any(launches(each) for each in inner)


def _needs_nothing(op: ir.Operation, effects: Effects) -> bool:
    if may_be_async(op) or op.name == "gpu.wait" or op.name in HOST_ALLOCATIONS:
        return True
    if op.name in BOUNDS and launches(op):
        return may_carry(op, effects)
    return not effects.of(op)


def launches(op: ir.Operation) -> bool:
    """Whether `op` contains any device operation."""
    if not len(op.regions):
        return op.name in DEVICE or may_be_async(op)
    return any(map(launches, children(op)))


def carrying(op: ir.Operation, token: ir.Value | None) -> ir.Operation:
    """A copy of a loop or branch before it, with its blocks; it takes `token` and returns one, or
    no token at all.

    Its yields are still those of `op`: `yielding` completes them.
    """
    bounds = BOUNDS[op.name]
    given = list(op.operands)[bounds:]
    kept = [i for i, result in enumerate(op.results) if not is_token(result)]
    inits = [given[i] for i in kept] if given else []
    carried = [token] if token is not None and op.name == "scf.for" else []
    made = ir.Operation.create(
        op.name,
        results=[*(op.results[i].type for i in kept), *([] if token is None else [token_type()])],
        operands=[*list(op.operands)[:bounds], *inits, *carried],
        attributes=attributes(op),
        regions=len(op.regions),
        loc=op.location,
    )
    for old, new in zip(op.regions, made.regions, strict=True):
        while len(old.blocks):
            old.blocks[0].append_to(new)
        if op.name == "scf.for":
            block = new.blocks[0]
            for i in reversed(range(1, len(block.arguments))):
                if is_token(block.arguments[i]):
                    block.erase_argument(i)
            if token is not None:
                block.add_argument(token_type(), op.location)
        elif token is not None and not len(new.blocks):
            with ir.InsertionPoint(ir.Block.create_at_start(new, [])):
                ir.Operation.create("scf.yield", loc=op.location)
    for i, result in zip(kept, made.results, strict=False):
        op.results[i].replace_all_uses_with(result)
    return made


def yielding(last: ir.Operation, token: ir.Value | None) -> None:
    """Replaces the terminator `last` of a block by one that also yields `token`."""
    values = [v for v in last.operands if not is_token(v)]
    with ir.InsertionPoint(last):
        ir.Operation.create("scf.yield", operands=[*values, *([] if token is None else [token])], loc=last.location)
    last.erase()


def strip(function: ir.Operation) -> ir.Operation | None:
    """Removes the tokens of all loops and branches. If there are any, operations depend on a new
    root instead, which is returned."""
    found = [op for op in operations(function, *BOUNDS) if any(is_token(r) for r in op.results)]
    if not found:
        return None
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
        root = ir.Operation.create("gpu.wait", results=[token_type()])
    for op in reversed(found):  # innermost first
        arguments = [a for r in op.regions for b in r.blocks for a in b.arguments]
        for value in (*arguments, *op.results):
            if is_token(value):
                value.replace_all_uses_with(root.results[0])
        with ir.InsertionPoint(op):
            made = carrying(op, None)
        for region in made.regions:
            for block in region.blocks:
                yielding(terminator(block), None)
        op.erase()
    return root
