"""Mapped loops in which what is combined has been changed, after the last statement and before the kernel is made: a reduction that
goes over too little or too much, twice, from elsewhere, to elsewhere, from another start, or with padding that counts.

Each mutation is made at one place of a module that a schedule has come to; there is an iterator of all.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from weft.dsl.tree import Let, StatementNode
from weft.interpreter.focus.carving import Version
from weft.interpreter.ir import mlir
from weft.interpreter.ir.cloning import clone_module
from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.session.session import Session
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
