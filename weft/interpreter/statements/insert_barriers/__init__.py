"""`insert-barriers`: barriers exactly where a dependence crosses threads, of a warp or of the
block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....dsl.records import record
from ...hardware.lanes import BARRIERS, OF_GROUPS, erase_barrier, waits_for_warp, warp_barrier
from ...ir.mlir import ahead_of, gpu, ir, operations, ops_of
from ...session.statement import Results, Rewriter, Statement, statement
from ..bufferize import ensure_bufferized

if TYPE_CHECKING:
    from ...proof.kernels.model import KernelModel
    from ...proof.races.barriers import ChosenBarriers
    from ...proof.races.conflicts import Conflict
    from ...proof.signals.counts import SignalFault
    from .trials import Trial


@record
class _Chosen:
    """The barriers chosen for a kernel.

    Args:
        believed: merely assumed conflicts were dropped, because the loops are trusted to be
            independent.
        proven: the kernel is race-free with these barriers.
        combines: it has reductions that threads share.
        faults: the faults of its memory barriers.
    """

    choice: ChosenBarriers
    believed: bool
    proven: bool
    combines: bool
    faults: tuple[SignalFault, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether all accesses of the threads of a block are ordered."""
        return not self.choice.unseparated and not self.faults


@statement("insert-barriers")
class InsertBarriers(Statement):
    """Put a barrier exactly where a dependence crosses threads.

    For every mapped loop that is not launched yet, the launch is tried on a copy, and all reads and
    writes of shared and global memory are compared, thread against thread. Among the places that
    every thread of a block passes, a set that separates all conflicts is chosen, with the fewest
    barriers executed per thread and then the fewest in the text. Existing barriers are used; those
    that separate nothing are removed. Each barrier's fence names the memory that it orders. A
    payload with tensors is bufferized first.

    A barrier has the narrowest scope that orders its conflicts. If all of them are between lanes of
    one warp, it is a barrier of each warp, `nvvm.bar.warp.sync` (`__syncwarp`), provided that the
    block size is a multiple of 32. A barrier of each warp may also be used at a place that not all
    threads of the block reach, in a loop that whole warps execute. Barriers of the block are the
    more expensive ones. In a kernel with memory barriers the scopes are the block and each warp
    group; with a producer, the other threads of the block.

    The proof is recorded on the loop: `launch` does not repeat it unless a statement in between
    changes the loop. With `--unproven`, conflicts that no barrier can order are reported instead of
    refused.

    Returns:
        nothing.

    Errors: W0602, W0603, W0604, W0605, W0606, W0614, W0640.

    Source: design, section Synchronization; the schedules are Kelly's 2d+1 vectors, the sets are
    ISL's.

    Example:
        insert-barriers
        before: scf.for … linalg.copy … weft.map … scf.forall … linalg.matmul
        after:  scf.for … linalg.copy … gpu.barrier memfence [#gpu.address_space<workgroup>] … scf.forall … linalg.matmul
            … gpu.barrier memfence [#gpu.address_space<workgroup>] … 2 barriers: before linalg.matmul (RAW on shared
    """

    reach = "maps"

    def apply(self, rewrite: Rewriter) -> Results:
        from ...launch.templates import keep
        from ...outlining.kernel import outline
        from ...proof.combination.combination import assumed, verdict_lines
        from ...proof.races import proof
        from .trials import mapped_roots, propose_barriers, trials

        ensure_bufferized(rewrite)
        roots = mapped_roots(rewrite.module)
        if not roots:
            gone = any(operations(rewrite.module.operation, "gpu.launch_func"))
            before = "move `insert-barriers` before `launch`, which has made kernels of the loops"
            hint = before if gone else "`map` a loop, and `launch` it afterwards"
            raise rewrite.error("W0605", "there is no mapped loop to put barriers into", hint=hint)
        proposed = [propose_barriers(root) for root in roots]
        for number, trial in enumerate(trials(rewrite.module, rewrite.known)):
            root, existing = roots[number], proposed[number]
            found, key = trial.info.made.found, (_Chosen, frozenset(existing))
            chosen = found[key] if key in found else self._chosen(rewrite, root, existing, trial.model)
            if not chosen.ordered:
                chosen = self._with_warps(rewrite, number, root, existing, trial) or chosen
                self._expect_order(rewrite, chosen)
            elif chosen.proven:
                found[key] = chosen
            combined = trial.model.combined if chosen.combines else ()  # the model takes long
            same = _gives_same_kernel(trial, root, chosen.choice, existing)
            rewrite.remark(_settle(root, chosen.choice, existing, proven=not chosen.believed))
            for line in verdict_lines(combined) if chosen.proven else ():
                rewrite.remark(line)
            with rewrite.module.context, root.location:
                settled = outline(rewrite.module, root)
            # a verdict that rests on assumptions is not stored: whoever needs it repeats the analysis and its report
            stated = chosen.proven and not chosen.believed and not assumed(combined)
            if same:
                made = replace(trial.info.made, found={proof.Judgement: proof.Judgement(())} if stated else {})
                keep(rewrite.known, settled.likeness, trial.alone(), made)
            if chosen.believed:
                rewrite.remark(proof.BELIEVED)
            elif stated:
                proof.state_proof(rewrite.module, root, settled)
        return {}

    def _chosen(self, rewrite: Rewriter, root: ir.Operation, existing: set[int], model: KernelModel) -> _Chosen:
        from ...mapping.preconditions import independent
        from ...proof.combination.combination import wrong as wrong_combinations
        from ...proof.races import proof
        from ...proof.races.barriers import ChosenBarriers, choose_barriers
        from ...proof.races.conflicts import conflicts, conflicts_between_blocks
        from ...proof.races.uninitialized_reads import unwritten_reads
        from ...proof.signals.barrier_choice import choose_for_signals

        astray = [b for b in model.divergent if b.candidate is None or b.candidate in existing]
        if astray:
            fault = proof.divergence(astray[0])
            raise rewrite.error(fault.code, fault.message, hint=fault.hint, notes=fault.notes)
        alone = independent(root)
        across = conflicts_between_blocks(model)
        between = [c for c in across if not (alone and c.assumed)]
        if between:
            self._refuse(rewrite, "W0602", "blocks {} with each other, and no barrier orders blocks", between)
        wrong = wrong_combinations(model.combined)
        for one in wrong:
            self._report(rewrite, one.code, one.message, one.notes, one.hint or "")
        if model.is_asynchronous:
            found = choose_for_signals(model, frozenset(existing))
            proven = found.proven and not between and not wrong
            return _Chosen(found.choice, len(between) < len(across), proven, bool(model.combined), found.faults)
        choice = choose_barriers(model, existing=frozenset(existing))
        believed = alone and bool(choice.chosen or choice.unseparated) and all(c.assumed for c in conflicts(model, ()))
        if believed:
            choice = ChosenBarriers((), {}, {})
        believed = believed or len(between) < len(across)
        proven = not between and not wrong and not choice.unseparated and not unwritten_reads(model)
        return _Chosen(choice, believed, proven, bool(model.combined))

    def _with_warps(
        self, rewrite: Rewriter, number: int, root: ir.Operation, existing: set[int], trial: Trial
    ) -> _Chosen | None:
        """The choice with warp barriers proposed as well, at places that only whole warps pass;
        None if they do not help."""
        from .trials import propose_warp_barriers, tried_again

        if not propose_warp_barriers(root, trial.info):
            return None
        again = self._chosen(rewrite, root, existing, tried_again(rewrite.module, number, rewrite.known).model)
        return again if again.ordered else None

    def _expect_order(self, rewrite: Rewriter, chosen: _Chosen) -> None:
        """Raises W0604, W0606, W0666 or W0667 for accesses that the chosen barriers leave
        unordered, or the first fault of a memory barrier."""
        if chosen.faults:
            first, *more = chosen.faults
            self._report(
                rewrite, first.code, first.message, [*first.notes, *(fault.message for fault in more)], first.hint
            )
        if late := [c for c in chosen.choice.unseparated if c.agent]:
            unfenced = [c for c in late if c.unfenced_proxy]
            code, message = (
                ("W0666", "stores {} unfenced") if unfenced else ("W0667", "accesses {} with others in flight")
            )
            self._refuse(rewrite, code, message, unfenced or late)
        elif early := [c for c in chosen.choice.unseparated if c.in_flight]:
            self._refuse(rewrite, "W0606", "accesses {} with asynchronous copies in flight", early)
        elif chosen.choice.unseparated:
            message = "threads {} within one distributed op, where no barrier is possible"
            self._refuse(rewrite, "W0604", message, chosen.choice.unseparated)

    @staticmethod
    def _refuse(rewrite: Rewriter, code: str, message: str, found: Sequence[Conflict]) -> None:
        """Raises `code` for conflicts that no barrier can order; with `--unproven`, reports them."""
        first, message = found[0], message.format("may conflict" if all(c.assumed for c in found) else "conflict")
        notes = [f"{first.kind} on `{first.buffer}` ({first.space} memory)", *first.notes()]
        if len(found) > 1:
            notes.append(f"and {len(found) - 1} more")
        InsertBarriers._report(rewrite, code, message, notes, _HINTS[code])

    @staticmethod
    def _report(rewrite: Rewriter, code: str, message: str, notes: Sequence[str], hint: str) -> None:
        if not rewrite.unproven:
            raise rewrite.error(code, message, notes=notes, hint=hint)
        for line in (f"not ordered: {message}", *(f"  {note}" for note in notes)):
            rewrite.remark(line)


_HINTS = {
    "W0602": "`map` the loop so that all accesses to one element are in one block",
    "W0604": "`map` the op so that each element has one owner, or `tile` it so that a barrier fits between",
    "W0666": "put `nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}` between the stores and a barrier",
    "W0667": "wait for each load by `nvgpu.mbarrier.try_wait.parity` before its elements are accessed, and load"
    " again only after a wait for the threads that access them",
    "W0606": "write `nvgpu.device_async_wait` with a smaller `numGroups`, begin the copies later, or use one more"
    " buffer",
}


def _settle(root: ir.Operation, choice: ChosenBarriers, existing: set[int], *, proven: bool) -> str:
    """Keeps the chosen barriers, with their fences, and removes the others. Returns the remark."""
    lines: list[str] = []
    mixed = 0 < len(choice.of_warps) < len(choice.chosen)
    for number, barrier in _kept(root, choice, existing):
        why = ", ".join(_reasons(choice, number))
        scope = "warp barrier " if number in choice.of_warps and mixed else ""
        lines.append(f"{scope}{_where(barrier)} ({why}{', was there' if number in existing else ''})")
    removed = len(existing.difference(choice.chosen))
    text = (
        f"{_count(choice)}: {'; '.join(lines)}" if lines else f"no barrier needed: {'proven' if proven else 'assumed'}"
    )
    if removed:
        text += f"; removed {removed} that separated nothing"
    if not choice.exact:
        text += "; perhaps not the fewest: the search reached its limit"
    return text


def _count(choice: ChosenBarriers) -> str:
    """The counts in words: `2 barriers`, `1 barrier and 2 warp barriers`."""
    warps, groups = len(choice.of_warps), len(choice.of_groups)
    numbers = (
        ("barrier", len(choice.chosen) - warps - groups),
        ("barrier of each warp group", groups),
        ("warp barrier", warps),
    )
    counts = ((n, what if n == 1 else what.replace("barrier", "barriers")) for what, n in numbers if n)
    return " and ".join(f"{n} {what}" for n, what in counts)


def _kept(root: ir.Operation, choice: ChosenBarriers, existing: set[int]) -> list[tuple[int, ir.Operation]]:
    """The chosen barriers in a loop, or in the kernel made from it, by number; the others are
    removed."""
    from .trials import CANDIDATE, candidates

    found: list[tuple[int, ir.Operation]] = []
    for number, barrier in candidates(root):
        if number not in choice.chosen:
            erase_barrier(barrier)
            continue
        del barrier.attributes[CANDIDATE]
        if number in choice.of_warps:
            if not waits_for_warp(barrier):
                wide = barrier
                with ahead_of(wide):
                    barrier = warp_barrier()
                wide.erase()
        elif number in choice.of_groups:
            barrier.attributes[OF_GROUPS] = ir.UnitAttr.get()
        elif barrier.name != "gpu.barrier":
            pass
        elif number not in existing and len(choice.spaces[number]) == 1:  # it orders only this memory
            (space,) = choice.spaces[number]
            attribute = ir.Attribute.parse(f"[#gpu.address_space<{space}>]", barrier.context)
            wide = barrier
            with ahead_of(wide):
                barrier = gpu.BarrierOp(address_spaces=attribute).operation
            wide.erase()
        found.append((number, barrier))
    return found


def _gives_same_kernel(trial: Trial, root: ir.Operation, choice: ChosenBarriers, existing: set[int]) -> bool:
    """Keeps the chosen barriers of a trial kernel. Returns whether the result is the kernel that
    `launch` makes of the loop. It is not if a barrier that had split a loop, or was the only op in
    a guard, was removed or made narrower."""
    from ...indices.indices import guards
    from ...launch.splitting import hands_on
    from .trials import candidates

    left_out = (barrier for number, barrier in candidates(root) if number not in choice.chosen)
    if choice.of_warps | choice.of_groups or any(hands_on(barrier.parent.operation) for barrier in left_out):
        return False
    before = guards(trial.info.kernel)
    _kept(trial.info.kernel, choice, existing)
    return guards(trial.info.kernel) == before


def _reasons(choice: ChosenBarriers, number: int) -> list[str]:
    """The reasons in words: `RAW on shared A, B`."""
    by_kind: dict[str, list[str]] = {}
    for reason in choice.reasons[number]:
        space = "shared" if reason.space == "workgroup" else reason.space
        names = by_kind.setdefault(f"{reason.kind} on {space}", [])
        if reason.buffer not in names:
            names.append(reason.buffer)
    return [f"{kind} {', '.join(names)}" for kind, names in by_kind.items()] or ["phases of memory barriers"]


def _where(barrier: ir.Operation) -> str:
    """The place in words: `before linalg.matmul`, `at the end of scf.for`."""
    items = ops_of(barrier.block)
    after = [op for op in items[items.index(barrier) + 1 :] if op.name not in BARRIERS]
    for op in after[:-1]:
        if op.name.startswith("linalg.") or len(op.regions):
            inner = next((o.name for o in operations(op) if o.name.startswith("linalg.")), op.name)
            return f"before {inner}"
    return f"at the end of {barrier.parent.operation.name}"
