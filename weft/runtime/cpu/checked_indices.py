"""Checks, while a payload runs on the CPU, of indices that depend on data: an access out of bounds
is recorded, and index 0 is accessed instead.

Machine code that accesses an index outside of the buffer reads or overwrites other memory, or ends
the process. Only indices of unknown range are checked: those read from memory or passed as
arguments, and counters of loops with such bounds. All other indices follow from sizes, and cost
nothing more.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ...interpreter.ir.functions import symbol
from ...interpreter.ir.mlir import arith, func, ir, memref, operations, scf
from ...interpreter.ir.refusing import describe
from ...interpreter.memory.effects import accesses
from ...interpreter.memory.layouts import mixed, value_name
from ...interpreter.memory.views import VIEWS, root_memref
from ...interpreter.proof.data_indices import DataIndices
from ..devices.report import FAULT_CODES, WAYS_OUT, FaultKind, out_of_bounds
from ..plan.signature import Argument
from .kernel import LEADING, SERIAL
from .machine_code import invoke
from .threads import constant

RECORD, ADDRESS = "weft_out_of_bounds", "weft_address_out_of_bounds"
"""The global with the first access out of bounds (the number of its site, from 1, then its indices,
then the numbers of indices that are allowed), and a function that returns its address."""


@record
class CheckedAccess:
    """An access that is checked. `buffer`: the buffer's name for users; `rank`: the number of
    indices."""

    kind: FaultKind
    op: str
    buffer: str
    rank: int


@record
class _Index:
    """An index of an access.

    Args:
        value: the first position.
        width: the number of positions that are accessed from there on; 1 if it is not known.
        operand: the number of the operand that is `value`; None for a constant.
    """

    value: int | ir.Value
    width: int
    operand: int | None


@dataclass
class CheckedIndices:
    """The checks of a payload.

    Args:
        entry: the symbol of the function that runs.
        names: the names of its arguments.
        sites: the accesses that are checked.
        record: the contents of `RECORD`, once the module is linked.
    """

    entry: str
    names: Sequence[str]
    sites: list[CheckedAccess] = field(default_factory=list)
    record: ctypes.Array[ctypes.c_int64] | None = None

    def insert(self, module: ir.Module) -> None:
        """Inserts the checks into a module of loops that access memrefs."""
        entry = next(op.operation for op in module.body if symbol(op) == self.entry)
        names = dict(zip(entry.regions[0].blocks[0].arguments, self.names, strict=True))
        serial = (op for op in operations(module.operation, "func.func") if SERIAL in op.attributes)
        data = DataIndices({size for op in serial for size in list(op.regions[0].blocks[0].arguments)[:LEADING]})
        found = [(op, access) for op in operations(module.operation) if (access := _open(op, data))]
        if not found:
            return
        with module.context, ir.Location.unknown():
            word = ir.IntegerType.get_signless(64)
            shape = [1 + 2 * max(len(indices) for _, (_, indices) in found)]
            kind = ir.MemRefType.get(shape, word)
            nothing = ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get(shape, word), ir.IntegerAttr.get(word, 0))
            with ir.InsertionPoint.at_block_begin(module.body):
                memref.GlobalOp(RECORD, kind, initial_value=nothing)
                address = func.FuncOp(ADDRESS, ([], [ir.IndexType.get()]))
                address.operation.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            with ir.InsertionPoint(address.add_entry_block()):
                func.ReturnOp([memref.extract_aligned_pointer_as_index(memref.get_global(kind, RECORD))])
            for op, (memory, indices) in found:
                root = root_memref(memory)
                writes = any(access.kind != "read" for access in accesses(op) or ())
                fault: FaultKind = "out-of-bounds write" if writes else "out-of-bounds read"
                self.sites.append(CheckedAccess(fault, describe(op), names.get(root) or value_name(root), len(indices)))
                with ir.InsertionPoint(op), op.location:
                    _check(op, memory, indices, kind, len(self.sites))

    def find_record(self, engine: Any) -> None:
        """Finds the record in the memory of the compiled module."""
        if self.sites:
            (address,) = invoke(engine, ADDRESS, [], [], [Argument("address", "i64", None, "output")])
            most = max(site.rank for site in self.sites)
            self.record = (ctypes.c_int64 * (1 + 2 * most)).from_address(int(address))

    def begin(self) -> None:
        """Clears the record, before a call."""
        if self.record is not None:
            self.record[0] = 0

    def expect_inside(self) -> None:
        """Raises W0652 if an access was recorded."""
        if self.record is None or self.record[0] == 0:
            return
        number, *numbers = self.record
        site = self.sites[number - 1]
        where = out_of_bounds(numbers[: site.rank], site.buffer, numbers[site.rank : 2 * site.rank])
        code = FAULT_CODES[site.kind]
        raise fail(code, f"{site.kind} by the payload @{self.entry}: {where}: {site.op}", WAYS_OUT[code])


def _check(op: ir.Operation, memory: ir.Value, indices: Sequence[_Index], record_: ir.Type, number: int) -> None:
    """Emits the check of an access, before the access."""
    kind = ir.MemRefType(memory.type)
    values, counts = list[ir.Value](), list[ir.Value]()
    outside = arith.constant(ir.IntegerType.get_signless(1), 0)
    for axis, index in enumerate(indices):
        size = memref.dim(memory, constant(axis)) if kind.is_dynamic_dim(axis) else constant(kind.get_dim_size(axis))
        values.append(constant(index.value) if isinstance(index.value, int) else index.value)
        counts.append(arith.subi(size, constant(index.width - 1)))
        low = arith.cmpi(arith.CmpIPredicate.slt, values[-1], constant(0))
        high = arith.cmpi(arith.CmpIPredicate.sge, values[-1], counts[-1])
        outside = arith.ori(outside, arith.ori(low, high))
    with ir.InsertionPoint(scf.IfOp(outside).then_block):
        cells = memref.get_global(record_, RECORD)
        zero = arith.constant(record_.element_type, 0)
        first = arith.cmpi(arith.CmpIPredicate.eq, memref.load(cells, [constant(0)]), zero)
        with ir.InsertionPoint(scf.IfOp(first).then_block):
            for place, value in enumerate((constant(number), *values, *counts)):
                memref.store(arith.index_cast(record_.element_type, value), cells, [constant(place)])
            scf.yield_([])
        scf.yield_([])
    for index, value in zip(indices, values, strict=True):
        if index.operand is not None:
            op.operands[index.operand] = arith.select(outside, constant(0), value)


def _open(op: ir.Operation, data: DataIndices) -> tuple[ir.Value, list[_Index]] | None:
    """The memref of an access (or of a view) and its indices; None unless an index depends on data
    and may be out of bounds."""
    if VIEWS.get(op.name) == "subview":
        memory, indices = op.operands[0], list(_of_window(op))
    elif (found := accesses(op)) and found[0].footprint == "element" and found[0].certain:
        memory, first, moved = found[0].value, found[0].first, found[0].moved
        shape = list(ir.VectorType(moved).shape) if isinstance(moved, ir.VectorType) else []
        widths = [1] * (ir.MemRefType(memory.type).rank - len(shape)) + shape
        indices = [_Index(op.operands[first + n], width, first + n) for n, width in enumerate(widths)]
    else:
        return None
    kind = ir.MemRefType(memory.type)
    counts = (None if kind.is_dynamic_dim(axis) else kind.get_dim_size(axis) for axis in range(kind.rank))
    uses = zip(indices, counts, strict=True)
    outside = any(data.may_be_outside(i.value, None if n is None else n - i.width + 1) for i, n in uses)
    return (memory, indices) if outside else None


def _of_window(op: ir.Operation) -> Iterator[_Index]:
    places = itertools.count(1)
    for at, size, stride in zip(*mixed(op, "static_offsets", "static_sizes", "static_strides"), strict=True):
        width = (size - 1) * stride + 1 if isinstance(size, int) and isinstance(stride, int) else 1
        yield _Index(at, width, None if isinstance(at, int) else next(places))
