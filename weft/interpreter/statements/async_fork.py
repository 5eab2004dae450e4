"""`async-fork [noalias] [streams n]`: let operations that do not depend on each other run at the
same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dsl.diagnostics import count
from ..ir.mlir import i64, operations
from ..session.statement import Results, Rewriter, Statement, integer, names, statement

if TYPE_CHECKING:
    from ..forking.forking import Forked

STREAMS = "weft.streams"
SHOWN = 3


@statement("async-fork", returns=("wait",))
class AsyncFork(Statement):
    """Order launches, copies, allocations and frees by tokens, exactly where their memory accesses
    require it.

    Every host function that launches gets new tokens, whatever tokens it had. An operation that
    waits for nothing starts from `gpu.wait async`; one that waits for several starts from a join,
    `gpu.wait async [%a, %b]`; no operation has more than one dependency, and none that others
    imply. A second use of a token goes through its own `gpu.wait async`. One blocking `gpu.wait`
    ends the function. The host waits earlier where it reads or writes what the device works on, and
    before a call that launches. A loop (`scf.for`) or branch (`scf.if`) carries one token: its
    first operations start from it, and a join of its last ones is yielded. Where the host needs the
    result of a launch inside (it reads or frees it, or calls), it waits before the loop or branch
    and at the end of its blocks instead. `memref.copy` becomes `gpu.memcpy`; `memref.dealloc` moves
    after the wait.

    Two arguments of a host function are assumed to alias, which matters if one of them is written:
    the step's report counts the cost. Disjoint windows of one buffer are known to be distinct, and
    so are allocations, results (which Weft creates), and arguments with `llvm.noalias`.

    Args:
        noalias: arguments that overlap no other, by name: `noalias(A, B)`; all of them: `noalias`.
            They get `llvm.noalias`.
        streams: the maximum number of streams that a run may use; default: as many as can be busy
            at once.

    Returns:
        wait: the final blocking wait.

    Errors: W0430, W0431, W0432, W0433, W0434, W0435.

    Source: design, section Asynchrony; upstream `gpu-async-region` threads one token through
    everything.

    Example:
        async-fork
        before: gpu.launch_func @left_kernel::@left … gpu.launch_func @right_kernel::@right … gpu.launch_func
            @sum_kernel::@sum
        after:  gpu.wait async … gpu.launch_func async [%a] @left_kernel::@left … gpu.wait async …
                gpu.launch_func async [%b] @right_kernel::@right … gpu.wait async [%c, %d] …
                gpu.launch_func async [%e] @sum_kernel::@sum … gpu.wait [%f] … return
    """

    noalias: tuple[str, ...] | None = names()
    streams: int | None = integer(optional=True, minimum=1)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..forking.forking import async_fork
        from ..proof.hosts.effects import compiled_kernels

        with rewrite.placing(fields={"W0435": "noalias"}):
            forked = async_fork(rewrite.module, self.noalias)
        if self.streams is not None:
            for function in operations(rewrite.module.operation, "func.func"):
                if any(operations(function, "gpu.wait")):
                    function.attributes[STREAMS] = i64(self.streams)
        rewrite.remark(
            f"{count(forked.operations, 'operation')}, {forked.roots} from the start, {count(forked.joins, 'join')}, "
            f"{count(forked.waits, 'wait')} of the host"
        )
        if compiled := compiled_kernels(rewrite.module):
            names = f"{', '.join(compiled)} (compiled already)"
            rewrite.remark(f"assumed: {names} read and write what they get, and nothing else")
        _report_overlaps(rewrite, forked)
        if forked.carried:
            what = "a loop or branch passes" if forked.carried == 1 else f"{forked.carried} loops and branches pass"
            rewrite.remark(f"{what} a token on: the host does not wait there")
        if forked.moved:
            listed = ", ".join(value.get_name(use_local_scope=True) for value in forked.moved[:SHOWN])
            more = f" and {len(forked.moved) - SHOWN} more" if len(forked.moved) > SHOWN else ""
            rewrite.remark(f"freed after the final wait: {listed}{more}")
        if forked.wait is None:
            raise AssertionError("operations without a final wait")
        return {"wait": rewrite.new_handle(forked.wait)}


def _report_overlaps(rewrite: Rewriter, forked: Forked) -> None:
    """Adds remarks on arguments that are stated to be distinct, on the orderings that possible
    overlaps cost, and on pairs of operations that were too many to compare."""
    if forked.uncompared:
        rewrite.remark(
            f"ordered without a comparison of their accesses, because too many access one buffer: {forked.uncompared} pairs"
        )
    if forked.distinct:
        listed = ", ".join(f"`{name}`" for name in forked.distinct)
        rewrite.remark(f"stated to overlap nothing else: {listed}")
    pairs = forked.assumed.most_common()
    for pair, times in pairs[:SHOWN]:
        first, second = sorted(buffer.name for buffer in pair)
        more = "one ordering" if times == 1 else f"{times} orderings"
        rewrite.remark(f"`{first}` and `{second}` may overlap: {more} more; `async-fork noalias` leaves that out")
    if len(pairs) > SHOWN:
        rest = sum(times for _, times in pairs[SHOWN:])
        rewrite.remark(f"{len(pairs) - SHOWN} more pairs of arguments may overlap: {rest} orderings more")
