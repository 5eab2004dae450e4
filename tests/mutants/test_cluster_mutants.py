"""What the recipe `hopper` makes of blocks in clusters: whatever is left out is found, by the proof and on the simulator."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hopper_kernels import Made
from hopper_verdicts import Runs, proof
from thinning import SOAK

from weft.pipeline import Choice, applied
from weft.runtime.simulator.kernel import Order

SETTINGS = {"m": 192, "n": 72, "k": 264, "bm": 64, "bn": 64, "stages": 2, "cluster": 2, "store": 0}
"""Three rows of tiles, two columns, five steps."""
KINDS: dict[str, dict[str, object]] = {
    "a tile each": {}, "blocks that stay": {"blocks": 4}, "row by row": {"group": 1}, "four": {"cluster": 4, "bm": 128},
}  # fmt: skip
MUTATED = ["a tile each", "blocks that stay"]
ORDERS: list[Order] = ["forward", "reverse", 3]


@cache
def kernel(kind: str) -> Made:
    settings = {name: str(value) for name, value in (SETTINGS | KINDS[kind]).items()}
    done = applied(Choice("hopper", None, settings).open())
    return Made(done.payload, done.text)


@cache
def runs(kind: str) -> Runs:
    return Runs(kernel(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernels_are_right(kind: str) -> None:
    text = kernel(kind).text
    assert "known_cluster_size" in text and not proof(text)
    mutated = SOAK or kind in MUTATED  # each order in which a mutant is judged
    assert not any(runs(kind).simulated(text, order) for order in (ORDERS if mutated else ORDERS[-1:]))
    assert not any(runs(kind).native(text, reverse=reverse) for reverse in ((False, True) if mutated else (True,)))


MEETING = r"nvvm\.cluster\.arrive \{aligned\}\n +nvvm\.cluster\.wait \{aligned\}"
LEFT_OUT = {
    "the wait for a full tile": (r"nvgpu\.mbarrier\.try_wait\.parity .*", 0),
    "the wait for an empty tile": (r"nvgpu\.mbarrier\.try_wait\.parity .*", 1),
    "the arrivals": (r"nvvm\.mbarrier\.arrive .*", 0),
    "the first meeting": (MEETING, 0),
    "the last meeting": (MEETING, -1),
    "the fence behind the initialization": (r"nvvm\.fence\.mbarrier\.init", 0),
    "the bytes that are to come": (r"nvgpu\.mbarrier\.arrive\.expect_tx .*", 0),
    "the load for all": (r"nvgpu\.tma\.async\.load .* multicast_mask .*", 0),
    "the load for the block itself": (r"nvgpu\.tma\.async\.load (?!.*multicast_mask).*", 0),
    "the other blocks of the mask": (r" multicast_mask = %\w+", 0),
}


@pytest.mark.few(7)
@pytest.mark.parametrize("kind", MUTATED)
@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_found(name: str, kind: str) -> None:
    pattern, which = LEFT_OUT[name]
    text = kernel(kind).text
    found = list(re.finditer(pattern, text))[which]
    text = text[: found.start()] + text[found.end() :]
    assert proof(text)
    for order in ORDERS:
        assert runs(kind).simulated(text, order), order


ARRIVALS = {
    "one consumer's arrival empties a tile that two blocks read": (r"(nvgpu\.mbarrier\.init %\w+\[%\w+\]), %c2 ", r"\1, %c1 "),
    "no arrival at the last block": (r"(arith\.cmpi slt, %thread_id_x), %c2 ", r"\1, %c1 "),
    "arrivals at this block alone": (r"(nvvm\.mapa %\w+), %\w+ ", r"\1, %rank "),
    "arrivals at the first block alone": (r"(nvvm\.mapa %\w+), %\w+ ", r"\1, %zero "),
}


@pytest.mark.parametrize("name", ARRIVALS)
def test_arrivals(name: str) -> None:
    pattern, instead = ARRIVALS[name]
    text, count = re.subn(pattern, instead, kernel("a tile each").text)
    (rank,) = re.findall(r"(%\w+) = gpu\.cluster_block_id", text)
    numbers = f"%rank = arith.index_cast {rank} : index to i32\n%zero = arith.constant 0 : i32\n"
    text = re.sub(r"(?= *nvvm\.cluster\.arrive)", numbers, text, count=1)
    assert count == 1 and proof(text)
    assert all(runs("a tile each").simulated(text, order) for order in ORDERS)


def test_a_block_without_a_tile_that_stores() -> None:
    """The fourth row of tiles is none: what would be stored there lies outside."""
    text, count = re.subn(r"arith\.cmpi slt, (%\w+), %c3 ", r"arith.cmpi sle, \1, %c3 ", kernel("a tile each").text)
    assert count == 1
    assert "out-of-bounds write" in runs("a tile each").simulated(text)
