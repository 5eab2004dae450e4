"""nvgpu: asynchronous copies."""

from __future__ import annotations

from dataclasses import replace

from ....interpreter.hardware.ampere.copies import COPY
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import async_copy, refuse
from ..kernel import KernelWriter, writes
from ..values.integers import bounds, literal, multiply
from ..values.types import INDEX


@writes(COPY)
def copy(kernel: KernelWriter, op: ir.Operation) -> None:
    found = async_copy(op, "W0503")
    source, target = kernel.view(found.source), kernel.view(found.target)
    if source.buffer.space != "global":
        raise refuse(
            "W0503",
            f"`{op.name}` from the constant {source.buffer.root}",
            op,
            hint="pass it as an argument of the kernel, `gpu.launch_func … args(…)`",
        )
    begin = kernel.place(source, kernel.exprs(found.begin))
    place, amount = kernel.target(target, kernel.exprs(found.at)), ""
    if found.read is not None:
        read = kernel.expr(found.read)
        read = replace(read, range=bounds(read, INDEX).clamp(0, found.count))
        size = multiply(read, literal(target.element.size))
        amount = "" if size.constant == found.size else f", {size.text}"
    kernel.flush()
    kernel.aligned.add(target.buffer.root)
    function = f"copy_async{found.size}{'_l1' if found.size == 16 and not found.past_l1 else ''}"
    kernel.line(f"{function}(&{place.text}, &{begin.text}{amount});")
    kernel.values[op.results[0]] = ()
