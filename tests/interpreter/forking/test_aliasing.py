"""Arguments that may overlap: ordered if nothing says that they do not, and no more than that."""

from __future__ import annotations

import os
import random
from itertools import product
from pathlib import Path

import pytest
from launch_graphs import LaunchSpec, host, ordered_before, parsed, program, random_launches
from scheduled import session_of

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.forking.forking import Forked, async_fork
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import judge_host

LAUNCH = "gpu.launch_func"
MARKS = ("", "", "", "llvm.noalias", "bufferize.result")


def forked(text: str, noalias: tuple[str, ...] | None = None) -> tuple[ir.Module, Forked]:
    module = parsed(text)
    with module.context, ir.Location.unknown():
        made = async_fork(module, noalias)
        module.operation.verify()
    return module, made


def faults(module: ir.Module, *, may_alias: bool) -> list[str]:
    """What `weft verify` (with `--may-alias`) says of the module."""
    found = judge_host(host(module), Effects(module), source=Source("forked", str(module)), may_alias=may_alias)
    return [d.code for d in found.diagnostics]


def marked(text: str, marks: dict[int, str]) -> str:
    """The program with attributes on its arguments `b0`, `b1`, …"""
    for number, mark in marks.items():
        if mark:
            text = text.replace(f'{{weft.name = "b{number}"}}', f'{{weft.name = "b{number}", {mark}}}')
    return text


def must_precede(launches: list[LaunchSpec], loose: set[int]) -> list[set[int]]:
    """The order that the buffers ask for, those that are `loose` being one, closed transitively."""
    before: list[set[int]] = []
    for i, later in enumerate(launches):
        direct = {j for j in range(i) if launches[j].conflicts(later) or overlap(launches[j], later, loose)}
        before.append(direct.union(*(before[j] for j in direct)))
    return before


def overlap(first: LaunchSpec, second: LaunchSpec, loose: set[int]) -> bool:
    written = [loose & set(spec.writes) for spec in (first, second)]
    touched = [loose & {*spec.writes, *spec.reads} for spec in (first, second)]
    return any(a != b for a, b in (*product(written[0], touched[1]), *product(touched[0], written[1])))


@pytest.mark.parametrize("seed", range(160 if "WEFT_SOAK" in os.environ else 2))
def test_random_graphs(seed: int) -> None:
    """Conservative, and with some arguments marked: exactly the order that the marks leave."""
    draw = random.Random(seed)
    buffers = 4 + 5 * seed % 36
    launches = random_launches(80, buffers, seed)
    if seed % 2:  # few writes: then there is something that need not be ordered
        launches = [l if draw.random() < 0.15 else LaunchSpec((*l.reads, *l.writes), ()) for l in launches]
    marks = {i: draw.choice(MARKS) for i in range(buffers)}
    stated = tuple(f"b{i}" for i in range(buffers) if draw.random() < 0.2)
    module, made = forked(marked(program(launches, buffers), marks), stated or None)
    loose = {i for i, mark in marks.items() if not mark and f"b{i}" not in stated}
    assert ordered_before(host(module), LAUNCH) == must_precede(launches, loose)
    assert made.distinct == list(stated)
    assert not faults(module, may_alias=True) and not faults(module, may_alias=False)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_stated_stays(seed: int) -> None:
    """`noalias`: the arguments are marked, so that another fork and `weft verify --may-alias` know it, too."""
    launches = random_launches(40, 9, seed)
    module, made = forked(program(launches, 9), ())
    assert ordered_before(host(module), LAUNCH) == must_precede(launches, set())
    assert not made.assumed and len(made.distinct) == 9
    assert str(module).count("llvm.noalias") == 9
    again, _ = forked(str(module))
    assert str(again) == str(module)
    assert not faults(module, may_alias=False) and not faults(module, may_alias=True)
    unmarked = parsed(str(module).replace(", llvm.noalias", "").replace("llvm.noalias, ", ""))
    assert not faults(unmarked, may_alias=False)
    assert set(faults(unmarked, may_alias=True)) == {"W0629"}


def orderings(launches: list[LaunchSpec], buffers: int, noalias: tuple[str, ...] | None = None) -> dict[str, int]:
    module, made = forked(program(launches, buffers), noalias)
    named = {"-".join(sorted(b.name for b in pair)): n for pair, n in made.assumed.items()}
    module.operation.verify()  # the arguments live as long as it does
    return named


COSTS: dict[str, tuple[list[LaunchSpec], tuple[str, ...] | None, dict[str, int]]] = {
    "two writes": ([LaunchSpec((), (0,)), LaunchSpec((), (1,))], None, {"b0-b1": 1}),
    "two reads": ([LaunchSpec((0,), (2,)), LaunchSpec((1,), (2,))], ("b2",), {}),
    "a write behind reads": ([LaunchSpec((0,), ()), LaunchSpec((1,), ()), LaunchSpec((), (2,))], None, {"b0-b2": 1, "b1-b2": 1}),
    "what is ordered anyway costs nothing": ([LaunchSpec((), (0, 1)), LaunchSpec((0,), (1,))], None, {}),
    "stated of one": ([LaunchSpec((), (0,)), LaunchSpec((), (1,))], ("b1",), {}),
    "stated with its sign": ([LaunchSpec((), (0,)), LaunchSpec((), (1,))], ("%b1",), {}),
    "stated of a third": ([LaunchSpec((), (0,)), LaunchSpec((), (1,)), LaunchSpec((), (2,))], ("b2",), {"b0-b1": 1}),
}


@pytest.mark.parametrize("name", COSTS)
def test_what_it_costs(name: str) -> None:
    launches, noalias, expected = COSTS[name]
    assert orderings(launches, 3, noalias) == expected


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(WeftError, match="W0435") as caught:
        forked(program([LaunchSpec((), (0,))], 2), ("b0", "c"))
    said = caught.value.diagnostics[0]
    assert said.message == "no argument that launches use is named `c`" and said.hint == "there are `b0`, `b1`"


def test_windows_of_one_argument_are_told_apart() -> None:
    """Halves of one argument are written at the same time, while another argument holds both up."""
    part = "memref<4xf32, strided<[1], offset: {}>>"
    text = f"""module attributes {{gpu.container_module}} {{
    gpu.module @k {{ gpu.func @part(%a: memref<4xf32, strided<[1], offset: ?>>) kernel {{
      %c0 = arith.constant 0 : index
      %f = arith.constant 0.0 : f32
      memref.store %f, %a[%c0] : memref<4xf32, strided<[1], offset: ?>>
      gpu.return }} }}
    func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) {{
      %c1 = arith.constant 1 : index
      %l = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
      %h = memref.subview %a[4] [4] [1] : memref<8xf32> to {part.format(4)}
      %o = memref.subview %b[4] [4] [1] : memref<8xf32> to {part.format(4)}
      %lc = memref.cast %l : memref<4xf32, strided<[1]>> to {part.format("?")}
      %hc = memref.cast %h : {part.format(4)} to {part.format("?")}
      %oc = memref.cast %o : {part.format(4)} to {part.format("?")}
""" + "".join(
        f"gpu.launch_func @k::@part blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args({v} : {part.format('?')})\n"
        for v in ("%oc", "%lc", "%hc", "%oc", "%hc")
    ) + "return }}"  # fmt: skip
    module, _ = forked(text)
    assert ordered_before(host(module), LAUNCH) == [set(), {0}, {0}, {0, 1, 2}, {0, 1, 2, 3}]
    assert not faults(module, may_alias=True)


def remarks(statement: str, folder: Path) -> tuple[str, ...]:
    """What the step says, on a program of two launches that write one argument each, and one that reads both."""
    specs = [LaunchSpec((), (0,)), LaunchSpec((), (1,)), LaunchSpec((0, 1), (2,))]
    (folder / "p.mlir").write_text(program(specs, 3))
    (folder / "s.weft").write_text(f'payload "p.mlir"\n\nschedule s() {{\n  {statement}\n}}\n')
    session = session_of(folder / "s.weft")
    step = session.step()
    assert step is not None
    return step.remarks


SAID = {
    "async-fork": ("3 operations, 1 from the start, 0 joins, 1 wait of the host",
                   "`b0` and `b1` may overlap: one ordering more; `async-fork noalias` leaves that out"),
    "async-fork noalias": ("3 operations, 2 from the start, 1 join, 1 wait of the host",
                           "stated to overlap nothing else: `b0`, `b1`, `b2`"),
    "async-fork noalias(b1) streams 1": ("3 operations, 2 from the start, 1 join, 1 wait of the host",
                                         "stated to overlap nothing else: `b1`"),
    'async-fork streams 2 noalias("b0")': ("3 operations, 2 from the start, 1 join, 1 wait of the host",
                                           "stated to overlap nothing else: `b0`"),
}  # fmt: skip


@pytest.mark.parametrize("statement", SAID)
def test_what_the_step_says(statement: str, tmp_path: Path) -> None:
    assert remarks(statement, tmp_path) == SAID[statement]
