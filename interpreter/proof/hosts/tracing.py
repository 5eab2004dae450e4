"""From a memref to the buffer behind it: views, casts and choices followed, constants folded."""

from __future__ import annotations

from collections.abc import Sequence

from ....dsl.diagnostics import WeftError
from ...ir import mlir
from ...ir.functions import inputs_of, maker
from ...ir.mlir import DYNAMIC, ir
from ...memory.strides import strided
from ...memory.views import VIEWS, shown, sources
from ..forms.linear import NOTHING, Linear, Symbol
from ..forms.shape import LaunchShape
from ..kernels.values import Values
from ..kernels.views import window
from .windows import HostBuffer, MovingWindow, Window

Known = dict[ir.Value, tuple[Window, ...]]


class HostValues(Values):
    """The indices of a module's host functions, as forms of constants and of the counters of their loops.

    Attributes:
        counters: the loops whose iterations the symbols count.
    """

    def __init__(self, module: ir.Operation) -> None:
        super().__init__(LaunchShape(), lambda _: NOTHING)
        self.counters: dict[Symbol, ir.Operation] = {}
        functions = mlir.operations(module, "func.func")
        for loop in (loop for function in functions for loop in mlir.operations(function, "scf.for")):
            first, _, step = (self.linear(v) for v in list(loop.operands)[:3])
            if step.is_constant and step.constant > 0:
                counter = self.fresh("loop", NOTHING, 0)
                self.counters[counter] = loop
                self.bind(loop.regions[0].blocks[0].arguments[0], first + Linear.of(counter) * step.constant)


def traced(
    value: ir.Value, known: Known, host: HostValues, on_the_way: frozenset[ir.Value] = frozenset()
) -> tuple[Window, ...]:
    """The windows that `value` may show. `known`: what was found out before."""
    if value in known:
        return known[value]
    if value in on_the_way:
        return ()
    here = on_the_way | {value}
    made_of = sources(value)
    if made_of is None:
        return (Window(HostBuffer("unknown", value)),)
    if not made_of:
        return (_root(value),)
    if shown(value) is not None:
        return tuple(_shown(value, window, host) for window in traced(made_of[0], known, host, here))
    return tuple(dict.fromkeys(window for v in made_of for window in traced(v, known, host, here)))


def _root(value: ir.Value) -> Window:
    """A buffer of its own: an argument, an attribution of a kernel, an allocation, a global."""
    if not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "memref.get_global":
            return _whole(value, HostBuffer("global", ir.FlatSymbolRefAttr(op.attributes["name"]).value))
        return _whole(value, HostBuffer("allocation", value))
    holder, number = maker(value), ir.BlockArgument(value).arg_number
    attributed = holder.name == "gpu.launch" or (holder.name == "gpu.func" and number >= inputs_of(holder))
    return _whole(value, HostBuffer("allocation" if attributed else "argument", value))


def _whole(value: ir.Value, buffer: HostBuffer) -> Window:
    """All of a buffer; of one that has dynamic sizes or strides, or starts elsewhere, the elements are not known."""
    steps = _steps(value.type)
    if steps is None or strided(value.type)[1] != 0:
        return Window(buffer)
    kind = ir.MemRefType(value.type)
    if any(map(kind.is_dynamic_dim, range(kind.rank))):
        return Window(buffer)
    return Window(buffer, 0, tuple(zip(kind.shape, steps, strict=True)))


def _shown(value: ir.Value, window: Window, host: HostValues) -> Window:
    """What the view `value` shows of what `window` shows."""
    op = value.owner.operation
    how = VIEWS[op.name]
    if how == "same":
        return window
    if window.dims is None:
        return Window(window.buffer, part=MovingWindow())
    if how == "subview":
        return _cut(op, window.buffer, window.offset, _steps(op.operands[0].type), host)
    if how == "reinterpret":  # in elements, from where the buffer begins
        return _cut(op, window.buffer, 0, [1] * max(1, ir.MemRefType(value.type).rank), host)
    if how in ("reshape", "transpose"):
        return window  # the same elements, in other dimensions: only subviews of it need those
    return Window(window.buffer, part=MovingWindow())


def _cut(op: ir.Operation, buffer: HostBuffer, first: int, steps: Sequence[int] | None, host: HostValues) -> Window:
    """The elements at the op's offsets, sizes and strides, in units of `steps`, of what begins at the element `first`."""
    offsets, sizes, strides = window(op, host)
    if steps is None or not all(form.is_constant for form in (*sizes, *strides)):
        return Window(buffer, part=MovingWindow())
    start = sum((offset * step for offset, step in zip(offsets, steps, strict=False)), start=Linear.of(first))
    stepped = [stride.constant * step for stride, step in zip(strides, steps, strict=False)]
    dims = tuple(zip((size.constant for size in sizes), stepped, strict=True))
    if start.is_constant:
        return Window(buffer, start.constant, dims)
    return Window(buffer, part=MovingWindow(start if all(s in host.counters for s in start.symbols()) else None, dims))


def _steps(kind: ir.Type) -> list[int] | None:
    """The strides of a memref, wherever it starts; None where they are dynamic."""
    if not isinstance(kind, ir.MemRefType):
        return None
    try:
        strides, _ = strided(kind)
    except WeftError:
        return None
    return None if DYNAMIC in strides else strides
