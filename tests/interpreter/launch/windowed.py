"""Payloads on windows of one matrix: the update of a blocked factorization, and whole blocked factorizations in place."""

from __future__ import annotations

PRODUCT = """linalg.generic {{indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> ({right})>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]}} ins(%l, %u : {left_type}, {right_type}) outs(%c : {type}) {{
  ^bb0(%x: {element}, %y: {element}, %o: {element}):
    %p = arith.mulf %x, %y : {element}
    %s = arith.{combine} %o, %p : {element}
    linalg.yield %s : {element}
}}"""


def update(
    size: int = 24, block: int = 8, element: str = "f32", combine: str = "subf", *, turned: bool = False, up: int = 0
) -> str:
    """`C -= L U` of one step of a blocked LU, or `C -= L Lᵀ` of a Cholesky (`turned`): three windows of `%A`.

    `up`: how many rows the window that is written begins too early, so that it shares elements with `U`.
    """
    rest, whole = size - block, f"memref<{size}x{size}x{element}>"

    def window(name: str, at: tuple[int, int], rows: int, columns: int) -> tuple[str, str]:
        kind = f"memref<{rows}x{columns}x{element}, strided<[{size}, 1], offset: {at[0] * size + at[1]}>>"
        return f"%{name} = memref.subview %A[{at[0]}, {at[1]}] [{rows}, {columns}] [1, 1] : {whole} to {kind}", kind

    left, left_type = window("l", (block, 0), rest, block)
    right, right_type = window("u", (block, 0), rest, block) if turned else window("u", (0, block), block, rest)
    written, kind = window("c", (block - up, block), rest, rest)
    product = PRODUCT.format(
        right="j, k" if turned else "k, j", left_type=left_type, right_type=right_type, type=kind, element=element, combine=combine
    )
    return "\n".join([f"func.func @update(%A: {whole}) {{", left, right, written, product, "return", "}"])


STEP = """
    %m = arith.subi %n, %e : index
    %l = memref.subview %A[%e, %k] [%m, {block}] [1, 1] : {whole} to {left_type}
    %u = memref.subview %A[{right_at}] [{right_sizes}] [1, 1] : {whole} to {right_type}
    %c = memref.subview %A[{written_at}] [%m, %m] [1, 1] : {whole} to {type}
    {product}"""
ROOT = """
      scf.parallel (%z) = (%p) to (%p1) step (%one) {{
        %d = memref.load %A[%z, %z] : {whole}
        %r = math.sqrt %d : f64
        memref.store %r, %A[%z, %z] : {whole}
        scf.reduce
      }}"""
COLUMN = """
    scf.for %p = %k to %e step %one {{
      %p1 = arith.addi %p, %one : index
      {root}
      scf.parallel (%i) = (%p1) to (%n) step (%one) {{
        %d = memref.load %A[%p, %p] : {whole}
        %x = memref.load %A[%i, %p] : {whole}
        %y = arith.divf %x, %d : f64
        memref.store %y, %A[%i, %p] : {whole}
        scf.reduce
      }}
      scf.parallel (%i, %j) = (%p1, %p1) to (%n, %e) step (%one, %one) {{
        %l = memref.load %A[%i, %p] : {whole}
        %u = memref.load %A[{other}] : {whole}
        %x = memref.load %A[%i, %j] : {whole}
        %f = arith.mulf %l, %u : f64
        %y = arith.subf %x, %f : f64
        memref.store %y, %A[%i, %j] : {whole}
        scf.reduce
      }}
    }}"""
SOLVE = """
    scf.parallel (%j) = (%e) to (%n) step (%one) {{
      scf.for %i = %k to %e step %one {{
        scf.for %q = %k to %i step %one {{
          %l = memref.load %A[%i, %q] : {whole}
          %u = memref.load %A[%q, %j] : {whole}
          %x = memref.load %A[%i, %j] : {whole}
          %f = arith.mulf %l, %u : f64
          %y = arith.subf %x, %f : f64
          memref.store %y, %A[%i, %j] : {whole}
        }}
      }}
      scf.reduce
    }}"""


def factorization(size: int, block: int, *, cholesky: bool, racy: bool = False) -> str:
    """A blocked LU without pivots, or a blocked Cholesky: panels, triangular solve, update, in a loop over blocks of columns.

    `racy`: the window that is updated begins one row (or column) too early, in the panel that is read.
    """
    whole, layout = f"memref<{size}x{size}xf64>", f"strided<[{size}, 1], offset: ?>"
    left_type, kind = f"memref<?x{block}xf64, {layout}>", f"memref<?x?xf64, {layout}>"
    right_type = left_type if cholesky else f"memref<{block}x?xf64, {layout}>"
    product = PRODUCT.format(
        right="j, k" if cholesky else "k, j", left_type=left_type, right_type=right_type, type=kind, element="f64", combine="subf"
    )
    step = STEP.format(
        block=block, whole=whole, left_type=left_type, right_type=right_type, type=kind, product=product,
        right_at="%e, %k" if cholesky else "%k, %e", right_sizes=f"%m, {block}" if cholesky else f"{block}, %m",
        written_at="%e, %e" if not racy else "%e, %last" if cholesky else "%last, %e",
    )  # fmt: skip
    column = COLUMN.format(whole=whole, root=ROOT.format(whole=whole) if cholesky else "", other="%j, %p" if cholesky else "%p, %j")
    return f"""func.func @factor(%A: {whole}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %b = arith.constant {block} : index
  %n = arith.constant {size} : index
  scf.for %k = %zero to %n step %b {{
    %e = arith.addi %k, %b : index
    %last = arith.subi %e, %one : index
    {column}
    {"" if cholesky else SOLVE.format(whole=whole)}
    {step}
  }}
  return
}}"""
