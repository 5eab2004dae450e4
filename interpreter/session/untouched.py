"""The payload as a session has begun with it, by place: what is found again of an op that statements have rewritten."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.functions import symbol
from ..ir.mlir import ir, operations


@dataclass(frozen=True)
class Untouched:
    """The payload before the first statement.

    Args:
        functions: by name.
        places: structured ops by location; None where several have one, or none is known, or a loop of the payload is around it.
    """

    functions: dict[str, ir.Operation]
    places: dict[str, ir.Operation | None]

    @classmethod
    def of(cls, module: ir.Module) -> Untouched:
        """Index a module once: no statement is to look through all of it."""
        functions = {symbol(f): f for f in operations(module.operation, "func.func") if len(f.regions[0].blocks) == 1}
        places: dict[str, ir.Operation | None] = {}
        for function in functions.values():
            for op in operations(function):
                if op.name.startswith("linalg.") and len(op.regions):
                    where = str(op.location)
                    alone = op.parent.operation == function and where not in places and "unknown" not in where
                    places[where] = op if alone else None
        return cls(functions, places)
