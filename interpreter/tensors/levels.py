"""Tensors or memrefs: where an op stands, and how to get it to the level that a statement needs.

From memrefs back to tensors: a payload written as linalg ops on memrefs gets values, so that it tiles and fuses like any other.
A function that is a straight line of linalg ops on buffers (arguments, allocations), or on static windows of them, has one current
value per buffer; what goes into a window is inserted into it. Each op becomes the same op on those values; at the end every
argument that was written receives its value (`bufferization.materialize_in_destination`), in place after bufferization. Arguments
are taken as distinct buffers.
"""

from __future__ import annotations

from itertools import product

from ..ir.functions import given_name, maker, name_of
from ..ir.mlir import (
    GAP,
    LOOPS,
    NotLocalError,
    ahead_of,
    ancestors,
    attributes,
    children,
    ir,
    is_used,
    linalg,
    made_by,
    operations,
    ops_of,
    run_passes,
    stands_in,
    tensor,
)
from ..ir.structured import body_of, is_read, is_structured, operand_names, part_of, place_of, segments, structure
from ..memory.effects import is_memref
from ..memory.layouts import as_tensor, is_plain
from ..memory.names import Written, nameless
from ..memory.views import VIEWS, may_share
from ..session.rewriter import Rewriter
from ..session.statement import Handle


def on_memrefs(op: ir.Operation) -> bool:
    """Whether an op works on memrefs."""
    return any(map(is_memref, op.operands))


def refuse_overlap(rewrite: Rewriter, op: ir.Operation, at: str) -> None:
    """W0396: the op reads what it writes through another view, so that its result depends on the order of its iterations."""
    found = _overlap(op) if is_structured(op) and on_memrefs(op) else None
    if found is not None:
        names = operand_names(op)
        raise rewrite.error(
            "W0396",
            f"`{names[found[0]]}` and `{names[found[1]]}` are views of one buffer that may overlap: what the op reads depends on "
            "which of its iterations ran before",
            op,
            "give the op a result of its own, or copy the input first",
            at=at,
        )


def _overlap(op: ir.Operation) -> tuple[int, int] | None:
    """The numbers of an input and an output that may share elements, but not iteration by iteration; None if there are none."""
    from ..buffers.tiles import structural_key
    from ..proof.hosts.effects import HostValues

    space, operands = structure(op), list(op.operands)
    for written, read in product(range(space.inputs, len(operands)), range(len(operands))):
        a, b = operands[read], operands[written]
        if read == written or not is_read(op, read) or not (is_memref(a) and is_memref(b) and may_share(a, b)):
            continue
        host = HostValues(list(ancestors(op))[-1])
        if all(mine.disjoint(its) for mine in host.windows(a) for its in host.windows(b)):
            continue  # windows of one buffer that have no element in common
        if structural_key(a) != structural_key(b) or space.maps[read] != space.maps[written]:
            return read, written
    return None


def expect_values(rewrite: Rewriter, target: Handle, code: str, what: str) -> ir.Operation:
    """The op of `target`, on tensors; refused where it has to stay on memrefs."""
    op = on_tensors(rewrite, target)
    if on_memrefs(op):
        why, hint = obstacle(op)
        raise rewrite.error(code, f"the {what} is on memrefs, and {why}", op, hint)
    return op


def on_tensors(rewrite: Rewriter, target: Handle) -> ir.Operation:
    """The op of `target`, on tensors where that can be: a payload written on memrefs is raised first, and says so."""
    op = rewrite.find(target)
    return rewrite.find(target) if on_memrefs(op) and debufferize(rewrite, op) else op


_THROUGH = ("tensor.extract_slice", "tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", *VIEWS)


def origin(value: ir.Value, written: Written = nameless) -> str | None:
    """The `weft.name` of the function argument that `value` is a part of; what the text calls it where it was computed."""
    from ..padding.masked_loads import is_masked_load

    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name in _THROUGH:
            value = op.operands[0]
        elif is_masked_load(op) and (images := [o.operands[0] for o in operations(op, "tensor.extract")]):
            value = images[0]
        else:
            return name_of(value) or next(iter(written(op.location)), None)
    function = maker(value)
    return given_name(function, ir.BlockArgument(value).arg_number) if function.name == "func.func" else None


_ALLOCATIONS = ("memref.alloc", "memref.alloca")
_PLAIN = ("arith.", "math.", "index.")


def debufferize(rewrite: Rewriter, op: ir.Operation) -> bool:
    """Raise the function around `op`, or where something else stands in it (a launch, a loop) `op` alone.

    Says so and returns True; changes nothing and returns False where not even the op can be raised.
    """
    if not stands_in(op, "func.func"):
        return False
    (function, *_) = ancestors(op)
    gaps = list(operations(function, GAP))
    if gaps and not any(LOOPS in gap.attributes for gap in gaps):
        raise NotLocalError
    whole = len(function.regions[0].blocks) == 1 and all(map(_op_convertible, children(function)))
    if not whole and not (_op_convertible(op) and is_structured(op)):
        return False
    if whole:
        _Debufferizer(body_of(function)).run()
    else:
        _Debufferizer(op.block).run_one(op)
    run_passes(rewrite.module, "cse")
    rewrite.remark("converted from memrefs to tensors (distinct arguments taken as distinct buffers)")
    return True


def obstacle(op: ir.Operation) -> tuple[str, str]:
    """Why an op on memrefs stays there, and what to do about it."""
    names = operand_names(op)
    for name, buffer in zip(names, op.operands, strict=True):
        root = _root(buffer)
        if is_memref(root) and not is_plain(root.type):
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


def _op_convertible(op: ir.Operation) -> bool:
    """Whether an op is a linalg op, an allocation or scalar arithmetic, on whole static buffers."""
    if op.name == "func.return":
        return not on_memrefs(op)
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
    return all(not is_memref(v) or _has_value(v) for v in op.operands)


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


class _Debufferizer:
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
                if is_memref(root) and root not in self.current:
                    self.current[root] = as_tensor(root)
        self._raise(op)
        self._store_back(after, self.written)

    def run(self) -> None:
        for op in ops_of(self.block):
            if op.name == "func.return":
                self._store_back(ir.InsertionPoint(op), [b for b in self.written if isinstance(b.owner, ir.Block)])
            elif op.name == "memref.dealloc":
                op.erase()
            elif (op.name == "memref.copy" or is_structured(op)) and on_memrefs(op):
                self._raise(op)  # an op that is on tensors already stays
        for op in reversed(ops_of(self.block)):
            if op.name in (*_ALLOCATIONS, "memref.subview") and not is_used(op.results[0]):
                op.erase()

    def _value(self, buffer: ir.Value) -> ir.Value:
        """The current value of a buffer, or of a window of one, at the insertion point."""
        from ..padding.masked_loads import empty

        kind = ir.MemRefType(buffer.type)
        if (window := _window(buffer)) is not None:
            offsets, sizes, strides = place_of(window)
            return part_of(self._value(window.operands[0]), sizes, offsets, strides)
        if buffer not in self.current:
            made = as_tensor(buffer) if isinstance(buffer.owner, ir.Block) else empty(kind.shape, kind.element_type)
            self.current[buffer] = made
        return self.current[buffer]

    def _raise(self, op: ir.Operation) -> None:
        """The same op on tensors: regions and attributes move over, results appear."""
        with ahead_of(op):
            values = [self._value(v) if is_memref(v) else v for v in op.operands]
            if op.name == "memref.copy":
                outputs, results = [op.operands[1]], [linalg.copy(values[0], outs=[values[1]])]
            else:
                inputs, _ = segments(op)
                outputs = list(op.operands)[inputs:]
                types, given = [v.type for v in values[inputs:]], attributes(op)
                made = ir.Operation.create(op.name, types, values, given, regions=len(op.regions), loc=op.location)
                for old, new in zip(op.regions, made.regions, strict=True):
                    for block in list(old.blocks):
                        block.append_to(new)
                results = list(made.results)
        for buffer, result in zip(outputs, results, strict=True):
            while (window := _window(buffer)) is not None:
                buffer = window.operands[0]
                with ahead_of(op):
                    result = tensor.InsertSliceOp(result, self._value(buffer), [], [], [], *place_of(window)).result
            self.current[buffer] = result
            if buffer not in self.written:
                self.written.append(buffer)
        op.erase()

    def _store_back(self, where: ir.InsertionPoint, buffers: list[ir.Value]) -> None:
        noted = {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}
        with where:
            for buffer in buffers:
                operands = [self.current[buffer], buffer]
                ir.Operation.create("bufferization.materialize_in_destination", [], operands, noted)
