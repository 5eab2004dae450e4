"""Unordered operations on one buffer: what each of them touches is compared as a set of elements, and not as a window.

Kernels that walk their argument in strides, from an offset, some of its rows or columns; copies through subviews; accesses of the
host. Enumeration is the oracle: 3 programs in a test run, 500 in a soak (`WEFT_SOAK`).
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from itertools import combinations

import pytest

from weft.dsl.diagnostics import Source
from weft.verify import verify_source

SEEDS = range(500 if "WEFT_SOAK" in os.environ else 3)
SIZE = 96


@dataclass(frozen=True)
class Operation:
    """One of the program: its text, the kernel that it launches, and the elements of A that it reads and writes."""

    text: str
    kernel: str
    reads: frozenset[int]
    writes: frozenset[int]

    def collides(self, other: Operation) -> bool:
        return bool(self.writes & (other.reads | other.writes) or other.writes & self.reads)


def launch(number: int, rng: random.Random) -> Operation:
    """Thread t of block b touches `step*t + far*b + first` of a window of A that begins somewhere."""
    threads, blocks, step = rng.choice([4, 8]), rng.choice([1, 2, 3]), rng.choice([1, 2, 3, 4])
    far = rng.choice([0, 1, step * threads, 32])
    first = rng.randint(0, 6)
    start = rng.choice([0, 0, 8, 16])
    guard = rng.choice([None, None, rng.randint(1, threads)])
    stores = rng.random() < 0.6
    touched = {
        start + step * t + far * b + first for t in range(threads) for b in range(blocks) if guard is None or t < guard
    }
    size = SIZE - start
    view = f"memref<{size}xf32, strided<[1], offset: {start}>>"
    access = "memref.store %one, %x[%i]" if stores else "%v = memref.load %x[%i]"
    body = f"{access} : {view}"
    if guard is not None:
        body = f"%g = arith.constant {guard} : index\n %p = arith.cmpi ult, %t, %g : index\n scf.if %p {{ {body} }}"
    kernel = f"""gpu.func @k{number}(%x: {view}) kernel {{
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %one = arith.constant 1.0 : f32
      %i = affine.apply affine_map<(t, b) -> (t * {step} + b * {far} + {first})>(%t, %b)
      {body}
      gpu.return
    }}"""
    text = f"""%w{number} = memref.subview %A[{start}] [{size}] [1] : memref<{SIZE}xf32> to {view}
      %g{number} = arith.constant {blocks} : index
      %s{number} = arith.constant {threads} : index
      %r{number} = gpu.wait async
      %t{number} = gpu.launch_func async [%r{number}] @kernels::@k{number} blocks in (%g{number}, %c1, %c1)
        threads in (%s{number}, %c1, %c1) args(%w{number} : {view})"""
    found = frozenset(touched)
    return Operation(text, kernel, frozenset() if stores else found, found if stores else frozenset())


def copy(number: int, rng: random.Random) -> Operation:
    """A memcpy of every so many elements of A to or from another buffer."""
    step, start, count = rng.choice([1, 2, 3]), rng.randint(0, 40), rng.randint(1, 12)
    view, writes = f"memref<{count}xf32, strided<[{step}], offset: {start}>>", rng.random() < 0.5
    whole = f"memref<{count}xf32>"
    pair = f"%w{number}, %o{number} : {view}, {whole}" if writes else f"%o{number}, %w{number} : {whole}, {view}"
    text = f"""%w{number} = memref.subview %A[{start}] [{count}] [{step}] : memref<{SIZE}xf32> to {view}
      %o{number} = memref.alloc() : {whole}
      %r{number} = gpu.wait async
      %t{number} = gpu.memcpy async [%r{number}] {pair}"""
    found = frozenset(range(start, start + count * step, step))
    return Operation(text, "", frozenset() if writes else found, found if writes else frozenset())


def program(seed: int) -> tuple[str, list[Operation]]:
    rng = random.Random(seed)
    made = [rng.choice([launch, launch, copy])(number, rng) for number in range(rng.choice([2, 2, 3]))]
    inside = "\n      ".join(op.text for op in made)
    kernels = "\n    ".join(op.kernel for op in made)
    return f"""module attributes {{gpu.container_module}} {{
    func.func @main(%A: memref<{SIZE}xf32>) {{
      %c1 = arith.constant 1 : index
      {inside}
      gpu.wait [{", ".join(f"%t{number}" for number in range(len(made)))}]
      return
    }}
    gpu.module @kernels {{
    {kernels}
    }}
    }}""", made


def faults(text: str) -> list[str]:
    """What is wrong with the order of the operations, by code and message (left out: what kernels do wrong by themselves)."""
    found = verify_source(Source("p.mlir", text)).diagnostics
    return [f"{d.code} {d.message}" for d in found if d.code in ("W0629", "W0630")]


@pytest.mark.parametrize("seed", SEEDS)
def test_unordered_operations(seed: int) -> None:
    text, made = program(seed)
    expected = any(one.collides(other) for one, other in combinations(made, 2))
    found = faults(text)
    assert bool(found) == expected, f"seed {seed}: {found}\n{text}"
    assert not any("assumed" in f for f in found), f"seed {seed}: all of it is affine, {found}\n{text}"


def test_the_sample_has_both_kinds() -> None:
    kinds = [any(a.collides(b) for a, b in combinations(program(seed)[1], 2)) for seed in range(25)]
    assert 5 < sum(kinds) < 20


EVERY_OTHER = """module attributes {gpu.container_module} {
  func.func @main(%A: memref<64xf32>, %where: memref<32xindex>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %r = gpu.wait async
    %a = gpu.launch_func async [%r] @kernels::@even blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      args(%A : memref<64xf32>, %where : memref<32xindex>)
    HOST
    gpu.wait [%a]
    return
  }
  gpu.module @kernels {
    gpu.func @even(%x: memref<64xf32>, %where: memref<32xindex>) kernel {
      %t = gpu.thread_id x
      %c2 = arith.constant 2 : index
      %one = arith.constant 1.0 : f32
      %i = INDEX
      memref.store %one, %x[%i] : memref<64xf32>
      gpu.return
    }
  }
}"""
AFFINE, LOOKED_UP = "arith.muli %t, %c2 : index", "memref.load %where[%t] : memref<32xindex>"


@pytest.mark.parametrize(
    ("host", "index", "said"),
    [
        ("%i = arith.constant 3 : index\n %v = memref.load %A[%i] : memref<64xf32>", AFFINE, None),
        ("%i = arith.constant 4 : index\n %v = memref.load %A[%i] : memref<64xf32>", AFFINE, False),
        ("%i = arith.constant 3 : index\n %v = memref.load %A[%i] : memref<64xf32>", LOOKED_UP, True),
        ("%i = arith.constant 0 : index\n %v = memref.load %where[%i] : memref<32xindex>", AFFINE, None),
    ],
    ids=["an odd element", "an even element", "elements that data name", "another buffer"],
)
def test_accesses_of_the_host(host: str, index: str, said: bool | None) -> None:
    """`said`: whether the fault is called assumed; None: there is none."""
    found = faults(EVERY_OTHER.replace("HOST", host).replace("INDEX", index))
    assert [("assumed" in f) for f in found] == ([] if said is None else [said])
