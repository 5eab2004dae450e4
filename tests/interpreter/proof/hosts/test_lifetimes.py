"""`weft verify` on host functions with tokens: what is right, and each fault once, with the codes and the lines that it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from contexts import one_context
from proofs import expect_codes

from weft import cli
from weft.dsl.diagnostics import Diagnostic, Source, WeftError
from weft.interpreter.ir import mlir
from weft.verify import verify_source

V = "memref<64xf32>"
KERNELS = f"""
gpu.module @k {{
  gpu.func @set(%x: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = arith.constant 1.0 : f32
    memref.store %v, %x[%t] : {V}
    gpu.return
  }}
  gpu.func @copy(%x: {V}, %y: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : {V}
    memref.store %v, %y[%t] : {V}
    gpu.return
  }}
  gpu.func @add(%x: {V}, %y: {V}, %z: {V}) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : {V}
    %w = memref.load %y[%t] : {V}
    %s = arith.addf %v, %w : f32
    memref.store %s, %z[%t] : {V}
    gpu.return
  }}
}}
"""
SIZES = "blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)"
HEAD = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index"""


def launch(kernel: str, *buffers: str, after: str | None = None, token: str | None = None) -> str:
    """`launch("copy", "A", "B", after="%t", token="%u")`; without `after` and `token` it is synchronous."""
    made = f"%{token} = " if token is not None else ""
    asynchronous = "async " if token is not None else ""
    depends = f"[{after}] " if after is not None else ""
    given = ", ".join(f"%{b} : {V}" for b in buffers)
    return f"{made}gpu.launch_func {asynchronous}{depends}@k::@{kernel} {SIZES} args({given})"


ARGUMENTS = f"%A: {V}, %B: {V}, %C: {V}, %D: {V}, %n: index, %c: i1, %d: i1"


def module(body: str, others: str = "") -> str:
    return (
        f"module attributes {{gpu.container_module}} {{{KERNELS}\n{others}\n"
        f"func.func @f({ARGUMENTS}) {{\n{HEAD}\n{body}\n  return\n}}\n}}\n"
    )


def lines(*parts: str) -> str:
    return "\n".join(f"  {p}" for p in parts)


def found(text: str, may_alias: bool = False) -> list[Diagnostic]:
    try:
        return list(verify_source(Source("p.mlir", text), may_alias=may_alias).diagnostics)
    except WeftError as error:
        return list(error.diagnostics)


TOK = "!gpu.async.token"
ROOT, ROOT2 = "%r = gpu.wait async", "%q = gpu.wait async"
SET_A = launch("set", "A", after="%r", token="a")
SET_B = launch("set", "B", after="%q", token="b")
ADD = launch("add", "A", "B", "C", after="%j", token="s")
JOIN = "%j = gpu.wait async [%a, %b]"
FORM = (ROOT, SET_A, ROOT2, SET_B, JOIN, ADD, "gpu.wait [%s]")


def loop(*body: str, start: str = "%a", trips: str = "%n", result: str = "l") -> str:
    return lines(f"%{result} = scf.for %i = %c0 to {trips} step %c1 iter_args(%t = {start}) -> ({TOK}) {{", *body, "}")


def chain(*launches: tuple[str, ...], wait: str | None = None) -> str:
    """Launches one after another on one stream."""
    out, last = ["%t0 = gpu.wait async"], "%t0"
    for i, (kernel, *buffers) in enumerate(launches, 1):
        out.append(launch(kernel, *buffers, after=last, token=f"t{i}"))
        last = f"%t{i}"
    return lines(*out, f"gpu.wait [{wait or last}]")


RIGHT: dict[str, str] = {
    "two roots, a join, a final wait": lines(*FORM),
    "a chain": chain(("set", "A"), ("copy", "A", "B"), ("copy", "B", "C")),
    "two dependencies of one launch": lines(
        ROOT, SET_A, ROOT2, SET_B, launch("add", "A", "B", "C", after="%a, %b", token="s"), "gpu.wait [%s]"
    ),
    "an explicit fork": lines(
        ROOT, SET_A, "%f = gpu.wait async [%a]", launch("copy", "A", "B", after="%a", token="x"),
        launch("copy", "A", "C", after="%f", token="y"), "gpu.wait [%x, %y]",
    ),
    "a fork by two waits": lines(
        ROOT, SET_A, "%f = gpu.wait async [%a]", "%g = gpu.wait async [%a]", launch("copy", "A", "B", after="%f", token="x"),
        launch("copy", "A", "C", after="%g", token="y"), "gpu.wait [%x, %y]",
    ),
    "a blocking wait orders what comes after it": lines(
        ROOT, SET_A, "gpu.wait [%a]", ROOT2, launch("copy", "A", "B", after="%q", token="b"), "gpu.wait [%b]"
    ),
    "each launch waited for by the host": lines(
        ROOT, SET_A, "gpu.wait [%a]", ROOT2, SET_B, "gpu.wait [%b]", "%p = gpu.wait async",
        launch("add", "A", "B", "C", after="%p", token="s"), "gpu.wait [%s]",
    ),
    "synchronous launches": lines(launch("set", "A"), launch("copy", "A", "B")),
    "readers of one buffer": lines(
        ROOT, launch("copy", "A", "B", after="%r", token="a"), ROOT2, launch("copy", "A", "C", after="%q", token="b"),
        "gpu.wait [%a]", "gpu.wait [%b]",
    ),
    "disjoint halves": lines(
        f"%u = memref.subview %A[0] [32] [1] : {V} to memref<32xf32, strided<[1]>>",
        f"%v = memref.subview %A[32] [32] [1] : {V} to memref<32xf32, strided<[1], offset: 32>>",
        "%m = memref.alloc() : memref<32xf32>",
        ROOT, "%a = gpu.memcpy async [%r] %u, %m : memref<32xf32, strided<[1]>>, memref<32xf32>",
        ROOT2, "%b = gpu.memcpy async [%q] %v, %m : memref<32xf32, strided<[1], offset: 32>>, memref<32xf32>",
        "gpu.wait [%a, %b]",
    ),
    "allocated, used, freed on one stream": lines(
        ROOT, f"%m, %a = gpu.alloc async [%r] () : {V}", launch("set", "m", after="%a", token="b"),
        launch("copy", "m", "B", after="%b", token="x"), f"%y = gpu.dealloc async [%x] %m : {V}", "gpu.wait [%y]",
    ),
    "the host reads after the wait": lines(
        ROOT, SET_A, "gpu.wait [%a]", f"%v = memref.load %A[%c0] : {V}", f"memref.store %v, %B[%c0] : {V}"
    ),
    "the host reads what nobody writes": lines(
        ROOT, launch("copy", "A", "B", after="%r", token="a"), f"%v = memref.load %A[%c0] : {V}", "gpu.wait [%a]"
    ),
    "a loop carries the token": lines(
        ROOT, SET_A, loop(launch("copy", "A", "B", after="%t", token="x"), f"scf.yield %x : {TOK}"), "gpu.wait [%l]"
    ),
    "a loop of three, carried": lines(
        ROOT, SET_A, "%c3 = arith.constant 3 : index",
        loop(launch("copy", "A", "B", after="%t", token="x"), f"scf.yield %x : {TOK}", trips="%c3"), "gpu.wait [%l]",
    ),
    "a loop forks and joins inside": lines(
        ROOT,
        loop("%f = gpu.wait async [%t]", launch("set", "A", after="%t", token="x"), launch("set", "B", after="%f", token="y"),
             "%z = gpu.wait async [%x, %y]", f"scf.yield %z : {TOK}", start="%r"), "gpu.wait [%l]",
    ),
    "a loop that waits in each iteration": lines(
        "scf.for %i = %c0 to %n step %c1 {", ROOT, SET_A, "gpu.wait [%a]", "}"
    ),
    "explicit forks in a loop": lines(
        ROOT, SET_A, "scf.for %i = %c0 to %n step %c1 {", "%f = gpu.wait async [%a]",
        launch("copy", "A", "B", after="%f", token="x"), "gpu.wait [%x]", "}", "gpu.wait [%a]",
    ),
    "a branch gives its token": lines(
        ROOT, SET_A, f"%l = scf.if %c -> ({TOK}) {{", launch("copy", "A", "B", after="%a", token="x"), f"scf.yield %x : {TOK}",
        "} else {", f"scf.yield %a : {TOK}", "}", "gpu.wait [%l]",
    ),
    "waited for in both arms": lines(
        ROOT, SET_A, "scf.if %c {", "gpu.wait [%a]", "} else {", "gpu.wait [%a]", "}", f"%v = memref.load %A[%c0] : {V}"
    ),
    "waited for under one condition and the other": lines(
        ROOT, SET_A, "scf.if %c {", "gpu.wait [%a]", "}", "scf.if %c {", "} else {", "gpu.wait [%a]", "}"
    ),
    "under a condition that is known": lines(
        "%true = arith.constant true", ROOT, SET_A, "scf.if %true {", "gpu.wait [%a]", "}"
    ),
    "a loop of many iterations": lines(
        ROOT, SET_A, "%c200 = arith.constant 200 : index",
        loop(launch("copy", "A", "B", after="%t", token="x"), f"scf.yield %x : {TOK}", trips="%c200"), "gpu.wait [%l]",
    ),
    "a loop in a loop": lines(
        ROOT, f"%l = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r) -> ({TOK}) {{",
        f"%m = scf.for %k = %c0 to %n step %c1 iter_args(%u = %t) -> ({TOK}) {{", launch("set", "A", after="%u", token="x"),
        f"scf.yield %x : {TOK}", "}", f"scf.yield %m : {TOK}", "}", "gpu.wait [%l]",
    ),
    "arms exclude each other": lines(
        ROOT, f"%l = scf.if %c -> ({TOK}) {{", launch("set", "A", after="%r", token="x"), f"scf.yield %x : {TOK}", "} else {",
        f"scf.yield %r : {TOK}", "}", "scf.if %c {", "} else {", f"%v = memref.load %A[%c0] : {V}", "}", "gpu.wait [%l]",
    ),
    "a buffer of each iteration": lines(
        "scf.for %i = %c0 to %n step %c1 {", f"%m = memref.alloc() : {V}", ROOT, launch("set", "m", after="%r", token="a"),
        "gpu.wait [%a]", f"memref.dealloc %m : {V}", "}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(name: str) -> None:
    assert found(module(RIGHT[name])) == []


WRONG: dict[str, tuple[str, list[str]]] = {
    # ---- tokens and streams
    "never waited for": (lines(ROOT, SET_A), ["W0620"]),
    "the last of a chain": (lines(ROOT, SET_A, launch("copy", "A", "B", after="%a", token="b")), ["W0620"]),
    "the result of a loop": (
        lines(ROOT, loop(launch("set", "A", after="%t", token="x"), f"scf.yield %x : {TOK}", start="%r")), ["W0620"]
    ),
    "dropped by every iteration": (
        lines(ROOT, loop("%w = gpu.wait async", f"scf.yield %w : {TOK}", start="%r"), "gpu.wait [%l]"), ["W0620"]
    ),
    "a root for nothing": (lines(ROOT), ["W0621"]),
    "a join for nothing (reference 004)": (lines(ROOT, SET_A, ROOT2, SET_B, "%t3 = gpu.wait async [%a, %b]"), ["W0621"]),
    "waited for in one arm": (lines(ROOT, SET_A, "scf.if %c {", "gpu.wait [%a]", "}"), ["W0621"]),
    "waited for in a loop that may not run": (
        lines(ROOT, SET_A, "%q = gpu.wait async [%a]", "scf.for %i = %c0 to %n step %c1 {", "gpu.wait [%q]", "}"),
        ["W0621", "W0623"],
    ),
    "under two conditions that differ": (
        lines(ROOT, SET_A, "scf.if %c {", "gpu.wait [%a]", "}", "scf.if %d {", "} else {", "gpu.wait [%a]", "}"),
        ["W0621", "W0623"],
    ),
    "a fork that is not explicit": (
        lines(ROOT, SET_A, launch("copy", "A", "B", after="%a", token="x"), launch("copy", "A", "C", after="%a", token="y"),
              "gpu.wait [%x, %y]"), ["W0622"],
    ),
    "a root used twice": (
        lines(ROOT, SET_A, launch("set", "B", after="%r", token="b"), "gpu.wait [%a, %b]"), ["W0622"],
    ),
    "a fork in every iteration": (
        lines(ROOT, SET_A, "%c2 = arith.constant 2 : index", "scf.for %i = %c0 to %c2 step %c1 {",
              launch("copy", "A", "B", after="%a", token="x"), "gpu.wait [%x]", "}"), ["W0622"],
    ),
    "waited for twice": (lines(ROOT, SET_A, "gpu.wait [%a]", "gpu.wait [%a]"), ["W0623"]),
    "twice by one wait": (lines(ROOT, SET_A, "gpu.wait [%a, %a]"), ["W0623"]),
    "twice on one stream": (
        lines(ROOT, SET_A, launch("copy", "A", "B", after="%a", token="b"), "gpu.wait [%b]", "gpu.wait [%a]"), ["W0623"],
    ),
    "destroyed while in use": (
        lines(ROOT, SET_A, launch("copy", "A", "B", after="%a", token="b"), "gpu.wait [%a]", "gpu.wait [%b]"), ["W0624"],
    ),
    "used after it was destroyed": (
        lines(ROOT, SET_A, "gpu.wait [%a]", launch("copy", "A", "B", after="%a", token="b"), "gpu.wait [%b]"), ["W0624"],
    ),
    "forked after it was destroyed": (
        lines(ROOT, SET_A, "gpu.wait [%a]", "%f = gpu.wait async [%a]", "gpu.wait [%f]"), ["W0624"],
    ),
    "a synchronous launch with a dependency": (lines(ROOT, launch("set", "A", after="%r")), ["W0625"]),
    "a synchronous copy with a dependency": (lines(ROOT, f"gpu.memcpy [%r] %A, %B : {V}, {V}"), ["W0625"]),
    "a synchronous free with a dependency": (
        lines(f"%m = gpu.alloc () : {V}", ROOT, f"gpu.dealloc [%r] %m : {V}"), ["W0625"],
    ),
    # ---- order
    "a write and a read": (
        lines(ROOT, SET_A, ROOT2, launch("copy", "A", "B", after="%q", token="b"), "gpu.wait [%a, %b]"), ["W0629"],
    ),
    "a read and a write": (
        lines(ROOT, launch("copy", "A", "B", after="%r", token="a"), ROOT2, launch("set", "A", after="%q", token="b"),
              "gpu.wait [%a, %b]"), ["W0629"],
    ),
    "two writes": (lines(ROOT, SET_A, ROOT2, launch("set", "A", after="%q", token="b"), "gpu.wait [%a, %b]"), ["W0629"]),
    "a join that lacks one": (
        lines(ROOT, SET_A, ROOT2, SET_B, "%j = gpu.wait async [%a]", ADD, "gpu.wait [%s, %b]"), ["W0629"],
    ),
    "overlapping views": (
        lines(f"%u = memref.subview %A[0] [33] [1] : {V} to memref<33xf32, strided<[1]>>",
              f"%v = memref.subview %A[32] [32] [1] : {V} to memref<32xf32, strided<[1], offset: 32>>",
              "%m = memref.alloc() : memref<33xf32>", "%o = memref.alloc() : memref<32xf32>",
              ROOT, "%a = gpu.memcpy async [%r] %u, %m : memref<33xf32, strided<[1]>>, memref<33xf32>",
              ROOT2, "%b = gpu.memcpy async [%q] %v, %o : memref<32xf32, strided<[1], offset: 32>>, memref<32xf32>",
              "gpu.wait [%a, %b]"), ["W0629"],
    ),
    "used before it is allocated": (
        lines(ROOT, f"%m, %a = gpu.alloc async [%r] () : {V}", ROOT2, launch("set", "m", after="%q", token="b"),
              "gpu.wait [%a, %b]"), ["W0629"],
    ),
    "a synchronous launch amid": (lines(ROOT, SET_A, launch("copy", "A", "B"), "gpu.wait [%a]"), ["W0629"]),
    "iterations overlap": (
        lines("%last = gpu.wait async",
              loop("%w = gpu.wait async", launch("set", "A", after="%w", token="x"), "%y = gpu.wait async [%t, %x]",
                   f"scf.yield %y : {TOK}", start="%last"), "gpu.wait [%l]"), ["W0629"],
    ),
    "a token shifted through two iterations": (
        lines(ROOT, ROOT2,
              f"%l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r, %u = %q) -> ({TOK}, {TOK}) {{",
              launch("set", "A", after="%t", token="x"), f"scf.yield %u, %x : {TOK}, {TOK}", "}", "gpu.wait [%l#0, %l#1]"),
        ["W0629"],
    ),
    "one arm is not joined": (
        lines(ROOT, "%z = gpu.wait async", "scf.if %c {", ROOT2, SET_A.replace("%r", "%q"), "gpu.wait [%a]", "}",
              f"%l = scf.if %d -> ({TOK}) {{", launch("set", "A", after="%r", token="x"), f"scf.yield %x : {TOK}", "} else {",
              f"scf.yield %r : {TOK}", "}", launch("copy", "A", "B", after="%z", token="b"), "gpu.wait [%l, %b]"), ["W0629"],
    ),
    # ---- the host
    "the host reads too early": (
        lines(ROOT, SET_A, f"%v = memref.load %A[%c0] : {V}", "gpu.wait [%a]"), ["W0630"],
    ),
    "the host writes too early": (
        lines(ROOT, launch("copy", "A", "B", after="%r", token="a"), "%v = arith.constant 0.0 : f32",
              f"memref.store %v, %A[%c0] : {V}", "gpu.wait [%a]"), ["W0630"],
    ),
    "the host copies too early": (lines(ROOT, SET_A, f"memref.copy %A, %B : {V} to {V}", "gpu.wait [%a]"), ["W0630"]),
    # ---- memory
    "used after free": (
        lines(f"%m = gpu.alloc () : {V}", f"gpu.dealloc %m : {V}", launch("set", "m")), ["W0631"],
    ),
    "used after free, unordered": (
        lines(f"%m = gpu.alloc () : {V}", ROOT, f"%a = gpu.dealloc async [%r] %m : {V}", ROOT2,
              launch("set", "m", after="%q", token="b"), "gpu.wait [%a, %b]"), ["W0631"],
    ),
    "read by the host after free": (
        lines(f"%m = memref.alloc() : {V}", f"memref.dealloc %m : {V}", f"%v = memref.load %m[%c0] : {V}"), ["W0631"],
    ),
    "a view used after free": (
        lines(f"%m = memref.alloc() : {V}", f"%u = memref.cast %m : {V} to memref<?xf32>", f"memref.dealloc %m : {V}",
              "%v = memref.load %u[%c0] : memref<?xf32>"), ["W0631"],
    ),
    "freed twice": (lines(f"%m = memref.alloc() : {V}", f"memref.dealloc %m : {V}", f"memref.dealloc %m : {V}"), ["W0632"]),
    "freed twice on one stream": (
        lines(ROOT, f"%m, %a = gpu.alloc async [%r] () : {V}", f"%x = gpu.dealloc async [%a] %m : {V}",
              f"%y = gpu.dealloc async [%x] %m : {V}", "gpu.wait [%y]"), ["W0632"],
    ),
    "freed in every iteration": (
        lines(f"%m = memref.alloc() : {V}", "scf.for %i = %c0 to %n step %c1 {", f"memref.dealloc %m : {V}", "}"), ["W0632"],
    ),
    "freed in both of two branches": (
        lines(f"%m = memref.alloc() : {V}", "scf.if %c {", f"memref.dealloc %m : {V}", "}", "scf.if %d {",
              f"memref.dealloc %m : {V}", "}"), ["W0632"],
    ),
    "freed while in use": (
        lines(f"%m = gpu.alloc () : {V}", ROOT, launch("set", "m", after="%r", token="a"), f"gpu.dealloc %m : {V}",
              "gpu.wait [%a]"), ["W0633"],
    ),
    "freed on another stream": (
        lines(f"%m = gpu.alloc () : {V}", ROOT, launch("set", "m", after="%r", token="a"), ROOT2,
              f"%b = gpu.dealloc async [%q] %m : {V}", "gpu.wait [%a, %b]"), ["W0633"],
    ),
    # ---- what cannot be, and what is not known
    "a circle": ("  %t = gpu.wait async [%u]\n  %u = gpu.wait async [%t]\n  gpu.wait [%u]", ["W0628"]),
    "used before it is made": (lines("%t = gpu.wait async [%u]", "%u = gpu.wait async", "gpu.wait [%t]"), ["W0628"]),
    "no such kernel": (lines(launch("nothing", "A")), ["W0626"]),
    "no such module": (lines(launch("set", "A").replace("@k::", "@z::")), ["W0626"]),
    "too few arguments": (lines(launch("copy", "A")), ["W0627"]),
    "an argument of another type": (
        lines(f"gpu.launch_func @k::@set {SIZES} args(%c1 : index)"), ["W0627"],
    ),
    "a while loop": (
        lines(ROOT, f"%l = scf.while (%t = %r) : ({TOK}) -> {TOK} {{", f"scf.condition(%c) %t : {TOK}", "} do {",
              f"^bb0(%t: {TOK}):", f"scf.yield %t : {TOK}", "}", "gpu.wait [%l]"), ["W0634"],
    ),
    "a select of tokens": (
        lines(ROOT, ROOT2, f"%l = arith.select %c, %r, %q : {TOK}", "gpu.wait [%l]"), ["W0634"],
    ),
    "branches between blocks": (
        lines(ROOT, f"cf.br ^next(%r : {TOK})", f"^next(%t: {TOK}):", "gpu.wait [%t]"), ["W0634"],
    ),
    "the caller's stream": (
        lines("%o = arith.constant 1 : i64", f"gpu.launch_func <%o : i64> @k::@set {SIZES} args(%A : {V})", ROOT, "gpu.wait [%r]"),
        ["W0634"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    body, codes = WRONG[name]
    said = found(module(body))
    expect_codes(said, codes, body)
    assert all(d.span is not None or d.code == "W0634" for d in said)
    assert all(d.hint for d in said)


def test_both_operations_the_buffer_and_the_edge_are_named() -> None:
    body = lines(ROOT, SET_A, ROOT2, SET_B, "%j = gpu.wait async [%a]", ADD, "gpu.wait [%s, %b]")
    text = module(body)
    at = {i: n for n, line in enumerate(text.split("\n"), 1) for i in ("set", "add") if f"@k::@{i}" in line}
    (said,) = found(text)
    assert said.message == "two operations on `B` are not ordered: RAW"
    assert said.span is not None and said.span.line == at["add"]
    first, second, edge = said.notes
    assert first.startswith(f"gpu.launch_func at p.mlir:{at['set']}:8 @k::set writes it\n    %b = gpu.launch_func")
    assert second.startswith(f"gpu.launch_func at p.mlir:{at['add']}:8 @k::add reads it\n    %s = gpu.launch_func")
    assert edge == f"the missing edge: gpu.launch_func @k::set in line {at['set']} → gpu.launch_func @k::add in line {at['add']}"
    assert said.hint == "let the second operation wait for the first: `%j = gpu.wait async [%j, %b]`, then `async [%j]`"


def test_a_circle_is_shown_once_around() -> None:
    (said,) = found(module("  %t = gpu.wait async [%u]\n  %u = gpu.wait async [%t]\n  gpu.wait [%u]"))
    assert said.message == "tokens wait for each other"
    assert [n.split(" waits for ")[0].split(" (")[0] for n in said.notes[:2]] == ["%t", "%u"]


def test_arguments_that_may_overlap() -> None:
    body = lines(ROOT, SET_A, ROOT2, SET_B, "gpu.wait [%a, %b]")
    assert found(module(body)) == []
    assert verify_source(Source("p.mlir", module(body))).hosts[0].distinct == ("A", "B")
    (said,) = [d for d in found(module(body), may_alias=True) if d.code == "W0629"]
    assert "(assumed)" in said.message


def test_memory_that_is_chosen_is_assumed_to_be_the_same() -> None:
    body = lines(f"%m = memref.alloc() : {V}", f"%s = arith.select %c, %m, %A : {V}", f"memref.dealloc %s : {V}",
                 f"%v = memref.load %m[%c0] : {V}")  # fmt: skip
    (said,) = found(module(body))
    assert (said.code, said.message) == ("W0631", "`m` is used after it was freed (assumed)")


def tiles(size: int, scale: str, also: str = "", trips: str = "%n") -> str:
    """Each iteration fills a tile on a stream of its own, and all are joined."""
    part = f"memref<{size}xf32, strided<[1], offset: ?>>"
    return lines(
        f"%sixteen = arith.constant {scale} : index", "%zero = arith.constant 0.0 : f32", ROOT,
        loop("%o = arith.muli %i, %sixteen : index", f"%u = memref.subview %A[%o] [{size}] [1] : {V} to {part}",
             "%w = gpu.wait async", f"%x = gpu.memset async [%w] %u, %zero : {part}, f32", also,
             "%y = gpu.wait async [%t, %x]", f"scf.yield %y : {TOK}", start="%r", trips=trips), "gpu.wait [%l]",
    )  # fmt: skip


DEALLOC = f"bufferization.dealloc (%m : {V}) if (%CONDITION)"


@pytest.mark.parametrize(
    ("condition", "behind", "expected"),
    [
        ("yes", (), []),
        ("yes", (f"%v = memref.load %m[%c0] : {V}",), [("W0631", False)]),
        ("yes", (f"memref.dealloc %m : {V}",), [("W0632", False)]),
        ("no", (f"%v = memref.load %m[%c0] : {V}", f"memref.dealloc %m : {V}"), []),
        ("c", (f"%v = memref.load %m[%c0] : {V}",), [("W0631", True)]),
        ("c", (f"memref.dealloc %m : {V}",), [("W0632", True)]),
        ("yes) retain (%A : memref<64xf32>", (f"%v = memref.load %m[%c0] : {V}",), [("W0631", True)]),
        ("yes) retain (%m : memref<64xf32>", (f"memref.dealloc %m : {V}",), []),
    ],
)
def test_memory_that_is_freed_on_a_condition(condition: str, behind: tuple[str, ...], expected: list[tuple[str, bool]]) -> None:
    """Whether a fault is only assumed."""
    kept = "%o = " if "retain" in condition else ""
    freed = kept + DEALLOC.replace("%CONDITION)", f"%{condition})")
    constants = "%yes = arith.constant true\n%no = arith.constant false"
    said = found(module(lines(constants, f"%m = memref.alloc() : {V}", freed, *behind)))
    assert [(d.code, "(assumed)" in d.message) for d in said] == expected


def test_tiles_of_the_iterations_of_a_loop() -> None:
    assert found(module(tiles(16, "16"))) == []
    assert found(module(tiles(8, "16"))) == []
    (said,) = found(module(tiles(17, "16")))
    assert (said.code, said.message) == ("W0629", "two operations on `A` are not ordered (assumed): WAW")
    why = next(note for note in said.notes if "it is not known that these parts of it share no element" in note)
    assert why.endswith("make it exact")
    (said,) = found(module(tiles(16, "0")))
    assert said.message.startswith("two operations on `A` are not ordered")
    load = f"%v = memref.load %A[%c0] : {V}"
    assert {d.message for d in found(module(tiles(16, "16", load)))} == {
        "the host reads `A` while gpu.memset may still write it: RAW"
    }


RETURNING = f"""module {{
func.func @f(%A: {V}) -> {V} {{
  %m = memref.alloc() : {V}
  memref.copy %A, %m : {V} to {V}
  memref.dealloc %m : {V}
  return %m : {V}
}}
gpu.module @k {{ gpu.func @none() kernel attributes {{known_block_size = array<i32: 1, 1, 1>}} {{ gpu.return }} }}
}}"""


def test_memory_that_is_returned_after_it_was_freed() -> None:
    (said,) = found(RETURNING)
    assert (said.code, said.message) == ("W0631", "`m` is used after it was freed")
    assert said.notes[1].startswith("func.return at p.mlir:6:3 returns it")
    assert found(RETURNING.replace(f"  memref.dealloc %m : {V}\n", f"  memref.dealloc %A : {V}\n")) == []


def test_how_the_host_waits_for_a_token_that_is_used_elsewhere() -> None:
    """A second use of a token is a fork of it."""
    read = f"%v = memref.load %A[%c0] : {V}"
    (again,) = found(module(lines(ROOT, SET_A, read, "gpu.wait [%a]")))
    fork = "%f = gpu.wait async [%a]", "gpu.wait [%f]"
    assert again.hint == f"%a is used elsewhere too: wait before it for a fork of the token, `{fork[0]}`, then `{fork[1]}`"
    forked = lines(ROOT, SET_A, *fork, read, "gpu.wait [%a]")
    assert found(module(forked)) == []


def test_memory_that_is_returned_with_its_token() -> None:
    body = f"""module attributes {{gpu.container_module}} {{{KERNELS}
func.func @f(%A: {V}) -> ({V}, {TOK}) {{
{HEAD}
  %r = gpu.wait async
  {SET_A}
  return %A, %a : {V}, {TOK}
}}
}}"""
    assert found(body) == []
    early = body.replace("%a : memref<64xf32>, !gpu.async.token", "%q : memref<64xf32>, !gpu.async.token")
    early = early.replace("  return", "  %q = gpu.wait async\n  return")
    assert [d.code for d in found(early)] == ["W0620", "W0630"]


def test_a_called_function_is_judged_where_it_is_called() -> None:
    helper = f"""func.func private @start(%x: {V}) -> {TOK} {{
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r = gpu.wait async
  {launch("set", "x", after="%r", token="a")}
  return %a : {TOK}
}}"""
    call = f"%a = func.call @start(%A) : ({V}) -> {TOK}"
    right = lines(call, launch("copy", "A", "B", after="%a", token="b"), "gpu.wait [%b]")
    wrong = lines(call, ROOT2, launch("copy", "A", "B", after="%q", token="b"), "gpu.wait [%a, %b]")
    assert found(module(right, helper)) == []
    assert [d.code for d in found(module(wrong, helper))] == ["W0629"]


def test_a_call_that_cannot_be_seen() -> None:
    unseen = f"func.func private @outside({V})"
    call = f"func.call @outside(%B) : ({V}) -> ()"
    assert found(module(lines(ROOT, SET_A, "gpu.wait [%a]", call), unseen)) == []
    assert [d.code for d in found(module(lines(ROOT, SET_A, call, "gpu.wait [%a]"), unseen))] == ["W0634"]


@pytest.mark.parametrize("launches", [1, 3])
def test_what_upstream_makes_asynchronous(launches: int) -> None:
    names = ("set", "copy", "add")
    given = (("A",), ("A", "B"), ("A", "B", "C"))
    text = module(lines(*(launch(k, *g) for k, g in zip(names[:launches], given, strict=False))))
    parsed = mlir.parse(text, one_context())
    mlir.run_passes(parsed, "func.func(gpu-async-region)")
    asynchronous = str(parsed)
    assert asynchronous.count("gpu.launch_func async") == launches
    verdict = verify_source(Source("p.mlir", asynchronous))
    assert (verdict.diagnostics, verdict.hosts[0].operations) == ((), launches)


REFERENCE_001 = """
  %0 = gpu.wait async
  %1 = gpu.launch_func async [%0] @k::@none blocks in (%g, %g, %g) threads in (%g, %g, %g)
  %2 = gpu.launch_func async [%1] @k::@none blocks in (%g, %g, %g) threads in (%g, %g, %g)
  %memref, %asyncToken = gpu.alloc async [%2] () : memref<7xf32>
  %3 = gpu.dealloc async [%asyncToken] %memref : memref<7xf32>
  gpu.wait [%3]
"""


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        (("", ""), []),
        (("  gpu.wait [%3]\n", ""), ["W0620"]),
        (("async [%1] @k", "async [%0] @k"), ["W0622", "W0620"]),
        (("async [%asyncToken] %memref", "async [%2] %memref"), ["W0622", "W0620", "W0633"]),
    ],
)
def test_the_example_of_reference_001(change: tuple[str, str], codes: list[str]) -> None:
    body = REFERENCE_001.replace(*change)
    text = (
        "module attributes {gpu.container_module} {\ngpu.module @k { gpu.func @none() kernel { gpu.return } }\n"
        f"func.func @async() {{\n  %g = arith.constant 8 : index\n{body}  return\n}}\n}}\n"
    )
    assert sorted(d.code for d in found(text)) == sorted(codes)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong = tmp_path / "right.mlir", tmp_path / "wrong.mlir"
    right.write_text(module(RIGHT["two roots, a join, a final wait"]))
    wrong.write_text(module(WRONG["a join that lacks one"][0]))
    assert cli.run(["verify", str(right)]) == 0
    assert "✓ @f: ordered, nothing leaks (3 operations, 6 tokens" in capsys.readouterr().err
    assert cli.run(["verify", str(wrong), "--json"]) == 1
    (function,) = json.loads(capsys.readouterr().out)["functions"]
    assert (function["name"], function["ok"], [f["code"] for f in function["faults"]]) == ("@f", False, ["W0629"])
