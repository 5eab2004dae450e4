"""Whether threads that reduce something together combine exactly the parts that are stated: kernels as they are and could be."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from places import ROOT

from weft.dsl.diagnostics import Source
from weft.interpreter.indices.algebra import LaunchShape
from weft.interpreter.ir import mlir
from weft.interpreter.ir.functions import PARTICIPANTS
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.combination.combination import combination_of, is_marked
from weft.interpreter.proof.combination.verdict import Combined
from weft.interpreter.proof.races import proof
from weft.pipeline import Choice, applied
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
PAGES = sorted((ROOT / "docs" / "reductions").rglob("*.weft"))
SHARED = ["softmax", "layernorm_welford", "argmax", "scan"]
SHARED += ["sum", "layernorm", "attention", "attention_tensor", *(str(p) for p in PAGES if p.stem[0] != "1")] if SOAK else []
CONTEXT = mlir.context()


def found(text: str) -> list[Combined]:
    """Of all kernels of a module."""
    module = mlir.parse(text, CONTEXT)
    out: list[Combined] = []
    for kernel in mlir.operations(module.operation, "gpu.func"):
        x, y, z = ir.DenseI32ArrayAttr(kernel.attributes["known_block_size"])
        out += combination_of(kernel, LaunchShape((x, y, z)))
    return out


@pytest.mark.parametrize("name", SHARED, ids=lambda name: Path(name).stem)
def test_what_recipes_combine_is_proven(name: str) -> None:
    said = found(applied(Choice(name, None, {}).open()).text)
    assert said and all(one.state == "proven" for one in said), said


HEAD = """\
module attributes {gpu.container_module} {
  func.func @rows(%x: memref<4x200xi32>, %y: memref<4xi32>) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@rows blocks in (%c1, %c1, %c1) threads in (%c32, %c4, %c1)
        args(%x : memref<4x200xi32>, %y : memref<4xi32>)
    return
  }
  gpu.module @kernels {
    gpu.func @rows(%x: memref<4x200xi32>, %y: memref<4xi32>) workgroup(%parts : memref<4xi32, #gpu.address_space<workgroup>>)
        kernel attributes {known_block_size = array<i32: 32, 4, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c32 = arith.constant 32 : index
      %c200 = arith.constant 200 : index
      %none = arith.constant 0 : i32
      %s1 = arith.constant 1 : i32
      %s2 = arith.constant 2 : i32
      %s4 = arith.constant 4 : i32
      %s8 = arith.constant 8 : i32
      %s16 = arith.constant 16 : i32
      %warp = arith.constant 32 : i32
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %part = memref.alloca() {weft.name = "part", weft.participants = affine_set<(x, y, z)[px, py, pz] : (SET)>} : memref<1xi32>
      memref.store %none, %part[%c0] : memref<1xi32>
      scf.for %k = %tx to %c200 step %c32 {
        %term = memref.load %x[%ty, %k] : memref<4x200xi32>
        %old = memref.load %part[%c0] : memref<1xi32>
        %new = arith.addi %old, %term : i32
        memref.store %new, %part[%c0] : memref<1xi32>
      }
      %v0 = memref.load %part[%c0] : memref<1xi32>
"""
SHUFFLES = "".join(
    f"      %o{n}, %there{n} = gpu.shuffle xor %v{n}, %s{d}, %warp : i32\n      %v{n + 1} = arith.addi %v{n}, %o{n} : i32\n"
    for n, d in enumerate((16, 8, 4, 2, 1))
)
LEFT = """\
      %first = arith.cmpi eq, %tx, %c0 : index
      scf.if %first {
        memref.store %v5, %parts[%ty] : memref<4xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
"""
TAKE_ALL = """\
      %p0 = memref.load %parts[%c0] : memref<4xi32, #gpu.address_space<workgroup>>
      %p1 = memref.load %parts[%c1] : memref<4xi32, #gpu.address_space<workgroup>>
      %p2 = memref.load %parts[%c2] : memref<4xi32, #gpu.address_space<workgroup>>
      %p3 = memref.load %parts[%c3] : memref<4xi32, #gpu.address_space<workgroup>>
      %a = arith.addi %p0, %p1 : i32
      %b = arith.addi %a, %p2 : i32
      %whole = arith.addi %b, %p3 : i32
"""
TAKE_OWN = "      %whole = memref.load %parts[%ty] : memref<4xi32, #gpu.address_space<workgroup>>\n"
TAKE_IN_LOOP = """\
      %whole = scf.for %k = %c0 to %c4 step %c1 iter_args(%so = %none) -> (i32) {
        %p = memref.load %parts[%k] : memref<4xi32, #gpu.address_space<workgroup>>
        %more = arith.addi %so, %p : i32
        scf.yield %more : i32
      }
"""
END = """\
      scf.if %first {
        %before = memref.load %y[%ty] : memref<4xi32>
        %after = arith.addi %before, %whole : i32
        memref.store %after, %y[%ty] : memref<4xi32>
      }
      gpu.return
    }
  }
}
"""
ROW, EVERY = "y - py == 0", "0 == 0"


def kernel(stated: str = ROW, take: str = TAKE_OWN, **changed: str) -> str:
    """Rows of a matrix, one for each threadIdx.y. `changed`: text that is replaced, once."""
    text = HEAD.replace("SET", stated) + SHUFFLES + LEFT + take + END
    for old, new in (pair.split(" => ") for pair in changed.values()):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_row_for_each_of_other_threads() -> None:
    """The parts of all warps of the block were added up, whichever row they were of: no race."""
    (one,) = found(kernel(take=TAKE_ALL))
    assert one.state == "wrong"
    assert one.why == "thread (0, 0, 0) combines the part of thread (0, 1, 0), which takes no part in its result"
    (said,) = verify_source(Source("rows.mlir", kernel(take=TAKE_ALL))).diagnostics
    assert said.code == "W0614" and said.hint
    assert [one.state for one in found(kernel())] == ["proven"]
    assert [one.state for one in found(kernel(EVERY, TAKE_ALL, own="store %after, %y[%ty] => store %after, %y[%c0]"))] == ["proven"]


@pytest.mark.parametrize("stated", ["x - px == 0", EVERY, "x - px == 0, y - py == 0", "x floordiv 16 - px floordiv 16 == 0"])
def test_a_set_that_is_stated_otherwise(stated: str) -> None:
    assert [one.state for one in found(kernel(stated))] == ["wrong"]


@pytest.mark.parametrize("changed", [
    "shuffle xor %v1, %s8 => shuffle xor %v1, %s16", "arith.addi %v2, %o2 => arith.addi %v2, %v2",
    "store %none, %part => store %s1, %part", "arith.addi %old, %term => arith.muli %old, %term",
    "memref.load %parts[%ty] => memref.load %parts[%c0]", "cmpi eq, %tx, %c0 => cmpi eq, %ty, %c0",
    "shuffle xor %v0 => shuffle up %v0", "shuffle xor %v4, %s1, %warp => shuffle xor %v4, %s1, %s1",
    "%after = arith.addi %before, %whole => %after = arith.addi %whole, %whole",
    "store %new, %part[%c0] => store %term, %part[%c0]", "store %after, %y => store %before, %y",
])  # fmt: skip
def test_what_is_combined_wrongly(changed: str) -> None:
    (one,) = found(kernel(one=changed))
    assert one.state == "wrong" and one.why, one


def test_terms_that_are_added_twice() -> None:
    again = "%new = arith.addi %old, %term : i32 => %n = arith.addi %old, %term : i32\n%new = arith.addi %n, %term : i32"
    (one,) = found(kernel(one=again))
    assert one.state == "wrong" and "twice" in one.why


def test_what_a_loop_takes() -> None:
    """Of parts in shared memory, one by one; each once."""
    alone = "store %after, %y[%ty] => store %after, %y[%c0]"
    assert [one.state for one in found(kernel(EVERY, TAKE_IN_LOOP, own=alone))] == ["proven"]
    for old, new in (("to %c4", "to %c3"), ("load %parts[%k]", "load %parts[%c0]")):
        assert [one.state for one in found(kernel(EVERY, TAKE_IN_LOOP.replace(old, new), own=alone))] == ["wrong"]


@pytest.mark.parametrize(("old", "new", "why"), [
    ("shuffle xor %v1, %s8", "shuffle xor %v1, %unknown", "it is not known what gpu.shuffle"),
    ("memref.load %parts[%ty]", "memref.load %parts[%number]", "it is not known which element memref.load"),
])  # fmt: skip
def test_what_is_not_followed_is_assumed(old: str, new: str, why: str) -> None:
    """With its reason."""
    data = "%unknown = memref.load %x[%c0, %c0] : memref<4x200xi32>\n%number = arith.index_cast %unknown : i32 to index\n"
    text = kernel(one=f"{old} => {new}").replace("%tx = gpu.thread_id x", f"{data}%tx = gpu.thread_id x")
    (one,) = found(text)
    assert one.state == "assumed" and one.why.startswith(why)
    module = mlir.parse(kernel(), CONTEXT)
    (function,) = mlir.operations(module.operation, "gpu.func")
    (one,) = combination_of(function, LaunchShape())
    assert one.state == "assumed" and "only at run time" in one.why


def test_another_set_after_the_proof_is_proven_anew() -> None:
    """The set is part of what is recorded as proven."""
    text = applied(Choice(str(next(page for page in PAGES if page.stem == "2-warp")), None, {}).open()).text
    module = mlir.parse(text, CONTEXT)
    for kernel in mlir.operations(module.operation, "gpu.func"):
        proof.state_kernel_proof(kernel)
    assert not proof.changed_kernels(module, ())
    with module.context:
        for op in filter(is_marked, mlir.operations(module.operation, "memref.alloca")):
            op.attributes[PARTICIPANTS] = ir.Attribute.parse("affine_set<(x, y, z)[px, py, pz] : (y - py == 0)>")
    changed = proof.changed_kernels(module, ())
    assert changed
    judged = list(proof.judge_changed(module, changed))
    assert judged and {d.code for _, said in judged for d in said} == {"W0614"}


def test_a_schedule_is_told_once(tmp_path: Path) -> None:
    """By `insert-barriers`, or by `launch` where nothing was proven before."""
    page = next(page for page in PAGES if page.stem == "3-block")
    text = page.read_text()
    for body in (text, re.sub(r" *insert-barriers\n", "", text)):
        (tmp_path / "s.weft").write_text(body)
        steps = applied(Choice(str(tmp_path / "s.weft"), None, {}).open()).session.steps
        said = [remark for step in steps for remark in step.remarks if remark.startswith("combination") and ": each" not in remark]
        assert said == ["combination proven: largest, sum"], said
