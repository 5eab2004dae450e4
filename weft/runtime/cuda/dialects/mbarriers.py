"""nvgpu and nvvm: memory barriers, copies of boxes of tensors, fences, register counts of a warp
group.

Each op is a call of a device function that the text includes.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ....dsl.records import record
from ....interpreter.hardware.hopper import mbarriers, tensor_maps
from ....interpreter.hardware.lanes import NUMBERED_BARRIER
from ....interpreter.hardware.queries import TEXTS
from ....interpreter.ir.functions import CLUSTER_SIZE, name_of, segments, sizes_of
from ....interpreter.ir.mlir import ir
from ....interpreter.memory.layouts import is_shared
from ...form.group_form import arrives_at, boxed, expected_load
from ...form.kernel_form import axis_of, refuse
from ..kernel import KernelWriter, Lanes, writes
from ..values.expression import Expr, binary, cast, identifier
from ..values.integers import literal
from ..values.types import BARRIER, Range
from ..values.views import NamedMemory, NamedView, linear
from ..warp_groups import load_box_name, store_box_name
from .control import hardware


@writes(mbarriers.MAKE)
def make(kernel: KernelWriter, op: ir.Operation) -> NamedView:
    count, given = mbarriers.count_of(op.results[0].type), name_of(op.results[0])
    name = kernel.on_top(identifier(given or "barrier"), given=given is not None)
    memory = NamedMemory(name, BARRIER, "shared", (literal(count),), (literal(1),), literal(0), array=True)
    kernel.share(op.results[0], memory, count * mbarriers.BYTES)
    return NamedView.whole(memory)


def _barrier(kernel: KernelWriter, op: ir.Operation) -> str:
    """A pointer to the barrier that an op accesses."""
    group, number = mbarriers.barrier_of(op)
    view = kernel.view(group)
    return f"&{kernel.place(view, (kernel.expr(number),)).text}"


def _line(kernel: KernelWriter, call: str, predicate: ir.Value | None = None) -> None:
    """Emits a call that no other op is moved across, guarded by `predicate` if given."""
    only = "" if predicate is None else f"if ({kernel.expr(predicate).text}) "
    kernel.flush()
    kernel.line(f"{only}{call};")


def _int(made: Expr) -> str:
    return made.text if made.type == "int" else cast("int", made).text


@record(eq=False)
class _Words:
    """The values of the names in the template of an instruction's record."""

    kernel: KernelWriter
    op: ir.Operation

    def __getitem__(self, key: str) -> str:
        if key == "barrier":
            return _barrier(self.kernel, self.op)
        if key[0] == "_":
            return key if key[1:] in self.op.attributes else ""
        found = getattr(self.op.opview, key, self.op.attributes.get(key))
        if isinstance(found, ir.Value):
            return _int(self.kernel.expr(found))
        return "0" if found is None else str(ir.IntegerAttr(found).value)


@writes(*TEXTS)
def call(kernel: KernelWriter, op: ir.Operation) -> None:
    """Emits the call of the instruction's record. Its results are tokens, without a value."""
    _line(kernel, TEXTS[op.name].format_map(_Words(kernel, op)), getattr(op.opview, "predicate", None))
    kernel.values.update(dict.fromkeys(op.results, ()))


@writes(mbarriers.AWAIT)
def wait(kernel: KernelWriter, op: ir.Operation) -> None:
    function = "barrier_wait" if clusters(kernel) is None else "barrier_wait_in_cluster"
    _line(kernel, f"{function}({_barrier(kernel, op)}, {kernel.expr(op.opview.phaseParity).text})")


@writes(mbarriers.FENCE_PROXY)
def fence_proxy(kernel: KernelWriter, op: ir.Operation) -> None:
    kind = str(op.attributes["kind"])
    if "async.shared" not in kind or "cluster" in str(op.attributes.get("space", "")):
        raise refuse(
            "W0503", f"`{op.name}` of {kind}", op, hint="write `{kind = #nvvm.proxy_kind<async.shared>, space = cta}`"
        )
    _line(kernel, "fence_async()")


@writes(mbarriers.REGISTERS)
def registers(kernel: KernelWriter, op: ir.Operation) -> None:
    count, more = mbarriers.registers_of(op)
    _line(kernel, f"{'more' if more else 'fewer'}_registers<{count}>()")


# ---- clusters ------------------------------------------------------------------------------------


def clusters(kernel: KernelWriter) -> tuple[int, int, int] | None:
    """The kernel's cluster size in blocks along x, y, z; None if it states none."""
    return sizes_of(kernel.func, CLUSTER_SIZE)


@writes(mbarriers.RANK, mbarriers.BLOCKS)
def place_in_cluster(kernel: KernelWriter, op: ir.Operation) -> Lanes:
    """A block's position in its cluster: along each axis, consecutive blocks form a cluster."""
    axis, size = axis_of(op), clusters(kernel)
    if size is None:
        raise refuse(
            "W0503", f"`{op.name}` in a kernel without a known cluster size", op, hint=f"state `{CLUSTER_SIZE}` on it"
        )
    if op.name == mbarriers.BLOCKS or size[axis] == 1:
        return (literal(size[axis] if op.name == mbarriers.BLOCKS else 0),)
    block = hardware(kernel, "block", "id", axis)
    return (binary("%", block, literal(size[axis]), "int", Range(0, size[axis] - 1)),)


@writes(mbarriers.MEET_CLUSTER, mbarriers.MEET_RELAXED, mbarriers.AWAIT_CLUSTER)
def meet(kernel: KernelWriter, op: ir.Operation) -> None:
    name = {
        mbarriers.MEET_CLUSTER: "arrive",
        mbarriers.MEET_RELAXED: "arrive_relaxed",
        mbarriers.AWAIT_CLUSTER: "wait",
    }[op.name]
    _line(kernel, f"cluster_{name}{'' if 'aligned' in op.attributes else '_each'}()")


@writes(mbarriers.ADDRESS, mbarriers.POINTER, mbarriers.OTHER_BLOCK)
def address(kernel: KernelWriter, op: ir.Operation) -> None:
    """An address of a barrier emits nothing: the arrival that uses it looks up its operands."""
    kernel.values[op.results[0]] = ()


@writes(mbarriers.ARRIVE_THERE)
def arrive_there(kernel: KernelWriter, op: ir.Operation) -> None:
    """An arrival on the own block's barrier, or on that of another block of the cluster. A relaxed
    arrival orders time only. It is emitted without a qualifier, which is PTX's `.release.cta` and
    needs no device-wide fence: `.relaxed.cluster` compiles to the same machine code, but NVRTC of
    CUDA 12.0 to 12.6 refuses it (it needs PTX ISA 8.6)."""
    made, block = arrives_at(op, "W0503")
    if block is None:
        _line(kernel, f"barrier_arrive({_barrier(kernel, made)})")
        return
    relaxed = mbarriers.ordered_by(op, elsewhere=True) == "time"
    function = "barrier_arrive_relaxed_in" if relaxed else "barrier_arrive_in"
    _line(kernel, f"{function}({_barrier(kernel, made)}, {_int(kernel.expr(block))})")


@writes(NUMBERED_BARRIER)
def numbered_barrier(kernel: KernelWriter, op: ir.Operation) -> None:
    """A numbered barrier for the given number of the block's threads; without a number, for all."""
    number, count = (next((kernel.expr(value) for value in part), None) for part in segments(op)[:2])
    known = count if count is not None or kernel.block is None else literal(prod(kernel.block))
    if known is None:
        raise refuse(
            "W0503",
            f"`{op.name}` in a kernel without a known block size",
            op,
            hint="state the number of threads: `nvvm.barrier id = … number_of_threads = …`",
        )
    _line(kernel, f"meet_at({_int(number or literal(0))}, {_int(known)})")


# ---- boxes of tensors ----------------------------------------------------------------------------


def tile(kernel: KernelWriter, memref: ir.Value, alignment: int, op: ir.Operation) -> str:
    """A pointer to the first element of a tile in shared memory. Raises W0503 if its alignment, in
    bytes, cannot be proved."""
    view = kernel.view(memref)
    first = tuple(literal(0) for _ in view.shape)
    known = linear(view.buffer, view.buffer_indices(first)).range
    if not is_shared(memref.type) or known is None or known.multiple * view.element.size % alignment:
        message = f"`{op.name}`: its tile in shared memory is not shown to begin at a multiple of {alignment} bytes"
        raise refuse(
            "W0503", message, op, hint="make each offset of its `memref.subview` a multiple of a constant: `i * 64`"
        )
    return f"&{kernel.place(view, first).text}"


def _box(
    kernel: KernelWriter, op: ir.Operation, memref: ir.Value, given: ir.Value, at: Iterable[ir.Value]
) -> tuple[str, str, list[str]]:
    """The tensor map, a pointer to the tile, and the coordinates, of a copy of a box."""
    found = boxed(op, memref, "W0503")
    coordinates = [_int(kernel.expr(value)) for value in at]
    return kernel.expr(given).text, tile(kernel, memref, found.alignment, op), coordinates


@writes(*tensor_maps.LOADS)
def load(kernel: KernelWriter, op: ir.Operation) -> None:
    seen = expected_load(op, "W0503")
    given, to, coordinates = _box(kernel, op, seen.tile, seen.map, seen.coordinates)
    pixels = op.name == tensor_maps.LOAD_PIXELS
    offsets = [cast("unsigned short", kernel.expr(value)).text for value in seen.offsets]
    blocks = [] if seen.blocks is None else [cast("unsigned short", kernel.expr(seen.blocks)).text]
    arguments = [to, given, _barrier(kernel, op), *coordinates, *offsets, *blocks]
    function = load_box_name(len(coordinates), pixels=pixels, blocks=bool(blocks))
    _line(kernel, f"{function}({', '.join(arguments)})", seen.predicate)


@writes(tensor_maps.STORE)
def store(kernel: KernelWriter, op: ir.Operation) -> None:
    seen = op.opview
    given, source, coordinates = _box(kernel, op, seen.src, seen.tensorMapDescriptor, seen.coordinates)
    _line(kernel, f"{store_box_name(len(coordinates))}({', '.join([given, source, *coordinates])})", seen.predicate)
