"""nvgpu: products of matrices in shared memory by a warp group, each as a call of a device function
in the text.

The sums of a thread are an array in registers, which the products update in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ....interpreter.hardware.hopper.warpgroups import (
    BEGIN,
    COMMIT,
    DESCRIBE,
    END,
    MMA,
    MMA_ASYNC,
    PRODUCTS,
    ROWS,
    SAME,
    STEP,
    SUM_BYTES,
    ZERO,
    accumulator,
    may_pend,
    operands,
    panel_layout,
    repeats_after,
    run_of,
    sums_before,
)
from ....interpreter.ir.mlir import ancestors, ir, operations, ops_of, users
from ....interpreter.memory.effects import is_pointer
from ...form.group_form import GroupMatrix, expected_group_product, group_matrix
from ...form.kernel_form import refuse
from ..group_products import group_product_name
from ..kernel import KernelWriter, Lanes, writes
from ..loops import registers
from ..values.expression import ARRAY, Expr, elements, name, whole
from ..values.types import element
from .fragments import registers_of
from .mbarriers import tile


@writes(DESCRIBE)
def describe(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    found = group_matrix(op, "W0503")
    first, rows = tile(kernel, op.opview.tensor, repeats_after(found.box), op), found.box.box[0]
    base = kernel.view(op.opview.tensor).buffer.root.removesuffix("_shared")
    variable = kernel.fresh(f"{base}_matrix")
    kernel.line(f"const unsigned long long {variable} = matrix_in_shared({first}, {rows * found.span});")
    return (name(variable, "unsigned long long"),)


@writes(ZERO)
def zero(kernel: KernelWriter, op: ir.Operation) -> Lanes | None:
    kind, count = element(op.results[0].type, op)
    kernel.values[op.results[0]] = (Expr("0.0f" if kind.floating else "0", kind.cxx, atom=True),) * (count or 1)
    return None


@writes(SAME)
def same(kernel: KernelWriter, op: ir.Operation) -> None:
    kernel.values[op.results[0]] = () if is_pointer(op.results[0]) else kernel.lanes(op.operands[0])


@writes(BEGIN, COMMIT)
def around(kernel: KernelWriter, op: ir.Operation) -> None:
    """Emits nothing: groups of products begin and end in the text of their first and last product."""


@writes(END)
def wait(kernel: KernelWriter, op: ir.Operation) -> None:
    """Waits for all products of the kernel in flight. A kernel with products that complete
    immediately needs no wait."""
    if not any(map(may_pend, operations(kernel.func, MMA))):
        return
    if may_pend(op):
        raise refuse(
            "W0503",
            f"`{op.name} {may_pend(op)}` with products in flight",
            op,
            hint=f"wait for all of them: `{op.name} 0`",
        )
    arrays = dict.fromkeys(whole(kernel.lanes(sums), ARRAY) for sums in _sums_at(op))
    kernel.line(f"wait_products({', '.join(filter(None, arrays))});")


def _sums_at(op: ir.Operation) -> Iterator[ir.Value]:
    """The accumulators that are defined before the op, in its block and in the surrounding ones."""
    inner = op
    for outer in takewhile(lambda one: one.name != "gpu.module", ancestors(op)):
        ops = ops_of(inner.block)
        in_front = [result for one in ops[: ops.index(inner)] for result in one.results]
        yield from (value for value in (*inner.block.arguments, *in_front) if accumulator(value.type) is not None)
        inner = outer


@writes(*PRODUCTS)
def multiply(kernel: KernelWriter, op: ir.Operation) -> None:
    found, given = expected_group_product(op, "W0503"), sums_before(op)
    kind, _ = element(op.results[0].type, op)
    function = group_product_name(found.product, by_rows=found.by_rows, held=found.left is None)
    run = run_of(op) if op.name == MMA_ASYNC else [op]
    before = kernel.lanes(given)
    sums = whole(before, ARRAY)
    if sums is None or len(users(given)) > 1:
        sums = registers(kernel, kind, before, "acc")
    elif op == run[0]:
        kernel.flush()
    matrix, b = operands(op)[0][0], kernel.expr(operands(op)[1][0]).text
    a = kernel.expr(matrix).text if found.left is not None else kernel.fresh("held")
    if found.left is None:
        words = [*registers_of(kernel.lanes(matrix), found.product, matrix)]
        kernel.line(f"unsigned {a}[{len(words)}] = {{{', '.join(words)}}};")
        kernel.line(f"hold_registers({a});")
    if op == run[0]:
        kernel.line(f"begin_products({sums});")
    for row in range(0, found.rows, ROWS):
        to = f"{sums} + {row // ROWS * found.product.n // 2}" if row else sums
        for number in range(found.depth_bytes // SUM_BYTES):
            left = (
                4 * number
                if found.left is None
                else (place(found.left, row, number, rows=False) + found.starts[0]) // STEP
            )
            right = (place(found.right, 0, number, rows=found.by_rows) + found.starts[1]) // STEP
            matrices = (f"{name} + {at}" if at else name for name, at in ((a, left), (b, right)))
            kernel.line(f"{function}({', '.join([to, *matrices])});")
    if op == run[-1]:
        kernel.line(f"end_products({sums});" if not found.pending else f"commit_products<{found.pending}>({sums});")
    if found.left is None:
        kernel.line(f"hold_registers({a});")
    kernel.values[op.results[0]] = elements(sums, kind.cxx, len(before))


def place(matrix: GroupMatrix, row: int, number: int, *, rows: bool) -> int:
    """The byte offset in the matrix at which the `number`th instruction along the sum begins to
    read, for rows from `row` on."""
    most = max(matrix.rows, matrix.columns)  # the dimension that the memory has as rows
    held = panel_layout(matrix.box, most, most * matrix.bytes)
    return (
        held.at("address", row=number * matrix.steps) if rows else held.at("address", row=row, byte=number * SUM_BYTES)
    )
