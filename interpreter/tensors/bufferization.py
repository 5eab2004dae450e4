"""From tensors to memrefs: write-backs are guarded, gathers that nobody promoted melt into their consumers, then upstream.

Every step keeps the loops and their attributes (`weft.map`, handle tags).
"""

from __future__ import annotations

from collections.abc import Callable

from ..ir import mlir
from ..ir.mlir import ir, linalg
from ..ir.structured import WRITEBACK
from ..padding.gathers import MARK as GATHER
from ..padding.gathers import is_gather
from ..padding.padded_copies import name_padded_copies, padded_copies
from ..padding.rounding import absorb_all_pads
from .carried import drop_carried_buffers
from .clipping import clip_loops
from .cropping import crop_before_padding
from .destinations import fill_what_is_wanted, separate_destinations
from .inlining import inline_gathers
from .reshaping import allocate_expanded, fold_reshapes, start_reshaped
from .tidy import tidy

_WRITABLE = "bufferization.writable"
_BUFFERIZE = (
    "eliminate-empty-tensors,"
    "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
)
_RESULTS = "buffer-results-to-out-params{modify-public-functions=true hoist-static-allocs=true}"


def is_bufferized(module: ir.Module) -> bool:
    """Whether no op of the module produces or takes a tensor any more."""
    for op in mlir.operations(module.operation):
        if any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in (*op.operands, *op.results)):
            return False
        for region in op.regions:
            for block in region.blocks:
                if any(isinstance(a.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for a in block.arguments):
                    return False
    return True


def bufferize_module(module: ir.Module) -> None:
    """Bufferize the whole module in place. Tensor results become trailing arguments, marked `bufferize.result`.

    Copies inside loops become `linalg.copy`, so that they can be mapped; those that write a tile back are marked
    `weft.writeback`. Raises `ir.MLIRError` where upstream refuses.
    """
    absorb_all_pads(module)
    copies = padded_copies(module)
    crop_before_padding(module)
    clip_loops(module)
    fill_what_is_wanted(module)
    tidy(module)
    if inline_gathers(module):
        tidy(module)
    separate_destinations(module)
    _separate_arguments(module)
    _protect_arguments(module)
    start_reshaped(module)
    mlir.run_passes(module, _BUFFERIZE)
    _separate_results(module)
    name_padded_copies(module, copies)
    allocate_expanded(module)
    fold_reshapes(module)
    mlir.run_passes(module, _RESULTS)
    _unprotect_arguments(module)
    drop_carried_buffers(module)
    mlir.run_passes(module, "cse")
    with module.context, ir.Location.unknown():
        _copies(module)
        _follow(module)
    mlir.run_passes(module, "cse")


def _separate_arguments(module: ir.Module) -> None:
    """An argument that a function returns gets a copy: each result is a buffer of its own."""
    with module.context, ir.Location.unknown():
        for terminator in mlir.operations(module.operation, "func.return"):
            for position, value in enumerate(list(terminator.operands)):
                if isinstance(value.type, ir.RankedTensorType) and isinstance(value.owner, ir.Block):
                    with ir.InsertionPoint(terminator):
                        copy = ir.Operation.create(
                            "bufferization.alloc_tensor",
                            results=[value.type],
                            operands=[value],
                            attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0])},
                        )
                    terminator.operands[position] = copy.results[0]


def _separate_results(module: ir.Module) -> None:
    """A buffer that a function returns twice is copied: upstream's `buffer-results-to-out-params` crashes on it. One tensor may
    have been returned twice, or two of undefined elements, which are one buffer."""
    with module.context, ir.Location.unknown():
        for terminator in mlir.operations(module.operation, "func.return"):
            seen: list[ir.Value] = []
            for position, value in enumerate(list(terminator.operands)):
                made = mlir.producer(value)
                if value in seen and made is not None and made.name == "memref.alloc":
                    with ir.InsertionPoint(terminator):
                        again = made.clone().results[0]
                        ir.Operation.create("memref.copy", operands=[value, again])
                    terminator.operands[position] = again
                seen.append(value)


def _protect_arguments(module: ir.Module) -> None:
    """Tensor arguments are values: no kernel may write into the buffers that they come in."""
    for function in mlir.operations(module.operation, "func.func"):
        types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
        if any(isinstance(t, ir.RankedTensorType) for t in types):
            _edit_arguments(function, lambda a, t: {**a, _WRITABLE: ir.BoolAttr.get(False)} if _is_tensor(t) else a)


def _unprotect_arguments(module: ir.Module) -> None:
    for function in mlir.operations(module.operation, "func.func"):
        if "arg_attrs" in function.attributes:
            _edit_arguments(function, lambda a, _: {k: v for k, v in a.items() if k != _WRITABLE})


def _is_tensor(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType)


def _edit_arguments(
    function: ir.Operation,
    edit: Callable[[dict[str, ir.Attribute], ir.Type], dict[str, ir.Attribute]],
) -> None:
    """Replace each argument's attributes by what `edit` makes of them."""
    types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
    given: list[dict[str, ir.Attribute]] = [{} for _ in types]
    if "arg_attrs" in function.attributes:
        given = [{n.name: n.attr for n in ir.DictAttr(d)} for d in ir.ArrayAttr(function.attributes["arg_attrs"])]
    with function.context:
        made = [ir.DictAttr.get(edit(a, t)) for a, t in zip(given, types, strict=True)]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(made)


def _copies(module: ir.Module) -> None:
    """`memref.copy` inside loops → `linalg.copy`; a copy of a buffer to itself goes."""
    for op in mlir.operations(module.operation, "memref.copy"):
        source, target = op.operands
        if _whole(source) == _whole(target):
            op.erase()
        elif _in_loop(op):
            with ir.InsertionPoint(op), op.location:
                linalg.copy(source, outs=[target])
            block = list(op.block.operations)
            made = block[[o.operation for o in block].index(op) - 1].operation
            made.attributes[WRITEBACK] = ir.UnitAttr.get()
            op.erase()


def _whole(buffer: ir.Value) -> ir.Value:
    """The buffer of which a view takes everything, as it lies: `parallel_insert_slice` of a whole result makes such views."""
    op = mlir.producer(buffer)
    if op is None or op.name != "memref.subview":
        return buffer
    source = op.operands[0].type
    assert isinstance(source, ir.MemRefType) and isinstance(buffer.type, ir.MemRefType)
    moved = any(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
    apart = any(stride != 1 for stride in ir.DenseI64ArrayAttr(op.attributes["static_strides"]))
    same = source.has_static_shape and buffer.type.has_static_shape and list(source.shape) == list(buffer.type.shape)
    return buffer if moved or apart or not same else _whole(op.operands[0])


def _follow(module: ir.Module) -> None:
    """Gathers that are still there fill a temporary with what a ragged result starts with: they go where its owner goes."""
    for op in mlir.operations(module.operation):
        if is_gather(op):
            del op.attributes[GATHER]
            op.attributes[WRITEBACK] = ir.UnitAttr.get()


def _in_loop(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None:
        if parent.operation.name in ("scf.forall", "scf.for", "scf.parallel"):
            return True
        parent = parent.operation.parent
    return False
