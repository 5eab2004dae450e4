"""Statements on a part of a large module: the same as on the whole, and no dearer where the module is larger."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from work import lines_run

from weft.dsl.diagnostics import WeftError
from weft.interpreter.focus import sections
from weft.interpreter.focus.modules import take_apart
from weft.interpreter.ir import mlir
from weft.interpreter.ir.cloning import LEAVES
from weft.interpreter.launch import launch
from weft.interpreter.session.session import Session
from weft.payloads.payload import parse_payload
from weft.pipeline import Choice

TENSOR, MEMREF = "tensor<32x24xf32>", "memref<32x24xf32>"


def chain(count: int) -> str:
    """Additions on tensors, each of the result before."""
    lines, last = [], "%x"
    for i in range(count):
        lines.append(f"%e{i} = tensor.empty() : {TENSOR}")
        lines.append(f"%v{i} = linalg.add ins({last}, %y : {TENSOR}, {TENSOR}) outs(%e{i} : {TENSOR}) -> {TENSOR}")
        last = f"%v{i}"
    return _function(f"%x: {TENSOR}, %y: {TENSOR}", lines, last)


def fan(count: int) -> str:
    """Additions of the same two tensors, and the sum of all."""
    lines, total = [f"%e = tensor.empty() : {TENSOR}"], "%x"
    add = f"linalg.add ins({{}}, {{}} : {TENSOR}, {TENSOR}) outs(%e : {TENSOR}) -> {TENSOR}"
    for i in range(count):
        lines += [f"%v{i} = {add.format('%x', '%y')}", f"%s{i} = {add.format(total, f'%v{i}')}"]
        total = f"%s{i}"
    return _function(f"%x: {TENSOR}, %y: {TENSOR}", lines, total)


def buffers(count: int) -> str:
    """Additions in memory, through windows of buffers and of one that is allocated."""
    small = "memref<16x24xf32, strided<[24, 1]>>"
    lines = [f"%t = memref.alloc() : {MEMREF}"]
    for i in range(count):
        lines.append(f"%w{i} = memref.subview %{'xyt'[i % 3]}[0, 0] [16, 24] [1, 1] : {MEMREF} to {small}")
        lines.append(f"%u{i} = memref.subview %{'txy'[i % 3]}[16, 0] [16, 24] [1, 1] : {MEMREF} to {_moved(small)}")
        lines.append(f"linalg.exp ins(%w{i} : {small}) outs(%u{i} : {_moved(small)})")
    return _function(f"%x: {MEMREF}, %y: {MEMREF}", lines, None)


def _moved(kind: str) -> str:
    return kind.replace("]>>", "], offset: 384>>")


def _function(arguments: str, lines: list[str], result: str | None) -> str:
    kind = f" -> {TENSOR}" if result else ""
    end = f"return {result} : {TENSOR}" if result else "return"
    return f"func.func @main({arguments}){kind} {{\n" + "\n".join([*lines, end]) + "\n}"


EACH = """
let ops = match* {op}
foreach op in ops {{
  let (blocks, inner) = tile op [{tile}]
  let (threads, one) = tile inner [1, 1]
  map blocks to blocks(y, x)
  map threads to threads(y, x)
  launch blocks
}}
"""
LATE = """
let ops = match* {op}
foreach op in ops {{
  let (blocks, inner) = tile op [{tile}]
  map blocks to blocks(y, x)
  map inner to threads(*) cyclic
}}
bufferize
insert-barriers
"""
LAUNCHED = """
let ops = match* {op}
foreach op in ops {{
  let (blocks, inner) = tile op [{tile}]
  map blocks to blocks(y, x)
  map inner to threads(y: 4, x: 4) cyclic
  insert-barriers
  launch blocks
}}
"""
FUSED = """
let last = match {op} #5
let (blocks, inner) = tile last [{tile}]
let a = match {op} #4
fuse a into blocks
let b = match {op} #3
fuse b into blocks
map blocks to blocks(y, x)
map inner to threads(*) cyclic
map a to threads(*) cyclic
map b to threads(*) cyclic
insert-barriers
launch blocks
"""
BACKWARDS = """
foreach n in [5, 3, 1] {{
  let op = match {op} #n
  let (blocks, inner) = tile op [{tile}]
  map blocks to blocks(y, x)
  map inner to threads(*) cyclic
}}
"""
PAYLOADS = {"chain": (chain, "linalg.add"), "fan": (fan, "linalg.add"), "buffers": (buffers, "linalg.exp")}
SCHEDULES = {"each": EACH, "late": LATE, "fused": FUSED, "backwards": BACKWARDS}
TILES = {"even": "8, 8", "ragged": "5, 7"}


def session(tmp_path: Path, payload: str, body: str) -> Session:
    (tmp_path / "p.mlir").write_text(payload)
    (tmp_path / "s.weft").write_text(f"schedule s() {{\n{body}\n}}\n")
    return opened(str(tmp_path / "s.weft"), str(tmp_path / "p.mlir"))


def opened(schedule: str, payload: str | None = None) -> Session:
    recipe = Choice(schedule, payload).open()
    return Session(parse_payload(recipe.payload), recipe.file, recipe.values)


def run(made: Session) -> tuple[list[tuple[str, ...]], list[str], str]:
    """Remarks and IR of each step; the text of what is refused."""
    refused = ""
    try:
        made.run()
    except WeftError as error:
        refused = str(error)
    return [step.remarks for step in made.steps], [canonical(str(state.module)) for state in made.states], refused


COMPARING = mlir.context()


@cache
def canonical(text: str) -> str:
    """The text of a module, with each function's constants in one order."""
    copy = mlir.parse(text, COMPARING)
    for _ in range(4):  # of a chain of dead ops each run takes the last
        mlir.run_passes(copy, "cse")
    text = str(copy)
    return "\n".join(sorted(text.splitlines())) if "gpu.module" in text else text


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take every module apart, however small."""
    monkeypatch.setattr(sections, "LARGE", 0)
    yield


EVERY = [(payload, schedule, tile) for payload in PAYLOADS for schedule in SCHEDULES for tile in TILES]
BY_TURNS = [one for n, one in enumerate(EVERY) if n % 2 == (n // 2 + n // 8) % 2]
"""Each schedule on each payload, with tiles that divide or with others; with both in a soak."""


@pytest.mark.few()
@pytest.mark.parametrize(("payload", "schedule", "tile"), EVERY if "WEFT_SOAK" in os.environ else BY_TURNS)
def test_a_part_becomes_what_the_whole_would(
    payload: str, schedule: str, tile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, op = PAYLOADS[payload]
    body = SCHEDULES[schedule].format(op=op, tile=TILES[tile])
    whole = run(session(tmp_path, make(6), body))
    monkeypatch.setattr(sections, "LARGE", 0)
    part = run(session(tmp_path, make(6), body))
    assert part[2] == whole[2]
    assert part[0] == whole[0]
    for number, (one, other) in enumerate(zip(part[1], whole[1], strict=True)):
        assert _known_apart(one) == _known_apart(other), f"state {number}"


def _known_apart(text: str) -> str:
    """What a launch leaves in buffers may be known of the whole alone."""
    return re.sub(LEAVES + r' = "[^"]*"(, )?', "", text)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["naive", "shared", "simt_pipelined", "igemm_bias_relu"])
def test_recipes_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(opened(name))
    monkeypatch.setattr(sections, "LARGE", 0)
    part = run(opened(name))
    assert part[0] == whole[0] and part[1][-1] == whole[1][-1] and part[2] == whole[2]


IN_BOTH = """
let last = match linalg.add #1 in @few
let (blocks, inner) = tile last [8, 8]
map blocks to blocks(y, x)
let (x, copy) = promote-to-shared inner.in1
map copy to threads(*) cyclic vector 4
let (threads, one) = tile inner [1, 1]
map threads to threads(y, x)
let others = match* linalg.add in @main
foreach op in others {
  map op to grid(y, x)
}
insert-barriers
"""


def test_barriers_in_a_small_function_beside_a_large_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mapped loops of a function that is not taken apart are in no part around those of another."""
    outputs = [f"%o{i}" for i in range(16)]
    adds = [f"linalg.add ins(%x, %y : {MEMREF}, {MEMREF}) outs({o} : {MEMREF})" for o in outputs]
    arguments = ", ".join(f"{v}: {MEMREF}" for v in ("%x", "%y", *outputs))
    payload = chain(2).replace("@main", "@few") + "\n" + _function(arguments, adds, None)
    whole = run(session(tmp_path, payload, IN_BOTH))
    assert not whole[2], whole[2]
    assert sum("barrier" in line for line in whole[0][-1]) > 16 and any(
        "RAW on shared" in line for line in whole[0][-1]
    )
    monkeypatch.setattr(sections, "LARGE", 12)
    assert run(session(tmp_path, payload, IN_BOTH))[0] == whole[0]


def test_taken_apart_and_whole_again() -> None:
    for payload, _ in PAYLOADS.values():
        module = mlir.parse(payload(30), mlir.context())
        apart = take_apart(module)
        assert apart is not None
        mlir.run_passes(module, "cse")
        assert str(apart.whole()) == str(module)


@pytest.mark.usefixtures("parts")
def test_a_refused_statement_changes_nothing_and_what_was_undone_comes_back(tmp_path: Path) -> None:
    body = EACH.format(op="linalg.add", tile="8, 8") + "\nlet again = match linalg.matmul\n"
    made = session(tmp_path, chain(6), body)
    with pytest.raises(WeftError, match="W0401"):
        made.run()
    texts = [str(state.module) for state in made.states]
    with pytest.raises(WeftError, match="W0401"):
        made.step()
    end = len(texts) - 1
    for _ in range(7):
        assert made.undo()
    assert str(made.module) == texts[end - 7]
    for number in range(end - 6, end + 1):
        made.step()
        assert str(made.module) == texts[number]
    made.goto(3)
    assert str(made.module) == texts[3] and str(made.fork().module) == texts[3]


def test_a_statement_costs_what_it_touches(tmp_path: Path) -> None:
    """Lines of Python for the statements on one op, where fifty others stand beside it, or three times as many."""
    one = """
      let {x} = match linalg.exp #0
      let (b{x}, i{x}) = tile {x} [8, 8]
      let (t{x}, e{x}) = tile i{x} [1, 1]
      map b{x} to blocks(y, x)
      map t{x} to threads(y, x)
      launch b{x}
    """
    lines = []
    for count in (45, 135):
        made = session(tmp_path, buffers(count), one.format(x="p") + one.format(x="q"))
        for _ in range(7):  # the first launch bufferizes, and what comes behind it is taken apart anew; `match` counts
            made.step()
        assert made.state.version.sections is not None
        lines.append(sum(lines_run(made.step)[1] for _ in range(5)))
    assert lines[1] < 1.25 * lines[0], lines


@pytest.mark.parametrize("body", [EACH, LATE.replace("threads(*)", "threads(y: 4, x: 4)"), LAUNCHED])
def test_a_schedule_costs_what_the_payload_holds(body: str, tmp_path: Path) -> None:
    """Lines of Python for a schedule that does the same with each op: three times as many for three times as many ops."""
    lines = []
    for count in (4, 15, 45):  # the first loads what is loaded late
        made = session(tmp_path, chain(count), body.format(op="linalg.add", tile="8, 8"))
        lines.append(lines_run(made.run)[1])
    assert lines[2] < 3.3 * lines[1], lines


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_kernel_like_one_before_is_the_one_that_would_have_been_made(
    payload: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same text, places included, and the same remarks."""
    make, op = PAYLOADS[payload]
    bodies = [b.format(op=op, tile=tile) for b in (EACH, LAUNCHED) for tile in TILES.values()]
    copied = [_placed(session(tmp_path, make(3), body)) for body in bodies]
    monkeypatch.setattr(launch, "keep", lambda *given: None)
    assert copied == [_placed(session(tmp_path, make(3), body)) for body in bodies]


def _placed(made: Session) -> tuple[list[tuple[str, ...]], list[list[str]]]:
    """Remarks of each step, and of the ops of the kernels that are made their names and places."""
    made.run()
    kernels = mlir.operations(made.module.operation, "gpu.func")
    return [s.remarks for s in made.steps], [[f"{op.name} {op.location}" for op in mlir.operations(k)] for k in kernels]


def test_versions_of_one_content(tmp_path: Path) -> None:
    """Forth and back, and beside: a fork that goes on from an earlier state leaves the others as they were."""
    made = session(tmp_path, chain(30), EACH.format(op="linalg.add", tile="8, 8"))
    made.run()
    texts = [str(state.module) for state in made.states]
    again = session(tmp_path, chain(30), EACH.format(op="linalg.add", tile="8, 8"))
    for _ in range(40):
        again.step()
    fork = again.fork()
    for _ in range(20):
        again.step()
    fork.goto(11)
    for number in range(12, 30):
        fork.step()
        assert number % 6 or str(fork.module) == texts[number]
    for number in (60, 41, 40, 3, 59):
        again.goto(number)
        assert str(again.module) == texts[number]
