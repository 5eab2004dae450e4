"""`promote-to-registers OP.operand [across LOOP]`: an accumulator, the tile of an input, or a
payload loop's part of a buffer is kept in the registers of each thread."""

from __future__ import annotations

from ...ir.mlir import ir, is_used, operations
from ...ir.structured import body_of, is_loop, is_structured, operand_names, operand_number, segments
from ...mapping.mapping import mapping_of
from ...session.statement import Handle, Operand, Results, Rewriter, Statement, handle, operand, statement
from ..bufferize import ensure_bufferized


@statement("promote-to-registers", returns=("buffer",), variadic=True, more="copy")
class PromoteToRegisters(Statement):
    """Keep an accumulator in each thread's registers while a loop runs; or an input's tile while it
    is used; or the elements of a buffer that a loop of the payload accesses.

    With `across`, an accumulator: before the loop each thread loads the part of the operand that it
    owns (or fills it, if there is a fill: the fill moves into the registers), and after the loop it
    writes that part back. A payload with tensors is bufferized first. A temporary in which ragged
    tiles already accumulate is no longer written to memory at all. In the IR the accumulator is a
    temporary for the complete tile, and each iteration of the loops over threads uses its own part;
    `launch` converts that part into a thread-private array.

    Without `across`, an output: the op's result stays with the threads that make it, and `copy`
    moves it from there to its destination. The copy is tiled, staged and mapped by further
    statements, with the same map as the op.

    Without `across`, an input: each thread reads its elements of the operand once, and keeps them.
    All later ops in the same loop that read the same tile use them as well. They need the same map,
    which determines the elements of each thread.

    For a loop of the payload, the tile is the set of elements of a buffer that all its iterations
    load and store, by affine subscripts: `k.C`. It is read before the loop if the loop needs the
    previous contents, and stored elements are written back after it. With `across`, the elements
    are kept while an enclosing loop runs. Either one thread runs that loop, or threads share it:
    then each iteration of the loops over threads inside has a tile of its own.

    Args:
        operand: with `across` an operand that the op writes, by name: `micro.acc`; otherwise any of
            its operands; for a loop a buffer that it accesses, by its name: `k.C`. The op or the
            loop stays alive.
        loop: the sequential loop around the op, inside the mapped loops or around them; stays
            alive.

    Returns:
        buffer: the accumulator, or the tile.
        copy: for an input, the op that reads it, to be tiled and mapped; without a map it gets that
            of the ops that read the tile. For an output, the op that moves it to its destination.

    Errors: W0380, W0330, W0332, W0381, W0382, W0383, W0384, W0385, W0387, W0395, W0468.

    Source: LICM's scalar promotion, for tiles; `stage_mem` of Exo.

    Example:
        promote-to-registers micro.acc across k
        before: linalg.fill … linalg.matmul
        after:  memref.alloc() {weft.name = "acc", weft.registers} : memref<16x16xf32> … scf.for … linalg.matmul
    """

    reach = "handles"

    operand: Operand = operand()
    loop: Handle | None = handle(optional=True, written="across")

    def apply(self, rewrite: Rewriter) -> Results:
        from .accumulators import keep_in_registers
        from .inputs import stage
        from .loops import keep_tile

        target = rewrite.find(self.operand.handle)
        if is_loop(target):
            around = target if self.loop is None else rewrite.find(self.loop)
            return {"buffer": rewrite.new_handle(keep_tile(rewrite, self.operand.name, target, around))}
        if self.loop is None:
            buffer, copy = stage(rewrite, self.operand)
            return {"buffer": rewrite.new_handle(buffer), "copy": rewrite.new_handle(copy)}

        ensure_bufferized(rewrite)
        op, loop = rewrite.find(self.operand.handle), rewrite.find(self.loop)
        position = self._position(rewrite, op)
        if loop.name != "scf.for" or op == loop or op not in set(operations(loop)):
            what = "is not a sequential loop" if loop.name != "scf.for" else f"is not around {op.name}"
            raise rewrite.error(
                "W0382",
                f"{loop.name} {what}",
                loop,
                "name the loop that `tile` made of the reduction, around the op",
                at="loop",
            )
        with rewrite.placing(op):
            buffer, remarks = keep_in_registers(op, position, loop)
        for remark in remarks:
            rewrite.remark(remark)
        return {"buffer": rewrite.new_handle(buffer)}

    def _position(self, rewrite: Rewriter, op: ir.Operation) -> int:
        names = operand_names(op) if is_structured(op) else ()
        inputs = segments(op)[0] if names else 0
        if self.operand.name == "acc" and names and len(names) == inputs + 1:
            # a contraction with masked reads in its body has fewer inputs, but still its accumulator
            return inputs
        number = operand_number(op, self.operand.name) if names else None
        if number is None or number < inputs:
            read = number is not None
            raise rewrite.error(
                "W0381",
                f"`{self.operand.name}` is only read, and so accumulates nothing"
                if read
                else f"{op.name} has no operand `{self.operand.name}`",
                op,
                "`vectorize` loads inputs into registers; `promote-to-shared` stages them" if read else None,
                notes=(f"it writes {', '.join(names[inputs:])}",) if names else (),
            )
        self._accumulates(rewrite, op, number - inputs)
        return number

    def _accumulates(self, rewrite: Rewriter, op: ir.Operation, number: int) -> None:
        """Raises W0383 for a result with the elements of a scan, if the op does not read it."""
        from ...reductions.scans import elements_of, running

        if number in elements_of(op) and not is_used(body_of(op).arguments[segments(op)[0] + number]):
            outputs = operand_names(op)[segments(op)[0] :]
            results = " or ".join(f"`{outputs[n]}`" for n in running(op) if mapping_of(op) is None)
            instead = f"promote its running result, {results}; or " if results else ""
            raise rewrite.error(
                "W0383",
                f"`{self.operand.name}` has the elements of a scan, each written by one iteration: none is accumulated",
                op,
                f"{instead}delete this `promote-to-registers`: each element is stored as soon as it is computed",
                at="operand",
            )
