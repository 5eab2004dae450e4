"""Accesses side by side are one, and everything asked of them has the answer that it has of each."""

from __future__ import annotations

import os
import random
import re

import pytest
from contexts import one_context
from kernel_text import model, place, read, write
from random_kernels import Access, Barrier, Buffer, Expr, For, Kernel, Node
from test_conflicts_against_enumeration import cheapest

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels import reader
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.races.barriers import choose_barriers
from weft.interpreter.proof.races.conflicts import conflicts
from weft.interpreter.proof.races.uninitialized_reads import unwritten_reads

BATCHES = 40 if "WEFT_SOAK" in os.environ else 1
PER_BATCH = 15
ROW = "%q = affine.apply affine_map<(d0) -> (4 * (d0 mod 4))>(%tx)"
LANES = [f"%q{n} = affine.apply affine_map<(d0) -> (d0 + {n})>(%q)" for n in range(6)]
DATA = "%d = arith.addi %q, %c8 : index"


def stores(*lanes: int, op: str = "one", between: dict[int, str] | None = None) -> str:
    """Stores that one op of the payload makes, in this order; `between`: what stands in front of which of them."""
    at = f' loc("{op}":1:1)'
    lines = [(between or {}).get(n, "") + "\n" + write("S", "%ty", f"%q{lane}") + at for n, lane in enumerate(lanes)]
    return "\n".join([ROW, *LANES, DATA, *lines])


OTHER = write("S", "%ty", "%q1") + ' loc("other":1:1)'
CASES = {
    "a vector": (stores(0, 1, 2, 3), 1),
    "backwards": (stores(3, 2, 1, 0), 1),
    "every second": (stores(0, 2, 4), 1),
    "with a gap": (stores(0, 1, 3), 2),
    "one twice": (stores(0, 0), 2),
    "two ops": (stores(0, 1) + "\n" + stores(2, 3, op="two").split(DATA)[1], 2),
    "a barrier between": (stores(0, 1, 2, 3, between={2: place(0)}), 2),
    "a barrier in what stands between": (stores(0, 1, between={1: f"scf.for %k = %c0 to %c4 step %c1 {{ {place(0)} }}"}), 2),
    "a barrier elsewhere": (f"{stores(0, 1, 2, 3)}\n{place(0)}", 1),
    "a read between": (stores(0, 1, 2, between={1: read("S", "%ty", "%q5")}), 3),
    "another buffer between": (stores(0, 1, 2, between={1: write("T", "%ty", "%q")}), 2),
    "another store between": (stores(0, 1, 2, between={1: OTHER}), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_one(case: str) -> None:
    text, count = CASES[case]
    assert len(model(text).accesses) == count


def test_vectors_side_by_side() -> None:
    kind = "memref<16x16xf32, #gpu.address_space<workgroup>>, vector<4xf32>"
    at = ' loc("one":1:1)'
    body = [ROW, *LANES, "%v = vector.broadcast %zero : f32 to vector<4xf32>", *(
        f"vector.store %v, %S[%ty, %{name}] : {kind}{at}" for name in ("c0", "c4", "c8")
    )]
    (access,) = model("\n".join(body)).accesses
    assert access.coordinates is not None
    assert access.coordinates[1].bounds() == (0, 11)


# ---- random ones ----------------------------------------------------------------------------------------------------------


class Rows:
    """Kernels of rows of accesses, with places for barriers between these."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.accesses: list[Access] = []
        self.threads = self.random.choice([2, 4, 8])
        self.buffers = [Buffer("s0", (80,), "workgroup"), Buffer("s1", (12, 12), "workgroup")]
        self.barriers = 0

    def kernel(self) -> Kernel:
        body = [node for _ in range(3) for node in self.rows({})]
        body.insert(3, For("k", Expr("0"), (Expr("3"),), 1, [*self.rows({"k": 3}), *self.rows({"k": 3}), self.barrier()]))
        return Kernel((self.threads, 1), self.buffers, body, self.accesses)

    def barrier(self) -> Node:
        self.barriers += 1
        return Barrier(self.barriers - 1)

    def rows(self, uniform: dict[str, int]) -> list[Node]:
        pick = self.random
        buffer, count, step = pick.choice(self.buffers), pick.randint(1, 4), pick.choice([1, 1, 2])
        stride, first = pick.choice([1, count, count, 2 * count]), pick.randint(0, 2)
        offsets = [first + step * n for n in range(count)]
        if pick.random() < 0.2:
            offsets[-1] += 1
        writes, axis = pick.random() < 0.6, pick.randint(0, 1)
        turn = " + k" if uniform and pick.random() < 0.5 else ""
        made: list[Node] = [self.barrier()]
        for offset in offsets:
            index: tuple[Expr, ...] = (Expr(f"{stride} * tx + {offset}{turn}"),)
            if len(buffer.shape) == 2:
                index = (Expr("tx"), Expr(f"{offset}{turn}")) if axis else (Expr(f"{offset}{turn}"), Expr("tx"))
            self.accesses.append(Access(len(self.accesses), writes, buffer, index))
            made.append(self.accesses[-1])
        if pick.random() < 0.15:
            made.insert(2, self.barrier())
        return made


def model_of(kernel: Kernel) -> KernelModel:
    """Of which all stores are one op of the payload, and all loads."""
    text = re.sub(r"(memref\.(?:store|load) [^\n]*)", r'\1 loc("one":1:1)', kernel.text())
    module = mlir.parse(text, one_context())
    return kernel_model(next(mlir.operations(module.operation, "gpu.func")))


@pytest.mark.parametrize("batch", range(BATCHES))
def test_against_an_enumeration(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which barriers are chosen, what collides without them, and what is read before it is written."""
    joined = unwritten = 0
    for seed in range(batch * PER_BATCH, (batch + 1) * PER_BATCH):
        kernel = Rows(seed).kernel()
        demands = {d for d in kernel.demands() if d}
        made = model_of(kernel)
        choice = choose_barriers(made)
        cost = {b.candidate: b.weight for b in made.barriers if b.candidate is not None}
        assert all(d & set(choice.chosen) for d in demands), f"seed {seed}\n{kernel.text()}"
        assert (sum(cost[n] for n in choice.chosen), len(choice.chosen)) == cheapest(demands, cost), f"seed {seed}"
        assert bool(conflicts(made)) == bool(kernel.collisions()) and bool(conflicts(made, ())) == bool(kernel.demands())
        found = {(read.buffer, read.assumed) for read in unwritten_reads(made)}
        with monkeypatch.context() as alone:
            alone.setattr(reader, "joined", lambda accesses, barriers, values: accesses)
            each = model_of(kernel)
        assert {(read.buffer, read.assumed) for read in unwritten_reads(each)} == found
        joined += len(made.accesses) < len(each.accesses)
        unwritten += bool(found)
    assert joined > PER_BATCH // 2 and unwritten > 0, "the sample must hold rows, and reads of what nobody writes"
