"""Modules with one mapped loop, and who should own its iterations: the design's table, written down a second time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from contexts import one_context
from evaluator import Buffer, Evaluator, Store

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.launch.launch import LaunchInfo, launch_loop

ROOT = "weft.h1"


def mapped(
    space: str,
    axes: str,
    counts: Sequence[int],
    dist: str | None = None,
    chunk: int | None = None,
    vector: int | None = None,
) -> str:
    """The `weft.map` attribute, spelled."""
    parts = [f'space = "{space}"']
    if axes == "*":
        parts.append("all")
    else:
        parts.append("axes = [" + ", ".join(f'"{a}"' for a in axes) + "]")
        parts.append("counts = array<i64: " + ", ".join(map(str, counts)) + ">")
    parts += [f'dist = "{dist}"'] if dist else []
    parts += [f"chunk = {chunk} : i64"] if chunk is not None else []
    parts += [f"vector = {vector} : i64"] if vector is not None else []
    return "{weft.map = {" + ", ".join(parts) + "}}"


def loop_module(
    trips: Sequence[int], attribute: str, *, dynamic: bool = False, lower: int = 0, step: int = 1, name: str = "f"
) -> str:
    """A loop that stores once per iteration, to the element of its loop variables; over blocks, a single thread does it.

    Dynamic: the upper bounds are arguments.
    """
    rank = len(trips)
    uppers = [lower + n * step for n in trips]
    bounds = [f"%n{d}" if dynamic else str(u) for d, u in enumerate(uppers)]
    arguments = "".join(f", %n{d}: index" for d in range(rank)) if dynamic else ""
    shape = "x".join(["?"] * rank if dynamic else [str(max(u, 1)) for u in uppers])
    ivs = ", ".join(f"%i{d}" for d in range(rank))
    header = f"({ivs}) in ({', '.join(bounds)})"
    if lower or step != 1:
        header = f"({ivs}) = ({', '.join([str(lower)] * rank)}) to ({', '.join(bounds)}) step ({', '.join([str(step)] * rank)})"
    tagged = attribute.replace("{weft.map", f"{{{ROOT}, weft.map", 1)
    store = f"memref.store %one, %out[{ivs}] : memref<{shape}xi32>"
    if '"blocks"' in attribute:
        store = f"scf.forall (%t) in (1) {{ {store} }} {mapped('threads', 'x', [1])}"
    return f"""\
func.func @{name}(%out: memref<{shape}xi32> {{weft.name = "out"}}{arguments}) {{
  %one = arith.constant 1 : i32
  scf.forall {header} {{
    {store}
  }} {tagged}
  return
}}
"""


def launched(text: str) -> tuple[ir.Module, LaunchInfo]:
    """The module after its tagged loop was launched, verified and read back from its own text."""
    module = mlir.parse(text, one_context())
    (root,) = [op for op in mlir.operations(module.operation) if ROOT in op.attributes]
    info = launch_loop(module, root)
    module.operation.verify()
    mlir.run_passes(module, "func.func(cse)")
    mlir.parse(str(module), module.context)
    return module, info


def placed(text: str) -> str:
    """Locations without the name that the parser gives to a text that is not a file."""
    return re.sub(r" at [^ :]+:(\d+:\d+)", r" at \1", text)


def stores_of(
    module: ir.Module,
    trips: Sequence[int],
    *,
    dynamic: bool = False,
    lower: int = 0,
    step: int = 1,
    **sizes: tuple[int, int, int],
) -> list[Store]:
    """Run a `loop_module` after its launch; its stores in order."""
    uppers = [lower + n * step for n in trips]
    judge = Evaluator(module)
    out = Buffer(tuple(max(u, 1) for u in uppers), lambda at: 0)
    judge.run("f", [out, *uppers] if dynamic else [out], **sizes)
    return judge.stores


def owner(iteration: int, trips: int, processors: int, dist: str | None, chunk: int | None) -> int:
    """Which processor does an iteration: the design's table."""
    if dist is None:
        return iteration
    if dist == "block":
        return iteration // -(-trips // processors)
    return (iteration // (1 if dist == "cyclic" else chunk or 1)) % processors
