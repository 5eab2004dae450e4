"""The copies of a loop into shared memory, which can run one iteration ahead. All reasons against
it are diagnosed here."""

from __future__ import annotations

from collections.abc import Iterator

from ....dsl.records import record
from ...buffers.owners.arrays import is_stage
from ...buffers.tensor_copies import is_tensor_copy
from ...hardware.ampere.copies import WAIT
from ...hardware.hopper.mbarriers import AWAIT
from ...hardware.lanes import BARRIERS
from ...indices.arithmetic import constant_of
from ...ir.functions import name_of
from ...ir.mlir import child_of, children, ir, made_by, made_within, operations, producer, users
from ...ir.refusing import describe, refuse
from ...ir.structured import is_parallel_op, is_read, structure, yielded
from ...mapping.mapping import enclosing_maps, mapping_of
from ...memory.effects import accesses, is_pure, read, written
from ...memory.layouts import is_shared
from ...memory.views import VIEWS, is_view, may_share, root_memref
from ...proof.overlaps import apart


@record
class StagedCopy:
    """A mapped op in the loop that fills a shared buffer.

    Args:
        op: the op; directly in the loop's body.
        alloc: the shared buffer.
        views: the views from the buffer to the op's output, in this order.
        needs: the ops of the loop's body that compute the copy's operands, in program order.
    """

    op: ir.Operation
    alloc: ir.Operation
    views: tuple[ir.Operation, ...]
    needs: tuple[ir.Operation, ...]

    @property
    def target(self) -> ir.Value:
        return self.op.operands[len(self.op.operands) - 1]

    @property
    def shape(self) -> list[int]:
        return [extent for extent in structure(self.op).extents if extent is not None]


@record
class Pipelined:
    """A loop that can be pipelined: its copies, in program order, and its step."""

    loop: ir.Operation
    copies: tuple[StagedCopy, ...]
    step: int

    @property
    def by_tensor_maps(self) -> bool:
        """Whether the tensor memory accelerator makes the copies."""
        return any(is_tensor_copy(copy.op) for copy in self.copies)


def find_copies(loop: ir.Operation) -> Pipelined:
    """The copies of a loop, checked for running one iteration ahead. Raises W0374 … W0378, W0388,
    W0389."""
    step = _checked_step(loop)
    check_fresh(loop)
    filled = (root_memref(buffer) for op in operations(loop) for buffer in written(op))
    buffers = dict.fromkeys(made_by(base, "memref.alloc") for base in filled if is_shared(base.type))
    copies = tuple(_copy(loop, alloc) for alloc in buffers if alloc is not None)
    if not copies:
        raise refuse(
            "W0375",
            "nothing in this loop fills a shared buffer, so no copy can run ahead",
            loop,
            "`promote-to-shared` the operands of the op inside, and `map` the copies",
        )
    order = {op: n for n, op in enumerate(children(loop))}
    for copy in copies:
        _check_users(loop, copy, order)
    _check_dependences(loop, copies)
    if len({is_tensor_copy(copy.op) for copy in copies}) > 1:
        boxes = ", ".join(buffer_key(copy.alloc) for copy in copies if is_tensor_copy(copy.op))
        other = next(copy for copy in copies if not is_tensor_copy(copy.op))
        message = (
            f"the copy to {buffer_key(other.alloc)} is mapped to `{mapping_of(other.op)}`, the one to {boxes} to `tma`"
        )
        raise refuse(
            "W0376",
            message,
            other.op,
            f"`map` the copy to {buffer_key(other.alloc)} `to tma`, too, or all to threads",
        )
    return Pipelined(loop, tuple(sorted(copies, key=lambda c: order[c.op])), step)


def _checked_step(loop: ir.Operation) -> int:
    if loop.name != "scf.for":
        parallel = loop.name in ("scf.forall", "scf.parallel", "affine.parallel")
        what = "the iterations of this one are parallel" if parallel else "this is none"
        raise refuse(
            "W0374",
            f"`pipeline` takes a sequential loop (`scf.for`), and {what}",
            loop,
            "the loop that `tile` makes over a reduction is sequential: `let (k, step) = tile tile_mm [_, _, 16]`",
        )
    if len(loop.results):
        raise refuse("W0374", "this loop carries values from iteration to iteration", loop, "`bufferize` first")
    for outer, around in enclosing_maps(loop):
        if around.space != "blocks":
            raise refuse(
                "W0374",
                "each thread runs this loop alone: the block has no tile in it",
                loop,
                "`pipeline` the loop that is in the loop over blocks and holds the copies",
                f"`{around}` on {describe(outer)} is around it",
            )
    step = constant_of(loop.operands[2])
    if step is None:
        raise refuse("W0374", "the step of this loop is known only at run time", loop, "`tile` with a number")
    return step


def check_fresh(loop: ir.Operation) -> None:
    """Raises W0389 if the loop is pipelined already, and W0388 if it contains barriers."""
    for op in operations(loop):
        if op.name in (WAIT, AWAIT) or any(is_stage(operand) for operand in op.operands):
            raise refuse("W0389", "this loop is pipelined already", loop, "write one `pipeline` for the loop")
    for barrier in operations(loop, *BARRIERS):
        raise refuse(
            "W0388",
            "there are barriers in this loop already, placed for copies that do not run ahead",
            barrier,
            "`pipeline` first, and then `insert-barriers`",
        )


def _copy(loop: ir.Operation, alloc: ir.Operation) -> StagedCopy:
    """The single op that fills a shared buffer, if it is a copy that can be split in two. Raises
    W0376."""
    buffer = alloc.results[0]
    writers = [op for op in operations(loop) if any(may_share(target, buffer) for target in written(op))]
    op = writers[0]
    if len(writers) > 1:
        raise refuse("W0376", f"{buffer_key(alloc)} is written by several ops in the loop", op)
    if op.parent is None or op.parent.operation != loop or not is_parallel_op(op) or mapping_of(op) is None:
        inside = op.parent is None or op.parent.operation != loop
        how = "is filled inside another loop" if inside else "is filled by an op that no map distributes"
        raise refuse(
            "W0376",
            f"{buffer_key(alloc)} {how}",
            op,
            "`map` the copy itself before `pipeline`: `map copy_a to threads(*) cyclic`, or `to tma`",
        )
    mapping = mapping_of(op)
    if mapping is not None and mapping.space not in ("threads", "warps", "lanes", "tma"):
        raise refuse("W0376", f"the copy goes to `{mapping}`, and not to the threads of the block", op)
    _check_shape(op, alloc)
    views = tuple(_views(loop, op, alloc))
    return StagedCopy(op, alloc, views, tuple(_needs(loop, op, set(views))))


def _check_shape(op: ir.Operation, alloc: ir.Operation) -> None:
    space = structure(op)
    target = len(op.operands) - 1
    if len(yielded(op)) != 1 or is_read(op, target):
        raise refuse("W0376", f"the op that fills {buffer_key(alloc)} also reads or writes something else there", op)
    if None in space.extents or space.maps[-1] != ir.AffineMap.get_identity(space.rank):
        raise refuse(
            "W0376",
            f"the op that fills {buffer_key(alloc)} does not write a tile of static shape, element by element in its order",
            op,
            "`tile` with static sizes, and let `promote-to-shared` make the copy",
        )


def _views(loop: ir.Operation, op: ir.Operation, alloc: ir.Operation) -> Iterator[ir.Operation]:
    """The views between a buffer and the copy's output, the view of the buffer itself first. Raises
    W0376."""
    found: list[ir.Operation] = []
    value = op.operands[len(op.operands) - 1]
    while value != alloc.results[0]:
        view = producer(value)
        assert view is not None, "a view leads to its buffer"
        if not _relocatable(view) or any(made_within(o, loop) for o in list(view.operands)[1:]):
            raise refuse("W0376", f"which part of {buffer_key(alloc)} is filled changes within the loop", view)
        found.append(view)
        value = view.operands[0]
    return reversed(found)


def _needs(loop: ir.Operation, op: ir.Operation, views: set[ir.Operation]) -> list[ir.Operation]:
    """The ops of the loop's body that compute the copy's operands, and the values that the copy's
    own body uses from outside. Raises W0376."""
    body = children(loop)
    wanted: set[ir.Operation] = set()
    waiting = [operand for inner in operations(op) for operand in inner.operands]
    while waiting:
        made = producer(waiting.pop())
        if made is None or made in wanted or made in views or made not in body:
            continue
        if not is_pure(made) and (made.regions or written(made) or accesses(made) is None):
            raise refuse("W0376", "the source of the copy is computed in the loop by an op with effects", made)
        wanted.add(made)
        waiting += list(made.operands)
    return [inner for inner in body if inner in wanted]


def _check_users(loop: ir.Operation, copy: StagedCopy, order: dict[ir.Operation, int]) -> None:
    """Raises W0377 unless the buffer is used only in the loop, and each iteration reads only what
    it has copied itself."""
    for user in all_users(copy.alloc.results[0]):
        place = child_of(loop, user)
        if place is None:
            raise refuse(
                "W0377",
                f"{buffer_key(copy.alloc)} is used outside the loop, where it is not known which of its two tiles is"
                f" meant",
                user,
            )
        if is_view(user) and not _relocatable(user):
            raise refuse("W0377", f"{buffer_key(copy.alloc)} is seen through an absolute view", user)
        if order[place] < order[copy.op]:
            raise refuse(
                "W0377",
                f"{buffer_key(copy.alloc)} is read before it is filled: the reader needs the tile of the previous iteration",
                user,
            )


def all_users(value: ir.Value) -> Iterator[ir.Operation]:
    for user in users(value):
        if _relocatable(user):
            yield from all_users(user.results[0])
        elif user.name != "memref.dealloc":
            yield user


def _relocatable(op: ir.Operation) -> bool:
    """Whether a view can be applied to another buffer with the same meaning: it is relative to its
    source view, and not to the start of the buffer."""
    return is_view(op) and VIEWS[op.name] in ("same", "subview", "transpose", "reshape")


def _check_dependences(loop: ir.Operation, copies: tuple[StagedCopy, ...]) -> None:
    """Raises W0378 if the loop writes the sources of the copies."""
    writers = [(buffer, op) for op in operations(loop) for buffer in written(op)]
    for copy in copies:
        reads = [(op, buffer) for op in (*copy.needs, *operations(copy.op)) for buffer in read(op)]
        sources = [buffer for op, buffer in reads if op != copy.op or root_memref(buffer) != copy.alloc.results[0]]
        for writer in (op for source in sources for buffer, op in writers if not apart(source, buffer, loop)):
            raise refuse(
                "W0378",
                f"what is copied to {buffer_key(copy.alloc)} is written in the same loop: "
                "the tile of iteration i + 1 would be read before iteration i has written it",
                copy.op,
                "`pipeline` a loop that does not write the sources of its copies",
                f"{describe(writer)} writes it",
            )


def buffer_key(alloc: ir.Operation) -> str:
    """The name of a buffer in reports: `A_shared`."""
    name = name_of(alloc.results[0])
    return "a shared buffer" if name is None else f"`{name}`"
