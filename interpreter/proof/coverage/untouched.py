"""The payload as a session has begun with it, by place: what is found again of an op that statements have rewritten."""

from __future__ import annotations

from dataclasses import dataclass

from ...ir.functions import symbol
from ...ir.mlir import ir, operations


@dataclass(frozen=True)
class Untouched:
    """The payload before the first statement.

    Args:
        functions: by name.
        places: structured ops by location; None where several have one, or none is known, or a loop of the payload is around it.
        nested: accesses and branches in loops of the payload by location; None where several have one, or none is known.
    """

    functions: dict[str, ir.Operation]
    places: dict[str, ir.Operation | None]
    nested: dict[str, ir.Operation | None]

    @classmethod
    def of(cls, module: ir.Module) -> Untouched:
        """Index a module once: no statement is to look through all of it."""
        functions = {symbol(f): f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks) == 1}
        places: dict[str, ir.Operation | None] = {}
        nested: dict[str, ir.Operation | None] = {}
        for function in functions.values():
            for op in operations(function):
                dialect, _, name = op.name.partition(".")
                if dialect == "linalg" and len(op.regions):
                    where = str(op.location)
                    alone = op.parent.operation == function and where not in places and "unknown" not in where
                    places[where] = op if alone else None
                elif dialect in DIALECTS and name in NESTED and op.parent.operation != function:
                    where = str(op.location)
                    nested[where] = op if where not in nested and "unknown" not in where else None
        return cls(functions, places, nested)


DIALECTS = ("memref", "affine", "scf")
NESTED = ("load", "store", "atomic_rmw", "if")
"""Accesses of single elements, which loops of a payload are told by, and branches; in these dialects."""
