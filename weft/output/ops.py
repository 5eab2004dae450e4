"""The table of a program's ops: which schedule mapped each, and which kernels execute it; by kernel
for a terminal, by op for a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..dsl.diagnostics import count
from ..runtime.run.report import OpUse
from .svg import drawing_of
from .tables import columns

LISTED = 4
"""The number of ops of a kernel that the table for a terminal names."""
WIDTH = 140
"""Columns of the picture."""


def summary(ops: Sequence[OpUse]) -> str:
    """A line such as `34 ops in 14 kernels, 21 launches: 20 by rest › by_threads, 14 by simt`."""
    launches = _launches(ops)
    where = f"{count(len(ops), 'op')} in {count(len(launches), 'kernel')}, {count(sum(launches.values()), 'launch')}"
    by = Counter(op.schedule for op in ops if op.schedule is not None)
    left = sum(not op.kernels for op in ops)
    parts = [f"{number} by {schedule}" for schedule, number in by.most_common()]
    return f"{where}: {', '.join([*parts, *([f'{left} in no kernel'] if left else [])])}"


def by_kernel(ops: Sequence[OpUse]) -> Table:
    """A row for each kernel: its launches, its ops, the schedules that mapped them; a last row for
    the ops in no kernel."""
    table = columns("kernel", ">launches", "ops", "schedule")
    for kernel, launches in _launches(ops).items():
        mine = [op for op in ops if kernel in op.kernels]
        schedules = dict.fromkeys(op.schedule for op in mine if op.schedule is not None)
        table.add_row(Text(kernel, "bold"), str(launches), _named(mine), ", ".join(schedules))
    if left := [op for op in ops if not op.kernels]:
        table.add_row(Text("–", "dim"), "–", _named(left), Text("moved by copies, or read through", "dim"))
    return table


def picture(ops: Sequence[OpUse]) -> str:
    """A row for each op, as a standalone SVG."""
    return drawing_of([Text(summary(ops), "bold"), Text(), by_op(ops)], WIDTH)


def by_op(ops: Iterable[OpUse]) -> RenderableType:
    """A row for each op, in program order."""
    table = columns("op", "kind", "place", "schedule", "kernels", ">launches")
    for op in ops:
        kernels = ", ".join(op.kernels) or "–"
        table.add_row(
            Text(op.label or "–", "bold"),
            op.kind,
            op.place.rpartition("/")[2],
            op.schedule or "–",
            kernels,
            str(op.launches),
        )
    return table


def _launches(ops: Iterable[OpUse]) -> dict[str, int]:
    """The launches of each kernel, in the order of the first op of each."""
    return {kernel: launches for op in ops for kernel, launches in op.kernels.items()}


def _named(ops: Sequence[OpUse]) -> str:
    """Labels, or kinds with their numbers; fills last."""
    found = Counter(op.label or op.kind for op in sorted(ops, key=lambda op: op.kind == "fill"))
    words = [name if number == 1 else f"{number} × {name}" for name, number in found.items()]
    more = [f"and {len(words) - LISTED} more"] if len(words) > LISTED else []
    return ", ".join([*words[:LISTED], *more])


def lines_of(ops: Sequence[OpUse], every: bool) -> Iterator[RenderableType]:
    """The output of `weft show-ops`: the summary first; `every`: a row for each op."""
    yield Text(summary(ops), "bold")
    yield by_op(ops) if every else by_kernel(ops)
