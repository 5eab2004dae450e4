"""Runs a host function and its kernels op by op, one thread after the other, and keeps a log of every store.

Knows nothing of distributions: it is the judge of them. Threads do not communicate here (no barrier means anything).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.interpreter.ir.mlir import ir, operations


@dataclass
class Buffer:
    """Memory by index; elements that were never stored are whatever `fresh` makes of their index."""

    shape: tuple[int, ...]
    fresh: Callable[[tuple[int, ...]], Any]
    elements: dict[tuple[int, ...], Any] = field(default_factory=dict)

    def load(self, at: tuple[int, ...]) -> Any:
        self._check(at)
        return self.elements.get(at, self.fresh(at))

    def store(self, at: tuple[int, ...], value: Any) -> None:
        self._check(at)
        self.elements[at] = value

    def _check(self, at: tuple[int, ...]) -> None:
        inside = len(at) == len(self.shape) and all(0 <= i < n for i, n in zip(at, self.shape, strict=True))
        assert inside, f"access {at} outside of {self.shape}"


@dataclass(frozen=True)
class Store:
    """One store of the kernel: which block and thread (x, y, z), to which element, of what, how many elements wide."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    buffer: int
    at: tuple[int, ...]
    value: Any
    width: int = 1


@dataclass(frozen=True)
class Place:
    """Where an op runs: the ids and sizes that `gpu` ops ask for."""

    block: tuple[int, int, int] = (0, 0, 0)
    thread: tuple[int, int, int] = (0, 0, 0)
    grid: tuple[int, int, int] = (1, 1, 1)
    threads: tuple[int, int, int] = (1, 1, 1)


class Evaluator:
    """One module; `run` calls its host function `name`."""

    def __init__(self, module: ir.Module) -> None:
        self._functions = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in operations(module.operation, "func.func", "gpu.func")
            if op.name == "func.func"
        }
        self._kernels = {
            (_symbol(op.parent.operation), _symbol(op)): op for op in operations(module.operation, "gpu.func")
        }
        self._constants = {_symbol(op): _filled(op) for op in operations(module.operation, "memref.global")}
        self.stores: list[Store] = []
        self.loads: list[Store] = []
        self.launches: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

    def run(
        self, name: str, arguments: Sequence[Any], *, grid: tuple | None = None, block: tuple | None = None
    ) -> None:
        """Call the function; `grid` and `block` replace the sizes that it launches with."""
        self._override = (grid, block)
        self._numbers = {id(a): n for n, a in enumerate(arguments)}
        function = self._functions[name]
        entry = function.regions[0].blocks[0]
        self._block(entry, dict(zip(entry.arguments, arguments, strict=True)), Place())

    def _launch(self, op: ir.Operation, values: dict, place: Place) -> None:
        sizes = [values[o] for o in list(op.operands)[:6]]
        grid, block = (given or tuple(own) for given, own in zip(self._override, (sizes[:3], sizes[3:6]), strict=True))
        self.launches.append((grid, block))
        path = str(op.attributes["kernel"]).replace("@", "").split("::")
        kernel = self._kernels[path[0], path[1]]
        entry = kernel.regions[0].blocks[0]
        given = [values[o] for o in list(op.operands)[6:]]
        for at in itertools.product(*(range(n) for n in reversed(grid))):
            shared = [_allocate(a.type) for a in list(entry.arguments)[len(given) :]]
            for thread in itertools.product(*(range(n) for n in reversed(block))):
                here = Place(at[::-1], thread[::-1], grid, block)
                self._block(entry, dict(zip(entry.arguments, [*given, *shared], strict=True)), here)

    def _block(self, block: ir.Block, values: dict, place: Place) -> list[Any]:
        for view in block.operations:
            op = view.operation
            if op.name in ("scf.yield", "func.return", "gpu.return"):
                return [values[o] for o in op.operands]
            results = self._op(op, values, place)
            values.update(zip(op.results, results, strict=True))
        return []

    def _op(self, op: ir.Operation, values: dict, place: Place) -> Sequence[Any]:
        name = op.name
        if name == "gpu.launch_func":
            self._launch(op, values, place)
            return ()
        operands = [values[o] for o in op.operands]
        if name == "scf.for":
            return self._for(op, operands, values, place)
        if name == "scf.if":
            regions = [r for r in op.regions if len(r.blocks)]
            chosen = regions[0] if operands[0] else regions[1] if len(regions) > 1 else None
            return self._block(chosen.blocks[0], values, place) if chosen is not None else []
        if name.startswith("gpu."):
            return _hardware(op, place)
        if name in ("memref.store", "vector.store"):
            at = tuple(operands[2:])
            parts = operands[0] if name == "vector.store" else [operands[0]]
            for lane, part in enumerate(parts):
                operands[1].store((*at[:-1], at[-1] + lane) if at else at, part)
            number = self._numbers.get(id(operands[1]), -1)
            self.stores.append(Store(place.block, place.thread, number, at, operands[0], len(parts)))
            return ()
        if name in ("memref.load", "vector.load"):
            lanes = ir.VectorType(op.results[0].type).shape[0] if name == "vector.load" else 1
            at = tuple(operands[1:])
            parts = [operands[0].load((*at[:-1], at[-1] + lane) if at else at) for lane in range(lanes)]
            number = self._numbers.get(id(operands[0]), -1)
            self.loads.append(Store(place.block, place.thread, number, at, None, lanes))
            return [parts if name == "vector.load" else parts[0]]
        if name == "memref.get_global":
            return [self._constants[ir.FlatSymbolRefAttr(op.attributes["name"]).value]]
        return [_pure(op, operands)]

    def _for(self, op: ir.Operation, operands: list[Any], values: dict, place: Place) -> Sequence[Any]:
        lower, upper, step, *carried = operands
        body = op.regions[0].blocks[0]
        for index in range(lower, upper, step):
            values.update(zip(body.arguments, [index, *carried], strict=True))
            carried = self._block(body, values, place)
        return carried


def _symbol(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value


def _allocate(kind: ir.Type) -> Buffer:
    return Buffer(tuple(ir.MemRefType(kind).shape), lambda at: None)


def _filled(op: ir.Operation) -> Buffer:
    """A constant of one dimension."""
    values = list(ir.DenseIntElementsAttr(op.attributes["initial_value"]))
    return Buffer((len(values),), lambda at: values[at[0]])


def _hardware(op: ir.Operation, place: Place) -> Sequence[Any]:
    if op.name in ("gpu.barrier",):
        return ()
    axis = "xyz".index(str(op.attributes["dimension"]).split()[-1].rstrip(">"))
    return [
        {
            "gpu.thread_id": place.thread, "gpu.block_id": place.block, "gpu.block_dim": place.threads, "gpu.grid_dim": place.grid,
        }[op.name][axis]
    ]  # fmt: skip


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divsi": lambda a, b: a // b,
    "arith.remsi": lambda a, b: a % b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.andi": lambda a, b: a & b,
    "arith.addf": lambda a, b: a + b,
    "arith.mulf": lambda a, b: a * b,
    "arith.index_cast": lambda a: a,
    "arith.select": lambda c, a, b: a if c else b,
    "vector.from_elements": lambda *parts: list(parts),
}
_COMPARISONS = [
    lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b,
]  # fmt: skip


def _pure(op: ir.Operation, operands: list[Any]) -> Any:
    if op.name in _ARITHMETIC:
        return _ARITHMETIC[op.name](*operands)
    if op.name == "arith.constant":
        return _constant(op.attributes["value"])
    if op.name == "arith.cmpi":
        return _COMPARISONS[ir.IntegerAttr(op.attributes["predicate"]).value](*operands)
    if op.name.startswith("affine."):
        found = list(_affine(op, operands))
        return {"affine.apply": found[0], "affine.min": min(found), "affine.max": max(found)}[op.name]
    if op.name == "memref.alloca":
        return _allocate(op.results[0].type)
    if op.name == "memref.dim":
        return operands[0].shape[operands[1]]
    if op.name == "vector.extract":
        return operands[0][ir.DenseI64ArrayAttr(op.attributes["static_position"])[0]]
    if op.name == "vector.broadcast":
        return [operands[0]] * ir.VectorType(op.results[0].type).shape[0]
    raise NotImplementedError(f"the test's evaluator does not know {op.name}")


def _constant(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr)):
        return attribute.value
    return [attribute[i] for i in range(len(attribute))]  # type: ignore[index, arg-type]


def _affine(op: ir.Operation, operands: list[int]) -> Iterator[int]:
    mapping = ir.AffineMapAttr(op.attributes["map"]).value

    def evaluate(e: ir.AffineExpr) -> int:
        if isinstance(e, ir.AffineConstantExpr):
            return e.value
        if isinstance(e, ir.AffineDimExpr):
            return operands[e.position]
        if isinstance(e, ir.AffineSymbolExpr):
            return operands[mapping.n_dims + e.position]
        left, right = evaluate(e.lhs), evaluate(e.rhs)
        if isinstance(e, ir.AffineAddExpr):
            return left + right
        if isinstance(e, ir.AffineMulExpr):
            return left * right
        if isinstance(e, ir.AffineModExpr):
            return left % right
        return left // right if isinstance(e, ir.AffineFloorDivExpr) else -(-left // right)

    for result in mapping.results:
        yield evaluate(result)
