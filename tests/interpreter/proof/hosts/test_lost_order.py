"""A pair of host operations that lost its order is named by the proof, with the edge that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from small_hosts import V, host, launch

from weft.dsl.diagnostics import Source
from weft.pipeline import Choice, applied
from weft.verify import JudgedHost, Sizes, verify_source

SMALL = {"batch": "1", "filters": "2", "size": "6", "threads": "64"}
TOKENS = re.compile(r"\[(%\w+(?:, %\w+)*)\]")


def judged(module: str, block: Sizes | None = (8, 1, 1)) -> JudgedHost:
    return verify_source(Source("p.mlir", module), block=block).hosts[0]


def without_one_edge(module: str) -> Iterator[tuple[str, str, str]]:
    """The op, the token and the module for each token that a `gpu.wait` or a launch of the host waits for."""
    lines = module.split("\n")
    for number, line in enumerate(lines):
        found = TOKENS.search(line) if "gpu.wait" in line or "gpu.launch_func" in line else None
        names = found[1].split(", ") if found else []
        for name in names:
            left = ", ".join(n for n in names if n != name)
            shorter = line.replace(found[0], f"[{left}]" if left else "") if found else line
            yield line.strip(), name, "\n".join([*lines[:number], shorter, *lines[number + 1 :]])


def test_two_convolutions_without_any_one_edge() -> None:
    module = applied(Choice("concurrent_convs", None, SMALL).open()).text
    conv1, conv2, add = re.findall(r"(%\w+) = gpu.launch_func", module)
    first, second, _ = re.findall(r"(%\w+) = memref.alloc\(", module)
    assert judged(module, None).diagnostics == ()
    seen: list[str] = []
    for op, token, broken in without_one_edge(module):
        host = judged(broken, None)
        codes = [d.code for d in host.diagnostics]
        pairs = {d.message.split("`")[1]: d for d in host.diagnostics if d.code == "W0629"}
        if op.startswith("gpu.wait"):  # the last: nobody waits for the sum
            assert (token, codes) == (add, ["W0620", "W0630"])
        elif token in (conv1, conv2):  # of the join
            buffer = (first if token == conv1 else second).lstrip("%")
            assert set(codes) == {"W0620", "W0629"} and list(pairs) == [buffer]
        elif add in op:
            assert set(codes) == {"W0621", "W0629"} and set(pairs) == {first.lstrip("%"), second.lstrip("%")}
        else:  # a root: what waits for nothing but the host needs none
            assert codes == ["W0621"]
        for buffer, diagnostic in pairs.items():
            name = "test_parallel" if buffer == first.lstrip("%") else "test_parallel_1"
            edge = rf"the missing edge: gpu.launch_func @{name}_kernel::{name} in line \d+ → gpu.launch_func @test_parallel_2"
            assert re.search(edge, "\n".join(diagnostic.notes))
        seen.append(token)
    assert len(seen) == 6


PAIRS: dict[str, tuple[str, str]] = {
    "a copy that does not wait": (
        host(launch("twice", "A", "B", after="r", token="a"), f"%b = gpu.memcpy async [%q] %C, %B : {V}, {V}", "gpu.wait [%a, %b]"),
        "W0629",
    ),
    "a fill that does not wait": (
        host(launch("twice", "A", "B", after="r", token="a"), f"%b = gpu.memset async [%q] %B, %one : {V}, f32",
             "gpu.wait [%a, %b]"),
        "W0629",
    ),
    "the same is written twice": (
        host(launch("zero", "A", after="r", token="a"), launch("zero", "A", after="q", token="b"), "gpu.wait [%a, %b]"),
        "W0629",
    ),
    "the host copies too early": (
        host(launch("twice", "A", "B", after="r", token="a"), f"memref.copy %B, %C : {V} to {V}", "gpu.wait [%a, %q]"),
        "W0630",
    ),
    "freed while it is read": (
        host(f"%m, %s = gpu.alloc async [%r] () : {V}", launch("twice", "A", "m", after="s", token="a"),
             launch("twice", "m", "B", after="a", token="b"), f"%c = gpu.dealloc async [%q] %m : {V}", "gpu.wait [%b, %c]"),
        "W0633",
    ),
    "in a loop": (
        host("%l = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %r) -> (!gpu.async.token) {",
             launch("twice", "A", "B", after="t", token="a"), "scf.yield %a : !gpu.async.token", "}",
             launch("twice", "B", "A", after="q", token="b"), "gpu.wait [%l, %b]"),
        "W0629",
    ),
    "the host reads an element": (
        host(launch("zero", "A", after="r", token="a"), f"%v = memref.load %A[%c0] : {V}", "gpu.wait [%a, %q]"),
        "W0630",
    ),
    "sizes that are not known": (
        host("%a = gpu.memset async [%r] %D, %one : memref<?xf32>, f32", "%b = gpu.memset async [%q] %D, %one : memref<?xf32>, f32",
             "gpu.wait [%a, %b]", arguments="%D: memref<?xf32>"),
        "W0629",
    ),
    "a kernel that is in the host's text": (
        f"""func.func @f(%A: {V}, %B: {V}) {{
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %z = arith.constant 0.0 : f32
          %r = gpu.wait async
          %q = gpu.wait async
          %a = gpu.launch async [%r] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {{
            memref.store %z, %B[%tx] : {V}
            gpu.terminator
          }}
          %b = gpu.memcpy async [%q] %A, %B : {V}, {V}
          gpu.wait [%a, %b]
          return
        }}""",
        "W0629",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PAIRS)
def test_a_pair_is_named(case: str) -> None:
    module, code = PAIRS[case]
    assert code in [d.code for d in judged(module).diagnostics]
