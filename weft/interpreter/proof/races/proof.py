"""The faults of a kernel, as diagnostics, and the proof that it has none, recorded in the IR as a
fingerprint of exactly what was proven.

`insert-barriers` and `verify-sync` try the launch of a loop and prove the resulting kernel. They
leave `weft.proven` on the loop: a digest of everything that `launch` builds the kernel from.
`launch` proves the kernel of a loop without such a mark, or with one that no longer matches. It
leaves `weft.proven` on the kernel: a digest of the kernel's text. A kernel that a later statement
changes is proven again at the end of the schedule. No statement has to remove a mark: a mark is
valid only for the text that it was computed from.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ....dsl.diagnostics import Diagnostic, Source, Span, WeftError
from ....dsl.records import record
from ...indices.algebra import Sizes
from ...ir.cloning import PROVEN, UNPROVEN, text_of
from ...ir.functions import symbol
from ...ir.mlir import ir, operations
from ...outlining.kernel import Outlined, outline
from ..combination.combination import wrong as wrong_combinations
from ..combination.verdict import Combined
from ..kernels.kernels import kernel_model, kernel_uses, model_of
from ..kernels.model import Barrier, KernelModel
from ..signals.counts import SignalFault
from ..signals.judgement import SignalJudgement, SignalTrials, judge_signals
from .barriers import superfluous_barriers
from .conflicts import UNCOUNTED, Conflict, conflicts, conflicts_between_blocks, of_block
from .uninitialized_reads import UnwrittenRead, unwritten_reads

_PLACE = re.compile(r"^(?P<op>\S+) at .*?(?P<line>\d+):(?P<column>\d+)\)*$")


def span(source: Source | None, op: str) -> Span | None:
    """The span of `op`, from the text that `describe` gives for it."""
    found = _PLACE.match(op)
    if found is None or source is None:
        return None
    line, column = int(found["line"]), int(found["column"])
    return Span(source, line, column, line, column + len(found["op"]))


def quoted(source: Source | None, op: str) -> str:
    """The source line of `op`, formatted to follow a note about it."""
    at = span(source, op)
    text = at.source.line(at.line).strip() if at is not None else ""
    return f"\n    {text}" if text else ""


def first_few(found: list[Diagnostic], most: int, where: str) -> list[Diagnostic]:
    """The first `most` diagnostics. If there are more, a note on the last of these gives their
    number."""
    shown = found[:most]
    if len(found) > most:
        more = f"and {len(found) - most} more in this {where}"
        shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, more))
    return shown


SHOWN = 5
CONSEQUENCES = ("W0662", "W0663")
"""Codes of memory-barrier faults that are mostly consequences of the diagnostics shown before them."""
EXACT = "; a loop that the payload declares parallel is taken as such where it is all that is launched"
"""The remedy for an assumption, in a schedule."""


def divergence(barrier: Barrier, source: Source | None = None) -> Diagnostic:
    """The diagnostic of a barrier, or of a warp-collective op, that some threads may not reach."""
    group = "a subgroup" if barrier.narrow else "a cluster" if barrier.of_cluster else "a block"
    if barrier.number is not None:
        group = f"a group of {barrier.threads} threads"
    message = f"not all threads of {group} reach {barrier.op}"
    note = "a condition or a loop around it is not the same for all of them"
    if barrier.assumed:
        message = f"some threads of {group} may not reach {barrier.op} (assumed)"
        note = (
            "assumed, not proven: it is not known whether a condition or a loop around it is the same for all of them;"
            " conditions and trip counts of affine indices, or of memory that the kernel does not write, make it exact"
        )
    if barrier.meets is not None:
        note = (
            f"assumed, not proven: a condition or a loop around it is not the same for all of them, and others may"
            f" arrive at"
            f" its number at {barrier.meets}; such a barrier is not followed: it is assumed to order nothing"
        )
    hint = f"move {'it' if barrier.narrow else 'the barrier'} out of its `scf.if` or loop"
    if barrier.number is not None:
        hint += "; give each group of this many consecutive threads a number of its own, `id` from 1 to 15"
    elif barrier.narrow:
        hint += ", or make the condition the same for every 32 consecutive threads"
    return Diagnostic("W0603", message, span(source, barrier.op), notes=(note,), hint=hint)


class Findings:
    """The findings of the analysis in one kernel.

    Args:
        source: the text that contains the kernel; notes quote lines of it.
        independent: no two threads execute the same iteration of the parallel loops, so that
            conflicts that are merely assumed are dropped.

    Attributes:
        conflicts: conflicts within a block, then conflicts between blocks.
        ordered: whether the analysis covered all means of ordering (`signals/`), and not barriers
            alone.
        faults: the faults of its memory barriers.
        unwritten: reads of shared memory before any write. They are computed only if shared memory
            has no conflicts, no barrier is divergent and there are no faults: otherwise threads
            need not follow the program order.
        believed: the number of assumed conflicts that were dropped because iterations are
            `independent`.
        wrong: diagnostics of shared reductions that do not combine the parts that they state.
    """

    def __init__(self, model: KernelModel, source: Source | None = None, *, independent: bool = False) -> None:
        self.model = model
        self.source = source
        judged = judge_signals(model) if model.is_asynchronous else None
        within = conflicts(model) if judged is None else judged.conflicts
        copies = {access.op for access in model.accesses if access.phase}
        if judged is None and any(copies.intersection((c.first_op, c.second_op)) for c in within):
            within, judged = self._counted(within)
        found = [*within, *conflicts_between_blocks(model)]
        self.ordered = judged is not None
        self.faults = [] if judged is None else judged.faults
        self.conflicts: list[Conflict] = [c for c in found if not (independent and c.assumed)]
        self.believed = len(found) - len(self.conflicts)
        self.wrong = wrong_combinations(model.combined)
        shared = any(c.space == "workgroup" for c in self.conflicts) or model.divergent or self.faults
        self.unwritten: list[UnwrittenRead] = []
        if not shared:
            self.unwritten = unwritten_reads(model) if judged is None else judged.unwritten()
            if self.unwritten and judged is None and copies:
                again = judge_signals(model)
                self.unwritten = self.unwritten if again.faults else again.unwritten()

    def _counted(self, found: list[Conflict]) -> tuple[list[Conflict], SignalJudgement | None]:
        """The conflicts with copies, by an exact count of commit groups: the first analysis counts
        them only in straight-line code and simple loops. If the exact count is unknown as well,
        conflicts with copies in flight become merely assumed."""
        exact = judge_signals(self.model)
        if not exact.faults:
            if all(c.first is not None for c in exact.conflicts):
                return exact.conflicts, exact
            unordered = {frozenset((c.first_op, c.second_op)) for c in exact.conflicts}
            return [c for c in found if frozenset((c.first_op, c.second_op)) in unordered], exact
        return [replace(c, assumption=UNCOUNTED) if c.in_flight and not c.assumed else c for c in found], None

    @property
    def clean(self) -> bool:
        return not (self.model.divergent or self.faults or self.conflicts or self.unwritten or self.wrong)

    def superfluous(self) -> list[Barrier]:
        """The barriers that are redundant one at a time: without any one of them, the others still
        order everything."""
        if not self.clean or not self.ordered:
            return superfluous_barriers(self.model) if self.clean else []
        every = self.model.barriers
        trials = SignalTrials(self.model)
        return [
            b for b in every if judge_signals(self.model, [other for other in every if other is not b], trials).clean
        ]

    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics; of many conflicts, the first few."""
        late = [f for f in self.faults if f.code in CONSEQUENCES]
        found = [self._fault(f) for f in self.faults if f not in late]
        found += [self._conflict(c) for c in self.conflicts] + [self._unwritten(r) for r in self.unwritten]
        found += map(self._fault, late)
        found += self.wrong
        return [
            *(divergence(barrier, self.source) for barrier in self.model.divergent),
            *first_few(found, SHOWN, "kernel"),
        ]

    # ---- one of each -------------------------------------------------------------------------------------------------

    def _fault(self, fault: SignalFault) -> Diagnostic:
        notes = tuple(note + quoted(self.source, note.rpartition(": ")[2]) for note in fault.notes)
        return Diagnostic(fault.code, fault.message, span(self.source, fault.op), notes=notes, hint=fault.hint or None)

    def _conflict(self, conflict: Conflict) -> Diagnostic:
        space = "shared" if conflict.space == "workgroup" else conflict.space
        actors = "blocks" if conflict.across_blocks else "threads"
        state = "may conflict (assumed)" if conflict.assumed else "conflict"
        carried = f", carried by {conflict.carried_by}" if conflict.carried_by else ""
        message = f"two {actors} {state}: {conflict.kind} on {space} memory `{conflict.buffer}`{carried}"
        notes = conflict.notes(lambda op: quoted(self.source, op))
        if conflict.across_blocks:
            hint = (
                "no barrier orders blocks: let one block make all accesses to an element, or split the kernel into"
                " two launches, `gpu.launch_func` each"
            )
            if self.source is None:
                hint = "no barrier orders blocks: `map` the loop so that one block makes all accesses to an element"
                hint += EXACT if conflict.assumed else "; `split-k … atomic` adds the parts of a sum"
            return Diagnostic("W0602", message, span(self.source, conflict.second_op), notes=notes, hint=hint)
        if conflict.unfenced_proxy:
            message = f"ordinary stores to `{conflict.buffer}` may not be visible to its asynchronous accesses: {conflict.kind}"
            hint = (
                "put `nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>}` after the stores, before the"
                " barrier that orders them"
            )
            return Diagnostic("W0666", message, span(self.source, conflict.second_op), notes=notes, hint=hint)
        if conflict.agent:
            what = {"load": "a load", "store": "a store", "product": "a product"}[conflict.agent]
            conflicts = "may conflict (assumed) with" if conflict.assumed else "conflicts with"
            message = f"{what} in flight {conflicts} another access of `{conflict.buffer}`: {conflict.kind}"
            finds = " (`insert-barriers` finds the place)" if self.source is None else ""
            hint = (
                f"begin it after the other access: after a `gpu.barrier`{finds}, or a wait for arrivals that come"
                f" after that access"
            )
            if conflict.kind == "RAW":
                hint = (
                    "let each thread wait for the phase of the load, `nvgpu.mbarrier.try_wait.parity`, before it"
                    " accesses what is loaded"
                )
            return Diagnostic("W0667", message, span(self.source, conflict.second_op), notes=notes, hint=hint)
        finds = " (`insert-barriers` finds the place)" if self.source is None else ""
        if conflict.in_flight:
            assumed = " (assumed)" if conflict.assumed else ""
            message = (
                f"an asynchronous copy of `{conflict.buffer}` in flight may conflict with another"
                f" access{assumed}: {conflict.kind}"
            )
            hint = (
                "before the second operation, `nvgpu.device_async_wait` with a smaller `numGroups`; or begin the"
                " copy later, or use one more buffer"
            )
            if conflict.alone:
                hint = (
                    "let one thread copy each element, such as under `scf.if`: nothing orders two threads that"
                    " copy at the same time"
                )
            return Diagnostic("W0606", message, span(self.source, conflict.second_op), notes=notes, hint=hint)
        hint = (
            f"put a `gpu.barrier` between the two operations{finds}, or let one thread make all accesses to the element"
        )
        if conflict.alone:
            hint = (
                "let one thread access each element, such as under `scf.if`: no barrier orders two threads that"
                " execute one operation at the same time"
            )
        elif conflict.unfenced is not None:
            wider = f"add `#gpu.address_space<{conflict.space}>` to its `memfence`"
            wider = wider if self.source is not None else "`insert-barriers` adds a barrier that orders it"
            hint = f"the fence of {conflict.unfenced} leaves out {conflict.space} memory: {wider}"
        elif conflict.in_between is not None:
            hint = f"{conflict.in_between} orders only the threads of a warp: put a `gpu.barrier` there"
        hint += EXACT if conflict.assumed and self.source is None else ""
        return Diagnostic("W0601", message, span(self.source, conflict.second_op), notes=notes, hint=hint)

    def _unwritten(self, read: UnwrittenRead) -> Diagnostic:
        element = f"[{', '.join(map(str, read.element))}]" if read.element else " (any element)"
        state = "may read" if read.assumed else "reads"
        notes = [f"element {read.buffer}{element}{of_block(read.of_block)}"]
        if read.reader is not None:
            notes.append(read.reader.text() + quoted(self.source, read.op))
        notes += [read.assumption] if read.assumed else []
        message = f"a thread {state} shared memory `{read.buffer}` that was never written"
        hint = "`memref.store` the element before it is read: shared memory holds what an earlier block left"
        return Diagnostic("W0610", message, span(self.source, read.op), notes=tuple(notes), hint=hint)


BELIEVED = (
    "assumed race-free, not proven: its loops are declared parallel, and taken as such without a proof;"
    " indices that do not depend on data, sizes known before a run, and tiles that divide them make it exact"
)
TAKEN = "`unproven` after the loop of `launch`, or `--unproven`, takes the kernel as it is"


def state_proof(module: ir.Module, root: ir.Operation, outlined: Outlined | None = None) -> None:
    """Records on a mapped loop that its kernel is proven. `outlined`: that kernel, which this call
    consumes."""
    root.attributes[PROVEN] = ir.StringAttr.get(_of_loop(module, root, outlined), module.context)


def still_proven(module: ir.Module, root: ir.Operation) -> bool:
    """Whether the loop was proven and has not changed since."""
    return PROVEN in root.attributes and ir.StringAttr(root.attributes[PROVEN]).value == _of_loop(module, root)


def state_kernel_proof(kernel: ir.Operation) -> None:
    """Records on a kernel that it is proven."""
    kernel.attributes[PROVEN] = ir.StringAttr.get(_digest(kernel), kernel.context)


@record
class Judgement:
    """The verdict on a kernel that `launch` has made.

    Args:
        found: the reasons why it is not proven race-free; empty if it is.
        believed: the number of merely assumed conflicts that were dropped because iterations are
            independent.
        combined: the proven facts about its shared reductions.
    """

    found: tuple[Diagnostic, ...]
    believed: int = 0
    combined: tuple[Combined, ...] = ()


def judge(kernel: ir.Operation, block: Sizes, grid: Sizes, *, independent: bool) -> Judgement:
    """Proves a kernel. `independent`: as in `Findings` (`mapping/preconditions.py` decides it)."""
    try:
        findings = Findings(kernel_model(kernel, block=block, grid=grid, passed_in_rows=True), independent=independent)
    except WeftError as error:
        return Judgement(error.diagnostics)
    return Judgement(tuple(findings.diagnostics()), findings.believed, findings.model.combined)


def changed_kernels(module: ir.Module, payloads: Collection[str]) -> list[ir.Operation]:
    """The kernels of the schedule that differ from what was proven of them.

    Kernels of the payload (`payloads`: their symbols), and kernels that were launched unproven, are
    not included.
    """
    return [k for k in operations(module.operation, "gpu.func", "gpu.launch") if not _settled(k, payloads)]


def judge_changed(
    module: ir.Module, changed: Sequence[ir.Operation]
) -> Iterator[tuple[ir.Operation, tuple[Diagnostic, ...]]]:
    """Yields each changed kernel that cannot be proven in its current form, with its launches and
    its diagnostics."""
    for use in kernel_uses(module):
        if use.kernel in changed:
            try:
                found = tuple(Findings(model_of(use, passed_in_rows=True)).diagnostics())
            except WeftError as error:
                found = error.diagnostics
            if found:
                yield use.kernel, found


def kernel_symbols(module: ir.Module) -> frozenset[str]:
    """The symbols of the kernels of a payload: only `weft verify` proves these. The entry
    `gpu.launch` represents all kernels without a name."""
    return frozenset(map(symbol_of, operations(module.operation, "gpu.func", "gpu.launch")))


def let_through(kernel: ir.Operation, found: Sequence[Diagnostic]) -> list[str]:
    """Marks a kernel that is launched without a proof. Returns the remarks."""
    kernel.attributes[UNPROVEN] = ir.StringAttr.get(found[0].message, kernel.context)
    what = "not proven" if found[0].code == "W0614" else "not proven race-free"
    return [f"{what}: {found[0].message}", *(f"  {note}" for note in found[0].notes)]


def refusal(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics of a kernel that is refused. The last hint offers `unproven`, except for an
    op that the analysis does not support: the emitter does not support most of these either, so
    that `unproven` would not help."""
    *others, last = found
    if last.code == "W0640":
        return [*found]
    return [*others, replace(last, hint=f"{last.hint}; {TAKEN}" if last.hint else TAKEN)]


def _settled(kernel: ir.Operation, payloads: Collection[str]) -> bool:
    if symbol_of(kernel) in payloads or "gpu.launch" in payloads or UNPROVEN in kernel.attributes:
        return True
    return PROVEN in kernel.attributes and ir.StringAttr(kernel.attributes[PROVEN]).value == _digest(kernel)


def symbol_of(kernel: ir.Operation) -> str:
    """The symbol of a kernel, such as `matmul_kernel::matmul`; the op name `gpu.launch` for a
    kernel without a symbol."""
    if kernel.name == "gpu.launch" or kernel.parent is None:
        return kernel.name
    return f"{symbol(kernel.parent.operation)}::{symbol(kernel)}"


def _of_loop(module: ir.Module, root: ir.Operation, outlined: Outlined | None = None) -> str:
    """A digest of exactly what `launch_loop` reads: the loop, the host values that it uses, and the
    names of arguments. The name that the kernel will get does not enter the digest."""
    with module.context, root.location:
        outlined = outlined or outline(module, root)
        outlined.function.attributes["sym_name"] = ir.StringAttr.get("kernel")
        # the proof does not depend on the positions of constants or on duplicate constants; both vary with other host code
        kept: dict[str, ir.Operation] = {}
        for op in operations(outlined.function, "arith.constant"):
            same = kept.setdefault(f"{op.attributes['value']} {op.results[0].type}", op)
            if same != op:
                op.results[0].replace_all_uses_with(same.results[0])
                op.erase()
        for text in sorted(kept, reverse=True):
            if kept[text] != (first := outlined.entry.operations[0].operation):
                kept[text].move_before(first)
        return _digest(outlined.function)


def _digest(op: ir.Operation) -> str:
    return hashlib.blake2b(text_of(op).encode(), digest_size=16).hexdigest()
