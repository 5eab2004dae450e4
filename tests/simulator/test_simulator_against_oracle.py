"""Random kernels: the simulator against an interpreter that runs one thread after another and compares all accesses."""

from __future__ import annotations

import os

import numpy as np
import scalar_oracle as so
from gpu_kernels import sim
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

small = st.integers(0, 3)
indices = st.builds(so.Index, t=st.integers(0, 2), b=st.integers(0, 2), l=small, c=small)
buffers = st.sampled_from(list(so.SIZES))
accesses = st.one_of(
    st.builds(so.Load, buffers, indices), st.builds(so.Store, buffers, indices), st.builds(so.Atomic, buffers, indices)
)
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
EXAMPLES = 3000 if "WEFT_SOAK" in os.environ else 120


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    program=st.lists(st.one_of(convergent, fences), min_size=1, max_size=8).map(tuple),
    blocks=st.integers(1, 3),
    threads=st.integers(1, 5),
    batch=st.sampled_from([1, 5, 100]),
    order=st.sampled_from(["forward", "reverse", 1, 2]),
)
def test_random_kernels(program, blocks: int, threads: int, batch: int, order) -> None:
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
        who = {(race.first.block[0], race.first.thread[0]), (race.second.block[0], race.second.thread[0])}
        writes = 2 if race.kind == "WAW" else 1
        assert any(
            a.write + b.write == writes
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
