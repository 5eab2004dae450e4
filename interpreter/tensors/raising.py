"""From memrefs back to tensors: a payload written as linalg ops on memrefs gets values, so that it tiles and fuses like any other.

A function that is a straight line of linalg ops on buffers (arguments, allocations), or on static windows of them, has one current
value per buffer; what goes into a window is inserted into it.
Each op becomes the same op on those values; at the end every argument that was written receives its value
(`bufferization.materialize_in_destination`), in place after bufferization. Arguments are taken as distinct buffers.
"""

from __future__ import annotations

from ..ir.mlir import (
    GAP,
    LOOPS,
    NotLocalError,
    ancestors,
    ir,
    is_used,
    linalg,
    made_by,
    operations,
    run_passes,
    stands_in,
    tensor,
)
from ..ir.structured import body_of, is_structured, operand_names, place_of, segments, structure
from ..memory.layouts import as_tensor, is_plain
from ..padding.gathers import empty
from ..session.rewriter import Rewriter

_ALLOCATIONS = ("memref.alloc", "memref.alloca")
_PLAIN = ("arith.", "math.", "index.")


def raise_to_tensors(rewrite: Rewriter, op: ir.Operation) -> bool:
    """Raise the function around `op`, or where something else stands in it (a launch, a loop) `op` alone.

    Says so and returns True; changes nothing and returns False where not even the op can be raised.
    """
    if not stands_in(op, "func.func"):
        return False
    (function, *_) = ancestors(op)
    gaps = list(operations(function, GAP))
    if gaps and not any(LOOPS in gap.attributes for gap in gaps):
        raise NotLocalError
    whole = _raisable(function)
    if not whole and not (_op_raisable(op) and is_structured(op)):
        return False
    if whole:
        _Raising(body_of(function)).run()
    else:
        _Raising(op.block).run_one(op)
    run_passes(rewrite.module, "cse")
    rewrite.remark("raised from memrefs to tensors (distinct arguments taken as distinct buffers)")
    return True


def obstacle(op: ir.Operation) -> tuple[str, str]:
    """Why an op on memrefs stays there, and what to do about it."""
    names = operand_names(op)
    for name, buffer in zip(names, op.operands, strict=True):
        root = _root(buffer)
        if isinstance(root.type, ir.MemRefType) and not is_plain(root.type):
            what = f"`{name}` is {root.type}" if root == buffer else f"`{name}` is a window of {root.type}"
            return (
                f"{what}, a buffer with a layout, which no tensor has",
                "take a buffer without a layout, and its window with `memref.subview` in the function",
            )
        window = _window(buffer)
        if window is not None and not _is_window(window):
            return (
                f"`{name}` is a window of no known place and size, or of fewer axes than its buffer",
                "give its `memref.subview` numbers, and keep every axis",
            )
    if stands_in(op, "func.func") and _overwrites_its_inputs(op):
        return (
            "it reads a buffer elsewhere than where it writes it",
            "give it a result of its own, or copy the input first",
        )
    hint = "use it before `bufferize`, in a function that is a straight line of linalg ops"
    return "its function can't be raised to tensors", hint


def _raisable(function: ir.Operation) -> bool:
    """Whether the function is one block of linalg ops, allocations and scalar arithmetic, on whole static buffers."""
    if len(function.regions[0].blocks) != 1:
        return False
    return all(_op_raisable(op.operation) for op in body_of(function).operations)


def _op_raisable(op: ir.Operation) -> bool:
    if op.name == "func.return":
        return not any(isinstance(v.type, ir.MemRefType) for v in op.operands)
    if op.name in _ALLOCATIONS:
        return not len(op.operands) and all(is_plain(r.type) for r in op.results)  # static sizes
    if op.name == "memref.dealloc" or op.name.startswith(_PLAIN):
        return True
    if op.name == "memref.subview":
        return _is_window(op)
    if op.name == "memref.copy":
        return all(_has_value(v) for v in op.operands) and _root(op.operands[0]) != _root(op.operands[1])
    if not is_structured(op) or _overwrites_its_inputs(op):
        return False
    return all(not isinstance(v.type, ir.MemRefType) or _has_value(v) for v in op.operands)


def _is_window(op: ir.Operation) -> bool:
    """Whether a subview is a window of known place and size of a whole buffer, of the buffer's rank."""
    kinds = [v.type for v in (op.operands[0], op.results[0])]
    ranks = {k.rank for k in kinds if isinstance(k, ir.MemRefType)}
    return len(op.operands) == 1 and is_plain(op.operands[0].type) and len(ranks) == 1


def _window(value: ir.Value) -> ir.Operation | None:
    """The subview that makes `value`."""
    return made_by(value, "memref.subview")


def _root(value: ir.Value) -> ir.Value:
    window = _window(value)
    return value if window is None else _root(window.operands[0])


def _has_value(value: ir.Value) -> bool:
    """Whether a buffer, or a window of one, can have a current value."""
    window = _window(value)
    return is_plain(value.type) if window is None else _is_window(window)


def _overwrites_its_inputs(op: ir.Operation) -> bool:
    """Whether an output is also an input that is read elsewhere than where it is written: values can't say what that does."""
    space = structure(op)
    operands = list(op.operands)
    return any(
        _root(operands[o]) == _root(operands[i]) and (operands[o] != operands[i] or space.maps[o] != space.maps[i])
        for o in range(space.inputs, len(operands))
        for i in range(len(operands))
        if i != o
    )


class _Raising:
    """The walk over one function: `current` is the value of each buffer at this point."""

    def __init__(self, block: ir.Block) -> None:
        self.block = block
        self.current: dict[ir.Value, ir.Value] = {}
        self.written: list[ir.Value] = []

    def run_one(self, op: ir.Operation) -> None:
        """Raise a single op: its buffers become values before it, and what it wrote goes back right after it."""
        after = ir.InsertionPoint.after(op)
        with ir.InsertionPoint(op):
            for buffer in op.operands:
                root = _root(buffer)
                if isinstance(root.type, ir.MemRefType) and root not in self.current:
                    self.current[root] = as_tensor(root)
        self._raise(op)
        self._store_back(after, self.written)

    def run(self) -> None:
        for op in [view.operation for view in self.block.operations]:
            if op.name == "func.return":
                self._store_back(ir.InsertionPoint(op), [b for b in self.written if isinstance(b.owner, ir.Block)])
            elif op.name == "memref.dealloc":
                op.erase()
            elif (op.name == "memref.copy" or is_structured(op)) and any(
                isinstance(v.type, ir.MemRefType) for v in op.operands
            ):
                self._raise(op)  # an op that is on tensors already stays
        for op in [view.operation for view in reversed(list(self.block.operations))]:
            if op.name in (*_ALLOCATIONS, "memref.subview") and not is_used(op.results[0]):
                op.erase()

    def _value(self, buffer: ir.Value) -> ir.Value:
        """The current value of a buffer, or of a window of one, at the insertion point."""
        kind = ir.MemRefType(buffer.type)
        if (window := _window(buffer)) is not None:
            part = ir.RankedTensorType.get(list(kind.shape), kind.element_type)
            return tensor.ExtractSliceOp(
                part, self._value(window.operands[0]), [], [], [], *place_of(window)
            ).result
        if buffer not in self.current:
            made = as_tensor(buffer) if isinstance(buffer.owner, ir.Block) else empty(kind.shape, kind.element_type)
            self.current[buffer] = made
        return self.current[buffer]

    def _raise(self, op: ir.Operation) -> None:
        """The same op on tensors: regions and attributes move over, results appear."""
        with ir.InsertionPoint(op), op.location:
            values = [self._value(v) if isinstance(v.type, ir.MemRefType) else v for v in op.operands]
            if op.name == "memref.copy":
                outputs, results = [op.operands[1]], [linalg.copy(values[0], outs=[values[1]])]
            else:
                inputs, _ = segments(op)
                outputs = list(op.operands)[inputs:]
                attributes = {name: op.attributes[name] for name in op.attributes}
                types = [v.type for v in values[inputs:]]
                made = ir.Operation.create(op.name, types, values, attributes, regions=len(op.regions), loc=op.location)
                for old, new in zip(op.regions, made.regions, strict=True):
                    for block in list(old.blocks):
                        block.append_to(new)
                results = list(made.results)
        for buffer, result in zip(outputs, results, strict=True):
            self._store(buffer, result, op)
        op.erase()

    def _store(self, buffer: ir.Value, value: ir.Value, before: ir.Operation) -> None:
        while (window := _window(buffer)) is not None:
            buffer = window.operands[0]
            with ir.InsertionPoint(before), before.location:
                value = tensor.InsertSliceOp(value, self._value(buffer), [], [], [], *place_of(window)).result
        self.current[buffer] = value
        if buffer not in self.written:
            self.written.append(buffer)

    def _store_back(self, where: ir.InsertionPoint, buffers: list[ir.Value]) -> None:
        noted = {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}
        with where:
            for buffer in buffers:
                operands = [self.current[buffer], buffer]
                ir.Operation.create("bufferization.materialize_in_destination", [], operands, noted)
