"""From tensors to memrefs: write-backs are guarded, gathers that nobody promoted melt into their consumers, then upstream.

Every step keeps the loops and their attributes (`weft.map`, handle tags).
"""

from __future__ import annotations

from ..ir.mlir import ancestors, ir, linalg, made_by, operations, run_passes
from ..ir.structured import WRITEBACK, takes_all
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
    clip_loops(module)
    fill_what_is_wanted(module)
    tidy(module)
    if inline_gathers(module):
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
    _protect_arguments(module, protect=False)
    drop_carried_buffers(module)
    run_passes(module, "cse")
    _copies(module)
    for op in operations(module.operation):
        if is_gather(op):  # it fills a temporary with what a ragged result starts with, and goes where its owner goes
            del op.attributes[GATHER]
            op.attributes[WRITEBACK] = ir.UnitAttr.get()
    run_passes(module, "cse")


def _separate_arguments(module: ir.Module) -> None:
    """An argument that a function returns gets a copy: each result is a buffer of its own."""
    for terminator in operations(module.operation, "func.return"):
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


def _protect_arguments(module: ir.Module, *, protect: bool) -> None:
    """Tensor arguments are values: no kernel may write into the buffers that they come in. Said before, taken back behind."""
    for function in operations(module.operation, "func.func"):
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        tensors = [isinstance(t, ir.RankedTensorType) for t in kind.inputs]
        if not any(tensors) and "arg_attrs" not in function.attributes:
            continue
        given = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * len(tensors)
        made = [{a.name: a.attr for a in ir.DictAttr(d)} if d else {} for d in given]
        for attributes, tensor in zip(made, tensors, strict=True):
            attributes.pop(_WRITABLE, None)
            if protect and tensor:
                attributes[_WRITABLE] = ir.BoolAttr.get(False)
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in made])


def _copies(module: ir.Module) -> None:
    """`memref.copy` inside loops → `linalg.copy`; a copy of a buffer to itself goes."""
    for op in operations(module.operation, "memref.copy"):
        source, target = op.operands
        if _whole(source) == _whole(target):
            op.erase()
        elif any(around.name in ("scf.forall", "scf.for", "scf.parallel") for around in ancestors(op)):
            with ir.InsertionPoint(op), op.location:
                linalg.copy(source, outs=[target]).owner.attributes[WRITEBACK] = ir.UnitAttr.get()
            op.erase()


def _whole(buffer: ir.Value) -> ir.Value:
    """The buffer of which a view takes everything, as it lies: `parallel_insert_slice` of a whole result makes such views."""
    op = made_by(buffer, "memref.subview")
    return _whole(op.operands[0]) if op is not None and takes_all(op) else buffer
