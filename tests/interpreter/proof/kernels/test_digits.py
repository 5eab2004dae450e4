"""Ids that a kernel divides are digits to the analysis; what it finds is what an enumeration of all threads finds."""

from __future__ import annotations

from itertools import product

import pytest
from kernel_text import WORKGROUP, model

from weft.interpreter.indices.linear import Floor, Formula, Linear, Symbol
from weft.interpreter.proof.races.conflicts import conflicts

LINE = f"memref<4096xf32, {WORKGROUP}>"


def kernel(threads: int, store: str, load: str):  # type: ignore[no-untyped-def]
    """One store and one load of shared memory, at maps of the thread's id `t`."""
    return model(
        f"""%w = affine.apply affine_map<(t) -> ({store})>(%tx)
        %r = affine.apply affine_map<(t) -> ({load})>(%tx)
        memref.store %zero, %S[%w] : {LINE}
        %x = memref.load %S[%r] : {LINE}""",
        shared=f"%S: {LINE}",
        sizes=f"known_block_size = array<i32: {threads}, 1, 1>, known_grid_size = array<i32: 1, 1, 1>",
    )


@pytest.mark.parametrize(
    ("threads", "index", "names"),
    [
        (256, "t floordiv 4", {"tx_1", "tx_4"}),
        (256, "(t mod 32) * 64 + t floordiv 4", {"tx_1", "tx_4", "tx_32"}),
        (48, "t mod 32", {"tx_1", "tx_32"}),  # 48 is not a multiple of 32: the sum of the digits is bounded too
        (256, "(2 * t) floordiv 8", {"tx_1", "tx_4"}),
        (32, "t mod 32", {"tx"}),  # there is nothing to divide
        (256, "t * 4", {"tx"}),
    ],
)
def test_which_digits(threads: int, index: str, names: set[str]) -> None:
    made = kernel(threads, index, index)
    assert {s.name for form in made.values.thread_ids() for s in form.symbols()} == names
    assert not any(isinstance(t, Floor) for a in made.accesses for c in a.coordinates or () for t in c.terms)
    assert len(made.facts) == (threads == 48)


def test_numbers_that_are_no_chain_stay_floors() -> None:
    made = kernel(256, "t floordiv 24", "t floordiv 32")
    assert {s.name for form in made.values.thread_ids() for s in form.symbols()} == {"tx_1", "tx_24"}
    assert any(isinstance(t, Floor) for a in made.accesses for c in a.coordinates or () for t in c.terms)


MAPS = ["t", "t floordiv 4", "t mod 8", "(t mod 8) * 6 + t floordiv 8", "(t + 5) floordiv 8", "(47 - t) floordiv 8"]


@pytest.mark.parametrize(("threads", "store", "load"), [(n, *maps) for n in (32, 48) for maps in product(MAPS, MAPS)])
def test_against_every_thread(threads: int, store: str, load: str) -> None:
    def at(text: str, t: int) -> int:
        return eval(text.replace("floordiv", "//").replace("mod", "%"), {"t": t})

    elements = [(at(store, t), at(load, t)) for t in range(threads)]
    pairs = [(a, b) for a, b in product(range(threads), repeat=2) if a != b]
    expected = set()
    if any(elements[a][0] == elements[b][0] for a, b in pairs):
        expected.add("WAW")
    if any(elements[a][0] == elements[b][1] for a, b in pairs):
        expected.add("RAW")
    found = conflicts(kernel(threads, store, load))
    assert {c.kind for c in found} == expected
    for c in found:
        assert c.first is not None and c.second is not None and not c.assumed
        (element,) = c.element
        assert element == at(store, c.first.thread[0]) == at(load if c.kind == "RAW" else store, c.second.thread[0])


def test_a_condition_on_an_id_is_stated_in_digits() -> None:
    made = model(
        """%half = affine.apply affine_map<(t) -> (t floordiv 8)>(%tx)
        %low = arith.cmpi eq, %half, %c0 : index
        scf.if %low {
          memref.store %zero, %S[%tx, %ty] : memref<16x16xf32, #gpu.address_space<workgroup>>
        }"""
    )
    (guard,) = made.accesses[0].place.guards
    assert _symbols(guard) == {"tx_8"}


def _symbols(formula: Formula) -> set[str]:
    return {s.name for s in formula.symbols()}


def test_the_sum_of_digits_is_the_id() -> None:
    made = kernel(100, "t floordiv 7", "(t mod 14) * 8")
    x, _, _ = made.values.thread_ids()
    assert {(t.name, c, t.low, t.high) for t, c in x.terms.items() if isinstance(t, Symbol)} == {
        ("tx_14", 14, 0, 7), ("tx_7", 7, 0, 1), ("tx_1", 1, 0, 6),
    }  # fmt: skip
    assert made.facts == (Formula("ge", Linear.of(99) - x),)
