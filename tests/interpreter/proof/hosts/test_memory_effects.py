"""Which operations of a host function touch the same memory."""

from __future__ import annotations

import pytest
from launch_graphs import host, parsed

from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.windows import HostBuffer, Window

STRIDED = "memref<8x4xf32, strided<[8, 1], offset: ?>>"
KERNELS = f"""
gpu.module @k {{
  gpu.func @move(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %unused: memref<8x8xf32>) kernel {{
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0, %c0] : memref<8x8xf32>
    %view = memref.subview %b[0, 0] [4, 4] [1, 1] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 1]>>
    memref.store %v, %view[%c0, %c0] : memref<4x4xf32, strided<[8, 1]>>
    gpu.return
  }}
  gpu.func @part(%a: {STRIDED}) kernel {{
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0, %c0] : {STRIDED}
    memref.store %v, %a[%c0, %c0] : {STRIDED}
    gpu.return
  }}
  gpu.func @staged(%a: memref<8x8xf32>) workgroup(%tile: memref<8xf32, #gpu.address_space<workgroup>>) kernel {{
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0, %c0] : memref<8x8xf32>
    memref.store %v, %tile[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }}
}}
memref.global "private" constant @table : memref<8x8xf32> = dense<1.0>
func.func @callee(%from: memref<8x8xf32>, %to: memref<8x8xf32>) {{
  %x = memref.alloc() : memref<8x8xf32>
  memref.copy %from, %x : memref<8x8xf32> to memref<8x8xf32>
  memref.copy %x, %to : memref<8x8xf32> to memref<8x8xf32>
  memref.dealloc %x : memref<8x8xf32>
  return
}}
func.func private @outside(memref<8x8xf32>)
func.func @recursive(%a: memref<8x8xf32>) {{
  call @recursive(%a) : (memref<8x8xf32>) -> ()
  return
}}
"""
SIZES = "blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)"


def module(body: str) -> ir.Module:
    return parsed(
        f"module attributes {{gpu.container_module}} {{{KERNELS}\n"
        f'func.func @main(%a: memref<8x8xf32> {{weft.name = "a"}}, %b: memref<8x8xf32>, %n: index, %p: i1) {{\n'
        f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n{body}\nreturn\n}}\n}}"
    )


def effects_of(body: str) -> list[str]:
    """The effects of the body's last op, spelled."""
    made = module(body)
    ops = [view.operation for view in host(made).regions[0].blocks[0].operations]
    return [f"{e.kind} {e.buffer.name}" for e in Effects(made).of(ops[-2])]


WHOLE = "memref<8x8xf32>"
TABLE = [
    (f"gpu.launch_func @k::@move {SIZES} args(%a : {WHOLE}, %b : {WHOLE}, %b : {WHOLE})", ["read a", "write %arg1"]),
    (f"gpu.launch_func @k::@move {SIZES} args(%b : {WHOLE}, %a : {WHOLE}, %b : {WHOLE})", ["read %arg1", "write a"]),
    (f"gpu.launch_func @k::@staged {SIZES} args(%a : {WHOLE})", ["read a"]),  # its shared memory is not an argument
    (f"memref.copy %a, %b : {WHOLE} to {WHOLE}", ["read a", "write %arg1"]),
    (f"gpu.memcpy %a, %b : {WHOLE}, {WHOLE}", ["write a", "read %arg1"]),
    (f"%f = arith.constant 0.0 : f32\ngpu.memset %a, %f : {WHOLE}, f32", ["write a"]),
    (f"%x = memref.alloc() : {WHOLE}", ["alloc %alloc"]),
    (f"%x = gpu.alloc () : {WHOLE}\ngpu.dealloc %x : {WHOLE}", ["free %memref"]),
    (f"%g = memref.get_global @table : {WHOLE}\nmemref.copy %g, %a : {WHOLE} to {WHOLE}", ["read @table", "write a"]),
    (f"call @callee(%a, %b) : ({WHOLE}, {WHOLE}) -> ()", ["read a", "write %arg1"]),
    (f"call @outside(%a) : ({WHOLE}) -> ()", ["read a", "write a"]),
    (
        f"%s = arith.select %p, %a, %b : {WHOLE}\nmemref.copy %s, %a : {WHOLE} to {WHOLE}",
        ["read a", "read %arg1", "write a"],
    ),
    (f"scf.for %i = %c0 to %n step %c1 {{ memref.copy %a, %b : {WHOLE} to {WHOLE} }}", ["read a", "write %arg1"]),
    (
        f"scf.for %i = %c0 to %n step %c1 {{\n%t = memref.alloc() : {WHOLE}\nmemref.copy %a, %t : {WHOLE} to {WHOLE}\n}}",
        ["read a"],
    ),
    (f"%v = memref.load %a[%c0, %c0] : {WHOLE}", ["read a"]),
    (f"%f = arith.constant 0.0 : f32\nlinalg.fill ins(%f : f32) outs(%b : {WHOLE})", ["write %arg1"]),
    (f"linalg.matmul ins(%a, %a : {WHOLE}, {WHOLE}) outs(%b : {WHOLE})", ["read a", "write %arg1", "read %arg1"]),
    (f"%d = memref.dim %a, %c0 : {WHOLE}", []),
]


@pytest.mark.parametrize(("body", "expected"), TABLE)
def test_effects(body: str, expected: list[str]) -> None:
    assert effects_of(body) == expected


def ordered(effects: Effects, first: ir.Operation, second: ir.Operation) -> bool:
    """Whether the order of the two matters."""
    pairs = ((a, b) for a in effects.of(first) for b in effects.of(second))
    return any(not a.commutes(b) and not a.window.disjoint(b.window) for a, b in pairs)


def columns(offset: str, step: int = 1) -> str:
    return f"%{{name}} = memref.subview %a[0, {offset}] [8, 4] [1, {step}] : {WHOLE} to " + (
        "memref<8x4xf32, strided<[8, {0}], offset: ?>>".replace("{0}", str(step))
        if offset.startswith("%")
        else f"memref<8x4xf32, strided<[8, {step}], offset: {offset}>>"
    )


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (("0", 1), ("4", 1), True),
        (("0", 1), ("%c4", 1), True),
        (("0", 1), ("3", 1), False),
        (("0", 2), ("1", 2), True),
        (("0", 2), ("0", 2), False),
        (("0", 1), ("%n", 1), False),
    ],
)
def test_windows_apart(first: tuple[str, int], second: tuple[str, int], apart: bool) -> None:
    lines = [columns(*which).replace("{name}", name) for name, which in (("one", first), ("two", second))]
    types = [line.split(" to ")[1] for line in lines]
    copies = [f"memref.copy %{n}, %{n} : {t} to {t}" for n, t in zip(("one", "two"), types, strict=True)]
    made = module("\n".join([*lines, *copies]))
    one, two = mlir.operations(host(made), "memref.copy")
    effects = Effects(made)
    assert ordered(effects, one, two) != apart


def elements(window: Window) -> set[int]:
    found = {window.offset}
    for size, stride in window.dims or ():
        found = {at + i * stride for at in found for i in range(size)}
    return found


def test_disjoint_is_never_wrong() -> None:
    """All pairs of small windows: those called disjoint share no element; of those that share none, most are."""
    buffer = HostBuffer("global", "g")
    made = [
        Window(buffer, offset, ((rows, 6 * row_step), (columns, column_step)))
        for offset in (0, 1, 2, 3, 6, 8)
        for rows in (1, 2, 3)
        for row_step in (1, 2)
        for columns in (1, 2, 3)
        for column_step in (1, 2, 3)
    ]
    apart = missed = 0
    for a in made:
        for b in made:
            share = bool(elements(a) & elements(b))
            if a.disjoint(b):
                assert not share, (a, b)
                apart += 1
            elif not share:
                missed += 1
    assert apart > 2 * missed, (apart, missed)


@pytest.mark.parametrize("call", ["outside", "recursive"])
def test_what_cannot_be_seen_is_named(call: str) -> None:
    made = module(f"call @{call}(%a) : ({WHOLE}) -> ()")
    unseen = Effects(made).unseen(host(made))
    assert unseen is not None and unseen.name == "func.call"


def test_unknown_memory_may_be_anything() -> None:
    made = parsed(
        "func.func private @get() -> memref<4xf32>\n"
        "func.func @main(%a: memref<4xf32>) {\n%x = call @get() : () -> memref<4xf32>\n"
        "memref.copy %a, %a : memref<4xf32> to memref<4xf32>\nmemref.copy %x, %x : memref<4xf32> to memref<4xf32>\nreturn\n}"
    )
    one, two = mlir.operations(host(made), "memref.copy")
    effects = Effects(made)
    assert ordered(effects, one, two)
