"""Tokens of a host function → streams and events of its plan."""

from __future__ import annotations

import pytest
from runtime_programs import COPY_KERNEL, host, launch

from weft.dsl.diagnostics import WeftError
from weft.runtime.host.host import make_plan
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import Alloc, AnyStep, Copy, Free, Plan

M = "memref<8xf32>"


def copy(source: str, target: str) -> str:
    return launch("copy", f"{source} : {M}, {target} : {M}")


def asynchronous(token: str, after: str, source: str, target: str) -> str:
    return copy(source, target).replace("gpu.launch_func", f"{token} = gpu.launch_func async [{after}]")


def label(step: AnyStep) -> str:
    if isinstance(step, Alloc | Free):
        return f"{type(step).__name__.lower()} {step.buffer}"
    if isinstance(step, Copy):
        return f"{step.source.buffer}>{step.target.buffer}"
    return ">".join(a.buffer for a in step.args)  # type: ignore[union-attr]


def plan_of(body: str, attributes: str = "") -> Plan:
    function = (
        f'func.func @f(%a: {M} {{weft.name = "a"}}, %b: {M} {{weft.name = "b"}}, %c: {M} {{weft.name = "c"}}) {attributes} '
        f"{{\n%c1 = arith.constant 1 : index\n%c0 = arith.constant 0 : index\n%c3 = arith.constant 3 : index\n{body}\nreturn\n}}"
    )
    return make_plan(host(function, COPY_KERNEL))


def steps(body: str, attributes: str = "") -> list[str]:
    """`a>b @1 after 0`: the steps with their streams and what they wait for."""
    plan = plan_of(body, attributes)
    return [
        f"{label(s)} @{s.stream}" + (f" after {', '.join(map(str, s.after))}" if s.after else "") for s in plan.steps
    ]


ROOTS = "%r0 = gpu.wait async\n%r1 = gpu.wait async\n"
TABLE = {
    "synchronous launches stay on one stream": (f"{copy('%a', '%b')}\n{copy('%a', '%c')}", ["a>b @0", "a>c @0"]),
    "a chain stays on its stream": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n{asynchronous('%u', '%t', '%b', '%c')}\ngpu.wait [%u, %r1]",
        ["a>b @0", "b>c @0"],
    ),
    "roots run at once, and nothing waits for an event": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n{asynchronous('%u', '%r1', '%a', '%c')}\ngpu.wait [%t, %u]",
        ["a>b @0", "a>c @1"],
    ),
    "a join waits for the other stream": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n{asynchronous('%u', '%r1', '%a', '%c')}\n"
        f"%j = gpu.wait async [%t, %u]\n{asynchronous('%v', '%j', '%b', '%c')}\ngpu.wait [%v]",
        ["a>b @0", "a>c @1", "b>c @1 after 0"],
    ),
    "several dependencies without a join": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n{asynchronous('%u', '%r1', '%a', '%c')}\n"
        f"{asynchronous('%v', '%t, %u', '%b', '%c')}\ngpu.wait [%v]",
        ["a>b @0", "a>c @1", "b>c @1 after 0"],
    ),
    "the host's wait orders what comes after it": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\ngpu.wait [%t]\n{asynchronous('%u', '%r1', '%b', '%c')}\ngpu.wait [%u]",
        ["a>b @0", "b>c @0"],
    ),
    "a synchronous launch holds up what comes after it, not what is under way": (
        f"{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n{copy('%a', '%c')}\n{asynchronous('%u', '%r1', '%a', '%c')}\n"
        "gpu.wait [%t, %u]",
        ["a>b @0", "a>c @1", "a>c @1"],
    ),
    "memory is allocated where it is used first, and freed behind its last use": (
        f"%x = memref.alloc() : {M}\n%y = memref.alloc() : {M}\n{ROOTS}"
        f"{asynchronous('%t', '%r0', '%a', '%x')}\n{asynchronous('%u', '%r1', '%a', '%y')}\n"
        f"{asynchronous('%v', '%t', '%x', '%b')}\n{asynchronous('%w', '%u', '%y', '%c')}\n"
        f"gpu.wait [%v, %w]\nmemref.dealloc %x : {M}\nmemref.dealloc %y : {M}",
        ["alloc temp0 @0", "a>temp0 @0", "alloc temp1 @1", "a>temp1 @1", "temp0>b @0", "free temp0 @0", "temp1>c @1",
         "free temp1 @1"],
    ),
    "memory that several streams use is there before, and until all are done": (
        f"%x = memref.alloc() : {M}\n{ROOTS}"
        f"{asynchronous('%t', '%r0', '%x', '%b')}\n{asynchronous('%u', '%r1', '%x', '%c')}\ngpu.wait [%t, %u]",
        ["alloc temp0 @0", "temp0>b @0", "temp0>c @1 after 0", "free temp0 @1 after 1"],
    ),
    "allocations and frees with tokens": (
        f"{ROOTS}%x, %s = gpu.alloc async [%r0] () : {M}\n{asynchronous('%t', '%s', '%a', '%x')}\n"
        f"%u = gpu.memcpy async [%t] %b, %x : {M}, {M}\n%v = gpu.dealloc async [%u] %x : {M}\n"
        f"{asynchronous('%w', '%r1', '%a', '%c')}\ngpu.wait [%v, %w]",
        ["alloc temp0 @0", "a>temp0 @0", "temp0>b @0", "free temp0 @0", "a>c @1"],
    ),
    "iterations that the host waits for": (
        f"scf.for %i = %c0 to %c3 step %c1 {{\n{ROOTS}{asynchronous('%t', '%r0', '%a', '%b')}\n"
        f"{asynchronous('%u', '%r1', '%a', '%c')}\ngpu.wait [%t, %u]\n}}",
        ["a>b @0", "a>c @1", "a>b @1 after 0", "a>c @0 after 1", "a>b @0 after 2", "a>c @1 after 3"],
    ),
    "a token that a loop carries": (
        f"{ROOTS}%l = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %r0) -> (!gpu.async.token) {{\n"
        f"{asynchronous('%n', '%s', '%a', '%b')}\nscf.yield %n : !gpu.async.token\n}}\n"
        f"{asynchronous('%u', '%r1', '%a', '%c')}\ngpu.wait [%l, %u]",
        ["a>b @0", "a>b @0", "a>b @0", "a>c @1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_streams(name: str) -> None:
    body, expected = TABLE[name]
    assert steps(body) == expected


def test_at_most_one_stream() -> None:
    body, _ = TABLE["a join waits for the other stream"]
    assert steps(body, "attributes {weft.streams = 1 : i64}") == ["a>b @0", "a>c @0", "b>c @0"]


def test_the_fewest_streams_are_in_the_plan() -> None:
    body, _ = TABLE["a token that a loop carries"]
    assert plan_of(body).fewest_streams == 2
    assert plan_of(body, "attributes {weft.streams = 1 : i64}").fewest_streams == 1
    plain = plan_of(f"memref.copy %a, %b : {M} to {M}")
    assert plain.fewest_streams is None
    assert [load(dump(p)) for p in (plain, plan_of(body))] == [plain, plan_of(body)]
    for wrong in ("-1", "3"):
        with pytest.raises(WeftError, match="streams at least, where there are 2"):
            load(dump(plan_of(body)).replace('"fewest_streams": 2', f'"fewest_streams": {wrong}'))
