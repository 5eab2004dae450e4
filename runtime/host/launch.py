"""Host rule for `gpu.launch_func`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...interpreter.ir.functions import launch_sizes, sizes_of, symbol
from ...interpreter.ir.mlir import ir
from ...interpreter.session.rewriter import describe
from ..plan.plan import Arg, BufferView, Launch, ScalarValue, Size
from .functions import array_type
from .program import Host, HostValue, TokenValue, rule


@rule("gpu.launch_func")
def _launch(host: Host, op: ir.Operation) -> Sequence[HostValue]:
    view: Any = op.opview
    sizes = [host.size(v, op) for v in launch_sizes(op)]
    if view.clusterSizeX is not None:
        raise host.error("W0731", op, "a launch with a cluster size is not supported")
    shared = view.dynamicSharedMemorySize
    outer, inner = ir.SymbolRefAttr(op.attributes["kernel"]).value
    name, callee = (known.get(f"{outer}::{inner}") for known in (host.kernel_names, host.kernel_ops))
    if name is None or callee is None:
        if any(b.operation.name == "gpu.binary" and symbol(b.operation) == outer for b in host.module.body.operations):
            message = f"@{outer}::@{inner} is compiled already (gpu.binary), for a target that is not read here"
            raise host.error("W0731", op, message, "give its text instead: the `gpu.module` that the binary was made of")
        raise host.error("W0731", op, f"the module has no kernel @{outer}::@{inner}", "bring its `gpu.module` along")
    _check_known(host, op, callee, "known_block_size", sizes[3:])
    _check_known(host, op, callee, "known_grid_size", sizes[:3])
    host.launched.add(name)
    return host.issue(
        Launch(
            kernel=name,
            grid=(sizes[0], sizes[1], sizes[2]),
            block=(sizes[3], sizes[4], sizes[5]),
            shared_bytes=0 if shared is None else host.size(shared, op),
            args=tuple(_argument(host, v, op) for v in view.kernelOperands),
        ),
        op,
    )


def _check_known(host: Host, op: ir.Operation, kernel: ir.Operation, key: str, sizes: Sequence[Size]) -> None:
    """A kernel that was compiled for one launch shape must not be launched with another."""
    known = sizes_of(kernel, key)
    if known is not None and any(isinstance(size, int) and size != n for size, n in zip(sizes, known, strict=True)):
        raise host.error("W0737", op, f"{key} of @{symbol(kernel)} is {list(known)}, the launch says {list(sizes)}")


def _argument(host: Host, value: ir.Value, op: ir.Operation) -> Arg:
    found = host.value(value, op)
    if isinstance(found, BufferView):
        return host.view(value, op)
    dtype, _ = array_type(value.type, f"an argument of {describe(op)}")
    if isinstance(found, TokenValue):
        raise host.error("W0731", op, "a token cannot be a kernel's argument")
    return ScalarValue(dtype, found)
