"""`async-fork` orders exactly what must be ordered, in the canonical form."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import combinations

import pytest
from launch_graphs import LaunchSpec, dependencies, host, ordered_before, parsed, program, random_launches
from work import lines_run, seconds_computed

from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.forking.forking import Forked, async_fork
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import judge_host

LAUNCH = "gpu.launch_func"


def forked(text: str, noalias: tuple[str, ...] | None = ()) -> tuple[ir.Module, Forked]:
    """Forked, and proven with the verdict that other people's tokens get: whether or not what is not stated may overlap."""
    module = parsed(text)
    with module.context, ir.Location.unknown():
        made = async_fork(module, noalias)
        module.operation.verify()
        effects = Effects(module)
        for function in mlir.operations(module.operation, "func.func"):
            if len(function.regions[0].blocks):
                for may_alias in (False, True):
                    source = Source("forked", str(module))
                    assert not judge_host(function, effects, source=source, may_alias=may_alias).diagnostics
    return module, made


def must_precede(launches: list[LaunchSpec]) -> list[set[int]]:
    """The order that the buffers ask for, closed transitively."""
    before: list[set[int]] = []
    for i, later in enumerate(launches):
        direct = {j for j in range(i) if launches[j].conflicts(later)}
        before.append(direct.union(*(before[j] for j in direct)))
    return before


def expect_canonical(function: ir.Operation) -> None:
    """One dependency each; a token goes to one op that is not a `gpu.wait async`, and each is waited for."""
    for op in mlir.operations(function, LAUNCH, "gpu.memcpy", "gpu.memset", "gpu.alloc", "gpu.dealloc"):
        if any(str(r.type) == "!gpu.async.token" for r in op.results):
            assert len(dependencies(op)) == 1, str(op)
    for op in mlir.operations(function):
        for result in op.results:
            if str(result.type) == "!gpu.async.token":
                users = [use.owner.operation for use in result.uses]
                assert users, f"never waited for: {op}"
                others = [u for u in users if not (u.name == "gpu.wait" and len(u.results))]
                assert all(in_two_arms(a, b) for a, b in combinations(others, 2)), f"a fork that is not explicit: {op}"


def in_two_arms(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether they stand in different arms of one branch."""
    mine, theirs = (list(arms_around(op)) for op in (first, second))
    return any(a == b and i != j for a, i in mine for b, j in theirs)


def arms_around(op: ir.Operation) -> Iterator[tuple[ir.Operation, int]]:
    block = op.block
    while block.owner.operation.name != "func.func":
        holder = block.owner.operation
        if holder.name == "scf.if":
            yield holder, next(i for i, region in enumerate(holder.regions) if block in list(region.blocks))
        block = holder.block


@pytest.mark.parametrize("seed", range(200 if "WEFT_SOAK" in os.environ else 2))
def test_random_graphs(seed: int) -> None:
    buffers = 5 + 6 * seed % 60
    launches = random_launches(200, buffers, seed)
    module, made = forked(program(launches, buffers))
    main = host(module)
    assert ordered_before(main, LAUNCH) == must_precede(launches)
    expect_canonical(main)
    assert made.operations == 200 and made.waits == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(5))
def test_what_gpu_async_region_wrote_is_forked_again(seed: int) -> None:
    launches = random_launches(30, 10, seed)
    module = parsed(program(launches, 10))
    mlir.run_passes(module, "func.func(gpu-async-region)")
    assert any(dependencies(op) for op in mlir.operations(host(module), LAUNCH))
    again, _ = forked(str(module))
    assert ordered_before(host(again), LAUNCH) == must_precede(launches)
    plain, _ = forked(program(launches, 10))
    assert str(host(again)) == str(host(plain))


def test_forking_twice_changes_nothing() -> None:
    module, _ = forked(program(random_launches(50, 12, 3), 12))
    again, _ = forked(str(module))
    assert str(again) == str(module)


def test_reduced_edges_only() -> None:
    """A chain of three on one buffer: the third waits for the second alone."""
    module, made = forked(program([LaunchSpec((), (0,))] * 3, 1))
    assert (made.roots, made.joins, made.forks) == (1, 0, 0)
    assert len(list(mlir.operations(host(module), "gpu.wait"))) == 2


SIZES = "blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)"
KERNELS = """
gpu.module @k {
  gpu.func @w(%a: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    memref.store %f, %a[%c0] : memref<8xf32>
    gpu.return
  }
  gpu.func @r(%a: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = memref.load %a[%c0] : memref<8xf32>
    gpu.return
  }
  gpu.func @rr(%a: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %f = memref.load %a[%c0] : memref<8xf32>
    %g = memref.load %a[%c4] : memref<8xf32>
    gpu.return
  }
  gpu.func @part(%a: memref<4xf32, strided<[1], offset: ?>>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 0.0 : f32
    memref.store %f, %a[%c0] : memref<4xf32, strided<[1], offset: ?>>
    gpu.return
  }
}
func.func @sets(%a: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @k::@w blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<8xf32>)
  return
}
"""
W = "gpu.launch_func @k::@w " + SIZES + " args({} : memref<8xf32>)"
R = "gpu.launch_func @k::@r " + SIZES + " args({} : memref<8xf32>)"


def source(body: str) -> str:
    return (
        f"module attributes {{gpu.container_module}} {{{KERNELS}\n"
        "func.func @main(%a: memref<8xf32>, %b: memref<8xf32>, %p: i1, %x: f32) {\n"
        f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n{body}\nreturn\n}}\n}}"
    )


def shape(body: str) -> list[str]:
    """The forked body: each op by its name, with how many tokens it takes, `async` if it gives one."""
    module, _ = forked(source(body))
    expect_canonical(host(module))
    found: list[str] = []
    for op in mlir.operations(host(module)):
        if op.name.startswith(("gpu.", "memref.", "scf.for", "scf.if", "func.call")) and op.name != "memref.subview":
            gives = any(str(r.type) == "!gpu.async.token" for r in op.results)
            found.append(f"{op.name.removeprefix('gpu.')}{' async' if gives else ''} {len(dependencies(op))}")
    return found


PART = "memref<4xf32, strided<[1], offset: 4>>"
SHAPES = {
    "a host read waits for what it reads alone": (
        f"{W.format('%a')}\n{W.format('%b')}\n%v = memref.load %a[%c0] : memref<8xf32>\n{R.format('%a')}",
        ["wait async 0", "launch_func async 1", "wait async 0", "launch_func async 1", "wait 1", "memref.load 0",
         "wait async 0", "launch_func async 1", "wait 2"],
    ),
    "a host write waits for readers": (
        f"{R.format('%a')}\nmemref.store %x, %a[%c0] : memref<8xf32>\n{R.format('%a')}",
        ["wait async 0", "launch_func async 1", "wait 1", "memref.store 0", "wait async 0", "launch_func async 1", "wait 1"],
    ),
    "a host read of what is only read waits for nothing": (
        f"{R.format('%a')}\n%v = memref.load %a[%c0] : memref<8xf32>",
        ["wait async 0", "launch_func async 1", "memref.load 0", "wait 1"],
    ),
    "readers of one write fork": (
        f"{W.format('%a')}\n{R.format('%a')}\n{R.format('%a')}\n{W.format('%a')}",
        ["wait async 0", "launch_func async 1", "launch_func async 1", "wait async 1", "launch_func async 1", "wait async 2",
         "launch_func async 1", "wait 1"],
    ),
    "a token that the host waits for and a launch takes is forked": (
        f"{W.format('%a')}\n{R.format('%a')}\n%v = memref.load %a[%c0] : memref<8xf32>",
        ["wait async 0", "launch_func async 1", "launch_func async 1", "wait async 1", "wait 1", "memref.load 0", "wait 1"],
    ),
    "copies become gpu.memcpy": (
        f"{W.format('%a')}\nmemref.copy %a, %b : memref<8xf32> to memref<8xf32>",
        ["wait async 0", "launch_func async 1", "memcpy async 1", "wait 1"],
    ),
    "a free moves behind the final wait": (
        f"%t = memref.alloc() : memref<8xf32>\n{W.format('%t')}\nmemref.dealloc %t : memref<8xf32>\n{W.format('%a')}",
        ["memref.alloc 0", "wait async 0", "launch_func async 1", "wait async 0", "launch_func async 1", "wait 2",
         "memref.dealloc 0"],
    ),
    "device allocations have tokens": (
        f"%t = gpu.alloc () : memref<8xf32>\n{W.format('%t')}\ngpu.dealloc %t : memref<8xf32>",
        ["wait async 0", "alloc async 1", "launch_func async 1", "dealloc async 1", "wait 1"],
    ),
    "shared memory is allocated by the host": (
        f"%t = gpu.alloc host_shared () : memref<8xf32>\n{W.format('%t')}",
        ["alloc 0", "wait async 0", "launch_func async 1", "wait 1"],
    ),
    "halves of one buffer": (
        "%l = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>\n"
        f"%h = memref.subview %a[4] [4] [1] : memref<8xf32> to {PART}\n"
        "%lc = memref.cast %l : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: ?>>\n"
        f"%hc = memref.cast %h : {PART} to memref<4xf32, strided<[1], offset: ?>>\n"
        f"gpu.launch_func @k::@part {SIZES} args(%lc : memref<4xf32, strided<[1], offset: ?>>)\n"
        f"gpu.launch_func @k::@part {SIZES} args(%hc : memref<4xf32, strided<[1], offset: ?>>)\n"
        + R.format("%a").replace("@r", "@rr"),
        ["memref.cast 0", "memref.cast 0", "wait async 0", "launch_func async 1", "wait async 0", "launch_func async 1",
         "wait async 2", "launch_func async 1", "wait 1"],
    ),
    "halves of one buffer, of which a kernel that gets it whole reads one": (
        "%l = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>\n"
        f"%h = memref.subview %a[4] [4] [1] : memref<8xf32> to {PART}\n"
        "%lc = memref.cast %l : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: ?>>\n"
        f"%hc = memref.cast %h : {PART} to memref<4xf32, strided<[1], offset: ?>>\n"
        f"gpu.launch_func @k::@part {SIZES} args(%lc : memref<4xf32, strided<[1], offset: ?>>)\n"
        f"gpu.launch_func @k::@part {SIZES} args(%hc : memref<4xf32, strided<[1], offset: ?>>)\n{R.format('%a')}",
        ["memref.cast 0", "memref.cast 0", "wait async 0", "launch_func async 1", "wait async 0", "launch_func async 1",
         "launch_func async 1", "wait 2"],
    ),
    "a loop carries a token; its body joins": (
        f"{W.format('%a')}\nscf.for %i = %c0 to %c4 step %c1 {{\n{R.format('%a')}\n{R.format('%b')}\n}}\n{W.format('%b')}",
        ["wait async 0", "launch_func async 1", "scf.for async 1", "launch_func async 1", "wait async 1", "launch_func async 1",
         "wait async 2", "launch_func async 1", "wait 1"],
    ),
    "a loop on other buffers holds nothing up": (
        f"{W.format('%a')}\nscf.for %i = %c0 to %c4 step %c1 {{\n{W.format('%b')}\n}}\n{R.format('%a')}",
        ["wait async 0", "launch_func async 1", "wait async 0", "scf.for async 1", "launch_func async 1", "launch_func async 1",
         "wait 2"],
    ),
    "a loop in a loop": (
        f"scf.for %i = %c0 to %c4 step %c1 {{\nscf.for %j = %c0 to %c4 step %c1 {{\n{W.format('%b')}\n}}\n{W.format('%a')}\n}}",
        ["wait async 0", "scf.for async 1", "scf.for async 1", "launch_func async 1", "wait async 1", "launch_func async 1",
         "wait async 2", "wait 1"],
    ),
    "a loop in which the host reads what a launch writes is waited for": (
        f"{W.format('%a')}\nscf.for %i = %c0 to %c4 step %c1 {{\n{W.format('%b')}\n%v = memref.load %b[%c0] : memref<8xf32>\n}}\n"
        f"{R.format('%b')}",
        ["wait async 0", "launch_func async 1", "scf.for 0", "wait async 0", "launch_func async 1", "wait 1", "memref.load 0",
         "wait async 0", "launch_func async 1", "wait 2"],
    ),
    "a loop in which the host frees what a launch uses is waited for": (
        f"scf.for %i = %c0 to %c4 step %c1 {{\n%t = memref.alloc() : memref<8xf32>\n{W.format('%t')}\n"
        "memref.dealloc %t : memref<8xf32>\n}",
        ["scf.for 0", "memref.alloc 0", "wait async 0", "launch_func async 1", "wait 1", "memref.dealloc 0"],
    ),
    "a loop with memory of the device": (
        f"scf.for %i = %c0 to %c4 step %c1 {{\n%t = gpu.alloc () : memref<8xf32>\n{W.format('%t')}\n"
        "gpu.dealloc %t : memref<8xf32>\n}",
        ["wait async 0", "scf.for async 1", "alloc async 1", "launch_func async 1", "dealloc async 1", "wait 1"],
    ),
    "a branch, and none": (
        f"{W.format('%a')}\nscf.if %p {{\n{R.format('%a')}\n}}\n{W.format('%b')}",
        ["wait async 0", "launch_func async 1", "scf.if async 0", "launch_func async 1", "wait async 0", "launch_func async 1",
         "wait 2"],
    ),
    "both arms of a branch": (
        f"{W.format('%a')}\nscf.if %p {{\n{R.format('%a')}\n}} else {{\n{W.format('%a')}\n{R.format('%a')}\n}}",
        ["wait async 0", "launch_func async 1", "scf.if async 0", "launch_func async 1", "launch_func async 1",
         "launch_func async 1", "wait 1"],
    ),
    "a call": (
        f"{W.format('%a')}\nfunc.call @sets(%a) : (memref<8xf32>) -> ()",
        ["wait async 0", "launch_func async 1", "wait 1", "func.call 0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shape(name: str) -> None:
    body, expected = SHAPES[name]
    assert shape(body) == expected


@pytest.mark.parametrize("name", [name for name in SHAPES if name.startswith(("a loop", "a branch", "both arms"))])
def test_forking_loops_twice_changes_nothing(name: str) -> None:
    module, _ = forked(source(SHAPES[name][0]))
    again, _ = forked(str(module))
    assert str(again) == str(module)


REFUSED = {
    "freed twice": (
        "%t = memref.alloc() : memref<8xf32>\nmemref.dealloc %t : memref<8xf32>\nmemref.dealloc %t : memref<8xf32>\n"
        + W.format("%a"),
        "W0434",
        "memref.dealloc uses",
    ),
    "an op of an unknown dialect": (f'{W.format("%a")}\n"krnl.call"(%a) : (memref<8xf32>) -> ()', "W0432", "krnl.call"),
    "a launch on the caller's stream": (
        "%s = arith.constant 0 : i64\n" + W.format("%a").replace("@k::@w", "<%s : i64> @k::@w"),
        "W0431",
        "a stream of the caller's",
    ),
    "a launch that is not outlined": (
        "gpu.launch blocks(%i, %j, %k) in (%l = %c1, %m = %c1, %n = %c1) threads(%q, %r, %s) in (%t = %c1, %u = %c1, %v = %c1) "
        "{\nmemref.store %x, %a[%c0] : memref<8xf32>\ngpu.terminator\n}",
        "W0433",
        "not outlined",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    body, code, said = REFUSED[name]
    module = parsed(source(body))
    before = str(module)
    with module.context, ir.Location.unknown(), pytest.raises(WeftError) as caught:
        async_fork(module)
    assert caught.value.diagnostics[0].code == code and str(said) in caught.value.diagnostics[0].message
    assert str(module) == before


@pytest.mark.parametrize("body", ["return", "gpu.wait\nreturn", "%t = gpu.wait async\ngpu.wait [%t]\nreturn"])
def test_nothing_to_fork(body: str) -> None:
    module = parsed(f"func.func @main() {{\n{body}\n}}")
    with module.context, ir.Location.unknown(), pytest.raises(WeftError, match="W0430"):
        async_fork(module)


def forking(count: int) -> Callable[[], Forked]:
    """Forks so many launches, when it is called."""
    module = parsed(repeated(count))

    def fork() -> Forked:
        with module.context, ir.Location.unknown():
            return async_fork(module)

    return fork


def test_eight_times_the_launches_are_eight_times_the_work() -> None:
    some, few = lines_run(forking(300))
    made, lines = lines_run(forking(2_400))
    assert made.operations == some.operations + 2_100
    assert lines < 10 * few
    assert seconds_computed(lambda: forking(2_400), 2) < 24 * seconds_computed(lambda: forking(300), 2)


def repeated(count: int) -> str:
    """`count` launches of one kernel, on 200 buffers in turn."""
    names = [f"%b{i}" for i in range(200)]
    calls = "\n".join((W if i % 3 else R).format(names[i * 7919 % 200]) for i in range(count))
    arguments = ", ".join(f"{n}: memref<8xf32>" for n in names)
    return (
        f"module attributes {{gpu.container_module}} {{{KERNELS}\nfunc.func @main({arguments}) {{\n"
        f"%c1 = arith.constant 1 : index\n{calls}\nreturn\n}}\n}}"
    )
