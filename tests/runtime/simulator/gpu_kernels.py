"""Kernels written by hand for the simulator's tests, and how to get a `SimKernel` of a text."""

from __future__ import annotations

from contexts import one_context

from weft.interpreter.ir import mlir
from weft.runtime.simulator.kernel import SimKernel

WORKGROUP = "#gpu.address_space<workgroup>"
IDS = """
  %tx = gpu.thread_id x
  %ty = gpu.thread_id y
  %bx = gpu.block_id x
  %by = gpu.block_id y
  %bdx = gpu.block_dim x
"""


def sim(text: str) -> SimKernel:
    """The first kernel of a `gpu.module` body."""
    module = mlir.parse(f"module {{\ngpu.module @kernels {{\n{text}\n}}\n}}", one_context())
    return SimKernel(next(iter(mlir.operations(module.operation, "gpu.func"))))


def func(arguments: str, body: str, *, shared: str = "", attributes: str = "") -> SimKernel:
    """A kernel `@f(arguments)`; `%tx`, `%ty`, `%bx`, `%by`, `%bdx` and `%c0` … `%c9` are there."""
    constants = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(10))
    workgroup = f"workgroup({shared})" if shared else ""
    extra = f"attributes {{{attributes}}}" if attributes else ""
    return sim(f"gpu.func @f({arguments}) {workgroup} kernel {extra} {{\n{constants}{IDS}{body}\ngpu.return\n}}")


def matmul(
    m: int, n: int, k: int, kind: str = "f32", *, filled: str = "gpu.barrier", used: str = "gpu.barrier", tile: int = 16
) -> SimKernel:
    """C = A B: both operands staged in shared tiles, ragged edges guarded; `filled` and `used` are the barriers."""
    number = "f" if "f" in kind else "i"
    zero = "0.0" if number == "f" else "0"
    shared = f"memref<{tile}x{tile}x{kind}, {WORKGROUP}>"
    staged = "\n".join(
        f"""
    %{x}in = arith.andi %{a}, %{b} : i1
    %v{x} = scf.if %{x}in -> {kind} {{
      %l{x} = memref.load %{x.upper()}[{index}] : memref<{shape}x{kind}>
      scf.yield %l{x} : {kind}
    }} else {{ scf.yield %zero : {kind} }}
    memref.store %v{x}, %{x.upper()}s[%ty, %tx] : {shared}"""
        for x, a, b, index, shape in (
            ("a", "rin", "kain", "%row, %ka", f"{m}x{k}"),
            ("b", "kbin", "cin", "%kb, %col", f"{k}x{n}"),
        )
    )
    return sim(f"""
gpu.func @matmul(%A: memref<{m}x{k}x{kind}> {{weft.name = "A"}}, %B: memref<{k}x{n}x{kind}> {{weft.name = "B"}},
                 %C: memref<{m}x{n}x{kind}> {{weft.name = "C"}})
    workgroup(%As: {shared}, %Bs: {shared}) kernel attributes {{known_block_size = array<i32: {tile}, {tile}, 1>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = arith.constant {tile} : index
  %m = arith.constant {m} : index
  %n = arith.constant {n} : index
  %k = arith.constant {k} : index
  %zero = arith.constant {zero} : {kind}
  {IDS}
  %row = affine.apply affine_map<(b, t) -> (b * {tile} + t)>(%by, %ty)
  %col = affine.apply affine_map<(b, t) -> (b * {tile} + t)>(%bx, %tx)
  %rin = arith.cmpi slt, %row, %m : index
  %cin = arith.cmpi slt, %col, %n : index
  %sum = scf.for %k0 = %c0 to %k step %t iter_args(%acc = %zero) -> {kind} {{
    %ka = arith.addi %k0, %tx : index
    %kb = arith.addi %k0, %ty : index
    %kain = arith.cmpi slt, %ka, %k : index
    %kbin = arith.cmpi slt, %kb, %k : index
    {staged}
    {filled}
    %part = scf.for %i = %c0 to %t step %c1 iter_args(%s = %acc) -> {kind} {{
      %x = memref.load %As[%ty, %i] : {shared}
      %y = memref.load %Bs[%i, %tx] : {shared}
      %p = arith.mul{number} %x, %y : {kind}
      %q = arith.add{number} %s, %p : {kind}
      scf.yield %q : {kind}
    }}
    {used}
    scf.yield %part : {kind}
  }}
  %inside = arith.andi %rin, %cin : i1
  scf.if %inside {{ memref.store %sum, %C[%row, %col] : memref<{m}x{n}x{kind}> }}
  gpu.return
}}""")
