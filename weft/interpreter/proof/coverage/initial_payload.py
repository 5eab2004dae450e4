"""The payload at the start of a session, by location: identifies the origin of ops that statements
have rewritten."""

from __future__ import annotations

from dataclasses import field

from ....dsl.records import record
from ...ir.functions import symbol
from ...ir.mlir import ancestors, ir, maker, operations
from ...ir.sizes import Axis, equal_sizes


@record
class Untouched:
    """The payload before the first statement.

    Args:
        functions: by name.
        places: structured ops by location; None where several have one, or none is known.
        nested: accesses, branches and loops in loops of the payload, and loops that carry values, by
            location; None where several have one, or none is known.
        lowered: functions with `scf` loops in place of affine ones, and their accesses and
            branches, once computed.
    """

    functions: dict[str, ir.Operation]
    places: dict[str, ir.Operation | None]
    nested: dict[str, ir.Operation | None]
    lowered: dict[ir.Operation, tuple[ir.Operation, dict[str, ir.Operation]]] = field(default_factory=dict, repr=False)
    _numbers: dict[ir.Operation, dict[ir.Value, int]] = field(default_factory=dict, repr=False)
    _sizes: dict[ir.Operation, list[dict[Axis | int | ir.Value, None]]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, module: ir.Module) -> Untouched:
        """Indexes a module once, so that no statement searches all of it."""
        functions = {symbol(f): f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks) == 1}
        places: dict[str, ir.Operation | None] = {}
        nested: dict[str, ir.Operation | None] = {}
        for function in functions.values():
            for op in operations(function):
                dialect, _, name = op.name.partition(".")
                if dialect == "linalg" and len(op.regions):
                    where = str(op.location)
                    places[where] = op if where not in places and "unknown" not in where else None
                elif dialect in DIALECTS and name in NESTED and (op.parent.operation != function or name in _LOOPS):
                    where = str(op.location)
                    nested[where] = op if where not in nested and "unknown" not in where else None
        return cls(functions, places, nested)

    def same_sizes(self, value: ir.Value, axis: int) -> list[Axis | int | ir.Value]:
        """The axes of a function's arguments with the size of this one, and numbers and index
        values that are equal to it."""
        if (function := maker(value)) not in self._sizes:
            self._sizes[function] = equal_sizes(function)
        groups = (group for group in self._sizes[function] if (value, axis) in group)
        return list(next(groups, [(value, axis)]))

    def number(self, value: ir.Value) -> int:
        """The number of a value in its function, original or lowered: its name in the text would
        take a walk for each."""
        block = value.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.block
        function = next(op for op in (block.owner.operation, *ancestors(block.owner)) if op.name == "func.func")
        if function not in self._numbers:
            ops = list(operations(function))
            passed = (
                value for op in ops for region in op.regions for block in region.blocks for value in block.arguments
            )
            made = (value for op in ops for value in op.results)
            self._numbers[function] = {value: n for n, value in enumerate((*passed, *made))}
        return self._numbers[function][value]


DIALECTS = ("memref", "affine", "scf")
_LOOPS = ("for", "parallel")
NESTED = ("load", "store", "atomic_rmw", "if", *_LOOPS)
"""Accesses of single elements, which identify loops of a payload, branches, and loops; in these
dialects."""
