"""Random programs of launches on random buffers, and an order of their operations that is read off the tokens alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from contexts import one_context

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir

TYPE = "memref<64xf32>"


@dataclass(frozen=True)
class LaunchSpec:
    """Numbers of the buffers that one launch reads and writes."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]

    def conflicts(self, later: LaunchSpec) -> bool:
        mine, theirs = set(self.writes), set(later.writes)
        return bool(mine & (set(later.reads) | theirs) or set(self.reads) & theirs)


def random_launches(count: int, buffers: int, seed: int) -> list[LaunchSpec]:
    draw = random.Random(seed)
    made: list[LaunchSpec] = []
    for _ in range(count):
        used = draw.sample(range(buffers), k=min(buffers, draw.randint(1, 4)))
        cut = draw.randint(0, len(used) - 1)
        made.append(LaunchSpec(tuple(used[:cut]), tuple(used[cut:])))
    return made


def program(launches: Sequence[LaunchSpec], buffers: int, *, attributes: str = "") -> str:
    """A host function that launches them in order, on arguments `b0`, `b1`, …, each kernel with a number of its own in it."""
    kernels = "\n".join(_kernel(i, spec) for i, spec in enumerate(launches))
    calls = "\n".join(_launch(i, spec) for i, spec in enumerate(launches))
    arguments = ", ".join(f'%b{i}: {TYPE} {{weft.name = "b{i}"}}' for i in range(buffers))
    return (
        f"module attributes {{gpu.container_module}} {{\n{kernels}\n"
        f"func.func @main({arguments}) {attributes} {{\n%c1 = arith.constant 1 : index\n%c64 = arith.constant 64 : index\n"
        f"{calls}\nreturn\n}}\n}}"
    )


def _kernel(number: int, spec: LaunchSpec) -> str:
    """Every buffer written becomes a sum of what it was, what is read, and the launch's number: no two orders agree."""
    names = [*(f"%r{i}" for i in range(len(spec.reads))), *(f"%w{i}" for i in range(len(spec.writes)))]
    body = [f"%s0 = arith.constant {number + 1}.0 : f32", "%half = arith.constant 0.5 : f32"]
    for i in range(len(spec.reads)):
        body += [f"%v{i} = memref.load %r{i}[%i] : {TYPE}", f"%s{i + 1} = arith.addf %s{i}, %v{i} : f32"]
    for i in range(len(spec.writes)):
        body += [
            f"%o{i} = memref.load %w{i}[%i] : {TYPE}",
            f"%h{i} = arith.mulf %o{i}, %half : f32",
            f"%n{i} = arith.addf %h{i}, %s{len(spec.reads)} : f32",
            f"memref.store %n{i}, %w{i}[%i] : {TYPE}",
        ]
    arguments = ", ".join(f"{n}: {TYPE}" for n in names)
    lines = "\n".join(body)
    return f"gpu.module @k{number} {{ gpu.func @k{number}({arguments}) kernel {{\n%i = gpu.thread_id x\n{lines}\ngpu.return\n}} }}"


def _launch(number: int, spec: LaunchSpec) -> str:
    arguments = ", ".join(f"%b{i} : {TYPE}" for i in (*spec.reads, *spec.writes))
    return f"gpu.launch_func @k{number}::@k{number} blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args({arguments})"


def parsed(text: str) -> ir.Module:
    return mlir.parse(text, one_context())


def host(module: ir.Module, name: str = "main") -> ir.Operation:
    return next(
        f for f in mlir.operations(module.operation, "func.func") if str(f.attributes["sym_name"]) == f'"{name}"'
    )


def ordered_before(function: ir.Operation, *names: str) -> list[set[int]]:
    """For each op with one of `names`, by number in program order: those that are certainly done before it starts.

    A plain reading: a token stands for all that its op waited for and the op itself; a blocking wait holds up all that
    comes after it, and so does an op without a token.
    """
    done: set[int] = set()
    behind: dict[ir.Value, set[int]] = {}
    found: list[set[int]] = []
    for op in mlir.operations(function):
        if op.name != "gpu.wait" and op.name not in names:
            continue
        tokens = [v for v in op.operands if str(v.type) == "!gpu.async.token"]
        before = done.union(*(behind[t] for t in tokens))
        after = before
        if op.name in names:
            found.append(before)
            after = before | {len(found) - 1}
        results = [r for r in op.results if str(r.type) == "!gpu.async.token"]
        for token in results:
            behind[token] = after
        if not results:
            done = done | after
    return found


def dependencies(op: ir.Operation) -> list[ir.Value]:
    return [v for v in op.operands if str(v.type) == "!gpu.async.token"]
