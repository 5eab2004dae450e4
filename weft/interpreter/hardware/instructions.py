"""Instructions as records: the memory that an instruction accesses, the threads that execute it
together, its ordering, and the first chip that has it.

Each module of `lanes`, `ampere/` and `hopper/` registers its records, and `queries` derives the
sets that readers need. An op of a GPU's dialect without a record is unknown: it may have any
effect, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Literal

from ...dsl.records import record
from ..ir.mlir import ir

Kind = Literal["read", "write", "atomic", "alloc", "free"]
Footprint = Literal["element", "transfer", "matrix", "whole", "anywhere"]
Scope = Literal["thread", "warp", "group", "block", "cluster"]
Agent = Literal["copy", "load", "store", "product"]
Shown = Literal["same", "subview", "transpose", "reinterpret", "bytes", "reshape", "start", "anywhere"]
Order = Literal["create", "init", "arrive", "wait", "meet", "fence", "commit", "drain", "registers"]

DIALECTS = ("nvgpu", "nvvm", "rocdl", "amdgpu")
"""Dialects of one kind of GPU each: with asynchronous ops, and barriers of their own."""


@record
class Rule:
    """An access, by the position of its memref among the operands (for an allocation: among the
    results), and the position of the stored value, if the op stores."""

    kind: Kind
    operand: int
    footprint: Footprint = "whole"
    data: int | None = None
    certain: bool = True


@record
class MemoryEffect:
    """An access of one memref by an op.

    Args:
        kind: `atomic` reads and writes at once, and does not conflict with another atomic access.
        value: the memref, or the tensor map or descriptor of a matrix, which represents the memory
            that it was made of.
        footprint: `element`: at the indices after the memref (mapped by the attribute `map`, if
            there is one), and as many elements from there on as `moved` has; `transfer`: as in
            `vector.transfer_read`; `matrix`: rows from there on, by the lanes of a warp together
            (`fragments.warp_matrix`); `whole`: all of it; `anywhere`: some elements of it.
        first: the position of the first index among the operands.
        moved: the type of the value read or written, a vector or an element.
        certain: every element of the footprint is accessed (no mask).
        update: for an atomic access with an unused old value: its operation, as a word. Equal
            updates commute.
    """

    kind: Kind
    value: ir.Value
    footprint: Footprint = "whole"
    first: int = 0
    moved: ir.Type | None = None
    certain: bool = True
    update: str = ""

    @property
    def count(self) -> int:
        """The number of elements moved at once, for a footprint with indices."""
        return prod(ir.VectorType(self.moved).shape) if isinstance(self.moved, ir.VectorType) else 1

    @property
    def changes(self) -> bool:
        return self.kind != "read"


Accesses = Callable[["ir.Operation"], tuple[MemoryEffect, ...] | None]


@record
class Instruction:
    """The properties of a GPU op.

    Args:
        op: its name.
        does: its description, for the table of the normal form; empty: it is not in the normal
            form.
        since: the compute capability that introduced the instruction, times 10; 0: every chip has
            it.
        only: no later chip has it.
        takes: the threads that execute it together, or none of them.
        agent: the asynchronous work that it starts, or commits and waits for: it runs concurrently
            with its threads.
        orders: its effect on the order of other accesses; an op with an order must keep its place
            among other ops.
        accesses: by position, or a function of the op (None: not known); empty: it accesses no
            memory through a memref.
        shows: how its result is a view of its first operand's memory, or represents it
            (`memory/views.VIEWS`).
        text: its CUDA C++ text, the call of a device function: with names in braces for operands
            and integer attributes of the op, `barrier`, the address of the memory barrier on which
            it operates, and words from its attributes, such as `_read`. Empty: the text depends on
            more than the op's operands.
    """

    op: str
    does: str = ""
    since: int = 0
    only: bool = False
    takes: Scope = "thread"
    agent: Agent | None = None
    orders: Order | None = None
    accesses: tuple[Rule, ...] | Accesses = ()
    shows: Shown | None = None
    text: str = ""

    @property
    def begins(self) -> bool:
        """Whether the instruction starts asynchronous work."""
        return self.agent is not None and self.orders is None


INSTRUCTIONS: dict[str, Instruction] = {}
"""All records, by the op's name; `queries` imports every module that registers records."""


def known(row: Instruction) -> str:
    """Registers a record, and returns its op's name.

    Raises:
        ValueError: the op has a record.
    """
    if row.op in INSTRUCTIONS:
        raise ValueError(f"{row.op} is registered twice")
    INSTRUCTIONS[row.op] = row
    return row.op
