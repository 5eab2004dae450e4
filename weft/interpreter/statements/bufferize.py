"""`bufferize`: the conversion from tensors to memrefs."""

from __future__ import annotations

from ..ir.mlir import GAP, TENSORS, NotLocalError, ir, is_tensor, operations
from ..ir.refusing import describe, upstream_messages
from ..session.statement import Results, Rewriter, Statement, statement


@statement("bufferize")
class Bufferize(Statement):
    """Convert the module from tensors to memrefs.

    Results become output arguments. Ragged results are written back under a guard, and masked loads
    and gathers that were not promoted are fused into the op that reads them. Statements that need
    memrefs do this automatically, and report it.

    Returns:
        nothing.

    Errors: W0336.

    Source: upstream `one-shot-bufferize`, `buffer-results-to-out-params`.

    Example:
        bufferize
        before: func.func @mm(%A: tensor<64x32xf32> … -> (tensor<64x64xf32>
        after:  func.func @mm(%A: memref<64x32xf32> … memref<64x64xf32> {bufferize.result
    """

    def apply(self, rewrite: Rewriter) -> Results:
        ensure_bufferized(rewrite)
        return {}


def ensure_bufferized(rewrite: Rewriter) -> None:
    """Bufferizes a module with tensors, and reports it. Raises W0336 where upstream cannot."""
    from ..loops.forall import affine_loops_of_tensors_to_scf
    from ..tensors.bufferization import bufferize_module, is_bufferized
    from ..tensors.moved_slices import read_repeated

    part = rewrite.taken is not None
    if part and any(TENSORS in gap.attributes for gap in operations(rewrite.module.operation, GAP)):
        raise NotLocalError
    if is_bufferized(rewrite.module):
        return
    returned = [result.type for call in operations(rewrite.module.operation, "func.call") for result in call.results]
    open_ = any(isinstance(kind, ir.RankedTensorType) and not kind.has_static_shape for kind in returned)
    affine_loops_of_tensors_to_scf(rewrite.module)
    read_repeated(rewrite)
    turning = next(
        (op for op in operations(rewrite.module.operation, "scf.while") if any(map(is_tensor, op.results))), None
    )
    try:
        bufferize_module(rewrite.module)
    except ir.MLIRError as error:
        hint = (
            '`run-pass "inline"` before this: upstream makes no buffer for the result of a call of unknown size'
            if open_
            else None
        )
        if turning is not None:
            hint = f"{describe(turning)} carries tensors: write it as an `scf.for` with a known number of iterations"
        what = "upstream cannot bufferize this module"
        raise rewrite.error("W0336", what, hint=hint, notes=upstream_messages(error)) from error
    if not is_bufferized(rewrite.module):
        what, hint = (
            "upstream bufferizes the functions of the outermost module alone",
            "move the `func.func` out of the inner module",
        )
        raise rewrite.error("W0336", what, hint=hint)
    rewrite.name_buffers()
    rewrite.remark("bufferized: tensors became memrefs")
