"""What is remembered of the IR is what the IR says: maps by their attributes, ranges of indices while nothing changes."""

from __future__ import annotations

import gc
import weakref

from weft.interpreter.indices.values import divisible, range_of, unchanged
from weft.interpreter.ir import mlir
from weft.interpreter.mapping.mapping import Mapping, mapping_of

MAPS = [
    Mapping(space, axes, (count,) * len(axes), dist=dist, chunk=chunk, vector=vector)
    for space in ("blocks", "threads", "warps")
    for axes in (("x",), ("y", "x"), ("x", "y"))
    for count in range(1, 20)
    for dist, chunk in ((None, None), ("cyclic", None), ("block-cyclic", 3))
    for vector in (1, 4)
]
KERNEL = """gpu.module @m { gpu.func @k(%a: memref<1024xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %t = gpu.thread_id x
  %n = arith.constant 5 : index
  %i = affine.apply affine_map<(d0) -> (d0 * 4)>(%t)
  %j = affine.apply affine_map<(d0) -> (d0 + 8)>(%i)
  %v = memref.load %a[%j] : memref<1024xf32>
  gpu.return
} }"""


def test_a_map_is_what_its_attribute_says() -> None:
    """However many there are, in one context after the other."""
    for _ in range(3):
        context = mlir.context()
        with context:
            for mapping in (*MAPS, *reversed(MAPS)):
                assert Mapping.read(mapping.attribute()) == mapping
        del context
        gc.collect()


def test_an_op_that_is_mapped_anew() -> None:
    module = mlir.parse("func.func @f() { scf.forall (%i) in (8) {} return }", mlir.context())
    (loop,) = mlir.operations(module.operation, "scf.forall")
    assert mapping_of(loop) is None
    with module.context:
        for mapping in MAPS[:50]:
            loop.attributes["weft.map"] = mapping.attribute()
            assert mapping_of(loop) == mapping
    del loop.attributes["weft.map"]
    assert mapping_of(loop) is None


def test_contexts_are_given_back() -> None:
    context = mlir.context()
    with context:
        Mapping.read(MAPS[0].attribute())
    alive = weakref.ref(context)
    del context
    gc.collect()
    assert alive() is None


def test_ranges_are_found_anew_where_the_kernel_has_changed() -> None:
    module = mlir.parse(KERNEL, mlir.context())
    (load,) = mlir.operations(module.operation, "memref.load")
    (number,) = mlir.operations(module.operation, "arith.constant")
    outer, inner = (op for op in mlir.operations(module.operation, "affine.apply"))
    index = load.operands[1]
    assert range_of(index) == (8, 132) and divisible(index, 4)
    with unchanged(load):
        assert range_of(index) == (8, 132)
        with unchanged(load):
            assert range_of(outer.results[0]) == (0, 124) and divisible(index, 4)
    outer.operands[0] = number.results[0]
    assert range_of(index) == (28, 28) and divisible(index, 7)
    inner.operands[0] = number.results[0]
    with unchanged(load):
        assert range_of(index) == (13, 13)
