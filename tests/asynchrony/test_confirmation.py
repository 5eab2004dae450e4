"""A pair that lost its order is named by the proof, and run the other way round by the simulator: what that shows is what every
order of a small program, worked out in NumPy, shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from test_lost_edges import Graph, random_graph, text

from weft import cli
from weft.confirmation import OtherOrder, quick, thorough
from weft.dsl.diagnostics import Source
from weft.pipeline import Recipe, applied
from weft.verify import JudgedHost, Sizes, verify_source

SMALL = {"batch": "1", "filters": "2", "size": "6", "threads": "64"}
TOKENS = re.compile(r"\[(%\w+(?:, %\w+)*)\]")
V = "memref<8xf32>"


def judged(module: str, block: Sizes | None = (8, 1, 1)) -> JudgedHost:
    return verify_source(Source("p.mlir", module), block=block, effort=thorough()).hosts[0]


# ---- the recipe ---------------------------------------------------------------------------------------------------------


def without_one_edge(module: str) -> Iterator[tuple[str, str, str]]:
    """The op, the token and the module for each token that a `gpu.wait` or a launch of the host waits for."""
    lines = module.split("\n")
    for number, line in enumerate(lines):
        found = TOKENS.search(line) if "gpu.wait" in line or "gpu.launch_func" in line else None
        names = found[1].split(", ") if found else []
        for name in names:
            left = ", ".join(n for n in names if n != name)
            shorter = line.replace(found[0], f"[{left}]" if left else "") if found else line
            yield line.strip(), name, "\n".join([*lines[:number], shorter, *lines[number + 1 :]])


def test_two_convolutions_without_any_one_edge() -> None:
    module = applied(Recipe.open("concurrent_convs", None, SMALL)).text
    conv1, conv2, add = re.findall(r"(%\w+) = gpu.launch_func", module)
    first, second, _ = re.findall(r"(%\w+) = memref.alloc\(", module)
    assert judged(module, None).diagnostics == ()
    seen: list[str] = []
    for op, token, broken in without_one_edge(module):
        host = judged(broken, None)
        codes = [d.code for d in host.diagnostics]
        pairs = {d.message.split("`")[1]: (d, o) for d, o in zip(host.diagnostics, host.orders, strict=True) if d.code == "W0629"}
        if op.startswith("gpu.wait"):  # the last: nobody waits for the sum
            assert (token, codes) == (add, ["W0620", "W0630"])
            assert host.diagnostics[1].notes[-1].endswith("a run waits for all that was launched before it hands results out")
        elif token in (conv1, conv2):  # of the join
            buffer = (first if token == conv1 else second).lstrip("%")
            assert set(codes) == {"W0620", "W0629"} and list(pairs) == [buffer]
        elif add in op:
            assert set(codes) == {"W0621", "W0629"} and set(pairs) == {first.lstrip("%"), second.lstrip("%")}
        else:  # a root: what waits for nothing but the host needs none
            assert codes == ["W0621"]
        for buffer, (diagnostic, order) in pairs.items():
            name = "test_parallel" if buffer == first.lstrip("%") else "test_parallel_1"
            edge = rf"the missing edge: gpu.launch_func @{name}_kernel::{name} in line \d+ → gpu.launch_func @test_parallel_2"
            assert re.search(edge, "\n".join(diagnostic.notes))
            assert order is not None and order.outcome == "other results" and order.difference is not None
            assert order.difference.buffer == "result0" and diagnostic.notes[-1] == order.note()
        seen.append(token)
    assert len(seen) == 6


# ---- random graphs, against all orders --------------------------------------------------------------------------------


def kernel(number: int, reads: list[int], writes: list[int], kind: int) -> str:
    """What is written is the sum of what is read, added to what was there (0), in its place (1), or a constant that all
    kernels of this kind write (2)."""
    arguments = ", ".join(f"%a{i}: {V}" for i in range(len(reads) + len(writes)))
    body = ["%i = gpu.thread_id x", f"%s0 = arith.constant {number + 1}.0 : f32", "%half = arith.constant 0.5 : f32",
            "%same = arith.constant 7.0 : f32"]  # fmt: skip
    for i in range(len(reads)):
        body += [f"%v{i} = memref.load %a{i}[%i] : {V}", f"%s{i + 1} = arith.addf %s{i}, %v{i} : f32"]
    for i in range(len(reads), len(reads) + len(writes)):
        body += [f"%o{i} = memref.load %a{i}[%i] : {V}", f"%h{i} = arith.mulf %o{i}, %half : f32"] if kind == 0 else []
        body += [f"%n{i} = arith.addf %h{i}, %s{len(reads)} : f32"] if kind == 0 else []
        value = (f"%n{i}", f"%s{len(reads)}", "%same")[kind]
        body.append(f"memref.store {value}, %a{i}[%i] : {V}")
    return f"gpu.func @k{number}({arguments}) kernel {{\n" + "\n".join(body) + "\ngpu.return\n}"


def program(graph: Graph, kinds: list[int]) -> str:
    """The host of the graph, with kernels that compute."""
    host = text(graph)
    start, end = host.index("gpu.module @k"), host.index("func.func @main")
    count = len(graph.reads)
    made = "\n".join(kernel(b, sorted(graph.reads[b]), sorted(graph.writes[b]), kinds[b]) for b in range(count))
    launched = host[end:].replace("threads in (%c1, %c1, %c1)", "threads in (%c8, %c1, %c1)")
    launched = launched.replace("%c1 = arith.constant 1 : index", "%c1 = arith.constant 1 : index\n%c8 = arith.constant 8 : index")
    return f"{host[:start]}gpu.module @k {{\n{made}\n}}\n{launched}"


def computed(graph: Graph, kinds: list[int], order: tuple[int, ...], start: dict[int, np.ndarray]) -> bytes:
    """The buffers after the launches in this order."""
    memory = {n: a.copy() for n, a in start.items()}
    for b in order:
        total = np.full(8, b + 1, np.float32)
        for n in sorted(graph.reads[b]):
            total = total + memory[n]
        for n in sorted(graph.writes[b]):
            memory[n] = (memory[n] * np.float32(0.5) + total, total, np.full(8, 7, np.float32))[kinds[b]]
    return b"".join(a.tobytes() for a in memory.values())


def legal(graph: Graph) -> list[tuple[int, ...]]:
    ordered = graph.ordered()
    return [o for o in permutations(range(len(graph.reads))) if all(o.index(a) < o.index(b) for a, b in ordered)]


def compared(seed: int, lost: int) -> list[str]:
    """A random graph without each of its edges (and some more) in turn; the outcomes, each of them as NumPy has it."""
    graph = random_graph(seed, count=4 + seed % 3, buffers=3)
    draw = np.random.default_rng(seed)
    kinds = [int(k) for k in draw.integers(0, 3, len(graph.reads))]
    count = 1 + max(max(r | w) for r, w in zip(graph.reads, graph.writes, strict=True))
    start = {n: draw.standard_normal(8).astype(np.float32) for n in range(count)}
    outcomes: list[str] = []
    edges = sorted(graph.edges)
    for number, edge in enumerate(edges):
        gone = {edge, *(edges[(number + more) % len(edges)] for more in range(1, lost))}
        broken = Graph(graph.reads, graph.writes, graph.edges - gone)
        host = judged(program(broken, kinds))
        orders, expected = legal(broken), computed(broken, kinds, tuple(range(len(kinds))), start)
        assert not host.diagnostics or {d.code for d in host.diagnostics} == {"W0629"}
        named: set[tuple[int, int]] = set()
        for diagnostic, order in zip(host.diagnostics, host.orders, strict=True):
            first, second = (int(n) for n in re.findall(r"@k::k(\d+)", "\n".join(diagnostic.notes[:2])))
            named.add((first, second))
            others = [o for o in orders if o.index(second) < o.index(first)]
            differs = any(computed(broken, kinds, o, start) != expected for o in others)
            assert order is not None and others
            assert order.outcome == ("other results" if differs else "same results"), (seed, edge, first, second)
            outcomes.append(order.outcome)
        assert named <= broken.unordered() and (edge in named or edge not in broken.unordered())
        agree = all(computed(broken, kinds, o, start) == expected for o in orders)
        assert agree == all(o is None or o.outcome == "same results" for o in host.orders)
    return outcomes


def test_random_graphs_against_all_their_orders() -> None:
    outcomes = [outcome for seed in range(14) for outcome in compared(seed, lost=1 + seed % 2)]
    assert {*outcomes} == {"other results", "same results"} and len(outcomes) > 40


# ---- kinds of pairs -----------------------------------------------------------------------------------------------------


KERNELS = f"""gpu.module @k {{
    gpu.func @twice(%x: {V}, %y: {V}) kernel {{
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : {V}
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%t] : {V}
      gpu.return
    }}
    gpu.func @zero(%x: {V}) kernel {{
      %t = gpu.thread_id x
      %z = arith.constant 0.0 : f32
      memref.store %z, %x[%t] : {V}
      gpu.return
    }}
  }}"""


def host(*lines: str, arguments: str = f"%A: {V}, %B: {V}, %C: {V}") -> str:
    body = "\n".join(lines)
    return f"""module attributes {{gpu.container_module}} {{
  {KERNELS}
  func.func @f({arguments}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %r = gpu.wait async
    %q = gpu.wait async
    {body}
    return
  }}
}}"""


def launch(kernel: str, *buffers: str, after: str, token: str) -> str:
    given = ", ".join(f"%{b} : {V}" for b in buffers)
    sizes = "blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)"
    return f"%{token} = gpu.launch_func async [%{after}] @k::@{kernel} {sizes} args({given})"


PAIRS: dict[str, tuple[str, str, str]] = {
    "a copy that does not wait": (
        host(launch("twice", "A", "B", after="r", token="a"), f"%b = gpu.memcpy async [%q] %C, %B : {V}, {V}", "gpu.wait [%a, %b]"),
        "W0629",
        r"the other order gives other results: `C`\[0\] is .*, not .* \(simulator, seed 0\)",
    ),
    "a fill that does not wait": (
        host(launch("twice", "A", "B", after="r", token="a"), f"%b = gpu.memset async [%q] %B, %one : {V}, f32",
             "gpu.wait [%a, %b]"),
        "W0629",
        r"the other order gives other results: `B`\[0\] is .*, not 1.0",
    ),
    "the same is written twice": (
        host(launch("zero", "A", after="r", token="a"), launch("zero", "A", after="q", token="b"), "gpu.wait [%a, %b]"),
        "W0629",
        r"the other order happened to give the same values \(simulator, seed 0\): nothing guarantees that",
    ),
    "the host copies too early": (
        host(launch("twice", "A", "B", after="r", token="a"), f"memref.copy %B, %C : {V} to {V}", "gpu.wait [%a, %q]"),
        "W0630",
        r"the other order gives other results: `C`\[0\]",
    ),
    "freed while it is read": (
        host(f"%m, %s = gpu.alloc async [%r] () : {V}", launch("twice", "A", "m", after="s", token="a"),
             launch("twice", "m", "B", after="a", token="b"), f"%c = gpu.dealloc async [%q] %m : {V}", "gpu.wait [%b, %c]"),
        "W0633",
        r"the other order gives other results: `B`\[0\] is 198.0, not",
    ),
    "in a loop": (
        host("%l = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %r) -> (!gpu.async.token) {",
             launch("twice", "A", "B", after="t", token="a"), "scf.yield %a : !gpu.async.token", "}",
             launch("twice", "B", "A", after="q", token="b"), "gpu.wait [%l, %b]"),
        "W0629",
        r"the other order gives other results",
    ),
    "the host reads an element": (
        host(launch("zero", "A", after="r", token="a"), f"%v = memref.load %A[%c0] : {V}", "gpu.wait [%a, %q]"),
        "W0630",
        r"the other order was not tried on the simulator: memref.load at p.mlir:\d+:\d+ is in no launch",
    ),
    "sizes that are not known": (
        host("%a = gpu.memset async [%r] %D, %one : memref<?xf32>, f32", "%b = gpu.memset async [%q] %D, %one : memref<?xf32>, f32",
             "gpu.wait [%a, %b]", arguments="%D: memref<?xf32>"),
        "W0629",
        r"the other order was not tried on the simulator: the shape of `.*` is not known",
    ),
    "a kernel that is in the host's text": (
        f"""func.func @f(%A: {V}, %B: {V}) {{
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %z = arith.constant 0.0 : f32
          %r = gpu.wait async
          %q = gpu.wait async
          %a = gpu.launch async [%r] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {{
            memref.store %z, %B[%tx] : {V}
            gpu.terminator
          }}
          %b = gpu.memcpy async [%q] %A, %B : {V}, {V}
          gpu.wait [%a, %b]
          return
        }}""",
        "W0629",
        r"the other order gives other results: `A`\[0\]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PAIRS)
def test_what_the_other_order_shows(case: str) -> None:
    module, code, note = PAIRS[case]
    found = judged(module)
    said = [(d, o) for d, o in zip(found.diagnostics, found.orders, strict=True) if d.code == code]
    assert said and all(o is not None and re.search(note, d.notes[-1]) for d, o in said), found.diagnostics


def test_no_order_is_tried_where_none_is_missing() -> None:
    found = judged(host(launch("zero", "A", after="r", token="a"), "gpu.wait [%q]"))
    assert [d.code for d in found.diagnostics] == ["W0620"] and found.orders == (None,)


def test_large_buffers_are_run_on_demand() -> None:
    big = "memref<8388608xf32>"
    copies = [f"%{t} = gpu.memcpy async [%{r}] %{x}, %{y} : {big}, {big}" for t, r, x, y in ("arBA", "bqCB")]
    large = host(*copies, "gpu.wait [%a, %b]", arguments=f"%A: {big}, %B: {big}, %C: {big}")
    (order,) = verify_source(Source("p.mlir", large), block=(8, 1, 1), effort=quick()).hosts[0].orders
    assert order == OtherOrder("not tried", 0, reason="its buffers take 96 MiB; `--confirm` runs it all the same")
    (order,) = judged(large).orders
    assert order is not None and order.outcome == "other results"


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.run(["verify", "--block", "8", *arguments]) == 1
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.mlir"
    path.write_text(PAIRS["the same is written twice"][0])
    said = [told(capsys, str(path), *flags)[1] for flags in ([], ["--confirm", "--seed", "5"], ["--no-confirm"])]
    assert ["(simulator, seed 0)" in text for text in said] == [True, False, False]
    assert ["the other order happened" in text for text in said] == [True, True, False]
    (fault,) = json.loads(told(capsys, str(path), "--json")[0])["functions"][0]["faults"]
    assert fault["other_order"] == {
        "outcome": "same results", "seed": 0, "orders": 1, "reason": None, "buffer": None, "element": None, "in_order": None,
        "swapped": None,
    }  # fmt: skip
