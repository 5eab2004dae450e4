"""Random forked host functions: none is objected to; without any one of its edges, the pair that lost its order is named."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from work import lines_run, seconds_computed

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import HostFindings, judge_host
from weft.payloads.naming import WrittenNames

TYPE = "memref<8xf32>"
MODULE = "module attributes {gpu.container_module}"


@dataclass(frozen=True)
class Graph:
    """Launches with the buffers they read and write, and the earlier launches each waits for."""

    reads: tuple[frozenset[int], ...]
    writes: tuple[frozenset[int], ...]
    edges: frozenset[tuple[int, int]]

    def conflict(self, a: int, b: int) -> bool:
        touched = self.reads[a] | self.writes[a]
        return bool(self.writes[a] & (self.reads[b] | self.writes[b]) or touched & self.writes[b])

    def ordered(self) -> set[tuple[int, int]]:
        """All pairs that edges order, by Warshall's closure."""
        found = set(self.edges)
        count = len(self.reads)
        for k in range(count):
            for i in range(k):
                found |= {(i, j) for j in range(k + 1, count) if (i, k) in found and (k, j) in found}
        return found

    def unordered(self) -> set[tuple[int, int]]:
        count, ordered = len(self.reads), self.ordered()
        return {
            (a, b) for b in range(count) for a in range(b) if self.conflict(a, b) and (a, b) not in ordered
        }  # fmt: skip


def random_graph(seed: int, count: int = 12, buffers: int = 5) -> Graph:
    """A launch waits for each earlier one that it conflicts with and that no other edge already orders."""
    draw = random.Random(seed)
    used = [draw.sample(range(buffers), k=draw.randint(1, 3)) for _ in range(count)]
    cuts = [draw.randint(0, len(u)) for u in used]
    reads = tuple(frozenset(u[:c]) for u, c in zip(used, cuts, strict=True))
    writes = tuple(frozenset(u[c:]) for u, c in zip(used, cuts, strict=True))
    graph = Graph(reads, writes, frozenset())
    for b in range(count):
        before: set[int] = set()
        for a in reversed(range(b)):
            if graph.conflict(a, b) and a not in before:
                graph = Graph(reads, writes, graph.edges | {(a, b)})
                before |= {a, *(x for x, y in graph.ordered() if y == a)}
    return graph


def text(graph: Graph) -> str:
    """Every use of a token but the last is an explicit fork; joins are; whatever nobody waits for, the host does."""
    count = len(graph.reads)
    out = ["%c1 = arith.constant 1 : index"]
    left = {a: sum(1 for x, _ in graph.edges if x == a) for a in range(count)}
    fresh = iter(range(10**6))

    def token(a: int) -> str:
        left[a] -= 1
        if left[a] <= 0:
            return f"%t{a}"
        out.append(f"%f{(n := next(fresh))} = gpu.wait async [%t{a}]")
        return f"%f{n}"

    for b in range(count):
        waits = [token(a) for a, y in sorted(graph.edges) if y == b]
        if len(waits) != 1:
            out.append(f"%j{b} = gpu.wait async" + (f" [{', '.join(waits)}]" if waits else ""))
            waits = [f"%j{b}"]
        given = ", ".join(f"%b{i} : {TYPE}" for i in (*sorted(graph.reads[b]), *sorted(graph.writes[b])))
        out.append(
            f"%t{b} = gpu.launch_func async [{waits[0]}] @k::@k{b} blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) "
            f"args({given})"
        )
    ends = [f"%t{a}" for a in range(count) if not any(x == a for x, _ in graph.edges)]
    out.append(f"gpu.wait [{', '.join(ends)}]")
    buffers = 1 + max(max(r | w) for r, w in zip(graph.reads, graph.writes, strict=True))
    arguments = ", ".join(f"%b{i}: {TYPE}" for i in range(buffers))
    kernels = "\n".join(_kernel(b, sorted(graph.reads[b]), sorted(graph.writes[b])) for b in range(count))
    lines = "\n".join(out)
    return f"{MODULE} {{\ngpu.module @k {{\n{kernels}\n}}\nfunc.func @main({arguments}) {{\n{lines}\nreturn\n}}\n}}\n"


def _kernel(number: int, reads: list[int], writes: list[int]) -> str:
    arguments = ", ".join(f"%a{i}: {TYPE}" for i in range(len(reads) + len(writes)))
    body = ["%i = gpu.thread_id x", "%z = arith.constant 0.0 : f32"]
    body += [f"%v{i} = memref.load %a{i}[%i] : {TYPE}" for i in range(len(reads))]
    body += [f"memref.store %z, %a{len(reads) + i}[%i] : {TYPE}" for i in range(len(writes))]
    return f"gpu.func @k{number}({arguments}) kernel {{\n" + "\n".join(body) + "\ngpu.return\n}"


def judged(graph: Graph) -> tuple[list[str], set[tuple[int, int]]]:
    """The codes, and the pairs of launches that are named as unordered."""
    source = Source("p.mlir", text(graph))
    module = mlir.parse(source.text, mlir.context())
    function = next(iter(mlir.operations(module.operation, "func.func")))
    said = judge_host(function, Effects(module), source=source, names=WrittenNames(source)).diagnostics
    pairs: set[tuple[int, int]] = set()
    for diagnostic in said:
        first, second = (int(n) for n in re.findall(r"@k::k(\d+)", "\n".join(diagnostic.notes[:2])))
        pairs.add((first, second))
    return [d.code for d in said], pairs


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_pair_that_lost_its_edge_is_named(seed: int) -> None:
    graph = random_graph(seed)
    assert graph.unordered() == set()
    assert judged(graph) == ([], set())
    for edge in sorted(graph.edges):
        broken = Graph(graph.reads, graph.writes, graph.edges - {edge})
        codes, pairs = judged(broken)
        assert set(codes) == {"W0629"}
        assert edge in pairs
        assert pairs <= broken.unordered()
        repaired = Graph(graph.reads, graph.writes, broken.edges | pairs)
        assert repaired.unordered() == set()  # the edges that it asks for are enough


def chains(count: int, buffers: int) -> str:
    """Launches that write one of `buffers` each, on a chain per buffer, and one wait for all of them."""
    body = [f"%t{i} = gpu.wait async" for i in range(buffers)]
    for n in range(count):
        before = f"%t{n}"
        body.append(
            f"%t{n + buffers} = gpu.launch_func async [{before}] @k::@k0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) "
            f"args(%b{n % buffers} : {TYPE})"
        )
    ends = ", ".join(f"%t{count + i}" for i in range(buffers))
    arguments = ", ".join(f"%b{i}: {TYPE}" for i in range(buffers))
    lines = "\n".join(body)
    return (
        f"{MODULE} {{\ngpu.module @k {{\n{_kernel(0, [], [0])}\n}}\nfunc.func @main({arguments}) {{\n"
        f"%c1 = arith.constant 1 : index\n{lines}\ngpu.wait [{ends}]\nreturn\n}}\n}}\n"
    )


def branches(count: int) -> str:
    """Launches, each of which is waited for in one arm of a branch of its own, or behind it."""
    body = [
        f"%q{n} = memref.load %flags[%c0] : memref<1xi1>\n%r{n} = gpu.wait async\n"
        f"%l{n} = gpu.launch_func async [%r{n}] @k::@k0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : {TYPE})\n"
        f"%t{n} = scf.if %q{n} -> (!gpu.async.token) {{\ngpu.wait [%l{n}]\n%e{n} = gpu.wait async\n"
        f"scf.yield %e{n} : !gpu.async.token\n}} else {{\nscf.yield %l{n} : !gpu.async.token\n}}\ngpu.wait [%t{n}]"
        for n in range(count)
    ]
    lines = "\n".join(body)
    return (
        f"{MODULE} {{\ngpu.module @k {{\n{_kernel(0, [], [0])}\n}}\nfunc.func @main(%b: {TYPE}, %flags: memref<1xi1>) {{\n"
        f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n{lines}\nreturn\n}}\n}}\n"
    )


def judging(text: str) -> Callable[[], HostFindings]:
    """Judges the module, when it is called."""
    source = Source("p.mlir", text)
    module = mlir.parse(source.text, mlir.context())

    def judge() -> HostFindings:
        function = next(iter(mlir.operations(module.operation, "func.func")))
        return judge_host(function, Effects(module), source=source, names=WrittenNames(source))

    return judge


def test_five_times_the_launches_are_five_times_the_work() -> None:
    _, few = lines_run(judging(chains(200, 100)))
    found, lines = lines_run(judging(chains(1_000, 100)))
    assert (found.diagnostics, found.operations) == ((), 1_000)
    assert lines < 6 * few
    assert seconds_computed(lambda: judging(chains(1_000, 100)), 2) < 15 * seconds_computed(lambda: judging(chains(200, 100)), 2)


def test_five_times_the_branches_are_five_times_the_work() -> None:
    _, few = lines_run(judging(branches(200)))
    found, lines = lines_run(judging(branches(1_000)))
    assert (found.diagnostics, found.operations) == ((), 1_000)
    assert lines < 6 * few
