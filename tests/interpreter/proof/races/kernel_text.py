"""Kernels for the tests, from a body: ids and small constants are at hand."""

from __future__ import annotations

from itertools import count

from contexts import one_context

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_model
from weft.interpreter.proof.kernels.model import KernelModel

PRELUDE = """
%tx = gpu.thread_id x
%ty = gpu.thread_id y
%bx = gpu.block_id x
%by = gpu.block_id y
%lin = affine.apply affine_map<(d0, d1) -> (d0 + 16 * d1)>(%tx, %ty)
%zero = arith.constant 0.0 : f32
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c4 = arith.constant 4 : index
%c8 = arith.constant 8 : index
%c16 = arith.constant 16 : index
%c64 = arith.constant 64 : index
%c256 = arith.constant 256 : index
"""
WORKGROUP = "#gpu.address_space<workgroup>"
TILE = f"memref<16x16xf32, {WORKGROUP}>"
SIZES = "known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 4, 4, 1>"


def model(
    body: str,
    arguments: str = "%A: memref<64x64xf32>",
    shared: str = f"%S: {TILE}, %T: {TILE}",
    sizes: str = SIZES,
    grid: tuple[int | None, int | None, int | None] | None = None,
) -> KernelModel:
    text = f"""gpu.module @m {{ gpu.func @k({arguments}) workgroup({shared}) kernel attributes {{{sizes}}} {{
      {PRELUDE}
      {body}
      gpu.return
    }} }}"""
    module = mlir.parse(text, one_context())
    return kernel_model(next(mlir.operations(module.operation, "gpu.func")), grid=grid)


def write(buffer: str, *index: str, type: str = TILE) -> str:
    return f"memref.store %zero, %{buffer}[{', '.join(index)}] : {type}"


_numbers = count()


def read(buffer: str, *index: str, type: str = TILE) -> str:
    return f"%r{next(_numbers)} = memref.load %{buffer}[{', '.join(index)}] : {type}"


def place(number: int) -> str:
    return f"gpu.barrier {{weft.candidate = {number} : i64}}"


def loop(name: str, low: str, high: str, step: str, *body: str) -> str:
    inner = "\n".join(body)
    return f"scf.for %{name} = {low} to {high} step {step} {{\n{inner}\n}}"


def copy(number: int, buffer: str) -> str:
    """A cyclic fill of a 16x16 tile by linear id."""
    e = f"e{number}"
    return loop(e, "%lin", "%c256", "%c256",
                f"%i{number} = arith.divui %{e}, %c16 : index", f"%j{number} = arith.remui %{e}, %c16 : index",
                write(buffer, f"%i{number}", f"%j{number}"))  # fmt: skip
