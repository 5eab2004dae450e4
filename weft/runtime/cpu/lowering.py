"""Lowering of a payload to the LLVM dialect for the CPU: bufferization, tiling of contractions for
the caches, and upstream's passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from math import prod

from ...interpreter.ir.affine_maps import dimension_of
from ...interpreter.ir.cloning import crop_before_padding
from ...interpreter.ir.copying import copy_to
from ...interpreter.ir.functions import symbol
from ...interpreter.ir.mlir import (
    ancestors,
    constant_of,
    func,
    ir,
    is_tensor,
    operations,
    run_passes,
    run_transform,
    vector,
)
from ...interpreter.ir.structured import element_type, replace, structure
from ...interpreter.memory.layouts import is_plain
from ..form.kernel_lowering import classified
from .allow_lists import without_promises
from .widening import bfloats_as_bits

BUFFERIZE = (
    "empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops unknown-type-conversion=identity-layout-map}"
)
DEALLOCATE = "buffer-deallocation-pipeline,convert-bufferization-to-memref"
GENERALIZE = "func.func(linalg-generalize-named-ops)"
LOOPS = "scf-forall-to-for,func.func(convert-linalg-to-loops),func.func(lower-affine)"
FLOATS = (
    "func.func(lower-vector-multi-reduction),func.func(convert-vector-to-scf),convert-scf-to-cf,expand-strided-metadata,func.func(lower-affine),"
    "func.func(arith-emulate-unsupported-floats{source-types=f16,bf16 target-type=f32}),math-extend-to-supported-types"
)
EXPAND = "arith-expand{include-bf16}"
LOWER = (
    "math-expand-ops{ops=clampf},convert-math-to-funcs,"
    "func.func(convert-math-to-llvm{approximate-log1p=false}),convert-math-to-libm,"
    "convert-vector-to-llvm,finalize-memref-to-llvm{use-aligned-alloc=true},convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,"
    "convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts,cse"
)
"""The pass pipeline. Remaining halves (of a payload that reads their bits) are computed in f32, op
by op: the JIT lacks compiler-rt."""

GIVEN = "weft.given"
"""Mark of allocations that existed before upstream's passes."""

DIVISIONS = tuple(
    f"arith.{name}" for name in ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]
)
LOOPS_OF_SCF = ("scf.for", "scf.while")
ANNOTATION, SCALAR = "llvm.loop_annotation", "#llvm.loop_annotation<vectorize = <disable = true>>"

AGGREGATES = ("linalg.softmax",)

LARGE = 1 << 18
"""Number of iterations from which a loop nest is tiled."""

PARALLEL_TILE, INNER_TILE, REDUCTION_TILE = 64, 256, 64


def lower(module: ir.Module, watch: Callable[[ir.Module], None] = lambda _: None) -> None:
    """Lowers the module in place. Raises `ir.MLIRError` if upstream cannot lower it. The module is
    verified only once, at the end, because verification after each pass takes longer than the
    passes.

    Args:
        watch: receives the module when it consists of loops and accesses of memrefs.
    """
    forget_machines(module)
    decompose(module)
    crop_before_padding(module)
    values = (value for op in operations(module.operation) for value in (*op.operands, *op.results))
    if any(isinstance(value.type, ir.RankedTensorType | ir.UnrankedTensorType) for value in values):
        _run(module, "convert-elementwise-to-linalg")
        if any(is_tensor(value) for loop in operations(module.operation, "affine.for") for value in loop.results):
            _run(module, "func.func(lower-affine)")  # upstream bufferizes scf loops only
        _run(module, BUFFERIZE)
        if not any(operations(module.operation, "memref.dealloc")):
            _run(module, DEALLOCATE)
    copies_to_linalg(module)
    _run(module, GENERALIZE)
    tile_contractions(module)
    lower_ops(module, watch)


def forget_machines(module: ir.Module) -> None:
    """Removes the payload's data layout and other target attributes: they may describe another
    machine than this one, which has a 64-bit index."""
    for op in operations(module.operation):
        for name in ("dlti.dl_spec", "dlti.target_system_spec", "llvm.data_layout", "llvm.target_triple"):
            if name in op.attributes:
                del op.attributes[name]


def lower_ops(module: ir.Module, watch: Callable[[ir.Module], None] = lambda _: None) -> None:
    """Lowers loops, arithmetic and memory to the LLVM dialect, in place. `watch`: as in `lower`."""
    without_promises(module)
    lower_functions(module)
    by_rows(module)
    for op in operations(module.operation, "memref.alloca"):
        op.attributes[GIVEN] = ir.UnitAttr.get(module.context)
    _run(module, LOOPS)
    watch(module)
    divide_one_by_one(module)
    _run(module, FLOATS)
    allocate_once(module)
    round_always(module)
    by_way_of_floats(module)
    _run(module, EXPAND)
    bfloats_as_bits(module)
    _run(module, LOWER)
    for op in operations(module.operation, "llvm.br", "llvm.cond_br"):
        if ANNOTATION in op.attributes:  # upstream keeps it under the name that it has on loops
            op.attributes["loop_annotation"] = op.attributes[ANNOTATION]
    module.operation.verify()


_run = partial(run_passes, verify=False)


def allocate_once(module: ir.Module) -> None:
    """Hoists the `alloca`s that upstream creates for vectors out of loops: in a loop, each
    iteration would allocate again until the stack overflows, since an `alloca` is freed only when
    the function returns."""
    for op in list(operations(module.operation, "memref.alloca")):
        function = next((around for around in ancestors(op) if around.name == "func.func"), None)
        if GIVEN not in op.attributes and not len(op.operands) and function is not None:
            op.move_before(function.regions[0].blocks[0].operations[0])


def divide_one_by_one(module: ir.Module) -> None:
    """Excludes loops that divide by a variable under a condition from vectorization by LLVM: where
    the quotient or remainder is an index of an access, it computes that of the first lane, and uses
    it for all lanes. Little is lost: such divisions are scalar anyway."""
    for op in operations(module.operation, *DIVISIONS):
        around = list(ancestors(op))
        loop = next((each for each in around if each.name in LOOPS_OF_SCF), None)
        if loop is None or constant_of(op.operands[1]) is not None:
            continue
        if any(each.name == "scf.if" for each in around[: around.index(loop)]):
            loop.attributes[ANNOTATION] = ir.Attribute.parse(SCALAR, module.context)


def by_rows(module: ir.Module) -> None:
    """Rewrites loads and stores of vectors of ranks other than 1 as transfers, which upstream
    decomposes to rank 1, the only rank in LLVM."""
    for op in list(operations(module.operation, "vector.load", "vector.store")):
        stores, (memory, *at) = op.name == "vector.store", list(op.operands)[op.name == "vector.store" :]
        kind = ir.VectorType((op.operands if stores else op.results)[0].type)
        if kind.rank == 1:
            continue
        with module.context, op.location, ir.InsertionPoint(op):
            rows = ir.AffineMap.get_minor_identity(len(at), kind.rank)
            inside = [True] * kind.rank
            if stores:
                vector.transfer_write(None, op.operands[0], memory, at, rows, inside)
            else:
                outside = _made("ub.poison", [], kind.element_type, value=ir.Attribute.parse("#ub.poison"))
                op.results[0].replace_all_uses_with(vector.transfer_read(kind, memory, at, rows, outside, inside))
            op.erase()


def round_always(module: ir.Module) -> None:
    """Clears the fast-math flags of float conversions. With these flags, a truncation and the
    extension after it may be folded, so that a half would no longer be rounded by each op."""
    with module.context:
        for op in operations(module.operation, "arith.extf", "arith.truncf"):
            op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<none>")


def by_way_of_floats(module: ir.Module) -> None:
    """Splits each extension from bf16 to f64 into two, by way of f32, because upstream extends bf16
    only to f32."""
    for op in list(operations(module.operation, "arith.extf")):
        if "bf16" in str(op.operands[0].type) and "f64" in str(op.results[0].type):
            with module.context, op.location, ir.InsertionPoint(op):
                kind = ir.Type.parse(str(op.results[0].type).replace("f64", "f32"))
                op.operands[0] = _made("arith.extf", [op.operands[0]], kind)


def decompose(module: ir.Module) -> None:
    """Decomposes aggregate ops (a softmax) into structured ops."""
    names = sorted({op.name for op in operations(module.operation, *AGGREGATES)})
    for number, name in enumerate(names):
        run_transform(
            module,
            f'%s{number} = transform.structured.match ops{{["{name}"]}} in %root : (!transform.any_op) ->'
            f" !transform.any_op\n"
            f"%d{number} = transform.structured.decompose_interface %s{number} : (!transform.any_op) ->"
            f" !transform.any_op",
        )


def copies_to_linalg(module: ir.Module) -> None:
    """Replaces copies of strided memrefs by ops that become loops, because `memref.copy` would need
    a runtime function that the JIT lacks."""
    for op in operations(module.operation, "memref.copy"):
        source, target = op.operands
        with module.context, ir.InsertionPoint(op), op.location:
            if not (is_plain(source.type) and is_plain(target.type)):
                copy_to(target, source)
                op.erase()


def tile_contractions(module: ir.Module) -> None:
    """Tiles and interchanges large reductions, so that the innermost loop is contiguous and its
    data stays in the cache.

    No element's accumulation order changes: only the outermost reduction dimension is tiled,
    reductions keep their relative order, and tiles run in ascending order.
    """
    script: list[str] = []
    for number, op in enumerate(operations(module.operation, "linalg.generic")):
        plan = _tiling(op)
        if plan is None:
            continue
        sizes, order = plan
        tag = f"weft.reference{number}"
        op.attributes[tag] = ir.UnitAttr.get(module.context)
        script.append(_tile_and_interchange(number, tag, sizes, order))
    if script:
        run_transform(module, "\n".join(script))


def _tile_and_interchange(number: int, tag: str, sizes: list[int], order: list[int]) -> str:
    """The transform ops for one tagged op. `number` makes the names of their values unique."""
    handle = "!transform.any_op"
    lines = [f"%m{number} = transform.structured.match attributes{{{tag}}} in %root : ({handle}) -> {handle}"]
    tiled, loops = f"%m{number}", sum(size > 0 for size in sizes)
    if loops:
        tiled = f"%t{number}#0"
        results = ", ".join([handle] * (1 + loops))
        lines.append(
            f"%t{number}:{1 + loops} = transform.structured.tile_using_for %m{number} tile_sizes {sizes} "
            f": ({handle}) -> ({results})"
        )
    lines.append(
        f"%i{number} = transform.structured.interchange {tiled} iterator_interchange = {order} : ({handle}) -> {handle}"
    )
    return "\n".join(lines)


def _tiling(op: ir.Operation) -> tuple[list[int], list[int]] | None:
    """Tile sizes and loop order for a `linalg.generic`; None if it is small, has no reduction, or
    has a dynamic shape."""
    space = structure(op)
    kinds, ranges = [kind == "reduction" for kind in space.iterators], [n for n in space.extents if n is not None]
    inner = _inner_dimension(space.maps, kinds)
    if len(ranges) < space.rank or inner is None or True not in kinds or prod(ranges) < LARGE:
        return None
    wanted = [0 if reduction else PARALLEL_TILE for reduction in kinds]
    wanted[kinds.index(True)] = REDUCTION_TILE
    wanted[inner] = INNER_TILE
    sizes = [_tile(count, size) for count, size in zip(ranges, wanted, strict=True)]
    order = [d for d, reduction in enumerate(kinds) if not reduction and d != inner]
    order += [d for d, reduction in enumerate(kinds) if reduction] + [inner]
    return sizes, order


def _tile(count: int, wanted: int) -> int:
    """A tile size near `wanted` that divides `count` if one exists, since ragged tiles compile
    slowly in LLVM. 0: a single tile."""
    if wanted == 0 or 2 * count <= 3 * wanted:
        return 0
    divisors = [size for size in range(wanted, wanted // 2 - 1, -1) if count % size == 0]
    return divisors[0] if divisors else wanted


def _inner_dimension(maps: Sequence[ir.AffineMap], kinds: list[bool]) -> int | None:
    """The parallel dimension along which most operands, the result first, are contiguous."""
    last = [dimension_of(results[-1]) for each in maps if (results := list(each.results))]
    parallel = [d for d in last if d is not None and not kinds[d]]
    if not parallel:
        return None
    return max(set(parallel), key=lambda d: (parallel.count(d), d == parallel[-1]))


LIBRARY = {"f32": "expm1f", "f64": "expm1"}


def lower_functions(module: ir.Module) -> None:
    """Rewrites functions of the math dialect on scalars and vectors, in place. At this stage,
    functions on tensors are loops over scalars already."""
    for op in list(operations(module.operation, "math.expm1", "math.isinf")):
        with module.context, op.location, ir.InsertionPoint(op):
            (value,) = op.operands
            made = classified(op, value) if op.name == "math.isinf" else (_each(_expm1(module))(value),)
        replace(op, made)
    for op in operations(module.operation, "math.fpowi"):  # for an index operand, upstream emits a wrong call
        exponent = op.operands[1]
        if isinstance(element_type(exponent), ir.IndexType):
            with module.context, op.location, ir.InsertionPoint(op):
                wide = ir.Type.parse(str(exponent.type).replace("index", "i64"))
                op.operands[1] = _made("arith.index_cast", [exponent], wide)


def _made(name: str, operands: Sequence[ir.Value], result: ir.Type, **attributes: ir.Attribute) -> ir.Value:
    return ir.Operation.create(name, [result], operands, attributes).results[0]


def _expm1(module: ir.Module) -> Callable[[ir.Value], ir.Value]:
    """Emits a call of the C library's `expm1`; halves are computed in f32."""

    def call(value: ir.Value) -> ir.Value:
        kind, single = value.type, ir.F32Type.get()
        wide = kind if str(kind) in LIBRARY else single
        argument = value if wide == kind else _made("arith.extf", [value], wide)
        name = LIBRARY[str(wide)]
        _declare(module, name, wide)
        result = _made("func.call", [argument], wide, callee=ir.FlatSymbolRefAttr.get(name))
        return result if wide == kind else _made("arith.truncf", [result], kind)

    return call


def _declare(module: ir.Module, name: str, kind: ir.Type) -> None:
    """Declares a function of the library, unless the module has it already."""
    if any(symbol(op) == name for op in operations(module.operation, "func.func")):
        return
    with ir.InsertionPoint.at_block_begin(module.body):
        declared = func.FuncOp(name, ([kind], [kind]), visibility="private")
        declared.operation.attributes["llvm.readnone"] = ir.UnitAttr.get()


def _each(function: Callable[[ir.Value], ir.Value]) -> Callable[[ir.Value], ir.Value]:
    """Lifts a rewrite of scalars to vectors, element by element."""

    def apply(value: ir.Value) -> ir.Value:
        kind = value.type
        if not isinstance(kind, ir.VectorType):
            return function(value)
        result = value
        for place in product(*map(range, kind.shape)):
            position = ir.DenseI64ArrayAttr.get(list(place))
            element = _made("vector.extract", [value], kind.element_type, static_position=position)
            result = _made("vector.insert", [function(element), result], kind, static_position=position)
        return result

    return apply
