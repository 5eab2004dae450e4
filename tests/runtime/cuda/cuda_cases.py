"""The kernels of `kernels/*.mlir`, parsed and written once for all tests of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from weft.interpreter.ir.functions import sizes_of
from weft.interpreter.ir.mlir import context, ir, parse
from weft.runtime.cuda.module import emit, kernel_functions

HERE = Path(__file__).parent
MODULES = sorted(p.stem for p in (HERE / "kernels").glob("*.mlir"))


@cache
def module(name: str) -> ir.Module:
    return parse((HERE / "kernels" / f"{name}.mlir").read_text(), context())


@cache
def emitted(name: str, *, named: bool = False) -> str:
    return emit(module(name), named=named)


def emit_text(text: str) -> str:
    """The kernels of an MLIR text."""
    parsed = parse(text, context())
    return emit(parsed)


def launch_sizes(name: str, kernel: str) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The grid and the block that a kernel is made for."""
    (function,) = (k.op for k in kernel_functions(module(name)) if k.symbol == f"{name}::{kernel}")
    grid, block = (sizes_of(function, f"known_{what}_size") for what in ("grid", "block"))
    assert grid is not None and block is not None
    return grid, block
