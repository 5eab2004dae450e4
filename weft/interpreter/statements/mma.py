"""`mma OP [m, n, k] [as …] [accumulate f32]`: a warp, or a warp group, computes its tile with
tensor-core instructions."""

from __future__ import annotations

from ...dsl.signature import SpaceSpec
from ..hardware.ampere.fragments import AS_TYPE, MARK, PRODUCTS, SPLITS, TileProduct
from ..hardware.hopper.warpgroups import (
    MOST_COLUMNS,
    OPERANDS,
    ROWS,
    products,
)
from ..ir.mlir import ir, ops_of
from ..ir.structured import body_of, element_type, structure
from ..session.statement import Handle, Results, Rewriter, Statement, consumed, integers, statement, string
from .coalesce import Coalesce
from .map import Map
from .tile import Tile


@statement("mma", returns=("op",))
class Mma(Statement):
    """Compute the tile of a warp, or of a warp group, with tensor-core instructions.

    The m × n elements that one instruction computes are owned by the lanes of the warp in the
    layout of the instruction: lane l owns the elements (l / 4 + 8·i, l mod 4 · 2 + j). This
    statement applies `tile` and `map` for that layout: pieces of [m, n] and of 8 rows are mapped to
    `registers`, pairs of columns to `lanes`. So `promote-to-registers`, write-backs, and other ops
    with the same tiles and maps treat these accumulators like any others. At `launch` the lanes'
    products become `nvgpu.mma.sync`, and reads of 16-bit elements in shared memory become
    `nvgpu.ldmatrix`.

    A warp group (four warps, from sm_90a on) multiplies tiles of 64 rows in shared memory, which
    `map … to tma` has loaded. Each of its warps owns 16 of these rows, in pieces like those of a
    warp's instructions, so the same statements apply to both kinds of accumulators. At `launch` its
    products become `nvgpu.warpgroup.mma`.

    Its left operand, of f16 or bf16 and 64 rows, may also be in registers: a temporary that threads
    make in the pieces of `mma`, 8 columns wide (`promote-to-registers` of an operand; values
    computed from the sums of another product, as in attention).

    Args:
        target: a product with the tile of a warp (in a loop over warps, and in none over lanes) and
            a remaining reduction of k; consumed. The rows or the columns of each operand may come
            first. Batches and parts of a sum are tiled by 1. Or a product with the tile of a warp
            group (in a loop over warp groups) and a remaining reduction of any multiple of k.
        shape: m, n and k of one instruction: [16, 8, 16] for f16 and bf16, [16, 8, 32] for i8, [8,
            8, 4] for f64, and [16, 8, 8] for f32 `as tf32` and `as 3xtf32`; [16, 8, 16] for f32 `as
            bf16x3`, `as f16` and `as bf16`. For a warp group [64, n, 16] for f16 and bf16, where n
            is that of the tile, a multiple of 8 up to 256; and for a right operand with the columns
            of the matrix as rows in memory (as `pack` makes it) [64, n, 8] for f32 `as tf32`, and
            [64, n, 32] for f8E4M3FN, f8E5M2 and i8 (with n 8, 24 or a multiple of 16; tiles of i8,
            and tiles of f8 with sums of f16, have 64 rows).
        as_type: the conversion of f32 operands; no other step rounds them. `as tf32`: they are
            rounded to 10 bits of mantissa. `as 3xtf32`, `as bf16x3`: each is the sum of two numbers
            of tf32 or bf16, and three products of these are added up. An infinite operand then
            gives NaN. Tensor cores round toward zero when they add to sums; so these products start
            at zero, and each result over k is added to the sums by ordinary additions, which round
            to nearest. `as f16`, `as bf16`: one or both operands are rounded to that type.
        accumulate: `accumulate f32`, for a product with sums in f16 or bf16: it adds up in f32
            while `promote-to-registers` keeps its sums, and rounds them once, where they are stored
            or read by another op. That is closer to the exact sum than the payload's computation.
            Without it, f16 is added up in f16.

    Returns:
        op: the product of one lane, for `promote-to-registers op.acc across k`.

    Errors: W0379.

    Source: PTX ISA, "Warp-level matrix instructions" and "Asynchronous warpgroup level matrix
    instructions"; CUTLASS `SM80_16x8x16_F32F16F16F32_TN`; Ootomo and Yokota, "Recovering single
    precision accuracy from Tensor Cores".

    Example:
        let product = mma warp_mm [16, 8, 16]
        before: linalg.matmul
        after:  scf.forall … linalg.matmul {weft.mma = "[16, 8, 16] of f16 in f32"} … weft.map
    """

    reach = "handles"
    late = ("map",)

    target: Handle = consumed()
    shape: tuple[int, ...] = integers(minimum=1)
    as_type: str | None = string(optional=True, written="as")
    accumulate: str | None = string(optional=True)

    def apply(self, rewrite: Rewriter) -> Results:
        from ..launch.products.product import matrix_dimensions

        op = rewrite.find(self.target)
        product = self._product(rewrite, op)
        rounded = (
            f", rounded to {element_type(op.operands[2])} where sums leave the registers" if self.accumulate else ""
        )
        rows, columns, _ = matrix_dimensions(op) or (0, 1, 2)
        m, n, _ = product.shape
        by_group = m == ROWS
        of_registers = SpaceSpec("registers", (), (), False)
        inner, rank = self.target, structure(op).rank

        def tile(height: int, width: int | None) -> Results:
            sizes = tuple({rows: height, columns: width}.get(d) for d in range(rank))
            return Tile(node=self.node, target=inner, sizes=sizes).apply(rewrite)

        of_quarters = SpaceSpec("quarters", (), (), False)
        pieces: list[tuple[int, int | None, SpaceSpec]] = [(m, n, of_registers)]
        if by_group:  # the rows of each warp, in pieces of a warp's instruction
            pieces = [(m, None, of_registers), (16, None, of_quarters), (16, 8, of_registers)]
        for height, width, space in pieces + [(8, 8, of_registers)] * (m > 8):
            tiled = tile(height, width)
            Map(node=self.node, target=tiled["loop"], space=space).apply(rewrite)
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
        rewrite.remark(f"by {product}{split}{rounded}")
        return {"op": tiled["op"]}

    def _product(self, rewrite: Rewriter, op: ir.Operation) -> TileProduct:
        """The instruction of the statement. Raises W0379."""
        rewrite.expect_structured(op, "W0379")
        kinds = [str(element_type(v)) for v in op.operands]
        self._expect_wider(rewrite, op, kinds[-1])
        kinds[-1] = self.accumulate or kinds[-1]
        if self.as_type in SPLITS:
            kinds = [SPLITS[self.as_type][0] if kind == "f32" else kind for kind in kinds[:2]] + kinds[2:]
        known = [p for p in PRODUCTS if [p.kind, p.kind, p.sum] == kinds]
        if self._space(op) == "warpgroups":
            known = products(kinds[0], kinds[2], self.shape[1]) if len(self.shape) == 3 and kinds[0] == kinds[1] else []
        wrong = self._wrong(op, kinds, known)
        if wrong is not None:
            raise rewrite.error("W0379", wrong[0], op, wrong[1], notes=(f"dimensions {structure(op).text()}",))
        return next(p for p in known if p.shape == self.shape)

    def _expect_wider(self, rewrite: Rewriter, op: ir.Operation, total: str) -> None:
        """Raises W0379 for sums that `accumulate` does not make wider."""
        if self.accumulate in (None, "f32") and (self.accumulate is None or total in NARROW):
            return
        if self.accumulate == "f32":
            message, hint = (
                f"`accumulate f32` is for sums of {' or '.join(NARROW)}, and these are of {total}",
                "leave `accumulate f32` out",
            )
        else:
            message, hint = (
                f"tensor cores add up in f32, and not in {self.accumulate}",
                "write `accumulate f32`, or leave it out",
            )
        raise rewrite.error("W0379", message, op, hint, at="accumulate")

    def _wrong(self, op: ir.Operation, kinds: list[str], known: list[TileProduct]) -> tuple[str, str] | None:
        """The reason why no instruction computes the op, and a hint; None if one does."""
        from ..launch.products.product import matrix_dimensions

        space, asked, found = structure(op), list(self.shape), matrix_dimensions(op)
        body = {inner.name for inner in ops_of(body_of(op))}
        if found is None or not body <= _BODY:
            plain = "a plain product of two matrices, with dimensions for rows, columns and one sum, in this order"
            out = "`interchange` changes the order of dimensions, `as-gemm` makes a product of a convolution"
            return f"{op.name} is not {plain}", out
        if self._space(op) == "warpgroups":
            return self._wrong_of_group(op, kinds, known, found)
        given = [str(element_type(v)) for v in op.operands[:2]]
        of_f32 = (
            "`as 3xtf32` multiplies operands in two parts, `as tf32` rounds them to 10 bits of mantissa, for [16, 8, 8]"
        )
        if self.as_type is not None and self.as_type not in SPLITS:
            return f"operands cannot be multiplied `as {self.as_type}`, only as {', '.join(SPLITS)}", of_f32
        both = self.as_type not in ("f16", "bf16")
        if self.as_type is not None and (given.count("f32") < 1 + both):
            return (
                f"`as {self.as_type}` is for operands of f32, and these are of {given[0]}",
                f"leave out `as {self.as_type}`",
            )
        if len(asked) == 3 and any(p.shape == self.shape for p in products(kinds[0], kinds[2], asked[1])):
            out = "`map` the loop around the op `to warpgroups(y)`, before `mma`"
            return (
                f"tiles of {asked} are those of a warp group, and no loop around the op is mapped to `warpgroups`",
                out,
            )
        if all(p.shape != self.shape for p in known):
            out = (
                f"write another shape, such as `{list(known[0].shape)}`, and `tile` the sum by its k"
                if known
                else "write the payload with operands of one of these types, such as `f16`"
            )
            others = ", ".join(map(str, known)) or ", ".join(dict.fromkeys(f"{p.kind} in {p.sum}" for p in PRODUCTS))
            why = f"no instruction multiplies {kinds[0]} by {kinds[1]} into {kinds[2]} in tiles of {asked}; there are {others}"
            if (
                not known
                and [kinds[0], kinds[0], "f32"] in [[p.kind, kinds[1], p.sum] for p in PRODUCTS]
                and kinds[2] in NARROW
            ):
                out = IN_F32
            return why, of_f32 if given == ["f32", "f32"] and not known else out
        pieces = dict(zip(found, self.shape, strict=True))
        whole = all(
            n is not None and n % pieces[d] == 0 if d in pieces else n == 1 for d, n in enumerate(space.extents)
        )
        out = f"`tile` the sum by {self.shape[2]}, then the result for warps, and `map` that loop to `warps`"
        summed = space.extents[found[2]]
        fitting = [p for p in known if p.shape[2] == summed]
        if fitting:
            out = f"{out}; or write `{list(fitting[0].shape)}`, with a k of {summed}"
        if not whole or space.extents[found[2]] != self.shape[2]:
            tile = " × ".join(map(str, space.extents))
            return f"a tile of {tile} does not consist of {asked} pieces with a sum of {self.shape[2]}", out
        if self._space(op) != "warps":
            return "the op is not the tile of a warp", out
        return None

    def _space(self, op: ir.Operation) -> str | None:
        """The kind of processor that owns the tile of the op: the space of the innermost map around
        it."""
        from ..mapping.mapping import enclosing_maps

        return next((around.space for _, around in enclosing_maps(op)), None)

    def _wrong_of_group(
        self, op: ir.Operation, kinds: list[str], known: list[TileProduct], found: tuple[int, int, int]
    ) -> tuple[str, str] | None:
        """The reason why the op is not a product of a warp group, and a hint; None if it is."""
        asked, extents, (kind, other, total) = list(self.shape), structure(op).extents, kinds
        what = f"no instruction of warp groups multiplies {kind} by {other} into {total}"
        if self.as_type not in (None, "tf32"):
            both = f"`pack … as {self.as_type}` the product before `tile`, or map the loop to `warps`"
            way_out = (
                both if SPLITS.get(self.as_type, ("", 1))[1] > 1 else "write `as tf32`, or map the loop to `warps`"
            )
            return f"a warp group multiplies f32 as tf32, and not as {self.as_type}", way_out
        taken = OPERANDS.get(kind)
        if kind != other or taken is None or total not in taken.sums:
            there = ", ".join(f"{operands} in {' or '.join(each.sums)}" for operands, each in OPERANDS.items())
            way_out = (
                "write `as tf32` for operands of f32"
                if kind == "f32"
                else "`map` the loop to `warps`, which have other instructions"
            )
            if kind == other and total in NARROW and taken is not None and "f32" in taken.sums:
                way_out = IN_F32
            return f"{what}; there are {there}", way_out
        rows, columns, summed = (extents[d] for d in found)
        if not known or known[0].shape != self.shape:
            legal = [str(n) for n in range(8, MOST_COLUMNS, 8) if taken.has(n)]
            few = ", ".join(legal[: 2 if taken.columns == 8 else 5])
            there = f"[{ROWS}, n, {taken.k}] for n = {few}, …, {MOST_COLUMNS}"
            way_out = f"`tile` the result by such an n; the tile of the warp group is {columns} wide"
            if columns is not None and taken.has(columns):
                way_out = f"write `[{ROWS}, {columns}, {taken.k}]`: n is the width of the warp group's tile"
            return f"{what} in tiles of {asked}; there are {there}", way_out
        others = {n for d, n in enumerate(extents) if d not in found}
        if (
            rows is None
            or rows % ROWS
            or columns != self.shape[1]
            or summed is None
            or summed % self.shape[2]
            or others - {1}
        ):
            tile = " × ".join(map(str, extents))
            return (
                f"a tile of {tile} is not of whole {ROWS} rows, {self.shape[1]} columns and whole {self.shape[2]}"
                f" summands",
                f"`tile` the result by `[{ROWS}, {self.shape[1]}]` for warp groups, and `map` that loop to"
                f" `warpgroups`",
            )
        if total in taken.by_instruction and rows != ROWS:
            return (
                f"{rows} rows of {kind} are more than one instruction has, {ROWS}",
                f"`tile` the result by `[{ROWS}, {columns}]`",
            )
        return None


NARROW = ("f16", "bf16")
IN_F32 = "`accumulate f32`: `mma` adds up in f32 then, and rounds once, where the sums leave the registers"
_BODY = {f"arith.{name}" for name in ("extf", "extsi", "mulf", "muli", "addf", "addi")} | {"linalg.yield"}
