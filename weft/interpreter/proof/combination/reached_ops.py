"""The ops of a kernel that a shared reduction's parts reach: they combine parts, or use the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...ir.mlir import ancestors, ir, made_by, maker, ops_of, producer, users
from ...memory.effects import is_memref
from ...memory.table import ALLOCATIONS

LOAD, STORE = "memref.load", "memref.store"


class Reached:
    """Ops that may read a part, or a value derived from parts.

    Args:
        kernel: the op.
        parts: the arrays with each thread's part.

    Attributes:
        begins: for the part of a scan, the private array with its initial value: the previous
            contents, or the identity.
        carried: private arrays from which the value carried to a scan's next round is computed.
        values: values that may be derived from parts, and arrays that may hold them.
        arrays: arrays that may hold parts.
        odd: the arrays that ops other than loads and stores of elements access.
        results: private arrays into which parts are combined. They also hold the initial value of a
            thread's result.
    """

    def __init__(self, kernel: ir.Operation, parts: Iterable[ir.Value]) -> None:
        self.kernel = kernel
        self.parts = list(parts)
        self.begins = {part: array for part in self.parts if (array := _begun_with(part)) is not None}
        self.carried = {
            array for part in self.begins for store in _stores(part) for array in _own_arrays(store.operands[0], 12)
        }
        self.carried -= set(self.parts)
        self.arrays: set[ir.Value] = {*self.parts, *self.begins.values()}
        self.odd: set[ir.Value] = set()
        self.results: set[ir.Value] = set()
        self.ops: set[ir.Operation] = set()
        self.values: set[ir.Value] = set()
        self._blocks: dict[tuple[ir.Operation, int], list[ir.Operation]] = {}
        self._collect()

    def inside(self, op: ir.Operation, region: int) -> list[ir.Operation]:
        """The reached ops directly in a region of an op, in program order."""
        if (op, region) not in self._blocks:
            blocks = op.regions[region].blocks
            self._blocks[op, region] = [o for block in blocks for o in ops_of(block) if o in self.ops]
        return self._blocks[op, region]

    def loads_and_stores(self, op: ir.Operation) -> list[ir.Operation]:
        """Accesses inside an op of arrays that may hold parts."""
        found: list[ir.Operation] = []
        for number in range(len(op.regions)):
            for inner in self.inside(op, number):
                found += [inner] if inner.name in (LOAD, STORE) and array_of(inner) in self.arrays else []
                found += self.loads_and_stores(inner) if len(inner.regions) else []
        return found

    def _collect(self) -> None:
        waiting = list(self.arrays)
        seen = self.values
        seen.update(waiting)
        self.ops.update(made for part in waiting if (made := producer(part)) is not None)

        def wait_for(value: ir.Value) -> None:
            if value not in seen:
                seen.add(value)
                waiting.append(value)

        while waiting:
            value = waiting.pop()
            for op in users(value):
                self.ops.add(op)
                if is_memref(value) and op.name not in (LOAD, STORE, "memref.dealloc"):
                    self.odd.add(value)
                    continue
                if op.name == STORE:
                    array = op.operands[1]
                    if op.operands[0] != value or not _is_own_memory(array):
                        continue
                    if not self._ends(op):
                        self.arrays.add(array)
                        wait_for(array)
                    elif made_by(array, "memref.alloca") is not None and all(
                        u.name in (LOAD, STORE) for u in users(array)
                    ):
                        self.results.add(array)
                elif op.name == "scf.yield":
                    self._handed_on(op, value, wait_for)
                else:
                    for result in op.results:
                        wait_for(result)
                if op.name == "scf.for":
                    for number, init in enumerate(list(op.operands)[3:]):
                        if init == value:
                            wait_for(op.regions[0].blocks[0].arguments[number + 1])
        begin = [store for array in self.results for store in _stores(array) if store not in self.ops]
        self.ops.update(store for store in begin if self._is_followed(store))
        self.results -= {store.operands[1] for store in begin if store not in self.ops}
        around = set[ir.Operation]()
        for part in self.parts:
            around.add(maker(part))
        for op in [*self.ops, *around]:
            for outer in ancestors(op):
                if outer == self.kernel or outer in self.ops:
                    break
                self.ops.add(outer)
        self.ops |= around

    def _is_followed(self, op: ir.Operation) -> bool:
        """Whether the network follows all ops that enclose this one: loops and conditions, and ops
        that it has reached."""
        for outer in ancestors(op):
            if outer == self.kernel or outer in self.ops:
                return True
            if outer.name not in ("scf.if", "scf.for"):
                return False
        return False

    @staticmethod
    def _handed_on(op: ir.Operation, value: ir.Value, wait_for: Callable[[ir.Value], None]) -> None:
        parent = op.parent.operation
        for number, operand in enumerate(op.operands):
            if operand == value:
                wait_for(parent.results[number])
                if parent.name == "scf.for":
                    wait_for(parent.regions[0].blocks[0].arguments[number + 1])

    def _ends(self, store: ir.Operation) -> bool:
        """Whether a store combines parts with the previous contents of the array, which then holds
        a result and no longer parts."""
        array = store.operands[1]
        return array not in self.arrays and array not in self.carried and continues(store)


def array_of(access: ir.Operation) -> ir.Value:
    """The memref of a load or a store of an element."""
    return access.operands[1 if access.name == STORE else 0]


def places_of(access: ir.Operation) -> list[ir.Value]:
    """The indices of a load or a store."""
    return list(access.operands)[2 if access.name == STORE else 1 :]


def _is_own_memory(array: ir.Value) -> bool:
    """Whether the array is private to the kernel: no other op reads it."""
    made = producer(array)
    if made is not None:
        return made.name in ALLOCATIONS
    return "workgroup" in str(ir.MemRefType(array.type).memory_space)


def _stores(array: ir.Value) -> list[ir.Operation]:
    return [op for op in users(array) if op.name == STORE and op.operands[1] == array]


def _begun_with(part: ir.Value) -> ir.Value | None:
    """The array whose element is the initial value of a part, unchanged; None if that is a
    constant."""
    loads = (made_by(store.operands[0], LOAD) for store in _stores(part))
    arrays = (load.operands[0] for load in loads if load is not None)
    return next((array for array in arrays if array != part and made_by(array, "memref.alloca") is not None), None)


def _own_arrays(value: ir.Value, depth: int) -> set[ir.Value]:
    """Private arrays from which arithmetic computes the value."""
    made = producer(value)
    if made is None or not depth:
        return set()
    if made.name == LOAD:
        return {made.operands[0]} if made_by(made.operands[0], "memref.alloca") is not None else set()
    if not made.name.startswith("arith."):
        return set()
    return {array for operand in made.operands for array in _own_arrays(operand, depth - 1)}


def continues(store: ir.Operation) -> bool:
    """Whether the stored value is computed from an element of the same array."""
    return _reads(store.operands[0], store.operands[1], 12)


def _reads(value: ir.Value, array: ir.Value, depth: int) -> bool:
    """Whether the value is computed from an element of the array."""
    made = producer(value)
    if made is None or not depth:
        return False
    if made.name == LOAD:
        return made.operands[0] == array
    return made.name.startswith("arith.") and any(_reads(operand, array, depth - 1) for operand in made.operands)
