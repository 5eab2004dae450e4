"""Launches in place on random windows of one matrix, forked: those are ordered that share elements, and no others.

Each launch reads a window and writes another one (or the same). Enumeration says which of them depend on each other. Then one edge
is taken away: `verify` objects, and the simulator sees a race between streams, where a pair lost its order, and nowhere else.
5 programs in a test run, 150 in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from contexts import one_context
from test_lost_edges import Graph

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.pipeline import Choice, applied
from weft.runtime.host.host import make_plan
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

SEEDS = range(150 if "WEFT_SOAK" in os.environ else 5)
SIDE = 12


@dataclass(frozen=True)
class Patch:
    """Rows and columns of the matrix."""

    row: int
    column: int
    height: int
    width: int

    @property
    def elements(self) -> frozenset[int]:
        rows, columns = range(self.row, self.row + self.height), range(self.column, self.column + self.width)
        return frozenset(r * SIDE + c for r, c in product(rows, columns))

    def view(self, name: str) -> str:
        at, sizes = f"{self.row}, {self.column}", f"{self.height}, {self.width}"
        return f"%{name} = memref.subview %A[{at}] [{sizes}] [1, 1] : memref<{SIDE}x{SIDE}xf32> to {self.type}"

    @property
    def type(self) -> str:
        return f"memref<{self.height}x{self.width}xf32, strided<[{SIDE}, 1], offset: {self.row * SIDE + self.column}>>"


def random_graph(seed: int) -> tuple[Graph, str]:
    """Launches with the elements that they read and write, and the payload that becomes them."""
    draw = random.Random(seed)
    reads: list[frozenset[int]] = []
    writes: list[frozenset[int]] = []
    lines: list[str] = []
    while len(reads) < 5:
        height, width = draw.choice([(4, 4), (2, 6), (6, 2), (3, 3)])
        source, target = (
            Patch(draw.randrange(0, SIDE - height + 1, 2), draw.randrange(0, SIDE - width + 1, 2), height, width) for _ in "xy"
        )
        if source != target and source.elements & target.elements:
            continue
        n = len(reads)
        reads.append(source.elements | target.elements)
        writes.append(target.elements)
        lines += [source.view(f"x{n}"), target.view(f"y{n}")]
        lines.append(f"linalg.add ins(%x{n}, %y{n} : {source.type}, {target.type}) outs(%y{n} : {target.type})")
    head = f"func.func @f(%A: memref<{SIDE}x{SIDE}xf32>) {{"
    return Graph(tuple(reads), tuple(writes), frozenset()), "\n".join([head, *lines, "return", "}"])


def forked(folder: Path, payload: str, count: int) -> str:
    body = [f"let op{n} = match linalg.add #{n}" for n in range(count)]
    body += [f"map op{n} to grid(y, x)\nlaunch op{n}" for n in range(count)]
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text('payload "p.mlir"\nschedule s() {\n' + "\n".join([*body, "async-fork"]) + "\n}\n")
    return applied(Choice(str(folder / "s.weft"), None, {}).open()).text


LAUNCH = re.compile(r"(%\w+) = gpu\.launch_func async \[(%\w+)\] (.*)")
JOIN = re.compile(r"(%\w+) = gpu\.wait async(?: \[(.*)\])?")


def edges_of(text: str) -> frozenset[tuple[int, int]]:
    """Which launches each waits for, by the tokens."""
    behind: dict[str, frozenset[int]] = {}
    found: set[tuple[int, int]] = set()
    count = 0
    for line in map(str.strip, text.splitlines()):
        if (join := JOIN.match(line)) is not None:
            waits = [token for token in (join[2] or "").split(", ") if token]
            behind[join[1]] = frozenset[int]().union(*(behind[token] for token in waits))
        elif (launch := LAUNCH.match(line)) is not None:
            found |= {(earlier, count) for earlier in behind[launch[2]]}
            behind[launch[1]] = frozenset((count,))
            count += 1
    return frozenset(found)


def rewritten(text: str, graph: Graph) -> str:
    """The same launches, ordered by the graph's edges alone."""
    launches, count = [found[3] for found in LAUNCH.finditer(text)], len(graph.reads)
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if "gpu.wait async" in line)
    last = next(n for n, line in enumerate(lines) if line.strip().startswith("gpu.wait ["))
    out = [line for line in lines[first:last] if not re.search(JOIN.pattern + "|" + LAUNCH.pattern, line)]
    for n, launch in enumerate(launches):
        waits = [f"%k{a}_{n}" for a, b in sorted(graph.edges) if b == n]
        out.append(f"%r{n} = gpu.wait async" + (f" [{', '.join(waits)}]" if waits else ""))
        out.append(f"%t{n} = gpu.launch_func async [%r{n}] {launch}")
        out += [f"%k{n}_{b} = gpu.wait async [%t{n}]" for b in range(n + 1, count) if (n, b) in graph.edges]
    ends = ", ".join(f"%t{n}" for n in range(count) if not any(a == n for a, _ in graph.edges))
    return "\n".join([*lines[:first], *out, f"gpu.wait [{ends}]", *lines[last + 1 :]])


def objected(text: str) -> bool:
    """Whether `verify` finds launches that are not ordered."""
    codes = {d.code for d in verify_source(Source("p.mlir", text)).diagnostics}
    assert codes <= {"W0629"}, codes
    return bool(codes)


def raced(text: str) -> bool:
    """Whether the simulator sees two streams on one element."""
    plan = make_plan(mlir.parse(text, one_context()))
    inputs = {b.name: np.ones((SIDE, SIDE), np.float32) for b in plan.inputs}
    return bool(run_plan(plan, SimDevice(), inputs, text=text).races)


@pytest.mark.parametrize("seed", SEEDS)
def test_launches_that_share_elements_are_ordered_and_no_others(seed: int, tmp_path: Path) -> None:
    graph, payload = random_graph(seed)
    text = forked(tmp_path, payload, len(graph.reads))
    made = Graph(graph.reads, graph.writes, edges_of(text))
    assert not made.unordered(), f"{made.unordered()} are not ordered\n{payload}"
    assert all(made.conflict(a, b) for a, b in made.edges), f"an edge is too many: {sorted(made.edges)}\n{payload}"
    assert not objected(text) and not raced(text)
    for edge in sorted(made.edges):
        broken = Graph(graph.reads, graph.writes, made.edges - {edge})
        other, lost = rewritten(text, broken), bool(broken.unordered())
        assert objected(other) == raced(other) == lost, f"without {edge}\n{other}"


def test_the_programs_have_launches_of_both_kinds() -> None:
    graphs = [random_graph(seed)[0] for seed in SEEDS]
    pairs = [graph.conflict(a, b) for graph in graphs for b in range(len(graph.reads)) for a in range(b)]
    assert 0.1 < sum(pairs) / len(pairs) < 0.9
