"""Trial launches: the kernel of a mapped loop, made on a clone of the module, with proposed
barriers in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod

from ....dsl.records import record
from ...focus.carving import carve_around
from ...focus.modules import take_apart
from ...hardware.lanes import BARRIERS, warp_barrier
from ...hardware.limits import WARP
from ...ir.cloning import clone_module
from ...ir.mlir import ancestors, children, gpu, i64, ir, operations, ops_of
from ...launch.launch import LaunchInfo, launch_loop
from ...launch.splitting import hands_on, is_separable
from ...launch.templates import Known
from ...mapping.mapping import mapping_of, nested_maps
from ...memory.effects import accesses
from ...proof.kernels.kernels import kernel_model
from ...proof.kernels.model import KernelModel

CANDIDATE = "weft.candidate"
SEQUENTIAL = ("scf.for", "affine.for", "scf.if", "affine.if")


def mapped_roots(module: ir.Module) -> list[ir.Operation]:
    """The outermost mapped loops and ops of the module, in program order: the possible targets of
    `launch`."""
    return _outermost(module.operation)


def _outermost(op: ir.Operation) -> list[ir.Operation]:
    roots: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if mapping_of(inner) is None:
            return ir.WalkResult.ADVANCE
        roots.append(inner)
        return ir.WalkResult.SKIP

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return roots


@record
class Trial:
    """The trial launch of a mapped root.

    Args:
        module: a copy of the module with the launch; of a large module, only the necessary part.
        info: the kernel and its launch.
    """

    module: ir.Module
    info: LaunchInfo

    @cached_property
    def model(self) -> KernelModel:
        """The model of the kernel. Raises W0640."""
        info = self.info
        return kernel_model(info.kernel, block=info.block, grid=info.grid, launch=info.launch, passed_in_rows=True)

    def alone(self) -> ir.Module:
        """The kernel in a module of its own, detached from that of the trial."""
        holder = next(ancestors(self.info.kernel))
        holder.detach_from_parent()
        with holder.context:
            made = ir.Module.create(holder.location)
            made.body.append(holder)
        return made


def trials(module: ir.Module, known: Known | None = None) -> Iterator[Trial]:
    """Yields the trial launch of each mapped root. `known`: kernels that were made before.

    Raises:
        WeftError: a refusal of `launch_loop`, without a span.
    """
    sections = take_apart(module)
    if sections is None:
        for number in range(len(mapped_roots(module))):
            yield _trial(clone_module(module), number, known)
        return
    before = 0
    for item in sections.content.items:
        if isinstance(item, ir.Operation):
            for _ in _outermost(item):
                yield _trial(clone_module(module), before, known)
                before += 1
            continue
        for section in item.sections:
            for number in range(len(_outermost(section.op)) if section.mapped else 0):
                focus = carve_around(sections, item, section)
                whole = (clone_module(module), before) if focus is None else (focus.module, number)
                yield _trial(*whole, known)
                before += 1


def tried_again(module: ir.Module, number: int, known: Known | None = None) -> Trial:
    """The trial launch of one mapped root, given by its number.

    Raises:
        WeftError: a refusal of `launch_loop`, without a span.
    """
    return _trial(clone_module(module), number, known)


def _trial(clone: ir.Module, number: int, known: Known | None) -> Trial:
    """Launches the `number`-th root of a module with no other owner."""
    return Trial(clone, launch_loop(clone, mapped_roots(clone)[number], known=known))


def propose_barriers(root: ir.Operation) -> set[int]:
    """Numbers the barriers in `root` (`weft.candidate`), and adds candidates wherever all threads
    of a block pass and a barrier may matter.

    These places are before each working op, and at the end, of the bodies of loops over blocks and
    of the sequential loops in them; and between the ops of a loop that distributes its iterations
    over threads, where `launch` splits it. Returns the numbers of the barriers that existed before.
    """
    existing = [op for op in operations(root, *BARRIERS) if CANDIDATE not in op.attributes]
    for number, barrier in enumerate(existing):
        with root.context:
            barrier.attributes[CANDIDATE] = i64(number)
    count = len(existing)
    for block in _uniform_blocks(root):
        places = _places(block)
        for op in places[1:-1] if hands_on(block.owner.operation) else places:
            with ir.InsertionPoint(op), op.location:
                gpu.BarrierOp().operation.attributes[CANDIDATE] = i64(count)
            count += 1
    return set(range(len(existing)))


def propose_warp_barriers(root: ir.Operation, info: LaunchInfo) -> bool:
    """Adds numbered warp barriers where no barrier of the block can be: in loops that distribute
    their iterations over threads and cannot be split, and in sequential loops in such loops. The
    kernel's model shows which of these places whole warps pass. Returns whether any were added.

    Args:
        info: a trial launch of `root`.
    """
    sizes = [size for size in info.block if size is not None]
    if len(sizes) < len(info.block) or prod(sizes) % WARP:
        return False
    first = count = 1 + max((number for number, _ in candidates(root)), default=-1)
    for block in _blocks_of_warps(root):
        holder, places = block.owner.operation, _places(block)
        for op in places[1:-1] if hands_on(holder) and is_separable(holder) else places:
            with ir.InsertionPoint(op), op.location:
                warp_barrier().attributes[CANDIDATE] = i64(count)
            count += 1
    return count > first


def _blocks_of_warps(op: ir.Operation, *, inside: bool = False) -> list[ir.Block]:
    """The blocks with distributed ops in loops over threads, where no barrier of the GPU block can
    be. `inside`: `op` is in such a loop."""
    if not any(nested_maps(op)):
        return []
    handed = hands_on(op)
    mine = (inside and _is_sequential(op)) or (handed and (inside or not is_separable(op)))
    own = [block for region in op.regions for block in region.blocks] if mine else []
    return own + [block for inner in children(op) for block in _blocks_of_warps(inner, inside=inside or handed)]


def candidates(root: ir.Operation) -> Iterator[tuple[int, ir.Operation]]:
    """Yields the numbered barriers, in a loop or in the kernel made from it."""
    for barrier in operations(root, *BARRIERS):
        if CANDIDATE not in barrier.attributes:  # part of a reduction that threads share
            continue
        yield ir.IntegerAttr(barrier.attributes[CANDIDATE]).value, barrier


def _uniform_blocks(op: ir.Operation) -> list[ir.Block]:
    """The blocks that all threads of a GPU block execute together, or can be made to. A loop over
    blocks that contains another one must nest perfectly, so that nothing is inserted into it."""
    if hands_on(op):
        nested = [b for o in children(op) if hands_on(o) for b in _uniform_blocks(o)]
        return [op.regions[0].blocks[0], *nested] if is_separable(op) else []
    mapping = mapping_of(op)
    over_blocks = op.name == "scf.forall" and mapping is not None and mapping.space == "blocks"
    if not (_is_sequential(op) or over_blocks):
        return []
    out: list[ir.Block] = []
    for region in op.regions:
        for block in region.blocks:
            inner, maps = map(_uniform_blocks, ops_of(block)), map(mapping_of, ops_of(block))
            if not any(m is not None and m.space == "blocks" for m in maps):
                out.append(block)
            out += [b for blocks in inner for b in blocks]
    return out


def _is_sequential(op: ir.Operation) -> bool:
    """Whether each thread executes all iterations, and may share the work of each with others."""
    mapping = mapping_of(op)
    return op.name in SEQUENTIAL or (mapping is not None and not mapping.distributes and any(nested_maps(op)))


def _places(block: ir.Block) -> list[ir.Operation]:
    """The ops before which a barrier may be: those that may touch memory, and the terminator."""
    *items, end = ops_of(block)
    found = [(op, accesses(op)) for op in items]
    return [
        *(
            op
            for op, some in found
            if op.regions or some is None or any(one.kind not in ("alloc", "free") for one in some)
        ),
        end,
    ]
