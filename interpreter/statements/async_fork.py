"""`async-fork [streams n]`: let operations that do not depend on each other run at the same time."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl.diagnostics import WeftError
from .. import mlir
from ..mlir import ir
from ..rewriter import Rewriter
from ..statement import Results, Statement, integer, statement

STREAMS = "weft.streams"


@statement("async-fork", returns=("wait",))
@dataclass(frozen=True, kw_only=True)
class AsyncFork(Statement):
    """Order launches, copies, allocations and frees by tokens, exactly where one needs what another does to memory.

    Every host function that launches gets new tokens, whatever tokens it had. An operation that waits for nothing starts
    from `gpu.wait async`; one that waits for several from a join, `gpu.wait async [%a, %b]`; no operation has more than
    one dependency, and none that others imply. A token that is used once more goes through a `gpu.wait async` of its own.
    One blocking `gpu.wait` ends the function. The host waits earlier where it reads or writes what the device works on:
    in front of a call, a loop or a branch that launches, too (inside, each block is forked by itself). `memref.copy`
    becomes `gpu.memcpy`; `memref.dealloc` moves behind the final wait. Arguments of a host function are distinct memory.

    Args:
        streams: the most streams that a run may use; none: as many as can be busy at once.

    Returns:
        wait: the blocking wait that comes last.

    Errors:
        W0430: the module has nothing that a device does.
        W0431: a token that is an argument, a result, or carried by a loop.
        W0432: a call, a launch or an op whose effects cannot be seen.
        W0433: a launch in parallel or branching host code, or one that is not outlined.
        W0434: memory is used after it was freed.

    Source: design, section Asynchrony; upstream `gpu-async-region` writes one token through everything.

    Example:
        async-fork
        before: gpu.launch_func @left_kernel::@left … gpu.launch_func @right_kernel::@right … gpu.launch_func @sum_kernel::@sum
        after:  gpu.wait async … gpu.launch_func async [%a] @left_kernel::@left … gpu.wait async …
                gpu.launch_func async [%b] @right_kernel::@right … gpu.wait async [%c, %d] …
                gpu.launch_func async [%e] @sum_kernel::@sum … gpu.wait [%f] … return
    """

    streams: int | None = integer(optional=True, minimum=1)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..asynchrony.forking import async_fork

        try:
            forked = async_fork(rewrite.module)
        except WeftError as error:
            raise rewrite.placed(error) from error
        if self.streams is not None:
            number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.streams)
            for function in mlir.operations(rewrite.module.operation, "func.func"):
                if any(True for _ in mlir.operations(function, "gpu.wait")):
                    function.attributes[STREAMS] = number
        rewrite.remark(
            f"{forked.operations} operations, {forked.roots} from the start, {forked.joins} joins, {forked.waits} waits of the host"
        )
        if forked.moved:
            rewrite.remark(f"freed behind the final wait: {', '.join(forked.moved)}")
        if forked.wait is None:
            raise AssertionError("operations without a final wait")
        return {"wait": rewrite.new_handle(forked.wait)}
