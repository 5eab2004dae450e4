"""What sizes and offsets have to be is checked before a run: what is read of an array is there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft
from weft.dsl.diagnostics import WeftError

pytestmark = pytest.mark.filterwarnings("error:W0082")
"""What is read is in bounds: that is known where it is proven what a kernel combines."""

CONVOLUTION = """
func.func @convolution(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(y, x, a, b) -> (2 * y + a, x + 3 * b)>,
                                        affine_map<(y, x, a, b) -> (a, b)>, affine_map<(y, x, a, b) -> (y, x)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%i: f32, %f: f32, %s: f32):
    %p = arith.mulf %i, %f : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""
SLICE = """
func.func @part(%x: tensor<?xf32>, %o: tensor<6xf32>, %at: index, %by: i32) -> tensor<6xf32> {
  %three = arith.constant 3 : index
  %from = arith.addi %at, %three : index
  %step = arith.index_cast %by : i32 to index
  %part = tensor.extract_slice %x[%from] [6] [%step] : tensor<?xf32> to tensor<6xf32>
  %r = linalg.exp ins(%part : tensor<6xf32>) outs(%o : tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}
"""
RESHAPED = """
func.func @rows(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> tensor<?x4xf32> {
  %e = tensor.expand_shape %x [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %c = tensor.cast %y : tensor<?xf32> to tensor<4xf32>
  %r = linalg.broadcast ins(%c : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  return %r : tensor<?x4xf32>
}
"""
EACH = """schedule each() {{
  let op = match {}
  let (blocks, tile) = tile op [4, {}]
  map blocks to blocks({})
  let (lanes, one) = tile tile [1, {}]
  map lanes to threads({})
  launch blocks
}}
"""


def test_what_a_convolution_reads_is_there() -> None:
    kernel = weft.compile(EACH.format("linalg.generic", "4", "y, x", "1", "y, x"), CONVOLUTION, target="cpu")
    filters, out = np.ones((2, 3), np.float32), np.zeros((5, 6), np.float32)
    assert (kernel(np.ones((10, 12), np.float32), filters, out) == 6).all()  # 2 * 4 + 1 and 5 + 3 * 2 are the last
    for shape, said in (((9, 12), "axis 0 of `x` has 9 elements, .* 10 at least"), ((10, 11), "axis 1 .* 12 at least")):
        with pytest.raises(WeftError, match=said):
            kernel(np.ones(shape, np.float32), filters, out)


def test_what_a_slice_takes_is_there() -> None:
    kernel = weft.compile(EACH.format("linalg.exp", "", "x", "", "x"), SLICE, target="cpu")
    x, out = np.arange(20, dtype=np.float32) / 10, np.zeros(6, np.float32)
    for at, by in ((-3, 1), (11, 1), (6, 2), (5, 0)):
        assert np.allclose(kernel(x, out, at, by), np.exp(x[at + 3 + by * np.arange(6)])), (at, by)
    before = "offset of tensor.extract_slice would be -1"
    for at, by, said in ((-4, 1, before), (12, 1, "needs 21"), (7, 2, "needs 21"), (9, -1, "`by` is -1")):
        with pytest.raises(WeftError, match=said):
            kernel(x, out, at, by)


def test_what_nothing_is_read_of_may_be_of_any_size() -> None:
    kernel = weft.compile(EACH.format("linalg.generic", "4", "y, x", "1", "y, x"), CONVOLUTION, target="cpu")
    assert kernel(np.ones((0, 0), np.float32), np.ones((2, 3), np.float32), np.ones((0, 6), np.float32)).shape == (0, 6)
    assert (kernel(np.ones((1, 1), np.float32), np.ones((0, 9), np.float32), np.ones((2, 6), np.float32)) == 1).all()


WITHIN = """
func.func private @copied(%x: memref<?xf32>, %y: memref<?xf32>, %at: index, %n: index, %by: index) {
  %v = memref.reinterpret_cast %x to offset: [%at], sizes: [%n], strides: [%by]
      : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : memref<?xf32, strided<[?], offset: ?>>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
func.func @within(%x: memref<?xf32>, %y: memref<?xf32>, %at: index, %n: index) {
  %by = arith.constant 2 : index
  func.call @copied(%x, %y, %at, %n, %by) : (memref<?xf32>, memref<?xf32>, index, index, index) -> ()
  return
}
"""


def test_what_a_called_function_reads_of_a_buffer_is_there() -> None:
    schedule = "schedule s() {\n let op = match linalg.generic\n map op to threads(x: 32) cyclic\n launch op\n}\n"
    kernel = weft.compile(schedule, WITHIN, entry="within", target="cpu")
    x, y = np.arange(10, dtype=np.float32), np.zeros(4, np.float32)
    kernel(x, y, 3, 4)
    assert (y == [3, 5, 7, 9]).all()
    kernel(x, y[:0], 99, 0)
    with pytest.raises(WeftError, match=r"axis 0 of `x` has 10 elements, and memref.reinterpret_cast needs 11 at least"):
        kernel(x, y, 4, 4)
    with pytest.raises(WeftError, match=r"axis 0 of `y` has 4 elements"):
        kernel(x, y, 0, 5)


def test_what_a_reshape_and_a_cast_say_of_sizes_holds() -> None:
    # that %n, a number that the caller gives, is the size of the result is checked at the launch, and not known to the proof
    schedule = EACH.format("linalg.broadcast", "4", "y, x", "1", "y, x")
    kernel = weft.compile(schedule, RESHAPED, target="cpu", assumed=True)
    y = np.arange(4, dtype=np.float32)
    assert (kernel(np.ones(12, np.float32), y, 3) == y).all()
    with pytest.raises(WeftError, match=r"axis 0 of `x` has 12 elements, and tensor.expand_shape needs 16"):
        kernel(np.ones(12, np.float32), y, 4)
    with pytest.raises(WeftError, match=r"axis 0 of `y` has 5 elements, and tensor.cast needs 4"):
        kernel(np.ones(12, np.float32), np.ones(5, np.float32), 3)


REMAINDER = """
func.func @f(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ((j - i) mod 4)>,
                                        affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %n = arith.addf %a, %c : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}
"""


def test_remainders_are_asked_for_as_far_as_they_reach() -> None:
    schedule = "schedule s() {\n  let op = match linalg.generic\n  map op to grid(x: 64) cyclic\n  launch op\n}\n"
    kernel = weft.compile(schedule, REMAINDER, target="cpu")
    for m, n, size in itertools.product((0, 1, 2, 3, 6), (0, 1, 2, 4, 7), (0, 1, 2, 3, 4)):
        at = (np.arange(n)[None] - np.arange(m)[:, None]) % 4
        x, y = np.ones((m, n), np.float32), np.arange(size, dtype=np.float32)
        if at.max(initial=-1) < size:
            assert np.array_equal(kernel(x, y, x.copy()), x + y[at]), (m, n, size)
        else:
            with pytest.raises(WeftError, match="W0717"):
                kernel(x, y, x.copy())


CALLS = """
func.func @inner(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %q = linalg.negf ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}
func.func @outer(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %q = func.call @inner(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}
"""


def test_a_call_that_returns_a_tensor_of_any_size_is_inlined() -> None:
    schedule = EACH.format("linalg.negf in @outer", "_", "x", "_", "x").replace("[4, _]", "[4]").replace("[1, _]", "[1]")
    with pytest.raises(WeftError, match="W0336") as caught:
        weft.apply(schedule.replace(" in @outer", ""), payload=CALLS)
    assert caught.value.diagnostics[0].hint is not None and '`run-pass "inline"` before this' in caught.value.diagnostics[0].hint
    kernel = weft.compile(schedule.replace("  let op", '  run-pass "inline"\n  let op'), CALLS, target="cpu", entry="outer")
    x = np.arange(5, dtype=np.float32)
    assert np.array_equal(kernel(x, x.copy()), -x)
