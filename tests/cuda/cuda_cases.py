"""The kernels of `kernels/*.mlir`, parsed and written once for all tests of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from weft.interpreter.ir.mlir import context, ir, parse
from weft.runtime.cuda import Emitted, emit_module

HERE = Path(__file__).parent
MODULES = sorted(p.stem for p in (HERE / "kernels").glob("*.mlir"))


@cache
def module(name: str) -> ir.Module:
    return parse((HERE / "kernels" / f"{name}.mlir").read_text(), context())


@cache
def emitted(name: str) -> Emitted:
    return emit_module(module(name))


def emit_text(text: str) -> Emitted:
    """The kernels of an MLIR text."""
    parsed = parse(text, context())
    return emit_module(parsed)
