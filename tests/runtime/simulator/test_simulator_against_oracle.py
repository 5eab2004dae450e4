"""Random kernels: the simulator against an interpreter that runs one thread after another and compares all accesses."""

from __future__ import annotations

import os

import numpy as np
import scalar_oracle as so
from gpu_kernels import sim
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from weft.runtime.devices.report import ThreadOp

small = st.integers(0, 3)
indices = st.builds(so.Index, t=st.integers(0, 2), b=st.integers(0, 2), l=small, c=small)
buffers = st.sampled_from(list(so.SIZES))
accesses = st.one_of(
    st.builds(so.Load, buffers, indices), st.builds(so.Store, buffers, indices), st.builds(so.Atomic, buffers, indices)
)
starts = st.builds(so.Start, st.sampled_from(["G", "H"]), indices, st.sampled_from(so.SHARED), indices, st.integers(0, 1))
copies = st.one_of(starts, st.just(so.Commit()), st.builds(so.Wait, st.integers(0, 2)))
fences = st.builds(so.Barrier, st.sampled_from(["all", "all", "shared", "global", "none"]))


def programs(inner: st.SearchStrategy[so.Statement]) -> st.SearchStrategy[tuple[so.Statement, ...]]:
    return st.lists(inner, min_size=1, max_size=4).map(tuple)


def compound(inner: st.SearchStrategy[so.Statement], *, barriers: bool) -> st.SearchStrategy[so.Statement]:
    """Branches and loops; those with barriers inside go the same way in a whole block."""
    subjects = st.just("block") if barriers else st.sampled_from(["thread", "block"])
    uneven = st.just(False) if barriers else st.booleans()
    branches = st.builds(so.When, subjects, small, programs(inner), programs(inner))
    return st.one_of(branches, st.builds(so.Repeat, st.integers(0, 3), uneven, programs(inner)))


divergent = st.one_of(accesses, accesses, compound(accesses, barriers=False))
convergent = st.one_of(divergent, fences, compound(st.one_of(divergent, fences), barriers=True))
flying = st.one_of(accesses, copies, compound(st.one_of(accesses, copies), barriers=False))
with_copies = st.one_of(flying, fences, compound(st.one_of(flying, fences), barriers=True))

OWN, NEXT = so.Index(1, 0, 0, 0), so.Index(1, 0, 0, 1)
COPIED = (so.Start("G", OWN, "S", OWN, 0), so.Commit())
letters = st.sampled_from(
    [COPIED, COPIED, COPIED[:1], COPIED[1:], (so.When("thread", 0, COPIED, ()),), (so.Wait(0),), (so.Wait(0),), (so.Wait(1),),
     (so.Barrier("all"),), (so.Barrier("shared"),), (so.Load("S", OWN),), (so.Load("S", NEXT),), (so.Store("S", NEXT),),
     (so.Store("G", OWN),), (so.Store("G", NEXT),)],
)  # fmt: skip
"""Each thread has an element of its own: with arbitrary ones nearly every program has races everywhere."""
some_wait = (so.When("thread", 1, (so.Wait(0),), ()),)
between = st.one_of(st.just(()), letters)
turns = st.tuples(st.just(COPIED), between, st.sampled_from([(so.Wait(0),), (so.Wait(1),), some_wait]), between, letters)
"""A copy, a wait, and what may come in between and behind."""
words = st.one_of(turns, turns, st.lists(letters, min_size=3, max_size=8))
EXAMPLES = 3000 if "WEFT_SOAK" in os.environ else 12

anyhow = {
    "blocks": st.integers(1, 3), "threads": st.integers(1, 5), "batch": st.sampled_from([1, 5, 100]),
    "order": st.sampled_from(["forward", "reverse", 1, 2]),
}  # fmt: skip
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))  # type: ignore[arg-type]


@many
@given(program=st.lists(st.one_of(convergent, fences), min_size=1, max_size=8).map(tuple), **anyhow)
def test_random_kernels(program, blocks: int, threads: int, batch: int, order) -> None:
    compare(program, blocks, threads, batch, order)


@many
@given(program=st.lists(st.one_of(with_copies, copies), min_size=3, max_size=10).map(tuple), **anyhow)
def test_random_kernels_with_asynchronous_copies(program, blocks: int, threads: int, batch: int, order) -> None:
    compare(program, blocks, threads, batch, order)


@many
@given(word=words, threads=st.integers(2, 4), order=anyhow["order"])
def test_what_orders_asynchronous_copies(word, threads: int, order) -> None:
    program = tuple(statement for letter in word for statement in letter)
    compare(program, 1, threads, 100, order)


def compare(program, blocks: int, threads: int, batch: int, order) -> None:
    text = so.text(program)
    note(text)
    oracle = so.Oracle(blocks, threads)
    oracle.run(program)
    assert not oracle.divergent

    g, h = np.arange(10, 14, dtype=np.int32), np.zeros(6, np.int32)
    sums, written = np.zeros(blocks * threads, np.int32), np.zeros(6, bool)
    masks = [None, written, None]
    report = sim(text).launch((blocks, 1, 1), (threads, 1, 1), [g, h, sums], written=masks, order=order, batch=batch)

    racy = {{"S": "shared0", "T": "shared1"}.get(b, b): pairs for b, pairs in oracle.racy().items()}
    assert {race.buffer for race in report.races} == set(racy), "a race is found in a buffer if and only if it has one"
    for race in report.races:
        assert isinstance(race.first, ThreadOp) and isinstance(race.second, ThreadOp)
        who = {(race.first.block[0], race.first.thread[0]), (race.second.block[0], race.second.thread[0])}
        writes = {"WAW": (2,), "in-flight": (1, 2)}.get(race.kind, (1,))
        assert any(
            a.write + b.write in writes
            and {(a.block, a.thread), (b.block, b.thread)} == who
            and (a.element,) == race.element
            for a, b in racy[race.buffer]
        ), f"no such race: {race}"
    assert {f.kind for f in report.faults} <= {"uninitialized read"}
    if racy:
        return
    names = {{"S": "shared0", "T": "shared1"}.get(b, b) for b in oracle.unwritten}
    assert {f.buffer for f in report.faults} == names
    if not oracle.unwritten:
        assert sums.tolist() == oracle.sums
        assert g.tolist() == [oracle.values["G", 0, i] for i in range(4)]
        assert {i: int(v) for i, v in enumerate(h) if written[i]} == {
            i: oracle.values["H", 0, i] for i in range(6) if ("H", 0, i) in oracle.values
        }
