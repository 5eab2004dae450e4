"""What is proven of a kernel, and where that is stated: on the IR, as the fingerprint of exactly what was proven.

`insert-barriers` and `verify-sync` try the launch of a loop and prove the kernel that it makes. They leave `weft.proven` on the
loop: a digest of all that `launch` makes the kernel of. `launch` proves what has no such mark, or has become something else since,
and leaves `weft.proven` on the kernel, a digest of its text; what a later statement changed is proven again at the schedule's end.
Nobody has to take a mark away: it is one of the thing as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ....dsl.diagnostics import Diagnostic, WeftError
from ...indices.algebra import Sizes
from ...ir.cloning import PROVEN, UNPROVEN, without_tags
from ...ir.functions import symbol
from ...ir.mlir import ir, operations
from ...launch.kernel import outline
from ..kernels.kernels import kernel_model, kernel_uses, model_of
from .findings import Findings

BELIEVED = (
    "assumed race-free, not proven: its parallel loops are taken at their word, that no iteration touches what another writes;"
    " indices that do not depend on data, sizes known before a run, and tiles that divide them make it exact"
)
TAKEN = "`unproven` behind the loop of `launch`, or `--unproven`, takes the kernel as it is"


def state_proof(module: ir.Module, root: ir.Operation) -> None:
    """Say of a mapped loop that the kernel it makes is proven."""
    root.attributes[PROVEN] = ir.StringAttr.get(_of_loop(module, root), module.context)


def stands(module: ir.Module, root: ir.Operation) -> bool:
    """Whether the loop was proven, and is still the one that was."""
    return PROVEN in root.attributes and ir.StringAttr(root.attributes[PROVEN]).value == _of_loop(module, root)


def state_kernel_proof(kernel: ir.Operation) -> None:
    """Say of a kernel that it is proven."""
    kernel.attributes[PROVEN] = ir.StringAttr.get(_digest(kernel), kernel.context)


@dataclass(frozen=True)
class Judgement:
    """Of a kernel that `launch` has made.

    Args:
        found: why it is not proven race-free; nothing if it is.
        believed: how many conflicts the analysis could only assume, which are none because iterations are independent.
    """

    found: tuple[Diagnostic, ...]
    believed: int = 0


def judge(kernel: ir.Operation, block: Sizes, grid: Sizes, *, independent: bool) -> Judgement:
    """Prove a kernel. `independent`: no two threads do the same iteration of its parallel loops (`mapping/preconditions.py`)."""
    try:
        findings = Findings(kernel_model(kernel, block=block, grid=grid), independent=independent)
    except WeftError as error:
        return Judgement(error.diagnostics)
    return Judgement(tuple(findings.diagnostics()), findings.believed)


def changed_kernels(module: ir.Module, payloads: Collection[str]) -> list[ir.Operation]:
    """Kernels of the schedule, not of the payload (`payloads`: their symbols), that are not what was proven of them.

    Those that were let through are not among them.
    """
    return [k for k in operations(module.operation, "gpu.func", "gpu.launch") if not _settled(k, payloads)]


def judge_changed(module: ir.Module, changed: Sequence[ir.Operation]) -> Iterator[tuple[ir.Operation, tuple[Diagnostic, ...]]]:
    """Those of the changed kernels that can't be proven as they stand now, as their launches use them, and why."""
    for use in kernel_uses(module):
        if use.kernel in changed:
            try:
                found = tuple(Findings(model_of(use)).diagnostics())
            except WeftError as error:
                found = error.diagnostics
            if found:
                yield use.kernel, found


def kernel_symbols(module: ir.Module) -> frozenset[str]:
    """The kernels of a payload, which are left to `weft verify`. `gpu.launch` stands for those that have no name."""
    return frozenset(map(symbol_of, operations(module.operation, "gpu.func", "gpu.launch")))


def let_through(kernel: ir.Operation, found: Sequence[Diagnostic]) -> list[str]:
    """Mark a kernel that is launched though it is not proven. Returns the remarks."""
    kernel.attributes[UNPROVEN] = ir.StringAttr.get(found[0].message, kernel.context)
    return [f"not proven race-free: {found[0].message}", *(f"  {note}" for note in found[0].notes)]


def refusal(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics of a kernel that is not built because of them."""
    *others, last = found
    return [*others, replace(last, hint=f"{last.hint}; {TAKEN}" if last.hint else TAKEN)]


def _settled(kernel: ir.Operation, payloads: Collection[str]) -> bool:
    if symbol_of(kernel) in payloads or "gpu.launch" in payloads or UNPROVEN in kernel.attributes:
        return True
    return PROVEN in kernel.attributes and ir.StringAttr(kernel.attributes[PROVEN]).value == _digest(kernel)


def symbol_of(kernel: ir.Operation) -> str:
    """`matmul_kernel::matmul`."""
    if kernel.name == "gpu.launch" or kernel.parent is None:
        return kernel.name
    return f"{symbol(kernel.parent.operation)}::{symbol(kernel)}"


def _of_loop(module: ir.Module, root: ir.Operation) -> str:
    """All that `launch_loop` reads, and nothing else: the loop, what it uses of the host, and what arguments are called. Which
    name is free for the kernel is not a part of it."""
    with module.context, root.location:
        outlined = outline(module, root, views_inside=True)
        outlined.function.attributes["sym_name"] = ir.StringAttr.get("kernel")
        _put_constants_first(outlined.function)
        return _digest(outlined.function)


def _put_constants_first(function: ir.Operation) -> None:
    """Where a constant stands, and whether two are one, is not proven: it changes with what else the host needs."""
    kept: dict[str, ir.Operation] = {}
    for op in list(operations(function, "arith.constant")):
        same = kept.setdefault(f"{op.attributes['value']} {op.results[0].type}", op)
        if same != op:
            op.results[0].replace_all_uses_with(same.results[0])
            op.erase()
    entry = function.regions[0].blocks[0]
    for text in sorted(kept, reverse=True):
        if kept[text] != entry.operations[0].operation:
            kept[text].move_before(entry.operations[0])


def _digest(op: ir.Operation) -> str:
    text = without_tags(op.get_asm(use_local_scope=True))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
