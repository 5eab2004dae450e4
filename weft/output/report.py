"""The terminal report of `weft run` (the steps, the launches, the kernels' text, the comparison,
the times) and the steps shown by `weft apply`."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
from rich.text import Text

from ..dsl.diagnostics import count
from ..runtime.devices.report import WAYS_OUT
from ..runtime.run.report import Report, conflicts
from . import colors
from .tables import columns

if TYPE_CHECKING:
    from ..interpreter.session.session import Step
    from ..pipeline import Applied
    from ..runtime.trace.text import Kind
    from ..runtime.trace.timeline import Timeline

WIDEST = 108
"""The maximal width of the report in columns; longer lines are hard to read."""

INDENT = 2
"""The indentation of a section's body."""

SHOWN = 5
"""The number of races and faults that are listed; the rest is only counted."""


def show_report(
    console: Console,
    report: Report,
    *,
    title: str,
    steps: Sequence[Step] = (),
    cuda: str | None = None,
    timeline: Timeline | None = None,
) -> None:
    """Prints the report of a run. The verdict comes last, next to the prompt."""
    width = min(console.width, WIDEST)
    parts: list[RenderableType] = []
    if steps:
        total = sum(step.seconds for step in steps)
        parts += _section(f"Schedule {title}", f"{len(steps)} steps, {duration(total)}", _steps(steps))
    launched = count(len(report.kernels), "launch")
    if (fewest := report.fewest_streams) is not None:  # the lower bound is shown if the minimum is not known exactly
        launched += f" on {count(report.streams_created, 'stream')}"
        launched += "" if fewest == report.streams_created else f"; no fewer than {fewest} can do"
    if (version := report.version) is not None:
        launched += f", version {version.number} of {version.count}"
        launched += f" ({', '.join(version.assumed)})" if version.assumed else ""
    ops = report.ops or ()
    if len({kernel for op in ops for kernel in op.kernels}) > 1:
        from .ops import by_kernel, summary

        parts += _section("Ops", summary(ops), by_kernel(ops))
    parts += _section("Launch", launched, _launches(report))
    if cuda:
        lines = len(cuda.rstrip().splitlines())
        parts += _section("Kernel text", f"CUDA C++, {count(lines, 'line')}", colors.cuda(cuda, numbered=True))
    parts += _section("Comparison", f"with {report.reference}", _comparison(report))
    parts += _section("Synchronization", None, _synchronization(report))
    if report.printed:
        printed = [Text(line) for line in report.printed.splitlines()]
        parts += _section("Printed", "one thread after the other", Group(*_first(printed, 4 * SHOWN)))
    if report.traffic:
        parts += _section("Global memory", "counted exactly, all threads", _traffic(report))
    if report.bank_conflicts:
        parts += _section("Shared memory", "counted exactly, all warps", _banks(report))
    if timeline is not None:
        aside = f"{count(len(timeline.bars), 'step')} on {count(len(timeline.streams), 'stream')}"
        parts += _section("Streams", aside, _streams(timeline, width - INDENT))
    table = Table.grid("", Column(justify="right"), "", padding=(0, 2))
    longest = max(report.seconds.values(), default=0.0) or 1.0
    for phase, seconds in report.seconds.items():
        table.add_row(phase, duration(seconds), Bar(longest, 0, seconds, width=40, color="cyan"))
    parts += _section("Time", duration(sum(report.seconds.values())), table)
    parts.append(_verdict(report))
    console.print(Group(*parts), width=width)


def _section(name: str, aside: str | None, body: RenderableType) -> Iterator[RenderableType]:
    title = Text.assemble((name, "bold"), (f"  {aside}" if aside else "", "dim"))
    yield Rule(title, align="left", characters="─", style="dim")
    yield Padding(body, (0, 0, 1, INDENT))


def _steps(steps: Sequence[Step]) -> Table:
    number, time = (Column(justify="right", style="dim", no_wrap=True) for _ in range(2))
    table = Table.grid(number, Column(ratio=1), time, padding=(0, 1), expand=True)
    for number, step in enumerate(steps, 1):
        lines: list[RenderableType] = [colors.statement(step.text)]
        lines += [Padding(Text(remark, style="dim"), (0, 0, 0, 2)) for remark in step.remarks]
        lines += [Padding(Text(text), (0, 0, 0, 2)) for text in step.shown]
        table.add_row(str(number), Group(*lines), "–" if step.skipped else duration(step.seconds))
    return table


def _launches(report: Report) -> RenderableType:
    launches = Counter((k.name, k.grid, k.block, k.shared_bytes) for k in report.kernels)
    most = {k.name: 0 for k in report.kernels}
    for kernel in report.kernels:
        most[kernel.name] = max(most[kernel.name], kernel.temporary_bytes)
    repeated = (">launches",) if launches.total() > len(launches) else ()
    stored = (">temporaries",) if report.storage is not None else ()
    table = columns("kernel", *repeated, "grid", "block", ">threads", ">shared", *stored)
    for (name, grid, block, shared_bytes), times in launches.items():
        threads = block[0] * block[1] * block[2]
        shared = size(shared_bytes) if shared_bytes else "–"
        table.add_row(
            Text(name, "bold"),
            *(str(times) for _ in repeated),
            extent(grid),
            extent(block),
            f"{threads:,}",
            shared,
            *(size(most[name]) for _ in stored),
        )
    unproven = {k.name: f" is not proven race-free: {k.unproven}" for k in report.kernels if k.unproven is not None}
    marks = [Text.assemble((name, "bold"), why, style="yellow") for name, why in unproven.items()]
    if (storage := report.storage) is not None:
        streams = f", of which streams add {size(storage.by_streams)}" if report.streams_created > 1 else ""
        marks.append(
            Text(
                f"temporaries  {size(storage.size)}{streams}; {size(storage.needed)} are live at once,"
                f" {size(storage.apart)} in all",
                "dim",
            )
        )
    if report.unchecked is not None:
        marks.append(Text(f"values not compared when it was built: {report.unchecked}", "yellow"))
    return Group(table, *marks)


def _comparison(report: Report) -> RenderableType:
    if not report.outputs:
        return Text("the payload writes nothing", "yellow")
    table = columns("output", "type", "shape", ">max relative error", ">allowed", "")
    for output in report.outputs:
        shape = "×".join(map(str, output.shape)) or "scalar"
        if output.error is None:
            table.add_row(output.name, output.dtype, shape, "–", "–", Text("not compared", "dim"))
            continue
        mark = Text("✓", "green") if output.ok else Text("✗ differs", "bold red")
        allowed = f"{output.tolerance:.0e}" if output.tolerance else "exact"
        table.add_row(Text(output.name, "bold"), output.dtype, shape, f"{output.error:.2e}", allowed, mark)
    return table


def _synchronization(report: Report) -> RenderableType:
    if report.races is None or report.faults is None:
        where = "GPU" if report.target == "cuda" else "CPU"
        return Text(f"a {where} does not detect races or undefined results; `--target sim` does", "dim")
    lines: list[RenderableType] = [Text.assemble("barriers  ", (str(report.barriers), "bold"), " per thread")]
    races = [f"[{r.code}] {r.kind} on {r.buffer}{list(r.element)}: {r.first} and {r.second}" for r in report.races]
    for name, found in (("races", races), ("faults", report.faults)):
        none = Text.assemble(f"{name:<10}", ("none", "green"))
        lines.append(none if not found else Text.assemble(f"{name:<10}", (str(len(found)), "bold red")))
        lines += _first([Text(f"  {line}", "red") for line in found])
    codes = dict.fromkeys(line[1:6] for line in (*races, *report.faults))
    if codes:
        lines.append(Text(f"  the way out: {', '.join(f'`weft explain {code}`' for code in codes)}", "dim"))
    lines += [Text(f"  {WAYS_OUT[code]}", "dim") for code in codes if code in WAYS_OUT]
    return Group(*lines)


def _traffic(report: Report) -> RenderableType:
    found, kernels = report.traffic or (), {use.kernel for use in report.traffic or ()}
    table = columns(*(["kernel"] if len(kernels) > 1 else []), "buffer", "", ">bytes", ">accesses", ">of each element")
    for use in found:
        wide = ", ".join(f"{times:,} of {count(width, 'byte')}" for width, times in use.accesses)
        often = Text("one", "green") if use.once else Text(f"{use.elements / use.size:,.3g}")
        own = [use.kernel] if len(kernels) > 1 else []
        table.add_row(
            *own, Text(use.buffer, "bold"), "read" if use.kind == "load" else "written", size(use.bytes), wide, often
        )
    return table


def _banks(report: Report) -> RenderableType:
    accesses = report.bank_conflicts or ()
    found = list(conflicts(accesses))
    if not found:
        warps = sum(access.executions for access in accesses)
        return Text.assemble(("no bank conflicts", "green"), f" in {warps:,} accesses by warps")
    head = Text.assemble("bank conflicts  ", (str(len(found)), "bold yellow"))
    indent = (0, 0, 0, 2)
    below = [[Padding(Text(hint, "dim"), indent) for hint in hints] for _, hints in found]
    places = [Group(Text(text, "yellow"), *hints) for (text, _), hints in zip(found, below, strict=True)]
    return Group(head, *_first([Padding(place, indent) for place in places]))


def _first(lines: Sequence[RenderableType], most: int = SHOWN) -> list[RenderableType]:
    """The first `most` lines, and a line with the number of the others."""
    more = [Text(f"  and {len(lines) - most} more", "dim")] if len(lines) > most else []
    return [*lines[:most], *more]


_STREAMS: dict[Kind, str] = {"launch": "cyan", "memory": "green", "idle": "", "label": "dim", "shared": "yellow"}


def _streams(shown: Timeline, width: int) -> RenderableType:
    """The timeline as rows of blocks, `width` characters wide, with a summary."""
    from ..runtime.trace.text import rows  # imported late: it loads an XML library

    if not shown.bars:
        return Text("nothing was launched or copied", "dim")
    pieces = [[(piece.text, _STREAMS[piece.kind]) for piece in row] for row in rows(shown, width)]
    lines = [Text.assemble(*row, no_wrap=True) for row in pieces]
    makespan, serial, overlap = shown.summary()
    return Group(*lines, Text(f"{makespan}; {serial}"), Text(overlap), Text(shown.note, "dim"))


def verdicts(reports: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A table with a row for each run of a sweep, from the same data as `--json`."""
    versions = any(one["version"] is not None for one in reports)
    table = columns(">size", *([">version"] if versions else []), ">max relative error", ">races", ">faults", "")
    for one in reports:
        error, marks = (
            one["max_rel_error"],
            {True: ("✓", "green"), False: ("✗ wrong", "bold red"), None: ("not compared", "dim")},
        )
        seen = ["–" if one[what] is None else str(len(one[what])) for what in ("races", "faults")]
        version = [str(one["version"]["number"])] if versions else []
        table.add_row(
            str(one["size"]), *version, "–" if error is None else f"{error:.2e}", *seen, Text(*marks[one["ok"]])
        )
    wrong = [str(one["size"]) for one in reports if one["ok"] is False]
    how = (
        Text(f"✗ wrong at {', '.join(wrong)}", "bold red")
        if wrong
        else Text(f"✓ {count(len(reports), 'size')}", "bold green")
    )
    return Group(table, how)


def _verdict(report: Report) -> Text:
    if report.ok is None:
        return Text.assemble(("done", "bold"), f" on {report.device}: nothing to compare with")
    if report.ok:
        checked = "the outputs match, nothing raced" if report.races is not None else "the outputs match"
        kernels = list(dict.fromkeys(kernel.name for kernel in report.kernels if kernel.unproven is not None))
        unproven = (f"; not proven race-free: {', '.join(kernels)}", "yellow") if kernels else ""
        unchecked = ("; built without a comparison", "yellow") if report.unchecked is not None else ""
        return Text.assemble(("✓ right", "bold green"), f" on {report.device}: {checked}", unproven, unchecked)
    reasons = [count(len(report.races or ()), "race")] if report.races else []
    reasons += [count(len(report.faults or ()), "fault")] if report.faults else []
    reasons += [f"{o.name} differs from the reference" for o in report.outputs if o.ok is False]
    return Text.assemble(("✗ wrong", "bold red"), f" on {report.device}: {', '.join(reasons)}")


# ---- the steps alone -----------------------------------------------------------------------------


def show_steps(done: Applied, console: Console, *, snapshots: bool, diffs: bool) -> None:
    """Prints every step with its remarks, and the module after it or the diff."""
    from .changes import change, rows

    before = done.payload
    for number, step in enumerate(done.session.steps, 1):
        console.print(Text(f"// {number}: {step.text}  ({duration(step.seconds)})", "bold"), soft_wrap=True)
        for remark in step.remarks:
            console.print(Text(f"//   {remark}", "dim"), soft_wrap=True)
        for text in step.shown:
            console.print(Text("\n".join(f"//   {line}" for line in text.splitlines())), soft_wrap=True)
        if snapshots:
            console.print(Text(step.ir.rstrip()), soft_wrap=True)
        for row in itertools.chain(*rows(change(before, step.module), sys.maxsize)) if diffs else ():
            console.print(row, soft_wrap=True)
        before = step.module


# ---- quantities -----------------------------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    """A duration: `40 µs`, `4.2 ms`, `31 ms`, `1.3 s`."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    if seconds < 1e-4:
        return f"{seconds * 1e6:.0f} µs"
    milliseconds = seconds * 1e3
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"


def size(number: int) -> str:
    """A size in bytes: `512 B`, `2 KiB`, `16.5 KiB`, `40 MiB`."""
    if number < 1024:
        return f"{number} B"
    return f"{number / 1024:.4g} KiB" if number < 2**20 else f"{number / 2**20:.4g} MiB"


def extent(dims: tuple[int, int, int]) -> str:
    """`(32, 16, 1)` as x × y × z, without trailing ones."""
    kept = list(dims)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return " × ".join(map(str, kept))
