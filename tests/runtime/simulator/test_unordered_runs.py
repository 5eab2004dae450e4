"""What the simulator sees of operations on different streams: pairs that nothing orders are named, whatever the values are."""

from __future__ import annotations

import numpy as np
import pytest
from small_hosts import host, launch, program
from test_lost_edges import Graph, random_graph
from test_random_launch_graphs import ordered

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.runtime.host.host import make_plan
from weft.runtime.plan.plan import BufferView, Launch, Plan
from weft.runtime.run.runner import RunResult, run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

V = "memref<8xf32>"


def ran(text: str, order: int | None) -> tuple[Plan, RunResult]:
    module = mlir.parse(text, mlir.context())
    plan = make_plan(module)
    inputs = {b.name: np.arange(np.prod([int(str(n)) for n in b.shape]), dtype=np.float32) for b in plan.inputs}
    return plan, run_plan(plan, SimDevice(), inputs, text=text, order=order)


def races(text: str, order: int | None = None) -> set[str]:
    _, result = ran(text, order)
    assert result.races is not None
    return {f"{r.kind} {r.buffer}{list(r.element)}: {r.first} / {r.second}" for r in result.races}


def two(first: str, second: str, *more: str) -> str:
    return host(*more, first, second, "gpu.wait [%a, %b]")


TWICE_AB = launch("twice", "A", "B", after="r", token="a")
TABLE: dict[str, tuple[str, set[str]]] = {
    "nothing in common": (two(TWICE_AB, launch("twice", "A", "C", after="q", token="b")), set()),
    "the second waits": (host(TWICE_AB, launch("twice", "B", "C", after="a", token="b"), "gpu.wait [%b, %q]"), set()),
    "the host waits": (host(TWICE_AB, "gpu.wait [%a]", launch("twice", "B", "C", after="q", token="b"), "gpu.wait [%b]"), set()),
    "a join waits": (
        host(TWICE_AB, launch("zero", "C", after="q", token="b"), "%j = gpu.wait async [%a, %b]",
             launch("twice", "B", "C", after="j", token="c"), "gpu.wait [%c]"),
        set(),
    ),
    "a read too early": (
        two(TWICE_AB, launch("twice", "B", "C", after="q", token="b")),
        {"RAW arg1[0]: launch of twice(arg0, arg1) on stream 0 / launch of twice(arg1, arg2) on stream 1"},
    ),
    "a write too early": (
        two(TWICE_AB, launch("zero", "A", after="q", token="b")),
        {"WAR arg0[0]: launch of twice(arg0, arg1) on stream 0 / launch of zero(arg0) on stream 1"},
    ),
    "two writes": (
        two(TWICE_AB, launch("zero", "B", after="q", token="b")),
        {"WAW arg1[0]: launch of twice(arg0, arg1) on stream 0 / launch of zero(arg1) on stream 1"},
    ),
    "a copy": (
        two(TWICE_AB, f"%b = gpu.memcpy async [%q] %C, %B : {V}, {V}"),
        {"RAW arg1[0]: launch of twice(arg0, arg1) on stream 0 / copy of arg1 into arg2 on stream 1"},
    ),
    "a fill": (
        two(TWICE_AB, f"%b = gpu.memset async [%q] %B, %one : {V}, f32"),
        {"WAW arg1[0]: launch of twice(arg0, arg1) on stream 0 / fill of arg1 on stream 1"},
    ),
    "windows that do not overlap": (
        two("%a = gpu.memset async [%r] %x, %one : memref<4xf32, strided<[1]>>, f32",
            "%b = gpu.memset async [%q] %y, %one : memref<4xf32, strided<[1], offset: 4>>, f32",
            f"%x = memref.subview %A[0] [4] [1] : {V} to memref<4xf32, strided<[1]>>",
            f"%y = memref.subview %A[4] [4] [1] : {V} to memref<4xf32, strided<[1], offset: 4>>"),
        set(),
    ),
    "windows that overlap in an element": (
        two("%a = gpu.memset async [%r] %x, %one : memref<4xf32, strided<[1]>>, f32",
            "%b = gpu.memset async [%q] %y, %one : memref<4xf32, strided<[1], offset: 3>>, f32",
            f"%x = memref.subview %A[0] [4] [1] : {V} to memref<4xf32, strided<[1]>>",
            f"%y = memref.subview %A[3] [4] [1] : {V} to memref<4xf32, strided<[1], offset: 3>>"),
        {"WAW arg0[0]: fill of arg0 on stream 0 / fill of arg0 on stream 1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_pairs(case: str) -> None:
    text, expected = TABLE[case]
    assert races(text) == expected


def test_the_seed_chooses_the_order_and_each_order_shows_the_pair() -> None:
    text, _ = TABLE["a read too early"]
    found = {(ran(text, seed)[1].outputs["arg2"].tobytes(), *races(text, seed)) for seed in range(6)}
    assert {said.partition(" ")[0] for _, said in found} == {"RAW", "WAR"} and len({value for value, _ in found}) == 2


def lost_in(plan: Plan, graph: Graph) -> set[frozenset[str]]:
    """Pairs of launches that the streams and events of a plan leave unordered, and that share an element one of them writes."""
    before = ordered(plan)
    work = [(i, int(s.kernel.removeprefix("k"))) for i, s in enumerate(plan.steps) if isinstance(s, Launch)]
    return {
        frozenset((named(plan, i), named(plan, j)))
        for j, second in work
        for i, first in work
        if i < j and i not in before[j] and graph.conflict(first, second)
    }


def named(plan: Plan, number: int) -> str:
    step = plan.steps[number]
    assert isinstance(step, Launch)
    buffers = ", ".join(a.buffer for a in step.args if isinstance(a, BufferView))
    return f"launch of {step.kernel}({buffers}) on stream {step.stream}"


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_with_lost_edges(seed: int) -> None:
    """Exactly those plans race whose steps are out of order, and only pairs that are out of order are named."""
    graph = random_graph(seed, count=9, buffers=4)
    edges = sorted(graph.edges)
    draw = np.random.default_rng(seed)
    for lost in (set(), {edges[0]}, {edges[-1]}, {edges[int(i)] for i in draw.integers(0, len(edges), 3)}):
        broken = Graph(graph.reads, graph.writes, graph.edges - lost)
        for order in (None, seed):
            plan, result = ran(program(broken, [0] * 9), order)
            assert result.races is not None
            expected = lost_in(plan, broken)
            assert {frozenset((str(r.first), str(r.second))) for r in result.races} <= expected
            assert bool(result.races) == bool(expected) and (lost or not expected)


UPDATES = """module attributes {{gpu.container_module}} {{
  gpu.module @k {{
    {kernels}
  }}
  func.func @main(%A: memref<8xf32>, %B: memref<8xf32>) {{
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %r = gpu.wait async
    %q = gpu.wait async
    %a = gpu.launch_func async [%r] @k::@f0 blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%A : memref<8xf32>, %B : memref<8xf32>)
    %b = gpu.launch_func async [%q] @k::@f1 blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%A : memref<8xf32>, %B : memref<8xf32>)
    gpu.wait [%a, %b]
    return
  }}
}}"""  # noqa: E501
UPDATE = """gpu.func @f{} (%A: memref<8xf32>, %B: memref<8xf32>) kernel {{
      %c0 = arith.constant 0 : index
      %t = gpu.thread_id x
      %x = arith.constant 2.0 : f32
      {}
      gpu.return
    }}"""
ATOMIC = "%o = memref.atomic_rmw {} %x, %A[%c0] : (f32, memref<8xf32>) -> f32"
ADD = ATOMIC.format("addf")
LOOKED_AT = f"{ADD}\n %c = arith.cmpf ogt, %o, %x : f32\n scf.if %c {{ }}"


@pytest.mark.parametrize(
    ("first", "second", "fine"),
    [
        (ADD, ADD, True),
        (ATOMIC.format("maximumf"), ATOMIC.format("maximumf"), True),
        (ADD, ATOMIC.format("mulf"), False),
        (LOOKED_AT, ADD, False),
        (ADD, LOOKED_AT, False),
        (ADD, "%o = memref.load %A[%t] : memref<8xf32>", False),
        (ADD, "memref.store %x, %A[%t] : memref<8xf32>", False),
        (f"{ADD}\n memref.store %x, %B[%t] : memref<8xf32>", ADD, True),
        (f"{ADD}\n memref.store %x, %B[%t] : memref<8xf32>", f"{ADD}\n %y = memref.load %B[%t] : memref<8xf32>", False),
    ],
)
def test_atomics_that_commute_need_no_order(first: str, second: str, fine: bool) -> None:
    """By both witnesses. Where somebody looks at the old value, or the two do different things, the order shows in the result."""
    text = UPDATES.format(kernels="\n    ".join(UPDATE.format(n, body) for n, body in enumerate((first, second))))
    assert (races(text) == set()) is fine
    assert verify_source(Source("p.mlir", text)).ok is fine
