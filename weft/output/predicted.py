"""The output of `weft run --predict`: the time of each launch, its limiting resource, and the use
of the schedulers' clocks."""

from __future__ import annotations

import math

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..dsl.diagnostics import count
from ..runtime.predict.prediction import KernelPrediction, Prediction
from .tables import columns

LEAST = 0.0005
"""Smaller shares are not shown."""


def show_prediction(console: Console, found: Prediction) -> None:
    """Prints a prediction."""
    for kernel in found.kernels:
        _show(console, kernel)
    if len(found.kernels) > 1:
        speed = f", {_rate(found.rate)} of the payload" if found.rate and found.flops else ""
        console.print(Text(f"{count(len(found.kernels), 'launch')}: {_time(found.seconds)}{speed}"), soft_wrap=True)
        if found.beside >= LEAST:
            console.print(
                Text(f"  {found.beside:.1%} of the operations are padding, or not in the payload"), soft_wrap=True
            )
    told = f"predicted for {found.title} ({found.arch}) by a model that runs the code; no GPU was used"
    console.print(Text(told, "dim"), soft_wrap=True)


def _time(seconds: float) -> str:
    """A time: `9.8 µs`, `107 µs`, `2.94 ms`."""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.4g} ms"


def _rate(rate: float) -> str:
    """A rate: `0.17 TFLOP/s`, `21.3 TFLOP/s`."""
    return f"{rate / 1e12:.{1 if rate >= 1e12 else 2}f} TFLOP/s"


def _share(share: float) -> str:
    """A share: `29.4%`, `0.007%`."""
    return f"{share:.1%}" if share >= 0.001 else f"{share * 100:.1g}%"


def _show(console: Console, kernel: KernelPrediction) -> None:
    known = kernel.flops and kernel.work  # otherwise the share of padding is undefined
    speed = f", {_rate(kernel.rate)} ({_share(kernel.share)} of the peak)" if known else ""
    console.print(Text.assemble((f"@{kernel.name}", "bold"), ": ", (_time(kernel.seconds), "bold"), speed))
    grid = "×".join(str(n) for n in kernel.grid if n > 1) + " blocks" if math.prod(kernel.grid) > 1 else "1 block"
    grid += f" in clusters of {kernel.cluster}" if kernel.cluster > 1 else ""
    spills = f", {kernel.spill_bytes} bytes spilled" if kernel.spill_bytes else ""
    rounds = f"{kernel.rounds:.2f}".rstrip("0").rstrip(".") + (" round" if kernel.rounds == 1 else " rounds")
    lines = [
        f"limited by: {kernel.limit}",
        f"{grid} of {count(kernel.threads, 'thread')}, {count(kernel.registers, 'register')} each{spills}, "
        f"{kernel.shared_bytes} bytes of shared memory",
        f"{count(kernel.resident, 'block')} per multiprocessor, {rounds}",
    ]
    if kernel.working < math.prod(kernel.grid):
        lines.append(f"{kernel.working} of them with work, the others end at once")
    if kernel.idle:
        lines.append(f"{count(kernel.idle, 'multiprocessor')} without work")
    if kernel.assumed:
        lines.append(
            f"{count(kernel.assumed, 'access')} with data-dependent addresses: counted as one sector per thread"
        )
    for line in lines:
        console.print(Text(f"  {line}"), soft_wrap=True)
    of_all = (
        {"of the payload": 1 - kernel.beside, "padding, or not in the payload": kernel.beside}
        if kernel.beside >= LEAST
        else {}
    )
    for title, shares in (("operations", of_all), ("schedulers' clocks", kernel.issue), ("in use", kernel.busy)):
        if not shares:
            continue
        table = columns(title, ">share")
        for name, share in shares.items():
            if share >= LEAST:
                table.add_row(name, f"{share:.1%}")
        console.print(Padding(table, (1, 0, 0, 2)))
    console.print()
