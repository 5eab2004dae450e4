"""The conversion from tensors to memrefs: write-backs are guarded, masked loads that were not
promoted are fused into their consumers, then upstream bufferizes.

Every step keeps the loops and their attributes (`weft.map`, handle tags).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..indices.arithmetic import value_of
from ..indices.values import stated_sizes
from ..ir.cleanup import tidy
from ..ir.cloning import crop_before_padding
from ..ir.copying import copy_to
from ..ir.functions import argument_attributes, set_argument
from ..ir.mlir import (
    ahead_of,
    ancestors,
    arith,
    attributes,
    entries,
    ir,
    is_tensor,
    is_used,
    is_within,
    made_by,
    memref,
    merge_equal,
    operations,
    regions_of,
    run_passes,
    scf,
    users,
)
from ..ir.structured import (
    WRITEBACK,
    body_of,
    loop_inits,
    loop_outputs,
    replace,
    shape_of,
    takes_all,
    yielded,
)
from ..padding.masked_loads import MARK as GATHER
from ..padding.masked_loads import is_masked_load
from ..padding.provenance import PAD, Reason, name_padded_copies, padded_copies
from ..padding.rounding import absorb_all_pads, expect_sizes
from .destinations import (
    allocate_expanded,
    fill_what_is_wanted,
    fold_reshapes,
    has_empty,
    separate_destinations,
    start_from_own_fills,
    start_reshaped,
    written_over,
)
from .fusing import inline_masked_loads
from .writeback_guards import guard_writebacks

_WRITABLE = "bufferization.writable"
_BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
_RESULTS = "buffer-results-to-out-params{modify-public-functions=true hoist-static-allocs=true}"


def is_bufferized(module: ir.Module) -> bool:
    """Whether no op of the module produces or takes a tensor."""
    return not any(
        is_tensor(value)
        for op in operations(module.operation)
        for values in (op.results, *(block.arguments for region in regions_of(op) for block in region.blocks))
        for value in values
    )


def bufferize_module(module: ir.Module) -> None:
    """Bufferizes the whole module in place. Tensor results become trailing arguments, marked
    `bufferize.result`.

    Copies inside loops become `linalg.copy`, so that they can be mapped; copies that write a tile
    back are marked `weft.writeback`. Raises `ir.MLIRError` where upstream refuses.
    """
    there = {op.name for op in operations(module.operation)}  # to skip passes for ops that do not occur
    reshaped = any(name.endswith(("expand_shape", "collapse_shape")) for name in there)
    copies: dict[str, Reason] = {}
    if PAD in there:
        absorb_all_pads(module)
        copies = padded_copies(module)
        crop_before_padding(module)
    guard_writebacks(module)
    fill_what_is_wanted(module)
    tidy(module)
    if any(map(is_masked_load, operations(module.operation))) and inline_masked_loads(module):
        tidy(module)
    _results_for_destinations(module)
    if "scf.for" in there:
        _carry_in_place(module)
    start_from_own_fills(module)
    separate_destinations(module)
    _separate_arguments(module)
    _protect_arguments(module, protect=True)
    if reshaped:
        start_reshaped(module)
    run_passes(module, f"eliminate-empty-tensors,{_BUFFERIZE}" if has_empty(module) else _BUFFERIZE)
    name_padded_copies(module, copies)
    if reshaped:
        allocate_expanded(module)
        fold_reshapes(module)
    _separate_results(module)
    if any(_type_of(function).results for function in _functions(module)):
        run_passes(module, _RESULTS)
    _hoist_results(module)
    _protect_arguments(module, protect=False)
    if "scf.for" in there:
        drop_carried_buffers(module)
    merge_equal(module)
    for op in operations(module.operation):
        if op.name == "memref.copy":
            _copy(op)
        elif is_masked_load(op):
            # it fills a temporary with the initial contents of a ragged result, and is mapped like its owner
            del op.attributes[GATHER]
            op.attributes[WRITEBACK] = ir.UnitAttr.get()
    run_passes(module, "cse")
    for alloc in operations(module.operation, "memref.alloc"):
        expect_sizes(shape_of(alloc.results[0]), alloc)


def _functions(module: ir.Module) -> Iterator[ir.Operation]:
    return operations(module.operation, "func.func")


def _type_of(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _returns(module: ir.Module) -> list[ir.Operation]:
    blocks = [block for function in _functions(module) for block in function.regions[0].blocks]
    return [last for block in blocks if (last := block.operations[-1].operation).name == "func.return"]


_INTO = "bufferization.materialize_in_destination"


def _results_for_destinations(module: ir.Module) -> None:
    """Separates results from tensor arguments, which are values: if a payload stores into an
    argument and uses the op's result, that result becomes a tensor of its own."""
    for op in operations(module.operation, _INTO):
        holder = op.operands[1].owner
        argument = isinstance(holder, ir.Block) and holder.owner.operation.name == "func.func"
        if op.results and is_used(*op.results) and argument:
            replace(op, [op.operands[0]])


def _carry_in_place(module: ir.Module) -> None:
    """Gives a host loop that yields a new tensor in each iteration one carried buffer: a copy of
    the new tensor into the previous one."""
    host = "scf.for", "scf.if", "func.func", "builtin.module"
    loops = [loop for loop in operations(module.operation, "scf.for") if all(up.name in host for up in ancestors(loop))]
    for loop in loops:  # the contents that the loop reads from outside must not be those that it overwrites
        for number, init in enumerate(loop_inits(loop), len(loop.operands) - len(loop.results)):
            if is_tensor(init) and any(
                is_within(use.owner.operation, loop) for use in init.uses if use.owner.operation != loop
            ):
                loop.operands[number] = _copied(init, loop)
    for loop in loops:
        end, carried = body_of(loop).operations[-1].operation, loop_outputs(loop)
        moved = {}
        for number, (value, argument) in enumerate(zip(yielded(loop), carried, strict=True)):
            first = next((op.operands[at] for op, at in written_over(value)[-1:]), value)
            shared = len(list(argument.uses)) > 1  # the argument has other readers, which must not see the new contents
            if is_tensor(value) and value != argument and (first != argument or shared):
                moved[number] = (
                    _copied(value, end) if first in carried and first != argument else value
                )  # another carried tensor, which is overwritten as well
        for number, value in moved.items():
            with ir.InsertionPoint(end):
                end.operands[number] = ir.Operation.create(_INTO, [value.type], [value, carried[number]]).results[0]


def _copied(value: ir.Value, user: ir.Operation) -> ir.Value:
    """A copy of the tensor in a buffer of its own, made before `user`."""
    with ir.InsertionPoint(user):
        given = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])}
        return ir.Operation.create("bufferization.alloc_tensor", [value.type], [value], given).results[0]


def _separate_arguments(module: ir.Module) -> None:
    """Copies every argument that a function returns, so that each result has its own buffer."""
    for terminator in _returns(module):
        for position, value in enumerate(list(terminator.operands)):
            if isinstance(value.type, ir.RankedTensorType) and isinstance(value.owner, ir.Block):
                terminator.operands[position] = _copied(value, terminator)


def _separate_results(module: ir.Module) -> None:
    """Copies a buffer that a function returns twice: upstream's `buffer-results-to-out-params`
    crashes on it. Either one tensor was returned twice, or two reshapes of one, or two tensors of
    undefined elements share a buffer."""
    for terminator in _returns(module):
        seen: list[ir.Value] = []
        for position, value in enumerate(list(terminator.operands)):
            made = made_by(value, "memref.alloc")
            if value in seen and made is not None:
                with ir.InsertionPoint(terminator):
                    again = made.clone().results[0]
                    ir.Operation.create("memref.copy", operands=[value, again])
                terminator.operands[position] = again
            seen.append(value)


def _hoist_results(module: ir.Module) -> None:
    """Replaces an allocation with sizes known only at run time, copied into a result at the end of
    the function, by that result. Emits asserts that the sizes agree, since an out-argument comes
    with sizes of its own."""
    blocks = [block for function in _functions(module) for block in list(function.regions[0].blocks)[:1]]
    for target in (argument for block in blocks for argument in block.arguments):
        copies = users(target) if None in shape_of(target) and _is_result(target) else []
        if [copy.name for copy in copies] != ["memref.copy"] or copies[0].operands[1] != target:
            continue
        (copy,) = copies
        source = copy.operands[0]
        alloc = made_by(source, "memref.alloc")
        if alloc is None or alloc.block != copy.block:
            continue
        if copy.block.operations[-1].operation.name != "func.return" or _has_later_ops(copy):
            continue
        sizes = iter(alloc.operands)
        with ir.InsertionPoint(alloc), copy.location:
            for axis, number in enumerate(shape_of(target)):
                if number is None:
                    own = memref.DimOp(target, value_of(axis)).result
                    same = arith.cmpi(arith.CmpIPredicate.eq, own, next(sizes))
                    message = ir.StringAttr.get(f"the result has another size along axis {axis}")
                    ir.Operation.create("cf.assert", operands=[same], attributes={"msg": message})
        for name, known in stated_sizes(source).items():
            set_argument(target, name, known)
        copy.erase()
        replace(alloc, [target])


def _is_result(value: ir.Value) -> bool:
    """Whether an argument of a function is a result."""
    return "bufferize.result" in argument_attributes(value)


def _has_later_ops(copy: ir.Operation) -> bool:
    """Whether ops other than copies of results and deallocations are between a copy and the end of
    the function."""
    ops = [view.operation for view in copy.block.operations]
    return any(op.name not in ("memref.copy", "memref.dealloc") for op in ops[ops.index(copy) : -1])


def _protect_arguments(module: ir.Module, *, protect: bool) -> None:
    """Marks the buffers of tensor arguments as not writable before bufferization (`protect`), and
    removes the mark afterwards: tensor arguments are values."""
    for function in _functions(module):
        tensors = [isinstance(t, ir.RankedTensorType) for t in _type_of(function).inputs]
        given = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * len(tensors)
        if not any(tensors) and not any(_WRITABLE in d for d in given):
            continue
        made = [{a.name: a.attr for a in entries(d)} if d else {} for d in given]
        for noted, tensor in zip(made, tensors, strict=True):
            noted.pop(_WRITABLE, None)
            if protect and tensor:
                noted[_WRITABLE] = ir.BoolAttr.get(False)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(noted) for noted in made])


def _copy(op: ir.Operation) -> None:
    """Rewrites `memref.copy` inside loops to `linalg.copy`; erases a copy of a buffer to itself."""
    source, target = op.operands
    if _whole(source) == _whole(target):
        op.erase()
    elif any(around.name in ("scf.forall", "scf.for", "scf.parallel") for around in ancestors(op)):
        with ahead_of(op):
            copy_to(target, source).attributes[WRITEBACK] = ir.UnitAttr.get()
        op.erase()


def _whole(buffer: ir.Value) -> ir.Value:
    """The buffer of a view that takes all of it, in the same layout: `parallel_insert_slice` of a
    whole result makes such views."""
    op = made_by(buffer, "memref.subview")
    return _whole(op.operands[0]) if op is not None and takes_all(op) else buffer


def drop_carried_buffers(module: ir.Module) -> None:
    """Rebuilds every `scf.for` that yields an iteration argument unchanged, without that argument.
    Attributes stay.

    Upstream's canonicalization does the same, but also deletes one-trip loops together with their
    handles.
    """
    for loop in reversed(list(operations(module.operation, "scf.for"))):
        if _unchanged(loop):
            _rebuild(loop)


def _unchanged(loop: ir.Operation) -> list[int]:
    """The positions of iteration arguments that every iteration passes on unchanged."""
    kept = zip(yielded(loop), loop_outputs(loop), loop_inits(loop), strict=True)
    return [i for i, (value, argument, init) in enumerate(kept) if value in (argument, init)]


def _rebuild(loop: ir.Operation) -> None:
    gone, inits, body = _unchanged(loop), loop_inits(loop), body_of(loop)
    for i in reversed(gone):
        body.arguments[1 + i].replace_all_uses_with(inits[i])
        body.erase_argument(1 + i)
    kept = [i for i in range(len(inits)) if i not in gone]
    values, operands = [yielded(loop)[i] for i in kept], [*list(loop.operands)[:3], *(inits[i] for i in kept)]
    with ir.InsertionPoint(loop):
        new = ir.Operation.create("scf.for", [v.type for v in values], operands, attributes(loop), regions=1)
    body.operations[-1].operation.erase()
    body.append_to(new.regions[0])
    with ir.InsertionPoint(body):
        scf.YieldOp(values)
    results = iter(new.results)
    replace(loop, [inits[i] if i in gone else next(results) for i in range(len(inits))])
