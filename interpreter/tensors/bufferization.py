"""From tensors to memrefs: write-backs are guarded, masked loads that nobody promoted fused into their consumers, then upstream.

Every step keeps the loops and their attributes (`weft.map`, handle tags).
"""

from __future__ import annotations

from ..indices.arithmetic import value as value_of
from ..indices.values import stated_multiples
from ..ir.cloning import crop_before_padding
from ..ir.functions import attributes_of, set_argument
from ..ir.mlir import (
    ahead_of,
    ancestors,
    arith,
    attributes,
    ir,
    linalg,
    made_by,
    memref,
    operations,
    run_passes,
    scf,
    stands_in,
)
from ..ir.sizes import dimension_behind, size_of
from ..ir.structured import (
    WRITEBACK,
    body_of,
    element_type,
    extents_of,
    loop_inits,
    loop_outputs,
    replace,
    shape_of,
    takes_all,
    uncut,
    yielded,
)
from ..padding import masked_loads
from ..padding.masked_loads import MARK as GATHER
from ..padding.masked_loads import is_masked_load
from ..padding.provenance import name_padded_copies, padded_copies
from ..padding.rounding import absorb_all_pads, expect_sizes
from .destinations import allocate_expanded, fill_what_is_wanted, fold_reshapes, separate_destinations, start_reshaped
from .fusing import inline_masked_loads
from .writeback_guards import guard_writebacks

_WRITABLE = "bufferization.writable"
_BUFFERIZE = (
    "eliminate-empty-tensors,"
    "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
)
_RESULTS = "buffer-results-to-out-params{modify-public-functions=true hoist-static-allocs=true}"


def is_bufferized(module: ir.Module) -> bool:
    """Whether no op of the module produces or takes a tensor any more."""
    return not any(
        isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType))
        for op in operations(module.operation)
        for value in (*op.operands, *op.results, *(a for r in op.regions for b in r.blocks for a in b.arguments))
    )


def bufferize_module(module: ir.Module) -> None:
    """Bufferize the whole module in place. Tensor results become trailing arguments, marked `bufferize.result`.

    Copies inside loops become `linalg.copy`, so that they can be mapped; those that write a tile back are marked
    `weft.writeback`. Raises `ir.MLIRError` where upstream refuses.
    """
    absorb_all_pads(module)
    copies = padded_copies(module)
    crop_before_padding(module)
    guard_writebacks(module)
    fill_what_is_wanted(module)
    tidy(module)
    if inline_masked_loads(module):
        tidy(module)
    separate_destinations(module)
    _separate_arguments(module)
    _protect_arguments(module, protect=True)
    start_reshaped(module)
    run_passes(module, _BUFFERIZE)
    _separate_results(module)
    name_padded_copies(module, copies)
    allocate_expanded(module)
    fold_reshapes(module)
    run_passes(module, _RESULTS)
    _hoist_results(module)
    _protect_arguments(module, protect=False)
    drop_carried_buffers(module)
    run_passes(module, "cse")
    _copies(module)
    for op in operations(module.operation):
        if is_masked_load(op):
            # it fills a temporary with what a ragged result starts with, and goes where its owner goes
            del op.attributes[GATHER]
            op.attributes[WRITEBACK] = ir.UnitAttr.get()
    run_passes(module, "cse")
    for alloc in operations(module.operation, "memref.alloc"):
        expect_sizes(shape_of(alloc.results[0]), alloc)


def _separate_arguments(module: ir.Module) -> None:
    """An argument that a function returns gets a copy: each result is a buffer of its own."""
    for terminator in operations(module.operation, "func.return"):
        for position, value in enumerate(list(terminator.operands)):
            if isinstance(value.type, ir.RankedTensorType) and isinstance(value.owner, ir.Block):
                with ir.InsertionPoint(terminator):
                    given = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])}
                    copy = ir.Operation.create("bufferization.alloc_tensor", [value.type], [value], given)
                terminator.operands[position] = copy.results[0]


def _separate_results(module: ir.Module) -> None:
    """A buffer that a function returns twice is copied: upstream's `buffer-results-to-out-params` crashes on it. One tensor may
    have been returned twice, or two of undefined elements, which are one buffer."""
    for terminator in operations(module.operation, "func.return"):
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
    """What is computed into an allocation of sizes that are known at run time alone, and copied into a result at the end, is
    computed in the result. Which sizes that has is stated: an out-argument comes with sizes of its own."""
    for copy in operations(module.operation, "memref.copy"):
        source, target = copy.operands
        alloc = made_by(source, "memref.alloc")
        if alloc is None or None not in shape_of(target) or alloc.block != copy.block or not _is_result(target):
            continue
        if len(list(target.uses)) > 1 or copy.block.operations[-1].operation.name != "func.return" or _goes_on(copy):
            continue
        sizes = iter(alloc.operands)
        with ir.InsertionPoint(alloc), copy.location:
            for axis, number in enumerate(shape_of(target)):
                if number is None:
                    own = memref.DimOp(target, value_of(axis)).result
                    same = arith.cmpi(arith.CmpIPredicate.eq, own, next(sizes))
                    message = ir.StringAttr.get(f"the result has another size along axis {axis}")
                    ir.Operation.create("cf.assert", operands=[same], attributes={"msg": message})
        for name, known in stated_multiples(source).items():
            set_argument(target, name, known)
        copy.erase()
        replace(alloc, [target])


def _is_result(value: ir.Value) -> bool:
    """Whether it is an out-argument that stands for a result."""
    if not isinstance(value.owner, ir.Block) or value.owner.owner.operation.name != "func.func":
        return False
    return "bufferize.result" in attributes_of(value.owner.owner.operation, ir.BlockArgument(value).arg_number)


def _goes_on(copy: ir.Operation) -> bool:
    """Whether anything but other copies of results stands between a copy and the function's end."""
    ops = [view.operation for view in copy.block.operations]
    return any(op.name not in ("memref.copy", "memref.dealloc") for op in ops[ops.index(copy) : -1])


def _protect_arguments(module: ir.Module, *, protect: bool) -> None:
    """Tensor arguments are values: no kernel may write into the buffers that they come in. Said before, taken back behind."""
    for function in operations(module.operation, "func.func"):
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        tensors = [isinstance(t, ir.RankedTensorType) for t in kind.inputs]
        if not any(tensors) and "arg_attrs" not in function.attributes:
            continue
        given = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * len(tensors)
        made = [{a.name: a.attr for a in ir.DictAttr(d)} if d else {} for d in given]
        for noted, tensor in zip(made, tensors, strict=True):
            noted.pop(_WRITABLE, None)
            if protect and tensor:
                noted[_WRITABLE] = ir.BoolAttr.get(False)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(noted) for noted in made])


def _copies(module: ir.Module) -> None:
    """`memref.copy` inside loops → `linalg.copy`; a copy of a buffer to itself goes."""
    for op in operations(module.operation, "memref.copy"):
        source, target = op.operands
        if _whole(source) == _whole(target):
            op.erase()
        elif any(around.name in ("scf.forall", "scf.for", "scf.parallel") for around in ancestors(op)):
            with ahead_of(op):
                linalg.copy(source, outs=[target]).owner.attributes[WRITEBACK] = ir.UnitAttr.get()
            op.erase()


def _whole(buffer: ir.Value) -> ir.Value:
    """The buffer of which a view takes everything, as it lies: `parallel_insert_slice` of a whole result makes such views."""
    op = made_by(buffer, "memref.subview")
    return _whole(op.operands[0]) if op is not None and takes_all(op) else buffer


def tidy(module: ir.Module) -> None:
    """Slices of `tensor.empty` become smaller ones, slices of everything become the thing, sizes of what was made of others
    become theirs; dead pure ops go."""
    looked_at = "tensor.extract_slice", "tensor.insert_slice", "tensor.dim"
    for op in operations(module.operation, *looked_at):
        if op.name == "tensor.dim":
            found = dimension_behind(op.results[0])
            with ahead_of(op):
                size = 0 if found is None else size_of(*found)
            if isinstance(size, ir.Value) and dimension_behind(size) != found:
                replace(op, [size])
            continue
        source, result, takes = uncut(op.operands[0]), op.results[0], op.name == "tensor.extract_slice"
        launched = made_by(source, "scf.forall")  # a slice of that says how much of it is wanted (`writeback_guards`)
        if takes and not (launched is not None and stands_in(launched, "func.func")):
            op.operands[0] = source
        source = op.operands[0]
        if source.type == result.type and takes_all(op):
            replace(op, [source])
        elif takes and masked_loads.is_empty(source) and None not in shape_of(result):
            with ir.InsertionPoint(op):
                small = masked_loads.empty(extents_of(result), element_type(result))
            replace(op, [small])
    run_passes(module, "cse")


def drop_carried_buffers(module: ir.Module) -> None:
    """Rebuild every `scf.for` that yields an iteration argument as it came, without that argument. Attributes stay.

    Upstream's canonicalization does the same, but deletes one-trip loops, and the handles on them, along the way.
    """
    for loop in reversed(list(operations(module.operation, "scf.for"))):
        if _unchanged(loop):
            _rebuild(loop)


def _unchanged(loop: ir.Operation) -> list[int]:
    """Positions of iteration arguments that every iteration passes on as they are."""
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
