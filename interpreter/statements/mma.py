"""`mma OP [m, n, k] [as …]`: a warp computes its tile with tensor-core instructions."""

from __future__ import annotations

from ...dsl.signature import SpaceSpec
from ..ir.mlir import ir, ops_of
from ..ir.structured import body_of, element_type, structure
from ..memory.fragments import AS_TYPE, PRODUCTS, SPLITS, TileProduct
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, integers, statement, string
from .coalesce import Coalesce
from .map import Map
from .tile import Tile


@statement("mma", returns=("op",))
class Mma(Statement):
    """Compute a warp's tile with tensor-core instructions.

    The tile of m × n elements that one instruction makes is owned by the lanes of the warp as the instruction wants it: lane l has
    the elements (l / 4 + 8·i, l mod 4 · 2 + j). That is what `tile` and `map` say, and what this statement does: pieces of [m, n]
    and of 8 rows go to `registers`, pairs of columns to `lanes`. So `promote-to-registers`, write-backs and ops that are tiled and
    mapped alike work on these accumulators as on any others. At `launch` the lanes' products become `nvgpu.mma.sync`, and what they
    read `nvgpu.ldmatrix` where elements have 16 bits and lie in shared memory.

    Args:
        target: a product whose tile is a warp's (in a loop over warps, and in none over lanes), k of whose reduction are left;
            consumed. Each operand's rows or columns may come first. Batches and parts of a sum are tiled by 1.
        shape: m, n and k of one instruction: [16, 8, 16] for f16 and bf16, [16, 8, 32] for i8, [8, 8, 4] for f64, and [16, 8, 8]
            for f32 `as tf32` and `as 3xtf32`; [16, 8, 16] for f32 `as bf16x3`.
        as_type: what operands of f32 become; nothing else rounds them. `as tf32`: they are rounded to 10 bits of mantissa.
            `as 3xtf32`, `as bf16x3`: each is the sum of two numbers of tf32 or bf16, and three products of these are added up.
            An infinite operand gives NaN then.

    Returns:
        op: the product of one lane, for `promote-to-registers op.acc across k`.

    Errors:
        W0379: a product that no instruction computes.
            Tensor cores multiply f16, bf16, i8, f64 and (`as …`) f32 in tiles of fixed shapes. The op must be
            such a product, rows in front of columns, of a warp's tile that consists of whole pieces, and its sum must be as long
            as one instruction's: tile it by k in front of the loop over warps. All other dimensions are tiled by 1.

            wrong: let (warps, w) = tile step [64, 32]; map warps to warps(y, x); mma w [16, 8, 16]
            right: let (kk, part) = tile step [_, _, 16]; let (warps, w) = tile part [64, 32]; …; mma w [16, 8, 16]

    Source: PTX ISA, "Warp-level matrix instructions"; CUTLASS `SM80_16x8x16_F32F16F16F32_TN`.

    Example:
        let product = mma warp_mm [16, 8, 16]
        before: linalg.matmul
        after:  scf.forall … linalg.matmul {weft.mma = "[16, 8, 16] of f16 in f32"} … weft.map
    """

    reach = "handles"

    target: Handle = consumed()
    shape: tuple[int, ...] = integers(minimum=1)
    as_type: str | None = string(optional=True, written="as")

    def apply(self, rewrite: Rewriter) -> Results:
        from ..launch.tensor_cores import MARK, matrix_dimensions

        op = rewrite.find(self.target)
        product = self._product(rewrite, op)
        rows, columns, _ = matrix_dimensions(op) or (0, 1, 2)
        m, n, _ = product.shape
        of_registers = SpaceSpec("registers", (), (), False)
        inner, rank = self.target, structure(op).rank

        def tile(height: int, width: int) -> Results:
            sizes = tuple({rows: height, columns: width}.get(d) for d in range(rank))
            return Tile(node=self.node, target=inner, sizes=sizes).apply(rewrite)

        for height in [m, 8] if m > 8 else [m]:
            tiled = tile(height, n)
            Map(node=self.node, target=tiled["loop"], space=of_registers).apply(rewrite)
            inner = tiled["op"]
        tiled = tile(1, 2)
        lanes = Coalesce(node=self.node, target=tiled["loop"]).apply(rewrite)["loop"]
        Map(node=self.node, target=lanes, space=SpaceSpec("lanes", (), (), False)).apply(rewrite)
        made = rewrite.find(tiled["op"])
        made.attributes[MARK] = ir.StringAttr.get(str(product))
        split = ""
        if self.as_type is not None:
            made.attributes[AS_TYPE] = ir.StringAttr.get(self.as_type)
            split = ", three for each" if SPLITS[self.as_type][1] > 1 else ""
        rewrite.remark(f"by {product}{split}")
        return {"op": tiled["op"]}

    def _product(self, rewrite: Rewriter, op: ir.Operation) -> TileProduct:
        """The instruction. Raises W0379."""
        rewrite.expect_structured(op, "W0379")
        kinds = [str(element_type(v)) for v in op.operands]
        if self.as_type in SPLITS:
            kinds = [SPLITS[self.as_type][0] if kind == "f32" else kind for kind in kinds[:2]] + kinds[2:]
        known = [p for p in PRODUCTS if [p.kind, p.kind, p.sum] == kinds]
        wrong = self._wrong(op, kinds, known)
        if wrong is not None:
            raise rewrite.error("W0379", wrong[0], op, wrong[1], notes=(f"dimensions {structure(op).spelled()}",))
        return next(p for p in known if p.shape == self.shape)

    def _wrong(self, op: ir.Operation, kinds: list[str], known: list[TileProduct]) -> tuple[str, str] | None:
        """Why no instruction computes it, and the way out."""
        from ..launch.tensor_cores import matrix_dimensions
        from ..mapping.mapping import enclosing_maps

        space, asked, found = structure(op), list(self.shape), matrix_dimensions(op)
        body = {inner.name for inner in ops_of(body_of(op))}
        if found is None or not body <= _BODY:
            plain = "a plain product of two matrices, with dimensions for rows, columns and one sum, in this order"
            out = "`interchange` changes the order of dimensions, `as-gemm` makes a product of a convolution"
            return f"{op.name} is not {plain}", out
        given = [str(element_type(v)) for v in op.operands[:2]]
        of_f32 = "`as 3xtf32` multiplies operands in two parts, `as tf32` rounds them to 10 bits of mantissa, for [16, 8, 8]"
        if self.as_type is not None and self.as_type not in SPLITS:
            return f"operands cannot be multiplied `as {self.as_type}`, only as {', '.join(SPLITS)}", of_f32
        if self.as_type is not None and given != ["f32", "f32"]:
            return f"`as {self.as_type}` is for operands of f32, and these are of {given[0]}", f"leave out `as {self.as_type}`"
        if all(p.shape != self.shape for p in known):
            out = f"take one of these, as `{list(known[0].shape)}`, and tile the sum by its k" if known else "take such operands"
            others = ", ".join(map(str, known)) or ", ".join(dict.fromkeys(f"{p.kind} in {p.sum}" for p in PRODUCTS))
            why = f"no instruction multiplies {kinds[0]} by {kinds[1]} into {kinds[2]} in tiles of {asked}; there are {others}"
            return why, of_f32 if given == ["f32", "f32"] and not known else out
        pieces = dict(zip(found, self.shape, strict=True))
        whole = all(n is not None and n % pieces[d] == 0 if d in pieces else n == 1 for d, n in enumerate(space.extents))
        out = "tile the sum by k, then the result for warps, and map that loop to `warps`"
        if not whole or space.extents[found[2]] != self.shape[2]:
            tile = " × ".join(map(str, space.extents))
            return f"a tile of {tile} does not consist of {asked} pieces with a sum of {self.shape[2]}", out
        if [around.space for _, around in enclosing_maps(op)][:1] != ["warps"]:
            return "the op is not the tile of a warp", out
        return None


_BODY = {f"arith.{name}" for name in ("extf", "extsi", "mulf", "muli", "addf", "addi")} | {"linalg.yield"}
