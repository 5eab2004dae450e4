"""Index sums are written in one form: remainders and quotients that composing maps took apart come back, and nothing changes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from weft.interpreter.indices.arithmetic import divide, index_of, terms_of
from weft.interpreter.indices.indices import share_indices
from weft.interpreter.indices.linear import Linear
from weft.interpreter.ir import mlir
from weft.interpreter.ir.affine_maps import results_of
from weft.interpreter.ir.mlir import gpu, ir
from weft.runtime.cpu.reference import reference

SIZE = 150
FORMS = {
    "x * 4 - x floordiv 4 * 16": "x mod 4 * 4",
    "x - x mod 32": "x floordiv 32 * 32",
    "y * 7 + x * 3 - (x mod 8) * 3": "y * 7 + x floordiv 8 * 24",
    "x - x mod 32 - ((x floordiv 32) floordiv 2) * 64": "(x floordiv 32) mod 2 * 32",
    "x * 8 - x mod 32": "x * 8 - x mod 32",  # seven are left over: no shorter
    "(x + y) mod 4 - x - y": "(x + y) floordiv 4 * -4",
    "x - (x + y) mod 4": "x - (x + y) mod 4",
}


def text(expression: str) -> str:
    return f"""
func.func @main(%out: memref<{SIZE}x{SIZE}xi32> {{weft.name = "out"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {SIZE} : index
  scf.for %x = %c0 to %n step %c1 {{
    scf.for %y = %c0 to %n step %c1 {{
      %r = affine.apply affine_map<(x, y) -> ({expression})>(%x, %y)
      %v = arith.index_cast %r : index to i32
      memref.store %v, %out[%x, %y] : memref<{SIZE}x{SIZE}xi32>
    }}
  }}
  return
}}
"""


def shared(expression: str) -> ir.Module:
    module = mlir.parse(text(expression), mlir.context())
    with module.context, ir.Location.unknown():
        share_indices(next(iter(mlir.operations(module.operation, "func.func"))))
    assert module.operation.verify()
    return module


def values(module: ir.Module) -> np.ndarray:
    return reference(module, "main", {"out": np.full((SIZE, SIZE), -1, np.int32)})["out"]


@pytest.mark.parametrize("expression", FORMS)
def test_the_form(expression: str) -> None:
    got, want = shared(expression), shared(FORMS[expression])
    assert str(got) == str(want)
    assert np.array_equal(values(got), values(mlir.parse(text(expression), mlir.context())))


@pytest.mark.parametrize("seed", range(20))
def test_random_sums_are_the_same(seed: int) -> None:
    draw = random.Random(seed)
    sums: list[str] = []
    for _ in range(draw.randint(2, 6)):
        inner = draw.choice(["x", "x", "x", "y", "(x + y)", "(x + 3)", "(x floordiv 4)", "(x floordiv 4 + y + 1)"])
        b, a = draw.choice([2, 4, 8, 32]), draw.choice([1, 1, 2, 3, 4, 8, 32])
        term = draw.choice([inner, f"{inner} mod {b}", f"({inner} floordiv {b}) * {b}"])
        sums.append(f"{draw.choice('+-')} ({term}) * {a}")
    expression = "0 " + " ".join(sums)
    before = mlir.parse(text(expression), mlir.context())
    assert np.array_equal(values(shared(expression)), values(before))


@pytest.mark.parametrize(
    ("step", "threads", "divisor", "thread_divided"),
    [
        (128, 128, 256, False),
        (128, 100, 384, False),
        (-128, 128, 256, False),
        (96, 96, 64, True),  # a counter of 3 * 32: threads reach beyond 32
        (128, 150, 256, True),  # threads carry
        (128, None, 256, True),
        (128, 128, 64, True),
        (128, 64, 64, False),
    ],
)
def test_a_loop_over_threads_divided(step: int, threads: int | None, divisor: int, thread_divided: bool) -> None:
    """`768 + i * step + t` divided: in parts of the counter alone, where threads do not carry."""
    module = mlir.parse("func.func @main(%i: index, %t: index) { return }", mlir.context())
    block = next(iter(mlir.operations(module.operation, "func.func"))).regions[0].blocks[0]
    counter, trips = block.arguments[0], 6
    with module.context, ir.Location.unknown(), ir.InsertionPoint(block.operations[0]):
        thread = gpu.ThreadIdOp(gpu.Dimension.x).result
        parts = divide(index_of(counter, trips) * step + index_of(thread, threads) + 768, divisor)
    for i in range(trips):
        for t in range(threads or 300):
            found = [valued(part, {counter: i, thread: t}) for part in parts]
            assert found == list(divmod(768 + i * step + t, divisor))
    makers = [made for part in parts for value, _ in terms_of(part) if (made := mlir.producer(value)) is not None]
    assert any(thread in made.operands for made in makers) == thread_divided


@pytest.mark.parametrize("threads", [16, 20])
def test_ids_are_not_taken_apart(threads: int) -> None:
    """The linear id of a thread is one number, whichever axes it is of."""
    module = mlir.parse("func.func @main() { return }", mlir.context())
    block = next(iter(mlir.operations(module.operation, "func.func"))).regions[0].blocks[0]
    with module.context, ir.Location.unknown(), ir.InsertionPoint(block.operations[0]):
        x, y = (gpu.ThreadIdOp(axis).result for axis in (gpu.Dimension.x, gpu.Dimension.y))
        quotient, remainder = divide(index_of(x, threads) + index_of(y, 8) * threads, 4 * threads)
    assert [len(part.terms) for part in (quotient, remainder)] == [1, 1]


def valued(total: Linear, known: dict[ir.Value, int]) -> int:
    """What the sum is, of values that are."""
    return total.constant + sum(factor * number(value, known) for value, factor in terms_of(total))


def number(value: ir.Value, known: dict[ir.Value, int]) -> int:
    made = mlir.producer(value)
    if value in known or made is None:
        return known[value]
    operate = {"add": int.__add__, "mul": int.__mul__, "floordiv": int.__floordiv__, "mod": int.__mod__}
    operands = [known[operand] for operand in made.operands]
    return results_of(made.attributes["map"].value, operands, int, lambda how, a, b: operate[how](a, b))[0]
