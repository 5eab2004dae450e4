"""The commands on mapped loops and kernels: `sync`, `cuda`, `run`, `predict`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.text import Text

from ..dsl.diagnostics import WeftError, count, fail
from ..interpreter.ir.cloning import strip_tags
from ..interpreter.ir.mlir import operations
from ..interpreter.session.session import Session
from ..output import colors
from ..output.report import show_report
from ..runtime.predict.chips import DEFAULT
from ..runtime.run.execution import TARGETS
from .command import Desk, Misuse, command
from .workbench import Workbench, do, first_line, live_handles

if TYPE_CHECKING:
    from ..interpreter.proof.races.proof import Findings
    from ..runtime.run.execution import Target


@command("sync", "the current conflicts between threads, and the barriers that separate them")
def sync(desk: Desk, text: str) -> None:
    """Checks the mapped loops for races as if they were launched now. Raises W0605, and the errors
    of a launch."""
    from ..interpreter.mapping.preconditions import independent
    from ..interpreter.proof.kernels.kernels import kernel_model
    from ..interpreter.proof.races.proof import Findings
    from ..interpreter.statements.insert_barriers.trials import mapped_roots, trials

    session = desk.session
    if not mapped_roots(session.module) and not _launched(session):
        raise fail("W0605", "there is neither a mapped loop nor a kernel to judge", hint="`map` a loop first")
    fork = session.fork()
    do(fork, "bufferize")
    roots = mapped_roots(fork.module)
    found = [Findings(t.model, independent=independent(r)) for r, t in zip(roots, trials(fork.module), strict=True)]
    clean = [_show_verdict(desk, one, "mapped, not launched") for one in found]
    for kernel in operations(fork.module.operation, "gpu.func", "gpu.launch"):
        clean.append(_show_verdict(desk, Findings(kernel_model(kernel, passed_in_rows=True)), "launched"))
    if all(clean) or not roots:
        return
    try:
        steps = do(fork, "insert-barriers")
    except WeftError as error:
        desk.say(Text("no barrier separates them: `insert-barriers` would be refused", "bold"))
        desk.show(error.diagnostics)
        return
    for remark in (remark for step in steps for remark in step.remarks):
        desk.wrap(Text.assemble(("`insert-barriers` would place ", "dim"), remark), 2)


def _show_verdict(desk: Desk, found: Findings, state: str) -> bool:
    """Writes whether a kernel, or a mapped loop taken as a kernel, is race-free; returns that."""
    model, wrong = found.model, tuple(found.diagnostics())
    barriers = len(model.barriers)
    block = "×".join("?" if n is None else str(n) for n in model.shape.block)
    aside = f"  ({state}, block {block}, {count(barriers, 'barrier')}{', assumed' if found.believed else ''})"
    mark, verdict = (("✗ ", "bold red"), "not race-free") if wrong else (("✓ ", "bold green"), "race-free")
    desk.say(Text.assemble(mark, (f"@{model.name}", "bold"), f": {verdict}", (aside, "dim")))
    if barriers and found.clean and (left := len(found.superfluous())):
        desk.note(f"  {left} of its barriers can be removed")
    if wrong:
        desk.show(wrong)
    return not wrong


@command("cuda", "the kernels' CUDA text; before a launch, the text of a launch now")
def cuda(desk: Desk, text: str) -> None:
    """Shows the text. Raises W0062 if nothing is launched or mapped, and what refuses the text."""
    from ..runtime.cuda.module import emit

    fork = desk.session.fork(unproven=True)
    if not _launched(fork):
        done: list[str] = []
        refused: WeftError | None = None
        for name in _launchable(fork):
            try:
                do(fork, f"launch {name}")
                done.append(f"`launch {name}`")
            except WeftError as error:
                refused = refused or error
        if not done:
            raise _nothing_launched(desk.bench, refused)
        desk.say(Text(f"nothing is launched yet; this is what {' and '.join(done)} would make", "dim italic"))
    made = emit(strip_tags(fork.module)).rstrip()
    if desk.plain:
        desk.say(made)
    else:
        desk.console.print(colors.cuda(made))


@command("run [auto|sim|cuda|cpu]", "run what is launched so far, and compare with the payload", "target")
def run(desk: Desk, text: str) -> None:
    """Runs the kernels and shows the report. Raises W0062 if nothing is launched."""
    from ..execution import run_applied
    from ..runtime.run.execution import RunOptions, open_device

    if text and text not in TARGETS:
        raise Misuse(f"there is no target `{text}`")
    bench, target = desk.bench, cast("Target", text or "auto")
    if not _launched(bench.session):
        raise _nothing_launched(bench)
    with desk.progress("run") as clock:
        bench.session.expect_proven()
        device = open_device(target)
        done = run_applied(bench.timed(clock), None, RunOptions(target), device)
    show_report(desk.console, done.report, title=done.title)


@command("predict [CHIP]", f"the time on a GPU ({DEFAULT}) of what is launched so far, by a model", "chip")
def predict(desk: Desk, text: str) -> None:
    """Shows the prediction. Raises W0062 if nothing is launched, and what refuses the
    prediction."""
    from ..execution import predicted
    from ..output.predicted import show_prediction
    from ..pipeline import planned

    bench = desk.bench
    if not _launched(bench.session):
        raise _nothing_launched(bench)
    with desk.progress("predict") as clock:
        found = predicted(planned(bench.timed(clock)), text or DEFAULT)
    show_prediction(desk.console, found)


def _launched(session: Session) -> bool:
    return any(operations(session.module.operation, "gpu.func", "gpu.launch"))


def _nothing_launched(bench: Workbench, why: WeftError | None = None) -> WeftError:
    roots = _launchable(bench.session)
    notes = tuple(f"`launch {name}` is refused now: {first_line(why)}" for name in roots[:1] if why is not None)
    hint = f"`launch {roots[0]}`, or `step` until the schedule launches" if roots else "`map` a loop, then `launch` it"
    if why is not None:
        hint = "`step` until the schedule launches, or map what is left by hand; `next HANDLE` shows what is legal"
    message = f"nothing is launched at position {bench.position}: there is no kernel yet"
    return fail("W0062", message, notes=notes, hint=hint)


def _launchable(session: Session) -> list[str]:
    """The names of the live handles of mapped loops, each a possible operand of `launch`."""
    from ..interpreter.statements.insert_barriers.trials import mapped_roots

    roots = mapped_roots(session.module)
    return [name for name, (_, op) in live_handles(session).items() if op in roots]
