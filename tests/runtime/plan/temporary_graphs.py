"""Host programs of launches on temporaries: chains, diamonds, forks, and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from launch_graphs import parsed

from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir.mlir import ir
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import Plan

Graph = Sequence[tuple[str, tuple[str, ...]]]
"""Launches: what each writes, and what it reads. `x` is an input, `y` is what the last one writes, all others are temporaries."""

CHAIN: Graph = [("a", ("x",)), ("b", ("a",)), ("c", ("b",)), ("d", ("c",)), ("y", ("d",))]
DIAMOND: Graph = [
    ("a", ("x",)), ("b", ("a",)), ("c", ("a",)), ("d", ("b", "c")), ("e", ("d",)), ("f", ("d",)), ("g", ("e", "f")), ("y", ("g",)),
]  # fmt: skip
FORK: Graph = [
    ("a", ("x",)), ("b", ("a",)), ("c", ("b",)), ("d", ("x",)), ("e", ("d",)), ("f", ("e",)), ("g", ("c", "f")),
    ("h", ("g",)), ("i", ("h",)), ("j", ("g",)), ("k", ("j",)), ("y", ("i", "k")),
]  # fmt: skip
SHAPES: Mapping[str, Graph] = {"chain": CHAIN, "diamond": DIAMOND, "fork": FORK}


def random_graph(seed: int, count: int = 12) -> Graph:
    draw = random.Random(seed)
    made: list[tuple[str, tuple[str, ...]]] = []
    for number in range(count):
        known = ["x", *(name for name, _ in made[-5:])]
        made.append((f"t{number}", tuple(draw.sample(known, k=min(len(known), draw.randint(1, 2))))))
    used = {name for _, reads in made for name in reads}
    return [*made, ("y", tuple(name for name, _ in made if name not in used))]


def planned(graph: Graph, *, streams: bool, sizes: Mapping[str, int] | None = None) -> tuple[Plan, str]:
    """The plan, and the text for a simulator. `sizes`: elements of the temporaries, else 64."""
    module = parsed(text(graph, sizes or {}))
    if streams:
        with module.context, ir.Location.unknown():
            async_fork(module, noalias=())
    return make_plan(module), str(module)


def text(graph: Graph, sizes: Mapping[str, int]) -> str:
    def kind(name: str) -> str:
        return f"memref<{sizes.get(name, 64)}xf32>"

    kernels, calls = [], []
    for number, (name, reads) in enumerate(graph):
        used = {f"%r{i}": kind(read) for i, read in enumerate(reads)} | {"%w": kind(name)}
        lines = [f"%s0 = arith.constant {number + 1}.0 : f32", "%m = arith.constant 64 : index"]
        count = sizes.get(name, 64)
        for i, read in enumerate(reads):
            lines += [f"%c{i} = arith.constant {sizes.get(read, 64)} : index", f"%i{i} = arith.remui %i, %c{i} : index"]
            lines += [f"%v{i} = memref.load %r{i}[%i{i}] : {kind(read)}", f"%s{i + 1} = arith.addf %s{i}, %v{i} : f32"]
        lines.append(f"memref.store %s{len(reads)}, %w[%i] : {kind(name)}")
        arguments = ", ".join(f"{value}: {type_}" for value, type_ in used.items())
        body = "\n".join(lines)
        kernels.append(
            f"gpu.module @k{number} {{ gpu.func @k{number}({arguments}) kernel {{\n%i = gpu.thread_id x\n{body}\ngpu.return\n}} }}"
        )
        given = ", ".join(f"%{each} : {kind(each)}" for each in (*reads, name))
        calls.append(
            f"%n{number} = arith.constant {count} : index\ngpu.launch_func @k{number}::@k{number} blocks in (%c1, %c1, %c1)"
            f" threads in (%n{number}, %c1, %c1) args({given})"
        )
    temporaries = [name for name, _ in graph if name != "y"]
    allocated = "\n".join(f'%{name} = memref.alloc() {{weft.name = "{name}"}} : {kind(name)}' for name in temporaries)
    both = ", ".join(f'%{name}: {kind(name)} {{weft.name = "{name}"}}' for name in ("x", "y"))
    return (
        "module attributes {gpu.container_module} {\n" + "\n".join(kernels) + f"\nfunc.func @main({both}) {{\n"
        f"%c1 = arith.constant 1 : index\n{allocated}\n" + "\n".join(calls) + "\nreturn\n}\n}"
    )
