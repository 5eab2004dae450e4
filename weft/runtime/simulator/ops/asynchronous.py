"""`nvgpu`: asynchronous copies from global to shared memory. Tokens have no value: the order of the
groups suffices."""

from __future__ import annotations

from ....interpreter.hardware.ampere.copies import COPY, GROUP, WAIT, may_pend
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import async_copy, refuse
from ..translate import Translator, Val, handles, literal
from .memory import expect_aligned, listed, reach


@handles(COPY)
def copy(t: Translator, op: ir.Operation) -> Val:
    found, site = async_copy(op, "W0750"), t.site(op)
    if t.grouped:
        hint = "`map` all copies `to tma`, or none"
        raise refuse("W0750", f"`{op.name}` in a kernel whose warp groups wait for each other", op, hint=hint)
    read = None if found.read is None else t.value(found.read)
    sides: list[str] = []
    for memref, indices in ((found.target, found.at), (found.source, found.begin)):
        mem, at, shape = t.memref(memref), [t.value(v) for v in indices], (found.count,)
        flat, where, starts, fine = reach(t, mem, at, shape)
        expect_aligned(t, op, mem, flat, shape, site)
        sizes = starts if memref == found.target else mem.sizes
        sides.append(f"{mem.root.text}, {where.text}, {listed(at)}, {listed(sizes)}, {fine}")
    t.stored.add(t.memref(found.target).root.text)
    rest = f"{found.count}, {None if read is None else read.text}, {t.mask}, {site}"
    t.emit(f"A.start(L, {', '.join(sides)}, {rest})")
    return literal(0)


@handles(GROUP)
def group(t: Translator, op: ir.Operation) -> Val:
    if not t.grouped:  # such a kernel has no copies: its groups are empty
        t.emit(f"A.CopiesUnderWay.of(L).commit({t.mask})")
    return literal(0)


@handles(WAIT)
def wait(t: Translator, op: ir.Operation) -> None:
    if not t.grouped:
        t.emit(f"A.CopiesUnderWay.of(L).wait({may_pend(op)}, {t.mask})")
