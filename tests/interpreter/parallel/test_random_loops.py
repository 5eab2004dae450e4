"""Random loops: cut, coalesced and mapped, each iteration is done once; and dependence, against brute force."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Sequence

from contexts import one_context
from evaluator import Buffer, Evaluator
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import ROOT, loop_module, mapped, owner

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.launch.launch import launch_loop
from weft.interpreter.loops.forall import coalesce, cut
from weft.interpreter.parallel.collisions import collision

SOAK = "WEFT_SOAK" in os.environ
SIZES = st.integers(1, 9)
AXES = "xyz"
DISTS = st.sampled_from([("block", None), ("cyclic", None), ("block-cyclic", 2), ("block-cyclic", 3)])


def put(loop: ir.Operation, attribute: str) -> None:
    """Give a loop a map that is spelled as in `loops.mapped`."""
    with loop.context:
        loop.attributes["weft.map"] = ir.DictAttr(ir.Attribute.parse(attribute))["weft.map"]


def done(module: ir.Module, loop: ir.Operation, trips: Sequence[int], lower: int, step: int, dynamic: bool) -> Counter:
    """Launch and run; how often each iteration was done, by its number."""
    launch_loop(module, loop)
    module.operation.verify()
    judge = Evaluator(module)
    uppers = [lower + n * step for n in trips]
    out = Buffer(tuple(max(u, 1) for u in uppers), lambda at: 0)
    judge.run("f", [out, *uppers] if dynamic else [out])
    return Counter(tuple((i - lower) // step for i in s.at) for s in judge.stores)


@settings(max_examples=500 if SOAK else 4, deadline=None)
@given(
    trips=st.lists(SIZES, min_size=2, max_size=3), sizes=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    lower=st.integers(0, 3), step=st.integers(1, 3), dynamic=st.booleans(), outer=DISTS, inner=DISTS,
    space=st.sampled_from(["threads", "lanes", "warps"]),
)  # fmt: skip
def test_cut_and_coalesced(
    trips: list[int], sizes: list[int], lower: int, step: int, dynamic: bool, outer: tuple, inner: tuple, space: str
) -> None:
    text = loop_module(trips, "{weft.map = 0}", dynamic=dynamic, lower=lower, step=step)
    module = mlir.parse(text, one_context())
    with module.context:
        (loop,) = [op for op in mlir.operations(module.operation) if ROOT in op.attributes]
        strips, points = cut(loop, sizes[: len(trips)])
        strips, points = coalesce(strips), coalesce(points)
    put(strips, mapped("blocks", "x", [3], *outer))
    put(points, mapped(space, "x", [{"threads": 5, "lanes": 32, "warps": 2}[space]], *inner))
    found = done(module, strips, trips, lower, step, dynamic)
    assert found == Counter(itertools.product(*(range(n) for n in trips)))


# ---- dependence ----------------------------------------------------------------------------------------------------------

FORMS = st.tuples(
    st.integers(-2, 3), st.integers(0, 12), st.sampled_from(["", " mod 4", " mod 6", " floordiv 2", " floordiv 3"])
)


def text_of(form: tuple[int, int, str]) -> str:
    factor, offset, rest = form
    return f"(d0 * {factor} + {offset + 60}){rest}"


def value_of(form: tuple[int, int, str], i: int) -> int:
    factor, offset, rest = form
    inner = i * factor + offset + 60
    kind, _, number = rest.strip().partition(" ")
    return inner if not kind else inner % int(number) if kind == "mod" else inner // int(number)


@settings(max_examples=800 if SOAK else 8, deadline=None)
@given(
    read=FORMS, write=FORMS, lower=st.integers(0, 3), trips=st.integers(0, 12), step=st.integers(1, 3), inner=st.integers(1, 3),
    scale=st.integers(0, 3),
)  # fmt: skip
def test_dependence_is_exact(
    read: tuple, write: tuple, lower: int, trips: int, step: int, inner: int, scale: int
) -> None:
    """Iteration i reads at p(i) and writes at q(i) + scale * j for each j of an inner loop."""
    upper = lower + trips * step
    module = mlir.parse(
        f"""\
func.func @f(%A: memref<1000xf32>) {{

  %lo = arith.constant {lower} : index
  %hi = arith.constant {upper} : index
  %st = arith.constant {step} : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %in = arith.constant {inner} : index
  scf.for %i = %lo to %hi step %st {{
    %p = affine.apply affine_map<(d0) -> ({text_of(read)})>(%i)
    %v = memref.load %A[%p] : memref<1000xf32>
    scf.for %j = %c0 to %in step %c1 {{
      %q = affine.apply affine_map<(d0, d1) -> ({text_of(write)} + d1 * {scale})>(%i, %j)
      memref.store %v, %A[%q] : memref<1000xf32>
    }}
  }}
  return
}}
""",
        one_context(),
    )
    loop = next(mlir.operations(module.operation, "scf.for"))
    found = collision(module, loop)
    iterations = range(lower, upper, step)
    reads = {i: {value_of(read, i)} for i in iterations}
    writes = {i: {value_of(write, i) + scale * j for j in range(inner)} for i in iterations}
    pairs = {
        (i, j)
        for i, j in itertools.combinations(iterations, 2)
        if writes[i] & (reads[j] | writes[j]) or reads[i] & writes[j]
    }
    assert (found is not None) == bool(pairs)
    if found is not None:
        assert not found.assumed and found.iterations in pairs


# ---- every space -----------------------------------------------------------------------------------------------------------


def processor(
    space: str, axes: str, counts: Sequence[int], block: tuple, thread: tuple, threads: tuple
) -> tuple[int, ...]:
    """Where on the map's axes a thread stands: its ids, by the definition of the space."""
    linear = thread[0] + threads[0] * (thread[1] + threads[1] * thread[2])
    if space == "lanes":
        return (linear % 32,)
    if space == "warps":
        warp, at = linear // 32, {}
        for axis in (a for a in AXES if a in axes):
            count = counts[axes.index(axis)]
            at[axis], warp = (warp % count, warp // count) if count > 0 else (warp, 0)
        return tuple(at[a] for a in axes)
    ids = {"blocks": block, "threads": thread}.get(space)
    if ids is not None:
        return tuple(ids[AXES.index(a)] for a in axes)
    return tuple(block[AXES.index(a)] * threads[AXES.index(a)] + thread[AXES.index(a)] for a in axes)


@settings(max_examples=1200 if SOAK else 6, deadline=None)
@given(
    data=st.data(),
    space=st.sampled_from(["blocks", "threads", "warps", "lanes", "grid"]),
    dynamic=st.booleans(),
    dist=DISTS,
)
def test_any_space(data: st.DataObject, space: str, dynamic: bool, dist: tuple) -> None:
    """One to three dimensions, fewer or more iterations than processors, symbolic counts, any bounds: each iteration once, and by
    the processor that the table says."""
    rank = 1 if space == "lanes" else data.draw(st.integers(1, 3))
    axes = "x" if space == "lanes" else "".join(data.draw(st.permutations(AXES)))[:rank]
    trips = data.draw(st.lists(st.integers(1, 7 if rank > 1 else 80), min_size=rank, max_size=rank))
    symbolic = space != "lanes" and (space != "warps" or rank == 1) and data.draw(st.booleans())
    most = {"lanes": 32, "warps": 3, "grid": 40 if rank == 1 else 6}.get(space, 5)
    counts = [32] if space == "lanes" else [-2 if symbolic else data.draw(st.integers(1, most)) for _ in range(rank)]
    lower, step = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
    text = loop_module(trips, mapped(space, axes, counts, *dist), dynamic=dynamic, lower=lower, step=step)
    module = mlir.parse(text, one_context())
    (loop,) = [op for op in mlir.operations(module.operation) if ROOT in op.attributes]
    info = launch_loop(module, loop)
    sizes: dict[str, tuple] = {}
    if symbolic:
        shape = {a: data.draw(st.integers(1, 4)) for a in axes}
        along = tuple(shape.get(a, 1) for a in AXES)
        sizes = {"block": (data.draw(st.sampled_from([1, 31, 32, 64, 70])), 1, 1)} if space == "warps" else (
            {"grid": along} if space in ("blocks", "grid") else {"block": along}
        )  # fmt: skip
    judge = Evaluator(module)
    uppers = [lower + n * step for n in trips]
    out = Buffer(tuple(max(u, 1) for u in uppers), lambda at: 0)
    judge.run("f", [out, *uppers] if dynamic else [out], **sizes)
    ((grid, block),) = judge.launches
    there = {
        "blocks": grid, "threads": block, "grid": tuple(g * b for g, b in zip(grid, block, strict=True)),
        "warps": (-(-block[0] * block[1] * block[2] // 32),) * 3, "lanes": (32,) * 3,
    }[space]  # fmt: skip
    have = [c if c > 0 else there[AXES.index(a)] for c, a in zip(counts, axes, strict=True)]
    wanted = {
        tuple(lower + i * step for i in at): tuple(
            owner(i, n, p, *dist) for i, n, p in zip(at, trips, have, strict=True)
        )
        for at in itertools.product(*(range(n) for n in trips))
    }
    got = [(s.at, processor(space, axes, counts, s.block, s.thread, block)) for s in judge.stores]
    assert len(got) == len(wanted) and dict(got) == wanted, info.remarks
