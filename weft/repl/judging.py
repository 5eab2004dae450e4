"""What the module is good for at this point: the kernels' text, a run, and what its threads do to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..clock import Clock
from ..dsl.diagnostics import Diagnostic, WeftError, fail
from . import handles
from .workbench import Workbench

if TYPE_CHECKING:
    from ..execution import Executed, Target
    from ..interpreter.proof.races.findings import Findings
    from ..interpreter.session.session import Session
    from ..interpreter.session.state import Step


@dataclass(frozen=True)
class Judgement:
    """One kernel, or a mapped loop as the kernel that it would be.

    Args:
        name: what is judged.
        summary: how many threads and barriers, in a few words.
        conflicts: what is wrong; none if it is proven race-free.
        superfluous: how many of its barriers could go.
    """

    name: str
    summary: str
    conflicts: tuple[Diagnostic, ...]
    superfluous: int = 0


@dataclass(frozen=True)
class Judged:
    """All of them, and what `insert-barriers` would do about the conflicts (or the error it would raise)."""

    kernels: tuple[Judgement, ...]
    remedy: tuple[str, ...] = ()
    refused: WeftError | None = None


def launched(session: Session) -> bool:
    from ..interpreter.ir.mlir import operations

    return any(True for _ in operations(session.module.operation, "gpu.func", "gpu.launch"))


def kernel_text(bench: Workbench) -> tuple[str, str | None]:
    """The CUDA text of the kernels, and the statement `launch …` that was supposed for it where nothing is launched yet.

    Raises W0062 where nothing is mapped either, and what the emitter or that `launch` refuse.
    """
    from ..interpreter.ir.clone import strip_tags
    from ..runtime.cuda import emit

    if launched(bench.session):
        return emit(strip_tags(bench.session.module)), None
    roots = _launchable(bench.session)
    if not roots:
        raise nothing_launched(bench)
    fork, done, refused = bench.session.fork(unproven=True), [], None
    for name in roots:
        try:
            _do(fork, f"launch {name}")
            done.append(f"launch {name}")
        except WeftError as error:
            refused = refused or error
    if not done:
        raise nothing_launched(bench, refused)
    return emit(strip_tags(fork.module)), " and ".join(f"`{d}`" for d in done)


def nothing_launched(bench: Workbench, why: WeftError | None = None) -> WeftError:
    roots = _launchable(bench.session)
    notes = tuple(f"`launch {name}` is refused now: {handles.first(why)}" for name in roots[:1] if why is not None)
    hint = f"`launch {roots[0]}`, or `step` until the schedule launches" if roots else "`map` a loop, then `launch` it"
    if why is not None:
        hint = "`step` until the schedule launches, or map what is left by hand; `next HANDLE` shows what is legal"
    return fail(
        "W0062", f"nothing is launched at position {bench.position}: there is no kernel yet", notes=notes, hint=hint
    )


def run(bench: Workbench, target: Target) -> Executed:
    """Run the module as it stands and compare with the payload. Raises W0062 where nothing is launched."""
    from ..execution import RunOptions, open_device, run_applied
    from ..pipeline import Applied

    if not launched(bench.session):
        raise nothing_launched(bench)
    bench.session.expect_proven()
    device = open_device(target)
    done = Applied(replace(bench.recipe, clock=Clock()), bench.payload, bench.session)
    return run_applied(done, None, RunOptions(target=target), device)


def judge(session: Session) -> Judged:
    """The conflicts that there are now. What is mapped is judged as if it were launched now.

    Raises W0605 where nothing is mapped or launched, and what keeps it from being launched.
    """
    from ..interpreter.ir.mlir import operations
    from ..interpreter.launch import independent
    from ..interpreter.proof import kernel_model
    from ..interpreter.proof.kernels.trial import mapped_roots, trials
    from ..interpreter.proof.races.findings import Findings

    if not mapped_roots(session.module) and not launched(session):
        raise fail("W0605", "there is neither a mapped loop nor a kernel to judge", hint="`map` a loop first")
    fork = session.fork()
    _do(fork, "bufferize")
    found: list[Judgement] = []
    for root, trial in zip(mapped_roots(fork.module), trials(fork.module), strict=True):
        found.append(_judgement(Findings(trial.model, independent=independent(root)), mapped=True))
    for kernel in operations(fork.module.operation, "gpu.func", "gpu.launch"):
        found.append(_judgement(Findings(kernel_model(kernel)), mapped=False))
    if not any(k.conflicts for k in found) or not mapped_roots(fork.module):
        return Judged(tuple(found))
    try:
        steps = _do(fork, "insert-barriers")
    except WeftError as error:
        return Judged(tuple(found), refused=error)
    return Judged(tuple(found), remedy=tuple(remark for step in steps for remark in step.remarks))


def _judgement(found: Findings, mapped: bool) -> Judgement:
    model = found.model
    count = len(model.barriers)
    state = "mapped, not launched" if mapped else "launched"
    block = "×".join("?" if n is None else str(n) for n in model.shape.block)
    summary = f"{state}, block {block}, {count} barrier{'s' * (count != 1)}{', assumed' if found.believed else ''}"
    superfluous = len(found.superfluous()) if count and found.clean else 0
    return Judgement(f"@{model.name}", summary, tuple(found.diagnostics()), superfluous)


def _do(fork: Session, text: str) -> Sequence[Step]:
    from ..dsl.parser import parse_items

    return fork.do(parse_items(text, "<tried>", {n.partition(".")[0] for n in handles.named(fork)}))


def _launchable(session: Session) -> list[str]:
    """The names of the live handles of mapped loops that `launch` could be told."""
    from ..interpreter.proof.kernels.trial import mapped_roots

    roots = mapped_roots(session.module)
    ops = handles.tagged(session.module)
    return [name for name, handle in handles.live(session).items() if any(ops[handle.number] == root for root in roots)]
