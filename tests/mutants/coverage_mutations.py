"""Mapped loops in which what is combined has been changed, after the last statement and before the kernel is made: a reduction that
goes over too little or too much, twice, from elsewhere, to elsewhere, from another start, or with padding that counts.

Each mutation is made at one place of a module that a schedule has come to; there is an iterator of all.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from weft.dsl.tree import Let, StatementNode
from weft.interpreter.focus.carving import Version
from weft.interpreter.ir import mlir, structured
from weft.interpreter.ir.affine_maps import dimension_of
from weft.interpreter.ir.cloning import PROVEN, clone_module
from weft.interpreter.ir.mlir import ir, operations, producer
from weft.interpreter.ir.structured import body_of, is_read, structure, subscripts
from weft.interpreter.launch import launch
from weft.interpreter.memory.layouts import subview
from weft.interpreter.outlining.kernel import Outlined
from weft.interpreter.proof.coverage.payload.bodies import hands_on
from weft.interpreter.session.session import Session
from weft.interpreter.statements.insert_barriers.trials import CANDIDATE
from weft.payloads.payload import parse_payload
from weft.pipeline import Applied, Choice

Change = Callable[[ir.Operation], bool]


def opened(name: str, settings: Mapping[str, str]) -> tuple[Session, Applied]:
    """A session in front of its first `launch`. What is not proven is let through."""
    recipe = Choice(name, settings=dict(settings)).open()
    payload = parse_payload(recipe.payload)
    session = Session(payload, recipe.file, recipe.values, unproven=True)
    while (item := session.upcoming()) is not None and _keyword(item) != "launch":
        session.step()
    return session, Applied(recipe, payload, session)


def _keyword(item: object) -> str | None:
    inner = item.value if isinstance(item, Let) else item
    return inner.keyword if isinstance(inner, StatementNode) else None


def _affine(op: ir.Operation) -> bool:
    """An index that is computed is one more."""
    if op.name != "affine.apply":
        return False
    mapping = ir.AffineMapAttr(op.attributes["map"]).value
    moved = ir.AffineMap.get(mapping.n_dims, mapping.n_symbols, [mapping.results[0] + 1])
    op.attributes["map"] = ir.AffineMapAttr.get(moved)
    return True


def _fewer(op: ir.Operation) -> bool:
    """A loop over steps of a reduction does not do the last."""
    if op.name != "scf.for":
        return False
    low, high, step = (mlir.constant_of(v) for v in list(op.operands)[:3])
    if low is None or high is None or step is None or high - step < low + step:
        return False
    with mlir.ahead_of(op):
        op.operands[1] = mlir.arith.ConstantOp(ir.IndexType.get(), high - step).result
    return True


def _again(op: ir.Operation) -> bool:
    """A reduction is done twice."""
    if not op.name.startswith("linalg.") or op.name in ("linalg.fill", "linalg.copy", "linalg.yield", "linalg.index"):
        return False
    if "reduction" not in str(op.attributes.get("iterator_types", "reduction")):
        return False
    op.clone(ir.InsertionPoint(op))
    return True


def _filled(op: ir.Operation) -> bool:
    """Results begin with 3."""
    if op.name != "linalg.fill":
        return False
    kind = op.operands[0].type
    with mlir.ahead_of(op):
        three = ir.FloatAttr.get(kind, 3.0) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 3)
        op.operands[0] = mlir.arith.ConstantOp(kind, three).result
    return True


def _masked(op: ir.Operation) -> bool:
    """A mask lets one element more, or one fewer, be read."""
    if op.name != "arith.cmpi" or not isinstance(op.operands[0].type, ir.IndexType):
        return False
    bound = mlir.constant_of(op.operands[1])
    if bound is None or bound < 2:
        return False
    with mlir.ahead_of(op):
        op.operands[1] = mlir.arith.ConstantOp(ir.IndexType.get(), bound - 1).result
    return True


def _padded(op: ir.Operation) -> bool:
    """What is read outside is 5."""
    if op.name != "scf.if" or len(op.regions) < 2 or not len(op.results) or not len(op.regions[1].blocks):
        return False
    end = mlir.ops_of(op.regions[1].blocks[0])[-1]
    kind = end.operands[0].type
    if not isinstance(kind, ir.FloatType):
        return False
    with mlir.ahead_of(end):
        end.operands[0] = mlir.arith.ConstantOp(kind, ir.FloatAttr.get(kind, 5.0)).result
    return True


def _view(op: ir.Operation, *, which: int, by: int) -> bool:
    """What a loop reads, now the operand of an op, begins (0) one element later, or has (1) one fewer."""
    if op.name != "memref.subview" or ir.MemRefType(op.results[0].type).rank != 1:
        return False
    kind, parts = ir.MemRefType(op.results[0].type), structured.parts_of(op)
    axis = next((n for n, size in enumerate(parts[1]) if size != 1), None)
    if axis is None:
        return False
    before, next_one = parts[which][axis], ir.AffineMap.get(1, 0, [ir.AffineExpr.get_dim(0) + by])
    with mlir.ahead_of(op):
        parts[which][axis] = (
            before + by if isinstance(before, int) else mlir.affine.AffineApplyOp(next_one, [before]).result
        )
        size = parts[1][axis]
        shape = [size if isinstance(size, int) else ir.ShapedType.get_dynamic_size()]
        made = subview(op.operands[0], parts, ir.MemRefType.get(shape, kind.element_type, kind.layout))
    op.results[0].replace_all_uses_with(made)
    op.erase()
    return True


def _combined(op: ir.Operation) -> bool:
    """Terms are combined in another way."""
    if op.name not in ("arith.addi", "arith.maxsi") or op.parent.name != "linalg.generic":
        return False
    made = ir.Operation.create(
        "arith.muli", [op.results[0].type], list(op.operands), ip=ir.InsertionPoint(op), loc=op.location
    )
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()
    return True


LOOPS: dict[str, Change] = {
    "a view is moved": partial(_view, which=0, by=1), "a view is shorter": partial(_view, which=1, by=-1),
    "another combiner": _combined,
}  # fmt: skip
"""Of what loops with carried numbers have become."""
CHANGES: dict[str, Change] = {
    "an index is moved": _affine, "a step is dropped": _fewer, "a contribution is doubled": _again,
    "another start": _filled, "a mask is moved": _masked, "the padding counts": _padded,
}  # fmt: skip


def end_moved(op: ir.Operation, *, by: int) -> bool:
    """What is left of a tensor at a tile is taken for more, or less."""
    if op.name != "affine.min":
        return False
    ends = ir.AffineMapAttr(op.attributes["map"]).value
    moved = [end if isinstance(end, ir.AffineConstantExpr) else end + by for end in ends.results]
    op.attributes["map"] = ir.AffineMapAttr.get(ir.AffineMap.get(ends.n_dims, ends.n_symbols, moved))
    return True


MOVING = ("linalg.copy", "linalg.fill", "linalg.generic", "linalg.transpose")


def part_of(
    op: ir.Operation, *, first: int = 0, last: int = 0, step: int = 1, of: str = "all", outer: bool = False
) -> bool:
    """A copy, a fill, a load into a tile or an element-wise op, along its last dimension with several elements (`outer`: its
    first), begins so many elements later, ends so many earlier, and takes each `step`-th one; of its "source" or "result" alone
    it begins there, so that what it reads is moved, or where it writes."""
    if op.name not in MOVING or not isinstance(op.operands[-1].type, ir.MemRefType):
        return False
    if "reduction" in str(op.attributes.get("iterator_types", "")) or (of == "source" and structure(op).inputs == 0):
        return False
    places = [(dimension_of(form), value, axis) for value, axis, form in subscripts(op, structure(op).maps)]
    sized = [(d, value, axis) for d, value, axis in places if d is not None and isinstance(value.type, ir.MemRefType)]
    known = {d for d, value, axis in sized if ir.MemRefType(value.type).shape[axis] != 1}
    if not known:
        return False
    along = min(known) if outer else max(known)
    cut: dict[ir.Value, int] = {value: axis for d, value, axis in sized if d == along}
    for number, value in enumerate(op.operands):
        if value in cut:
            begins = first if of in ("all", "source" if number < structure(op).inputs else "result") else 0
            op.operands[number] = _cut(op, value, cut[value], begins, first + last, step)
    return True


def _cut(op: ir.Operation, value: ir.Value, axis: int, first: int, less: int, step: int) -> ir.Value:
    """A part of a buffer along an axis: from its element `first` on, `less` elements fewer, each `step`-th."""
    kind = ir.MemRefType(value.type)
    sizes: list[int | ir.Value] = list(kind.shape)
    d = ir.AffineExpr.get_dim(0)
    fewer = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_ceil_div(d - less, step)])
    with mlir.ahead_of(op):
        for each in (n for n in range(kind.rank) if kind.is_dynamic_dim(n)):
            sizes[each] = mlir.memref.DimOp(value, mlir.arith.ConstantOp(ir.IndexType.get(), each).result).result
        size = sizes[axis]
        sizes[axis] = (
            -(-(size - less) // step) if isinstance(size, int) else mlir.affine.AffineApplyOp(fewer, [size]).result
        )
        offsets, steps = [0] * kind.rank, [1] * kind.rank
        offsets[axis], steps[axis] = first, step
        shape = [n if isinstance(n, int) else ir.ShapedType.get_dynamic_size() for n in sizes]
        return subview(value, (offsets, sizes, steps), ir.MemRefType.get(shape, kind.element_type))


def _loop_cut(op: ir.Operation, *, first: int, last: int) -> bool:
    """A parallel loop over copies, fills and loads alone does not do its first iterations, or its last ones."""
    if op.name != "scf.forall" or any(
        "reduction" in str(each.attributes.get("iterator_types", each.name)) for each in _computing(op)
    ):
        return False
    ends = [list(ir.DenseI64ArrayAttr(op.attributes[f"static{which}Bound"])) for which in ("Lower", "Upper")]
    axes = [n for n, (low, high) in enumerate(zip(*ends, strict=True)) if low == 0 and high > 1]
    if not axes:
        return False
    ends[0][axes[-1]], ends[1][axes[-1]] = first, ends[1][axes[-1]] - last
    for which, values in zip(("Lower", "Upper"), ends, strict=True):
        op.attributes[f"static{which}Bound"] = ir.DenseI64ArrayAttr.get(values)
    return True


def _computing(op: ir.Operation) -> list[ir.Operation]:
    moving = ("linalg.copy", "linalg.fill", "linalg.transpose", "linalg.yield", "linalg.index")
    named = (each for each in operations(op) if each.name.startswith("linalg.") and each.name not in moving)
    return [
        each for each in named if each.name != "linalg.generic" or "reduction" in str(each.attributes["iterator_types"])
    ]


def _erased(op: ir.Operation) -> bool:
    if op.parent.operation.name in ("func.func", "gpu.func"):  # all of a launch
        return False
    op.erase()
    return True


def _dropped(op: ir.Operation) -> bool:
    """What results begin with, what is read of a tile, or what results are is not written."""
    return op.name in MOVING and (op.name != "linalg.generic" or hands_on(op, 0)) and _erased(op)


COPIES: dict[str, Change] = {
    "a copy ends early": partial(part_of, last=1), "a copy begins late": partial(part_of, first=1),
    "a copy lacks its last row": partial(part_of, last=1, outer=True),
    "a copy takes each second element": partial(part_of, step=2), "a copy is moved": partial(part_of, first=1, of="source"),
    "a loop of copies ends early": partial(_loop_cut, first=0, last=1),
    "a loop of copies begins late": partial(_loop_cut, first=1, last=0), "a copy is dropped": _dropped,
}  # fmt: skip
"""Of copies, fills and loads, which a kernel has when its loop is outlined."""


def is_elementwise(op: ir.Operation) -> bool:
    """An op that computes something, without a reduction."""
    if (
        not op.name.startswith("linalg.")
        or not len(op.regions)
        or op.name in ("linalg.fill", "linalg.copy", "linalg.transpose")
    ):
        return False
    space = structure(op)
    return "reduction" not in space.iterators and not all(hands_on(op, n) for n in range(space.outputs))


def _of_elements(change: Change) -> Change:
    return lambda op: is_elementwise(op) and change(op)


def _accumulated(op: ir.Operation) -> bool:
    """An op that reads what it has written is executed twice."""
    inputs = structure(op).inputs
    read, results = list(op.operands)[:inputs], list(op.operands)[inputs:]
    if not any(is_read(op, inputs + n) or value in read for n, value in enumerate(results)):
        return False
    op.clone(ir.InsertionPoint(op))
    return True


def _tile_fewer(op: ir.Operation) -> bool:
    """A parallel loop over element-wise ops alone does not do its last tile."""
    if op.name != "scf.forall":
        return False
    inside = [each for each in operations(op) if each.name.startswith("linalg.") and len(each.regions)]
    if not any(map(is_elementwise, inside)) or any("reduction" in structure(each).iterators for each in inside):
        return False
    ends = ("staticLowerBound", "staticUpperBound", "staticStep")
    low, high, step = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ends)
    axes = [n for n in range(len(low)) if low[n] == 0 and high[n] > step[n] > 0]
    if not axes:
        return False
    high[axes[-1]] -= step[axes[-1]]
    op.attributes["staticUpperBound"] = ir.DenseI64ArrayAttr.get(high)
    return True


def _exchanged(op: ir.Operation) -> bool:
    """The operands of an op that does not commute are exchanged."""
    for inner in body_of(op).operations:
        if (
            inner.operation.name in ("arith.subf", "arith.subi", "arith.divf")
            and inner.operands[0] != inner.operands[1]
        ):
            inner.operation.operands[0], inner.operation.operands[1] = list(inner.operands)[::-1]
            return True
    return False


def _constant(op: ir.Operation) -> bool:
    """A constant of the arithmetic is another one."""
    for inner in operations(op):
        for number, value in enumerate(inner.operands):
            made, kind = producer(value), value.type
            if (
                inner.name.startswith("arith.")
                and made is not None
                and made.name == "arith.constant"
                and str(kind) != "index"
            ):
                with mlir.ahead_of(op):
                    other = (
                        ir.FloatAttr.get(kind, 2.5) if isinstance(kind, ir.FloatType) else ir.IntegerAttr.get(kind, 1)
                    )
                    inner.operands[number] = mlir.arith.ConstantOp(kind, other).result
                return True
    return False


def _guarded(op: ir.Operation) -> bool:
    return end_moved(op, by=-1) or _masked(op)


def _subscript(op: ir.Operation, *, how: str) -> bool:
    """Two subscripts of an access or a view are exchanged, or one of them is the next number, or 0."""
    if op.name not in ("memref.load", "memref.subview"):
        return False
    places = [n for n, value in enumerate(op.operands) if n and isinstance(value.type, ir.IndexType)]
    if len({op.operands[n] for n in places[:2]}) < 2:
        return False
    one, other = places[:2]
    with mlir.ahead_of(op):
        if how == "exchanged":
            op.operands[one], op.operands[other] = op.operands[other], op.operands[one]
        elif how == "moved":
            next_one = ir.AffineMap.get(1, 0, [ir.AffineExpr.get_dim(0) + 1])
            op.operands[one] = mlir.affine.AffineApplyOp(next_one, [op.operands[one]]).result
        else:
            op.operands[other] = mlir.arith.ConstantOp(ir.IndexType.get(), 0).result
    return True


SUBSCRIPTS: dict[str, Change] = {
    "subscripts are exchanged": partial(_subscript, how="exchanged"), "a subscript is moved": partial(_subscript, how="moved"),
    "a subscript is dropped": partial(_subscript, how="dropped"),
}  # fmt: skip
"""Of accesses and views in a kernel."""
ELEMENTS: dict[str, Change] = {
    "an op is dropped": _of_elements(_erased), "a tile fewer": _tile_fewer, "a guard is narrowed": _guarded,
    "a map is shifted": _of_elements(partial(part_of, first=1, of="source")),
    "an op is repeated onto its result": _of_elements(_accumulated),
    "operands are exchanged": _of_elements(_exchanged), "a constant is another": _of_elements(_constant),
    "results go to their neighbours": _of_elements(partial(part_of, first=1, of="result")),
}  # fmt: skip
"""Of element-wise ops, likewise. Guards are of any op."""
CHANGED = {
    "subscript": ("memref.load", "memref.subview"), "loop": ("scf.forall",), "tile fewer": ("scf.forall",),
    "guard": ("affine.min", "arith.cmpi"), "": MOVING,
}  # fmt: skip
"""The names of ops that a change is of, by a word in its own."""

Place = tuple[int, int, Change]
"""Which op of which kernel, in the order in which they are launched, and what is done to it."""


@contextmanager
def changing(place: Place | None) -> Iterator[list[str]]:
    """What is launched in this context has a change at a place, and is proven race-free after that; yields a list to which the
    names of all ops come."""
    seen: list[str] = []
    prepared, kernels = launch.prepare, count()

    def change(*given: Any, **named: Any) -> Outlined:
        kernel = prepared(*given, **named)
        number, ops = next(kernels), list(operations(kernel.module.operation))
        if any(CANDIDATE in op.attributes for op in ops):  # tried for its barriers alone
            return kernel
        seen.extend(f"{number}:{op.name}" for op in ops)
        if place is not None and place[0] == number:
            with kernel.module.context, ir.Location.unknown():
                done = place[2](ops[place[1]]) and kernel.module.operation.verify()
            kernel.__dict__.pop("likeness", None)
            if PROVEN in given[1].attributes:  # of the loop without the change
                del given[1].attributes[PROVEN]
            if not done:
                raise LookupError
        return kernel

    launch.prepare = change
    try:
        yield seen
    finally:
        launch.prepare = prepared


def copies(session: Session, changes: Mapping[str, Change] = COPIES) -> list[tuple[str, Session, Place | None]]:
    """Sessions, and a change of an op in a kernel that they launch for each, which may not be one (`LookupError`)."""
    with changing(None) as seen:
        session.fork(unproven=True).run()
    found: list[tuple[str, Session, Place | None]] = []
    numbers = Counter[str]()
    for each in seen:
        kernel, _, name = each.partition(":")
        place, numbers[kernel] = numbers[kernel], numbers[kernel] + 1
        for what, change in changes.items():
            if name in next(names for word, names in CHANGED.items() if word in what):
                where = f"{what}: {name}, number {place} of kernel {kernel}"
                found.append((where, session.fork(unproven=True), (int(kernel), place, change)))
    return found


def mutants(
    session: Session, changes: Mapping[str, Change] = CHANGES, order: random.Random | None = None
) -> Iterator[tuple[str, Session]]:
    """Sessions with one change each in the module, which upstream's verifier accepts; from first to last, or in another `order`."""
    places = list(range(len(list(operations(session.module.operation)))))
    for what, change in changes.items():
        for place in places if order is None else order.sample(places, len(places)):
            module = clone_module(session.module)
            with module.context, ir.Location.unknown():
                op = list(operations(module.operation))[place]
                where = f"{what}: {op.name}, number {place}"
                if not change(op) or not module.operation.verify():
                    continue
            other = session.fork(unproven=True, state=replace(session.state, version=Version(module, untidy=True)))
            yield where, other
