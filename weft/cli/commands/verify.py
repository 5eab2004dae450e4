"""`weft verify P.mlir`: checks a complete module, with its barriers and tokens, for races. `weft
audit BUNDLE`: checks a bundle against its module and proves its kernels again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from ...dsl.diagnostics import count, quoted
from .schedules import PATH, STDIN, json_option, standard_input

if TYPE_CHECKING:
    from ...dsl.diagnostics import Diagnostic
    from ...verify import Judged, Sizes


class SizesParameter(click.ParamType):
    """Click's type of `x`, `x,y` or `x,y,z`: block and grid sizes."""

    name = "x,y,z"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Sizes:
        words = str(value).split(",")
        if len(words) > 3 or not all(w.strip().isascii() and w.strip().isdigit() and int(w) > 0 for w in words):
            self.fail(f"{value!r} is not a size: write one to three positive numbers, e.g. 16,16,1", param, ctx)
        x, y, z = [*(int(w) for w in words), 1, 1][:3]
        return (x, y, z)


@click.command(short_help="Race check of a complete module.")
@click.argument("file", type=PATH, metavar="P.mlir")
@click.option("--block", type=SizesParameter(), help="Threads per block, if the module does not state them.")
@click.option("--grid", type=SizesParameter(), help="Blocks, if the module does not state them.")
@click.option("--may-alias", is_flag=True, help="Assume that arguments may overlap, instead of being distinct buffers.")
@json_option
def verify(file: Path, block: Sizes | None, grid: Sizes | None, may_alias: bool, as_json: bool) -> int:
    """Prove that a module with its barriers and tokens is free of races and of token, stream and memory faults.

    A fault is shown by a concrete instance: two threads, or two launches, that nothing orders.

    P.mlir is a host function with its kernels (outlined, or as `gpu.launch`), or only kernels.
    """
    from ...dsl.diagnostics import read_source
    from ...output.console import emit, progress, say, show
    from ...verify import verify_source

    if file.suffix == ".weft":
        raise click.UsageError(
            f"{file} is a schedule, and `weft verify` takes modules: `weft apply {file} -o scheduled.mlir` makes one"
        )
    source = standard_input() if str(file) == STDIN else read_source(file)
    with progress(f"weft verify {file}") as clock:
        verdict = verify_source(source, block=block, grid=grid, may_alias=may_alias, share=clock.share)
    if as_json:
        emit(verdict.to_json())
        return 0 if verdict.ok else 1
    same: dict[Hashable, list[Judged]] = {}  # launches with the same verdict, which is reported once
    for kernel in verdict.kernels:
        same.setdefault(kernel.verdict, []).append(kernel)
    if not verdict.ok:
        found: list[Diagnostic] = []
        for kernel, *more in same.values():
            others = (f"and so by {count(len(more), 'more launch')}",) if more else ()
            found += (replace(d, notes=(*d.notes, *others)) for d in kernel.diagnostics)
        show((*found, *(d for host in verdict.hosts for d in host.diagnostics), *verdict.refused))
    for kernel, *more in same.values():
        say(_line(kernel, more))
        for barrier in kernel.superfluous:
            say(f"  {barrier} can be removed: the accesses are ordered without it")
    for host in verdict.hosts:
        what = f"{count(host.operations, 'operation')}, {count(host.tokens, 'token')}, {host.place}"
        if host.ok:
            say(f"✓ {host.name}: ordered, nothing leaks ({what})")
        else:
            say(f"✗ {host.name}: {count(len(host.diagnostics), 'fault')} of tokens, streams or memory ({what})")
    if verdict.compiled:
        what = "read and write only their arguments (compiled already, `gpu.binary`: not judged)"
        say(f"assumed: {quoted(verdict.compiled)} {what}")
    if verdict.multiples:
        say(f"assumed: {quoted(verdict.multiples)} (the host checks it before a run)")
    if verdict.distinct:
        say(f"assumed: {quoted(verdict.distinct)} are distinct buffers (`--may-alias` assumes the opposite)")
    return 0 if verdict.ok else 1


def _line(kernel: Judged, more: Sequence[Judged]) -> str:
    place = f"{kernel.place} and {count(len(more), 'more launch')}" if more else kernel.place
    if not kernel.judged:
        return f"✗ {kernel.name}: not judged ({place})"
    verdict = f"✗ {kernel.name}: not race-free" if kernel.diagnostics else f"✓ {kernel.name}: race-free"
    barriers = count(kernel.barriers, "barrier")
    clusters = f", clusters of {_sizes(kernel.cluster)}" if kernel.cluster != (1, 1, 1) else ""
    return f"{verdict}, {barriers} (block {_sizes(kernel.block)}, grid {_sizes(kernel.grid)}{clusters}, {place})"


def _sizes(sizes: Sizes) -> str:
    return "any" if all(n is None for n in sizes) else "×".join("any" if n is None else str(n) for n in sizes)


@click.command(short_help="Prove a bundle again, and emit it again.")
@click.argument("bundle", type=PATH, metavar="BUNDLE")
@json_option
def audit(bundle: Path, as_json: bool) -> int:
    """Prove the kernels of a bundle's module again, emit its text and its plan from the module again, and compare.

    Nothing is run. The audit shows neither what the bundle computes nor who wrote it.
    """
    from ...auditing import UNKNOWN, audit_bundle
    from ...output.console import emit, progress, say, show
    from ...runtime.files.bundle import CUDA, MODULE, PLAN

    with progress(f"weft audit {bundle}"):
        found = audit_bundle(bundle)
    if as_json:
        emit(found.to_json())
        return 0 if found.ok else 1
    if found.diagnostics:
        show(found.diagnostics)
    kernels = () if found.verdict is None else found.verdict.kernels
    proven = found.verdict is not None and found.verdict.ok
    say(f"{'✓' if proven else '✗'} {MODULE}: {count(len(kernels), 'launch')} {'race-free' if proven else 'not proven'}")
    inside, indices = found.indices
    if inside < indices:
        shown = f"{inside} of {indices} indices of loads and stores shown inside of the buffer"
        say(f"  {shown}: the simulator checks the others")
    for name in (CUDA, PLAN):
        if found.verdict is not None:
            say(f"✗ {name}: not what {MODULE} makes" if name in found.different else f"✓ {name}: what {MODULE} makes")
    for kernel in found.unproven:
        say(f"the bundle states that it was built without a proof of {kernel}")
    if found.unchecked is not None:
        say(f"the bundle states that its kernels were not compared with the payload: {found.unchecked}")
    say(f"not known: {UNKNOWN}")
    return 0 if found.ok else 1
