"""The reads, writes, allocations and frees of each op of a host function, each with its buffer.

Views and casts are followed to their buffer, and if offsets, sizes and strides are constant, to the
exact elements. The effects of a kernel, or of a called function, on its arguments come from its
body; a loop or a branch has the effects of its body. Arguments of a host function are distinct
memory. A memref that cannot be followed may be any memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ....dsl.diagnostics import WeftError
from ....dsl.records import record
from ...indices.algebra import LaunchShape
from ...indices.linear import NOTHING, Linear, Symbol
from ...indices.values import Values
from ...ir.functions import arguments, callee, inputs_of, symbol
from ...ir.mlir import DYNAMIC, ir, made_within, maker, operations
from ...memory.effects import accesses, is_known, is_pointer, shows_memory, takes_tensors
from ...memory.layouts import strided
from ...memory.table import CALLS
from ...memory.views import VIEWS, sources, view_source
from ..kernels.views import window
from .windows import HostBuffer, MovingWindow, Window


class HostValues(Values):
    """The indices of a module's host functions, as forms of constants and of the counters of their
    loops; and the windows of memrefs.

    Attributes:
        counters: the loop of each counter symbol.
    """

    def __init__(self, module: ir.Operation) -> None:
        super().__init__(LaunchShape(), lambda _: NOTHING)
        self.counters: dict[Symbol, ir.Operation] = {}
        self._windows: dict[ir.Value, tuple[Window, ...]] = {}
        functions = operations(module, "func.func")
        for loop in (loop for function in functions for loop in operations(function, "scf.for")):
            first, _, step = (self.linear(v) for v in list(loop.operands)[:3])
            if step.is_constant and step.constant > 0:
                counter = self.fresh("loop", NOTHING, 0)
                self.counters[counter] = loop
                self.bind(loop.regions[0].blocks[0].arguments[0], first + Linear.of(counter) * step.constant)

    def windows(self, value: ir.Value, on_the_way: frozenset[ir.Value] = frozenset()) -> tuple[Window, ...]:
        """The windows that a memref may show: one, or several for a choice (`arith.select`,
        `scf.if`)."""
        if value in self._windows or value in on_the_way:
            return self._windows.get(value, ())
        made_of, here = sources(value), on_the_way | {value}
        if made_of is None:
            found: list[Window] = [Window(HostBuffer("unknown", value))]
        elif not made_of:
            found = [_root(value)]
        else:
            found = [window for source in made_of for window in self.windows(source, here)]
            if view_source(value) is not None:
                found = [_shown(value, window, self) for window in found]
        if not on_the_way:
            self._windows[value] = tuple(dict.fromkeys(found))
        return tuple(dict.fromkeys(found))


def _root(value: ir.Value) -> Window:
    """The window of a root buffer: an argument, an attribution of a kernel, an allocation, a
    global."""
    if not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "memref.get_global":
            return _whole(value, HostBuffer("global", ir.FlatSymbolRefAttr(op.attributes["name"]).value))
        return _whole(value, HostBuffer("allocation", value))
    holder, number = maker(value), ir.BlockArgument(value).arg_number
    attributed = holder.name == "gpu.launch" or (holder.name == "gpu.func" and number >= inputs_of(holder))
    return _whole(value, HostBuffer("allocation" if attributed else "argument", value))


def _whole(value: ir.Value, buffer: HostBuffer) -> Window:
    """The window of a whole buffer; its elements are unknown if it has dynamic sizes or strides, or
    an offset."""
    steps = _steps(value.type)
    if steps is None or strided(value.type)[1] != 0:
        return Window(buffer)
    kind = ir.MemRefType(value.type)
    if any(map(kind.is_dynamic_dim, range(kind.rank))):
        return Window(buffer)
    return Window(buffer, 0, tuple(zip(kind.shape, steps, strict=True)))


def _shown(value: ir.Value, window: Window, host: HostValues) -> Window:
    """The window of the view `value`, from the `window` of its source."""
    op = value.owner.operation
    how = VIEWS[op.name]
    if how == "same":
        return window
    if window.dims is None:
        return Window(window.buffer, part=MovingWindow())
    if how == "subview":
        return _cut(op, window.buffer, window.offset, _steps(op.operands[0].type), host)
    if how == "reinterpret":  # in elements, from the start of the buffer
        return _cut(op, window.buffer, 0, [1] * max(1, ir.MemRefType(value.type).rank), host)
    if how in ("reshape", "transpose"):
        return window  # the same elements, in other dimensions: only subviews of the result need those
    return Window(window.buffer, part=MovingWindow())


def _cut(op: ir.Operation, buffer: HostBuffer, first: int, steps: Sequence[int] | None, host: HostValues) -> Window:
    """The window at the op's offsets, sizes and strides, in units of `steps`, counted from the
    element `first`."""
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
    """The strides of a memref with any offset; None where they are dynamic."""
    if not isinstance(kind, ir.MemRefType):
        return None
    try:
        strides, _ = strided(kind)
    except WeftError:
        return None
    return None if DYNAMIC in strides else strides


DEVICE = {"gpu.launch_func", "gpu.launch", "gpu.memcpy", "gpu.memset", "gpu.alloc", "gpu.dealloc"}
"""Ops that run on the device and may be asynchronous. All other ops are done when the host is past
them."""

_ADDRESS = "memref.extract_aligned_pointer_as_index"

AccessKind = Literal["read", "write", "alloc", "free"]
Done = tuple[AccessKind, str]
"""An access to a buffer, and for an update by atomics, its kind."""
READ: Done = ("read", "")
WRITE: Done = ("write", "")


@record
class Effect:
    """One access of an op to some elements of a buffer.

    Args:
        update: for a write that consists of atomic updates only, their kind: equal updates commute.
    """

    kind: AccessKind
    window: Window
    update: str = ""

    @property
    def buffer(self) -> HostBuffer:
        return self.window.buffer

    @property
    def changes(self) -> bool:
        """Whether the effect is not a read: any other access of the elements must be ordered before
        or after it."""
        return self.kind != "read"

    def commutes(self, other: Effect) -> bool:
        """Whether the two effects may happen in any order, even at the same time."""
        return not (self.changes or other.changes) or (self.update != "" and self.update == other.update)


@dataclass(eq=False)
class Effects:
    """The effects of the ops of a module's host functions, computed on demand and cached.

    Args:
        module: a module; it must not change while this is used.
        through_tensors: a tensor made from a buffer (`bufferization.to_tensor`) denotes that
            buffer; otherwise it is a value.
    """

    module: ir.Module
    through_tensors: bool = True
    _callables: dict[str, ir.Operation] = field(default_factory=dict)
    _binaries: set[str] = field(default_factory=set)
    _summaries: dict[str, tuple[tuple[Done, int | HostBuffer], ...] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.host = HostValues(self.module.operation)
        self._shows_tensors = self.through_tensors and any(operations(self.module.operation, "bufferization.to_tensor"))
        for op in self.module.body.operations:
            if op.operation.name == "func.func":
                self._callables[symbol(op.operation)] = op.operation
            elif op.operation.name == "gpu.binary":
                self._binaries.add(symbol(op.operation))
            elif op.operation.name == "gpu.module":
                for kernel in operations(op.operation, "gpu.func"):
                    self._callables[f"{symbol(op.operation)}::{symbol(kernel)}"] = kernel

    def of(self, op: ir.Operation) -> tuple[Effect, ...]:
        """The effects of `op`, of its regions and of the functions that it calls, each once.
        Effects on allocations inside `op` are left out."""
        found: dict[Effect, None] = {}
        for (kind, update), at in self._all(op):
            for seen in (Window(at),) if isinstance(at, HostBuffer) else self.host.windows(at):
                if not seen.empty and not _inside(seen.buffer, op):
                    found[Effect(kind, seen, update)] = None
        return tuple(found)

    def unseen(self, op: ir.Operation) -> ir.Operation | None:
        """The first op in `op` with effects that cannot be analysed; None if there is none. Such
        ops are a call of a function without a body, a recursive call, a launch of a missing kernel,
        an op of an unknown dialect, and any access through a pointer, or through a tensor made from
        a buffer."""
        for inner in operations(op):
            if inner.name in CALLS:
                if self._summary(inner) is None or _is_handed_pointers(inner):
                    return inner
            elif not is_known(inner) or inner.name == _ADDRESS or (self._shows_tensors and takes_tensors(inner)):
                return inner
        return None

    def launches_on_pointers(self, op: ir.Operation) -> bool:
        """Whether `op` launches a kernel that may touch memory other than its arguments: a kernel
        that is passed pointers, or has effects that cannot be analysed (`unseen`)."""
        if op.name == "gpu.launch":
            return self.unseen(op) is not None
        if op.name != "gpu.launch_func":
            return False
        kernel = self._callables.get(callee(op))
        return _is_handed_pointers(op) or (kernel is not None and self.unseen(kernel) is not None)

    def opaque(self, op: ir.Operation) -> bool:
        """Whether `op` launches a compiled kernel (`gpu.binary`), which is assumed to read and
        write all of its arguments."""
        return op.name == "gpu.launch_func" and callee(op).split("::")[0] in self._binaries

    # ---- calls and launches ------------------------------------------------------------------------------------------

    def _all(self, op: ir.Operation) -> Iterator[tuple[Done, ir.Value | HostBuffer]]:
        """Yields the effects of `op`, each with its memref; for a call, also effects on globals."""
        for each in (op,) if not len(op.regions) else operations(op):
            found = accesses(each)
            given = arguments(each) if each.name in CALLS else list(each.operands)
            summary = self._summary(each) if each.name in CALLS else None
            if summary is not None:
                for done, at in summary:
                    if isinstance(at, HostBuffer) or shows_memory(given[at]):
                        yield done, at if isinstance(at, HostBuffer) else given[at]
            elif found is None:
                for value in filter(shows_memory, given):
                    yield READ, value
                    yield WRITE, value
            else:
                for access in found:
                    if access.kind == "atomic" and not access.update:
                        yield READ, access.value
                    yield ("write" if access.kind == "atomic" else access.kind, access.update), access.value

    def _summary(self, op: ir.Operation) -> tuple[tuple[Done, int | HostBuffer], ...] | None:
        """The effects of the called function, by argument number or global; None if they cannot be
        analysed, for example because of pointers."""
        if self.opaque(op):
            return tuple((done, i) for i in range(len(arguments(op))) for done in (READ, WRITE))
        name = callee(op)
        if name not in self._summaries:
            self._summaries[name] = None  # a recursive function stays unknown
            function = self._callables.get(name)
            if function is not None and len(function.regions[0].blocks):
                self._summaries[name] = self._summarized(function)
        return self._summaries[name]

    def _summarized(self, function: ir.Operation) -> tuple[tuple[Done, int | HostBuffer], ...] | None:
        passed = list(function.regions[0].blocks[0].arguments)[: inputs_of(function)]
        parameters = {a: i for i, a in enumerate(passed)}
        found: dict[tuple[Done, int | HostBuffer], None] = {}
        if self.unseen(function) is not None:
            return None
        for op in operations(function):
            if op.name in CALLS and self._summary(op) is None:
                return None
        for done, value in self._all(function):
            for buffer in (value,) if isinstance(value, HostBuffer) else (w.buffer for w in self.host.windows(value)):
                if buffer.kind == "unknown":
                    return None
                at = parameters.get(buffer.key) if isinstance(buffer.key, ir.Value) else buffer
                if at is not None:
                    found[done, at] = None
        return tuple(found)


def compiled_kernels(module: ir.Module) -> tuple[str, ...]:
    """The kernels that `module` launches from a `gpu.binary`, as `@binary::@kernel`."""
    effects = Effects(module)
    launches = (op for op in operations(module.operation, "gpu.launch_func") if effects.opaque(op))
    return tuple(dict.fromkeys("@" + callee(op).replace("::", "::@") for op in launches))


def _is_handed_pointers(op: ir.Operation) -> bool:
    return op.name == "gpu.launch_func" and any(map(is_pointer, arguments(op)))


def _inside(buffer: HostBuffer, op: ir.Operation) -> bool:
    """Whether the buffer is allocated in a region of `op`."""
    value = buffer.key
    return buffer.kind == "allocation" and len(op.regions) > 0 and not isinstance(value, str) and made_within(value, op)
