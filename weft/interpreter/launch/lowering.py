"""The last lowering of a materialized kernel, to the normal form that the runtime reads: no linalg
ops, views folded, shared buffers as attributions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...dsl.diagnostics import fail
from ..buffers.views import fold_constant_offsets, fold_transposes, keep_reshapes, sink_transposes
from ..hardware.hopper.warpgroups import SAME
from ..hardware.limits import MOST, block_bytes
from ..indices.arithmetic import constant_of, value_of
from ..indices.indices import STAND_IN, share_indices
from ..ir.affine_maps import symbols_of_divisors
from ..ir.copying import copies_to_linalg
from ..ir.element_sizes import bytes_of
from ..ir.functions import NAME, name_of
from ..ir.mlir import (
    ahead_of,
    ancestors,
    arith,
    attributes,
    children,
    i64,
    in_block,
    ir,
    made_by,
    operations,
    ops_of,
    run_passes,
    scf,
    users,
    vector,
)
from ..ir.refusing import describe, upstream_messages
from ..ir.structured import body_of
from ..memory.layouts import is_shared
from ..memory.names import numbered
from ..outlining.kernel import FOLD_VIEWS, Outlined, to_loops
from .boxes import drop_casts
from .swizzle import apply_swizzles, lay_in_panels

_TAKE_APART = "affine-expand-index-ops-as-affine,cse,loop-invariant-code-motion"
"""Delinearized indices become divisions, hoisted out of the loops that do not change them; other
index ops become sums.

Digits counted along with a loop, instead of divisions by constants, made the machine code of the
loops no shorter, and took registers.
"""
_CLEAN_UP = ("canonicalize,cse", "loop-invariant-code-motion", "canonicalize,cse")
"""One pass manager for the first and the last clean-up: `canonicalize` collects its patterns once."""


def lower(kernel: Outlined) -> int:
    """Lowers the kernel in place. Returns its shared memory in bytes. Raises W0355 or W0358."""
    function = kernel.function
    there = {op.name for op in operations(function)}  # patterns run only for ops that occur
    if "memref.copy" in there:
        copies_to_linalg(function)
        there.add("linalg")
    with function.context, _barriers_hidden(function):
        try:
            if "memref.collapse_shape" in there:
                keep_reshapes(function)
            fold_constant_offsets(function)
            if "memref.transpose" in there:
                sink_transposes(function)
            if passes := to_loops(there):
                _run(kernel, ",".join(passes), verify=False)
            if "memref.transpose" in there:
                fold_transposes(function)
            _run(kernel, FOLD_VIEWS, verify=False)
            while "memref.transpose" in there and fold_transposes(function):
                _run(kernel, FOLD_VIEWS)
            fix_trip_counts(function)
            if any(operations(function, "affine.delinearize_index", "affine.linearize_index")):
                _run(kernel, _TAKE_APART, verify=False)
            for passes in _CLEAN_UP:
                _run(kernel, passes, verify=False)
            lay_in_panels(function)
            apply_swizzles(function)
            _forward_sums(function)
            drop_casts(function)
            share_indices(function)
            _divide_by_one_at_least(function)
            # `cse` leaves ops without uses when the last user has gone; what is judged is the text at the
            # statement's end
            _run(kernel, "trivial-dce,cse", verify=False)
            if _drop_implied(function):
                _run(kernel, "trivial-dce,cse", verify=False)
            kernel.module.operation.verify()
        except ir.MLIRError as error:
            raise fail("W0358", "the kernel cannot be lowered to loops", notes=upstream_messages(error)) from error
    left = [op for op in operations(kernel.function) if op.name.startswith("linalg.")]
    if left:
        raise fail(
            "W0358",
            f"{describe(left[0])} has no lowering to loops",
            "decompose it before the launch (`run-pass`, `transform`)",
        )
    return _attribute_shared(kernel)


def _run(kernel: Outlined, passes: str, *, verify: bool = True) -> None:
    """Runs passes on the kernel. `verify`: whether to verify after each pass; folding of views is
    known to leave invalid IR in between."""
    run_passes(kernel.module, f"gpu.module(gpu.func({passes}))", verify=verify)


@contextmanager
def _barriers_hidden(function: ir.Operation) -> Iterator[None]:
    """Keeps `canonicalize` from merging adjacent barriers with marks, since the mark of the second
    barrier would be lost.

    Each barrier is replaced by an op of an unregistered dialect, which may have any effect: no op
    is moved across it.
    """
    for barrier in operations(function, "gpu.barrier"):
        if any(name.startswith("weft.") for name in barrier.attributes):
            _replace(barrier, STAND_IN)
    yield
    for stand_in in operations(function, STAND_IN):
        _replace(stand_in, "gpu.barrier")


def _replace(op: ir.Operation, name: str) -> None:
    with ir.InsertionPoint(op):
        ir.Operation.create(name, operands=list(op.operands), attributes=attributes(op), loc=op.location)
    op.erase()


def _attribute_shared(kernel: Outlined) -> int:
    """Turns allocations in workgroup memory into `workgroup(…)` attributions of the `gpu.func`."""
    total = 0
    names: list[ir.Attribute] = []
    taken: set[str] = set()
    for alloc in operations(kernel.function, "memref.alloc"):
        kind = alloc.results[0].type
        if not is_shared(kind):
            raise fail(
                "W0355",
                f"{describe(alloc)} would allocate global memory in every block",
                "allocate it in no particular memory, e.g. `memref<8xf32>`, or before the launched loop",
            )
        total = block_bytes((total,)) + bytes_of(kind)
        argument = kernel.entry.add_argument(kind, alloc.location)
        alloc.results[0].replace_all_uses_with(argument)
        name = name_of(alloc.results[0])
        if name is not None:  # each name once
            name = next(one for one in numbered(name) if one not in taken)
            taken.add(name)
        names.append(ir.DictAttr.get({} if name is None else {NAME: ir.StringAttr.get(name)}))
        alloc.erase()
    for dealloc in operations(kernel.function, "memref.dealloc"):
        dealloc.erase()
    if total > MOST:
        message = f"the block's shared buffers take {total} bytes, and a block has at most {MOST}"
        raise fail("W0355", message, "`tile` by smaller sizes, or give `pipeline` fewer `stages`")
    if names:
        kernel.function.attributes["workgroup_attributions"] = i64(len(names))
        kernel.function.attributes["workgroup_attrib_attrs"] = ir.ArrayAttr.get(names)
    return total


# ---- arrays of a thread's own ----------------------------------------------------------------------------------------

MOST_TRIPS = 64
"""Loops with more iterations are not unrolled in any case."""


def fix_trip_counts(function: ir.Operation) -> None:
    """Makes loops unrollable: a loop from 0 to `affine.min(constant, …)` around accesses of private
    memory gets the constant as its bound, and a guard inside.

    A ragged tile is copied back by `for i < min(4, 10 - 4 * t)`. Such a loop cannot be unrolled,
    and an array that it indexes is in local memory, which the count of spills does not show. The
    loop `for i < 4 { if i < min(…) }` can be unrolled.
    """
    for loop in reversed(list(operations(function, "scf.for"))):
        most = _most_trips(loop)
        if most is None or most > MOST_TRIPS:
            continue
        accesses = operations(loop, "memref.load", "memref.store")
        if any(made_by(op.operands[int(op.name == "memref.store")], "memref.alloca") for op in accesses):
            _guard(loop, most)


def _most_trips(loop: ir.Operation) -> int | None:
    """The smallest constant of the minimum that bounds a loop; None unless the loop begins at 0,
    with step 1."""
    if len(loop.results) or constant_of(loop.operands[0]) != 0 or constant_of(loop.operands[2]) != 1:
        return None
    bound = made_by(loop.operands[1], "affine.min")
    results = ir.AffineMapAttr(bound.attributes["map"]).value.results if bound is not None else ()
    return min((r.value for r in results if isinstance(r, ir.AffineConstantExpr)), default=None)


def _guard(loop: ir.Operation, most: int) -> None:
    body = body_of(loop)
    inside = children(loop)[:-1]
    limit = loop.operands[1]
    with ahead_of(loop):
        loop.operands[1] = arith.ConstantOp(ir.IndexType.get(), most).result
    with ir.InsertionPoint.at_block_begin(body), loop.location:
        here = arith.cmpi(arith.CmpIPredicate.slt, body.arguments[0], limit)
        choice = scf.IfOp(here)
        with ir.InsertionPoint(choice.then_block):
            scf.YieldOp([])
    terminator = choice.then_block.operations[0]
    for op in inside:
        op.move_before(terminator)


# ---- divisors --------------------------------------------------------------------------------------------------------


def _divide_by_one_at_least(function: ir.Operation) -> None:
    """Raises the divisors to at least 1 in indices that are computed before all guards and loops.

    If a size is 0, the loop or guard that divides by it is not entered. But hoisting has moved the
    division out of it, and a division by 0 is undefined.
    """
    block = function.regions[0].blocks[0]
    for apply in [op for op in ops_of(block) if op.name == "affine.apply"]:
        mapping = ir.AffineMapAttr(apply.attributes["map"]).value
        for number in sorted(symbols_of_divisors(mapping.results[0])):
            with ahead_of(apply):
                one = arith.constant(ir.IndexType.get(), 1)
                apply.operands[mapping.n_dims + number] = arith.maxsi(apply.operands[mapping.n_dims + number], one)


# ---- guards ----------------------------------------------------------------------------------------------------------


def _drop_implied(function: ir.Operation) -> bool:
    """Replaces each `scf.if` by its body if enclosing guards imply its condition. Returns whether
    there was such an op."""
    implied = [op for op in operations(function, "scf.if") if _holds(op.operands[0], op)]
    for choice in implied:
        *inside, ends = choice.regions[0].blocks[0].operations
        for op in inside:
            op.operation.move_before(choice)
        for result, known in zip(choice.results, ends.operands, strict=True):
            result.replace_all_uses_with(known)
        choice.erase()
    return bool(implied)


def _parts(condition: ir.Value) -> set[ir.Value]:
    """The conjuncts of a condition."""
    both = made_by(condition, "arith.andi")
    return {condition} if both is None else set[ir.Value]().union(*map(_parts, both.operands))


def _holds(condition: ir.Value, op: ir.Operation) -> bool:
    """Whether the guards around an op imply a condition: each conjunct of the condition is a
    conjunct of a guard."""
    inner, wanted = op, _parts(condition)
    for around in ancestors(op):
        if around.name == "scf.if" and inner.block == around.regions[0].blocks[0]:
            wanted -= _parts(around.operands[0])
            if not wanted:
                return True
        inner = around
    return False


# ---- sums of warp groups that are read as they are -------------------------------------------------------------------


def _forward_sums(function: ir.Operation) -> None:
    """Forwards a thread's part of an accumulator directly to its reads, and drops the array in
    between, if the part is stored there and nothing else changes the array."""
    for store in list(operations(function, "vector.store")):
        array = made_by(store.operands[1], "memref.alloca")
        shaped = made_by(store.operands[0], "vector.shape_cast")
        if array is None or shaped is None or made_by(shaped.operands[0], SAME) is None:
            continue
        reads = [user for user in users(array.results[0]) if user != store]
        if all(_reads_after(user, store) for user in reads):
            for user in reads:
                with ahead_of(user):
                    made = _extracted(shaped.operands[0], user)
                user.results[0].replace_all_uses_with(made)
                user.erase()
            for op in (store, shaped, array):
                op.erase()


def _reads_after(op: ir.Operation, store: ir.Operation) -> bool:
    """Whether an op reads a single element, or all of the last dimension, of the array after the
    store."""
    if op.name not in ("vector.load", "memref.load"):
        return False
    kind = op.results[0].type
    whole = op.name == "memref.load" or list(ir.VectorType(kind).shape) == ir.MemRefType(op.operands[0].type).shape[-1:]
    here = in_block(op, store.block)
    return whole and here is not None and store.is_before_in_block(here)


def _extracted(sums: ir.Value, read: ir.Operation) -> ir.Value:
    """The element or row of the accumulator that a read of the array gives: in both shapes,
    dimensions of extent 1 are ignored."""
    shape = ir.MemRefType(read.operands[0].type).shape
    subscripts = iter([at for at, size in zip(list(read.operands)[1:], shape, strict=True) if size != 1])
    own = ir.VectorType(sums.type).shape
    depth = len(own) - (read.name == "vector.load")
    places = [value_of(0) if size == 1 else next(subscripts) for size in own[:depth]]
    return vector.ExtractOp(sums, places, [ir.ShapedType.get_dynamic_size()] * depth).result
