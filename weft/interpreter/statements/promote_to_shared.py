"""`promote-to-shared OP.operand [transpose] [pad n] [swizzle n] [vector n]`: the tile of an
operand, or of a loop, is staged in shared memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ..hardware.limits import MOST
from ..ir.copying import copy_to
from ..ir.element_sizes import bytes_of, element_bytes
from ..ir.mlir import ahead_of, ancestors, children, has_parent, i64, ir, memref, producer, users
from ..ir.refusing import describe
from ..ir.structured import element_type, is_loop, operand_names, operand_number, segments, shape_of
from ..layouts.swizzles import SPANS, SWIZZLE, Swizzle
from ..mapping.mapping import mapping_of
from ..memory.layouts import as_tensor, strided, transposed
from ..memory.names import free_name
from ..session.statement import Operand, Results, Rewriter, Statement, flag, integer, operand, statement
from ..tensors import levels
from ..tensors.destinations import result_name
from ..tensors.levels import origin
from ..tensors.staged_results import stage_result

_ALLOCATING = ("memref.alloc", "memref.subview", "memref.transpose")


@statement("promote-to-shared", returns=("buffer", "copy"), variadic=True, more="merge")
class PromoteToShared(Statement):
    """Stage the tile of an operand in shared memory.

    The block's threads copy the tile there (`map` determines how), and the op reads it from there.
    If the operand is a padded tile or a gather, the masked load or the gather becomes the copy: it
    is performed once per tile.

    For an output, the op writes its tile there, and `merge` copies it to its destination: for a
    ragged tile only the part inside. With `map … to tma`, the copy is made in boxes, which one
    thread of the block starts, or one of each warp group.

    For a loop of the payload, the tile is the set of elements of a buffer that all of its
    iterations load and store, by affine subscripts: `row.A` is copied before the loop, which uses
    the copy. Stored elements are written back after the loop; if they replace the whole tile,
    nothing is copied first. Elements outside of the buffer are neither loaded nor stored.

    A buffer that the loop's iterations combine into by `memref.atomic_rmw`, at any subscripts, is
    privatized: each block has a copy of the whole buffer, which the loop combines into; after the
    loop it is combined into the buffer, each element once.

    Args:
        operand: an operand of a structured op inside a loop, by name: `step.lhs`, `tile.out0`; or a
            buffer that a loop inside a loop over blocks accesses, or combines into, by its name:
            `row.A`; or a buffer of the loop over blocks itself: everything that one of its
            iterations accesses. The op or the loop stays alive.
        transpose: store the tile transposed (its two innermost dimensions exchanged).
        pad: this many elements are added to the row stride, after `transpose`, against bank
            conflicts.
        swizzle: permute 16-byte pieces of a row by the row's number, within this many bytes of it
            (32, 64 or 128), so that the pieces of one column in different rows are in different
            banks. Needs no additional memory, and keeps 16-byte accesses aligned. With a `pad` of
            16 bytes it permutes by rows that are 8 apart, so that lanes store vectors of several
            rows of a transposed tile at once.
        vector: the width of the copy's accesses, in elements; the same as `vector` on its `map`.

    Returns:
        buffer: the shared buffer.
        copy: the op that fills it, with all dimensions parallel, to be mapped; none if a loop, or
            the op, replaces all of it.
        merge: for a privatized buffer the op that combines it into the buffer, atomically, to be
            mapped as well; for stores of a loop the op that writes them back, a loop if elements
            may be outside of the buffer; for an output the op that copies it to its destination.

    Errors: W0330, W0331, W0332, W0333, W0334, W0335, W0368, W0396, W0468, W0469.

    Source: upstream `transform.structured.promote`, `bufferize_to_allocation`.

    Example:
        let (a, copy_a) = promote-to-shared step.lhs pad 4
        before: linalg.matmul
        after:  memref.alloc() {weft.name = "A_shared"} : memref<16x20xf32, #gpu.address_space<workgroup>> … linalg.copy
    """

    reach = "handles"

    operand: Operand = operand()
    transpose: bool = flag()
    pad: int | None = integer(optional=True, minimum=0)
    swizzle: int | None = integer(
        optional=True, minimum=SPANS[0], maximum=SPANS[-1], hint="write `swizzle 32`, `swizzle 64` or `swizzle 128`"
    )
    vector: int | None = integer(optional=True, minimum=1)

    def apply(self, rewrite: Rewriter) -> Results:
        target = rewrite.find(self.operand.handle)
        if is_loop(target):
            return self._of_loop(rewrite, target)
        op = levels.on_tensors(rewrite, self.operand.handle)
        levels.refuse_overlap(rewrite, op, "operand")
        position = position_of(rewrite, op, self.operand)
        written = position >= segments(op)[0]
        value = op.operands[position]
        shape = static_tile(rewrite, op, value)
        if self.transpose and len(shape) < 2:
            raise rewrite.error("W0334", f"{value.type} has one dimension: nothing to transpose", at="operand")
        self._affordable(rewrite, shape, element_bytes(element_type(value)))
        alloc, view = _allocate(op, shape, element_type(value), transpose=self.transpose, pad=self.pad or 0)
        name = result_name(value) if written else origin(value, rewrite.written)
        alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(op, f"{name or self.operand.name}_shared"))
        if not written:
            return self._results(rewrite, alloc, copy=copied(op, position, view))
        if levels.on_memrefs(op):
            raise rewrite.error(
                "W0331", f"`{self.operand.name}` is written, and of an op on memrefs only inputs are staged", op,
                "`promote-to-shared` a result before a statement bufferizes the payload", at="operand",
            )  # fmt: skip
        copy, merge = stage_result(op, position, view, mapped=True)
        return self._results(rewrite, alloc, **({} if copy is None else {"copy": copy}), merge=merge)

    def _of_loop(self, rewrite: Rewriter, loop: ir.Operation) -> Results:
        """Stages the tile of a payload loop, before the loop."""
        from ..buffers.loop_tiles import WriteBack, move_to, read_into, tile_of, users_of
        from ..buffers.private_copies import AtomicUpdates, privatize, updates_of
        from ..buffers.tiles import is_distributed, thread_nest
        from ..loops.forall import body_as_loop, without_affine_loops
        from ..parallel.collisions import expect_apart

        itself = mapping_of(loop)
        if itself is not None and itself.space == "blocks":
            with body_as_loop(without_affine_loops(loop)) as body:
                return self._of_loop(rewrite, body)
        around = [mapping_of(outer) for outer in ancestors(loop) if outer.name == "scf.forall"]
        if not any(one is not None and one.space == "blocks" for one in around):
            raise rewrite.error(
                "W0333", "the loop is in no loop over blocks, so no threads would share the tile", loop,
                "`map` it, or the loop around it, to blocks first", at="operand",
            )  # fmt: skip
        owner = next((one for one in thread_nest(loop) if is_distributed(one)), None)
        if owner is not None:
            raise rewrite.error(
                "W0333",
                f"one thread runs the loop, and others run theirs, but the block has one tile:"
                f" `{mapping_of(owner)}` on "
                f"{describe(owner)}",
                loop,
                "name that loop, or one around it; `promote-to-registers` keeps what one thread accesses",
                at="operand",
            )
        loop = without_affine_loops(loop)
        with rewrite.placing(loop, at="operand"):
            users = users_of(loop, self.operand.name)
            atomic = any(isinstance(op.opview, memref.AtomicRMWOp) for op, _ in users)
            tile = updates_of(self.operand.name, users) if atomic else tile_of(loop, self.operand.name, users)
        kind = ir.MemRefType(tile.buffer.type).element_type
        if not tile.shape:
            raise rewrite.error(
                "W0332", f"`{self.operand.name}` of type {tile.buffer.type} is one element, and not a tile", loop,
                "`promote-to-registers` keeps it in a register of a thread", at="operand",
            )  # fmt: skip
        if self.transpose and len(tile.shape) < 2:
            raise rewrite.error("W0334", f"{tile.buffer.type} has one dimension: nothing to transpose", at="operand")
        self._affordable(rewrite, tile.shape, element_bytes(kind))
        alloc, view = _allocate(loop, tile.shape, kind, transpose=self.transpose, pad=self.pad or 0)
        alloc.attributes["weft.name"] = ir.StringAttr.get(free_name(loop, f"{self.operand.name}_shared"))
        if isinstance(tile, AtomicUpdates):
            copy, merge = privatize(loop, tile, view)
            return self._results(rewrite, alloc, copy=copy, merge=merge)
        made: dict[str, ir.Operation] = {}
        if tile.read:
            with ahead_of(loop):
                made["copy"] = read_into(tile, view)
        move_to(tile, view)
        if tile.written is not None:
            made["merge"] = WriteBack(tile, view, tile.written).emit()
            expect_apart(rewrite, loop, self.operand.name)
            rewrite.remark(
                "read, and written back after the loop" if tile.read else "written back after the loop, and not read"
            )
        return self._results(rewrite, alloc, **made)

    def _results(self, rewrite: Rewriter, alloc: ir.Operation, **made: ir.Operation) -> dict[str, Any]:
        if self.swizzle:
            self._expect_rows(rewrite, alloc)
            alloc.attributes[SWIZZLE] = i64(self.swizzle)
        for op in made.values() if self.vector else ():
            op.attributes["weft.vector"] = i64(self.vector or 1)
        kind = alloc.results[0].type
        rewrite.remark(f"{kind} ({bytes_of(kind)} bytes of shared memory)")
        handles = {name: rewrite.new_handle(op, "loop" if is_loop(op) else "op") for name, op in made.items()}
        return {"buffer": rewrite.new_handle(alloc), **handles}

    def _expect_rows(self, rewrite: Rewriter, alloc: ir.Operation) -> None:
        kind = ir.MemRefType(alloc.results[0].type)
        row = kind.shape[-1] * element_bytes(kind.element_type)
        if not self._fits(kind, self.swizzle or 0):
            wanted = f"a multiple of {self.swizzle}" if self.swizzle in SPANS else "32, 64 or 128"
            fitting = [str(span) for span in SPANS if self._fits(kind, span)]
            taken = f"write `swizzle {fitting[-1]}`, " if fitting else ""
            whole = "pad rows by 16 bytes, leave `pad` out" if self.pad else "leave `swizzle` out"
            raise rewrite.error(
                "W0368",
                f"`swizzle {self.swizzle}` needs rows of {wanted} bytes; {kind} has rows of {row} bytes"
                if self.swizzle in SPANS
                else f"`swizzle` takes {wanted}, not {self.swizzle}; {kind} has rows of {row} bytes",
                at="swizzle",
                hint=f"{taken}{whole}, or `tile` by more columns",
            )

    def _fits(self, kind: ir.MemRefType, span: int) -> bool:
        """Whether the swizzle permutes all of a row except its padding."""
        swizzle = Swizzle.of(kind, span)
        return swizzle is not None and swizzle.row >= kind.shape[-1] - (self.pad or 0)

    def _affordable(self, rewrite: Rewriter, shape: tuple[int, ...], item: int) -> None:
        stored = (*shape[:-2], shape[-1], shape[-2]) if self.transpose else shape
        size = math.prod(stored[:-1]) * (stored[-1] + (self.pad or 0)) * item
        if size > MOST:
            raise rewrite.error(
                "W0335",
                f"this tile takes {size} bytes of shared memory, and a block has at most {MOST}",
                at="operand",
                hint="`tile` to smaller sizes before it, or `pad` less",
            )


def position_of(rewrite: Rewriter, op: ir.Operation, wanted: Operand) -> int:
    """The position of the named operand of the op. Raises W0330."""
    if (number := operand_number(op, wanted.name)) is None:
        notes = (f"its operands are {', '.join(operand_names(op))}",)
        raise rewrite.error("W0330", f"{op.name} has no operand `{wanted.name}`", op, notes=notes)
    return number


def static_tile(rewrite: Rewriter, op: ir.Operation, value: ir.Value) -> tuple[int, ...]:
    """The static shape of an operand's tile. Raises W0332 or W0333."""
    shape = shape_of(value)
    if not shape or any(n is None for n in shape):
        raise rewrite.error(
            "W0332",
            f"a tile of type {value.type} has no static shape to allocate",
            op,
            "`tile` with static sizes first; or leave it in global memory",
        )
    if not has_parent(op, "scf.forall", "scf.for"):
        raise rewrite.error(
            "W0333", "the op is in no loop, so that the whole operand would be staged", op, "`tile` it first",
        )  # fmt: skip
    return tuple(n or 0 for n in shape)


def copied(op: ir.Operation, position: int, view: ir.Value) -> ir.Operation:
    """The op that fills the buffer, from which the op reads the operand afterwards. A gather with
    no other reader becomes that op."""
    from ..padding.masked_loads import MARK, is_masked_load

    value = op.operands[position]
    owner = producer(value)
    if owner is not None and is_masked_load(owner) and len(users(value)) == 1:
        if not has_parent(owner, "scf.forall", "scf.for"):  # the same for all tiles: it was made before their loop
            owner.move_before(op)
        with ir.InsertionPoint(owner):
            owner.operands[len(owner.operands) - 1] = as_tensor(view)
        del owner.attributes[MARK]
        return owner
    with ahead_of(op):
        if levels.on_memrefs(op):
            made, op.operands[position] = copy_to(view, value), view
        else:
            made = copy_to(as_tensor(view), value)
            op.operands[position] = made.results[0]
    return made


def _allocate(
    op: ir.Operation, shape: Sequence[int], kind: ir.Type, *, transpose: bool, pad: int
) -> tuple[ir.Operation, ir.Value]:
    """Allocates a tile of `shape` in shared memory, in the block loop around `op`. Returns the
    allocation, in its layout in memory, and its view with the tile's own shape, so that no indexing
    map has to change."""
    stored = [*shape[:-2], shape[-1], shape[-2]] if transpose else list(shape)
    space = ir.Attribute.parse("#gpu.address_space<workgroup>")
    with _start_of_block_loop(op):
        full = ir.MemRefType.get([*stored[:-1], stored[-1] + pad], kind, memory_space=space)
        alloc = memref.AllocOp(full, [], [])
        view: ir.Value = alloc.result
        if pad:  # the leading elements of each row
            whole, rank = ir.MemRefType(view.type), len(stored)
            layout = ir.StridedLayoutAttr.get(0, strided(whole)[0])
            part = ir.MemRefType.get(stored, kind, layout, space)
            view = memref.SubViewOp(part, view, [], [], [], [0] * rank, stored, [1] * rank).result
        if transpose:
            *outer, row, column = range(len(shape))
            view = transposed(view, [*outer, column, row])
    return alloc.operation, view


def _start_of_block_loop(op: ir.Operation) -> ir.InsertionPoint:
    """The start of the body of the outermost parallel loop around `op`, so that the block allocates
    once, and the sequential loops of the host allocate nothing. If no loop is parallel yet, the
    start of the outermost loop's body."""
    around = list(takewhile(lambda each: each.name != "func.func", ancestors(op)))
    loops = [each for each in around if each.name in ("scf.forall", "scf.parallel")]
    loops = loops or [each for each in around if each.name == "scf.for"]
    return ir.InsertionPoint(next(o for o in children(loops[-1]) if o.name not in _ALLOCATING) if loops else op)
