"""Bundles with one change, their digests right again: of the kernels' text, of the module, of the plan.

`python tests/auditing/bundle_mutants.py COUNT [SEED]` makes and audits so many, and counts what is accepted. A change that is
accepted is one that changes nothing: the text has the same words, the plan says the same, the module computes the same numbers.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

sys.path.insert(0, str(Path(__file__).parents[1]))

import bundle_edits
import numpy as np
from contexts import one_context

import weft
from weft.auditing import audit_bundle
from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir import mlir
from weft.runtime.cpu.device import CpuDevice
from weft.runtime.files.bundle import digests
from weft.runtime.files.inputs import random_inputs
from weft.runtime.plan.codec import load
from weft.runtime.plan.signature import plan_signature
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

Part = Literal["kernels.cu", "module.mlir", "plan.json"]
Files = dict[str, str]

OPEN = """schedule open() {
  let product = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile) = tile product [4, 4]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (lanes, one) = tile tile [1, 1]
  map init to threads(*) cyclic
  map lanes to threads(y: 4, x: 4)
  launch tiles
}
"""
OPEN_PAYLOAD = """func.func @f(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""
OPS = """module attributes {gpu.container_module} {
  func.func @f(%x: memref<32xi32>, %y: memref<32xi32>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%x : memref<32xi32>, %y : memref<32xi32>)
    return
  }
  gpu.module @k {
    gpu.func @k(%x: memref<32xi32>, %y: memref<32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>) kernel {
      %t = gpu.thread_id x
      %c3 = arith.constant 3 : i32
      %lanes = arith.constant 32 : i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %v = memref.load %x[%t] : memref<32xi32>
      %a = arith.divsi %v, %c3 : i32
      %b = arith.divui %a, %c3 : i32
      %c = arith.shrui %b, %c3 : i32
      %d = arith.shrsi %c, %c3 : i32
      %w = arith.extui %d : i32 to i64
      %n = arith.trunci %w : i64 to i32
      %f = arith.uitofp %n : i32 to f32
      %g = arith.fptoui %f : f32 to i32
      %o = arith.ori %g, %v : i32
      memref.store %o, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %sum = scf.for %i = %c0 to %c2 step %c1 iter_args(%z = %o) -> (i32) {
        %l = memref.load %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %more = arith.addi %z, %l : i32
        scf.yield %more : i32
      }
      %other, %valid = gpu.shuffle xor %sum, %c3, %lanes : i32
      %two = vector.broadcast %other : i32 to vector<2xi32>
      %all = vector.reduction <add>, %two : vector<2xi32> into i32
      %old = memref.atomic_rmw addi %all, %y[%t] : (i32, memref<32xi32>) -> i32
      gpu.return
    }
  }
}"""
BUNDLES: dict[str, Callable[[Path], Path]] = {
    "naive": lambda at: weft.build("naive", at, settings={"m": 8, "n": 8, "k": 8}),
    "shared": lambda at: weft.build("shared", at, settings={"m": 16, "n": 16, "k": 20}),
    "sum": lambda at: weft.build("sum", at, settings={"n": 2000}),
    "argmax": lambda at: weft.build("argmax", at, settings={"m": 2, "n": 70}),
    "open": lambda at: weft.build(OPEN, at, payload=OPEN_PAYLOAD),
    "ops": lambda at: weft.build('schedule s() { run-pass "gpu-kernel-outlining" }', at, payload=OPS),
}
"""Sizes that are known and open, barriers, shared memory, what lanes exchange, what sizes have to agree in; ops that have flags."""
RING = """schedule ring() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile) = tile gemm [64, 64]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile [_, _, 64]
  let (a, copy_a) = promote-to-shared step.lhs swizzle 128
  let (b, copy_b) = promote-to-shared step.rhs swizzle 128
  map copy_a to tma
  map copy_b to tma
  let (groups, group) = tile step [64, _]
  map groups to warpgroups(y)
  let one = mma group [64, 64, 16]
  promote-to-registers one.acc across k
  pipeline k stages 2 producer
  insert-barriers
  launch tiles cluster(2)
}
"""
RING_PAYLOAD = """func.func @f(%A: tensor<128x128xbf16>, %B: tensor<128x64xbf16>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x64xf32>) -> tensor<128x64xf32>
  %C = linalg.matmul ins(%A, %B : tensor<128x128xbf16>, tensor<128x64xbf16>) outs(%init : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %C : tensor<128x64xf32>
}
"""
if "WEFT_SOAK" in os.environ:  # of which a proof takes longest
    BUNDLES["ring"] = lambda at: weft.build(RING, at, payload=RING_PAYLOAD)
    BUNDLES["tensor"] = lambda at: weft.build("tensor", at, settings={"m": 128, "n": 128, "k": 64})
    BUNDLES["streams"] = lambda at: weft.build("concurrent_convs", at)


@cache
def built(name: str) -> Files:
    with tempfile.TemporaryDirectory() as folder:
        made = BUNDLES[name](Path(folder) / "bundle")
        return {file: (made / file).read_text() for file in ("kernels.cu", "module.mlir", "plan.json")}


# ---- changes ---------------------------------------------------------------------------------------------------------------

WORD = re.compile(r"//[^\n]*|[A-Za-z_#%@^!][\w.$-]*|\d[\w.]*|\s+|.", re.DOTALL)
PTX = 'asm volatile("st.global.u32 [%0], 1;" :: "l"(0ull));'


def words(text: str) -> list[str]:
    """The words of a text, without comments and space."""
    return [word for word in WORD.findall(text) if not word.isspace() and not word.startswith("//")]


def changed_text(text: str, draw: random.Random, more: str) -> str:
    """One word or one line replaced, left out, doubled or moved; a number off by a bit; a letter; `more` put in."""
    pieces, lines = WORD.findall(text), text.splitlines(keepends=True)
    solid = [n for n, piece in enumerate(pieces) if not piece.isspace()]
    n, line = draw.choice(solid), draw.randrange(len(lines))
    match draw.randrange(9):
        case 0:
            pieces[n] = pieces[draw.choice(solid)]
        case 1:
            pieces[n] = ""
        case 2:
            pieces[n] *= 2
        case 3:
            other = draw.choice(solid)
            pieces[n], pieces[other] = pieces[other], pieces[n]
        case 4:
            numbers = [i for i in solid if pieces[i].isdigit()] or [n]
            i = draw.choice(numbers)
            pieces[i] = str(int(pieces[i]) ^ 1 << draw.randrange(8)) if pieces[i].isdigit() else pieces[i]
        case 5:
            word = pieces[n]
            at = draw.randrange(len(word))
            pieces[n] = word[:at] + draw.choice("abcxyz019_+-*/%.,") + word[at + draw.randrange(2) :]
        case 6:
            return "".join(lines[:line] + lines[line + 1 :])
        case 7:
            lines.insert(draw.randrange(len(lines)), lines[line] if draw.random() < 0.5 else f"{more}\n")
            return "".join(lines)
        case _:
            alike = [i for i in solid if pieces[i][0] == pieces[n][0] and pieces[i] != pieces[n]] or [n]
            pieces[n] = pieces[draw.choice(alike)]
    return "".join(pieces)


FAMILIES = [
    family.split()
    for family in (
        "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf",
        "arith.addi arith.subi arith.muli",
        "arith.andi arith.ori arith.xori",
        "slt sle sgt sge eq ne ult uge",
        "x y z",
        "affine.max affine.min",
        "xor up down idx",
        "floordiv mod ceildiv",
    )
]
"""Words of which one may stand for another."""
CONSTANTS = ("constant", "array<i32", "affine_map")
EFFECTS = re.compile(r" *(memref\.store|gpu\.barrier|gpu\.launch_func|vector\.store)")


def changed_module(text: str, draw: random.Random) -> str:
    """One op, operand, number or line of a module, mostly so that it still parses; else as any text."""
    lines = text.splitlines(keepends=True)
    n = draw.randrange(len(lines))
    pieces = WORD.findall(lines[n])
    match draw.randrange(5):
        case 0:
            family = draw.choice([f for f in FAMILIES if any(word in text for word in f)])
            at = [
                (i, m.start())
                for i, line in enumerate(lines)
                for word in family
                for m in re.finditer(rf"\b{word}\b", line)
            ]
            if at:
                n, start = draw.choice(at)
                rest = re.sub(r"^[\w.]+", draw.choice(family), lines[n][start:])
                lines[n] = lines[n][:start] + rest
                return "".join(lines)
        case 1:
            names = [i for i, piece in enumerate(pieces) if piece[0] == "%"]
            if len(names) > 1:
                names = names[1:] if "=" in pieces else names
                before = re.findall(r"%[\w$#]+", "".join(lines[max(0, n - 12) : n + 1]))
                pieces[draw.choice(names)] = draw.choice(before)
                lines[n] = "".join(pieces)
                return "".join(lines)
        case 2:
            constants = [i for i, line in enumerate(lines) if any(word in line for word in CONSTANTS)]
            n = draw.choice(constants)
            lines[n] = re.sub(r"(?<![\w.%])-?\d+", lambda m: str(int(m[0]) + draw.choice((-1, 0, 1, 2, 7))), lines[n])
            return "".join(lines)
        case 3:
            effects = [i for i, line in enumerate(lines) if EFFECTS.match(line)]
            del lines[draw.choice(effects)]
            return "".join(lines)
    return changed_text(text, draw, 'llvm.inline_asm has_side_effects "", "" : () -> ()')


def changed_plan(text: str, draw: random.Random) -> str:
    """One number, word, list or key of a plan."""
    plan = json.loads(text)
    places = list(_places(plan))
    holder, key = draw.choice(places)
    value = holder[key]
    others = [h[k] for h, k in places if type(h[k]) is type(value) and h[k] != value]
    match draw.randrange(5):
        case 0 if isinstance(value, int) and not isinstance(value, bool):
            holder[key] = value + draw.choice((-1, 1, 2, 16, -value, 1 << 20))
        case 1 if isinstance(holder, dict):
            del holder[key]
        case 1:
            holder.insert(key, deepcopy(value))
        case 2 if isinstance(value, list):
            draw.shuffle(value)
        case 2 if isinstance(holder, list):
            del holder[key]
        case 3:
            holder[key] = draw.choice((None, 0, 1, [], {}, "", "x", True, {"scalar": "x"}, {"dim": ["A", 0]}))
        case _:
            holder[key] = deepcopy(draw.choice(others)) if others else None
    return json.dumps(plan, indent=draw.choice((1, None)), ensure_ascii=False) + "\n"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield value, key
        yield from _places(part)


def changed(files: Files, part: Part, draw: random.Random) -> Files:
    """The bundle with one change of that part; of texts, with the right digests."""
    made, aimed = dict(files), draw.random() < 0.5
    if part == "plan.json":
        edits = (bundle_edits.of_plan, bundle_edits.of_json) if aimed else (changed_plan,)
        return made | {part: draw.choice(edits)(files[part], draw)}
    if aimed:
        edits = (bundle_edits.of_text,) if part == "kernels.cu" else _OF_MODULES
        made[part] = draw.choice(edits)(files[part], draw)
    else:
        made[part] = changed_text(files[part], draw, PTX) if part == "kernels.cu" else changed_module(files[part], draw)
    plan = json.loads(files["plan.json"])
    plan["texts"] = dict(digests(made["kernels.cu"], made["module.mlir"]))
    return made | {"plan.json": json.dumps(plan, indent=1, ensure_ascii=False) + "\n"}


_OF_MODULES = (bundle_edits.flags, bundle_edits.types, bundle_edits.maps, bundle_edits.hardware)


# ---- what a change does ------------------------------------------------------------------------------------------------------


Outcome = Literal["accepted", "refused", "no bundle", "unchanged"]
"""What `weft audit` says; of files that are no bundle at all, and modules that do not parse, nothing is said of what they do."""


def outcome(files: Files, folder: Path) -> Outcome:
    """What `weft audit` says."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    try:
        found = audit_bundle(folder)
    except WeftError:
        return "no bundle"
    if found.ok:
        return "accepted"
    return "no bundle" if {d.code for d in found.diagnostics} <= {"W0487", "W0626", "W0627"} else "refused"


MARK = re.compile(
    r"fastmath<\w[^>]*>|overflow<\w[^>]*>|llvm\.(?!noalias)\w+|nvvm\.\w+|[a-z_]+ = true|passthrough|\w*[eE]xact\b"
    r"|nonNeg|uniform|cooperative"
)


def marks(text: str) -> Counter[str]:
    """Flags and attributes of a module, as far as they have names of their own. What an op is called does not count; nor that a
    function's argument overlaps no other, which is asked of all arguments of a run (W0744)."""
    module = mlir.parse(text, one_context())
    return Counter(MARK.findall(str(module)))


def behaves_alike(before: Files, after: Files, part: Part) -> bool:
    """Whether a change changes nothing: of a text and a plan by what they say, of a module by the numbers that it computes, too."""
    if part == "kernels.cu":
        return words(before[part]) == words(after[part])
    if part == "module.mlir" and marks(before[part]) != marks(after[part]):
        return False  # numbers do not show what a compiler may make of a flag
    if part == "plan.json":
        plans = [load(files[part]) for files in (before, after)]
        one, other = (replace(plan, compared=None, unchecked=None) for plan in plans)  # words for who reads them
        return one == other and one.texts == other.texts
    numbers = partial(_computed, load(before["plan.json"]))
    mine, theirs = numbers(before[part]), numbers(after[part])
    return all(np.array_equal(mine[name], theirs[name], equal_nan=True) for name in mine)


def _computed(plan: Any, module: str) -> dict[str, np.ndarray]:
    signature = plan_signature(plan)
    open_ = any(None in (a.shape or ()) for a in signature.arguments)
    square = {a.name: np.arange(49, dtype=np.float32).reshape(7, 7) for a in signature.arguments}
    inputs = square if open_ else random_inputs(signature)
    device = SimDevice() if any("known_cluster_size" in line for line in module.splitlines()) else CpuDevice(1)
    return dict(run_plan(plan, device, inputs, text=module).outputs)


def trial(number: int, seed: str, folder: Path) -> tuple[Part, str, Outcome, Files]:
    """The number-th change: of which part of which bundle, what becomes of it, and the files."""
    draw = random.Random(f"{seed} {number}")
    part: Part = draw.choices(("kernels.cu", "module.mlir", "plan.json"), (4, 2, 4))[0]
    name = draw.choice([*BUNDLES])
    files = changed(built(name), part, draw)
    if files[part] == built(name)[part]:
        return part, name, "unchanged", files
    return part, name, outcome(files, folder), files


def wrongly_accepted(numbers: Iterable[int], seed: str, folder: Path, found: Counter[str]) -> Iterator[str]:
    """Of these changes, those that are accepted and change something, as differences. What became of all is counted."""
    for number in numbers:
        part, name, said, files = trial(number, seed, folder)
        alike = said == "accepted" and behaves_alike(built(name), files, part)
        found[f"{part}: {said}{', and changes nothing' if alike else ''}"] += 1
        if said == "accepted" and not alike:
            lines = difflib.unified_diff(built(name)[part].splitlines(), files[part].splitlines(), lineterm="", n=0)
            yield "\n".join((f"change {number} of {name}/{part}", *lines))


def main(count: int, seed: str) -> None:
    found = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, count, 500):
            numbers = range(start, min(start + 500, count))
            for difference in wrongly_accepted(numbers, seed, Path(folder) / "bundle", found):
                print(difference)
            print(numbers.stop, dict(sorted(found.items())), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
