"""Instructions as records: the memory that an instruction accesses, the threads that execute it
together, its ordering, and the first chip that has it.

Each module of `lanes`, `ampere/` and `hopper/` registers its records, and `queries` derives the
sets that readers need. An op of a GPU dialect without a record is unknown: it may have any effect,
and is refused.
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
    """An access of an instruction. `operand`: the position of its memref among the operands (for an
    allocation: among the results); `data`: the position of the stored value, if there is one."""

    kind: Kind
    operand: int
    footprint: Footprint = "whole"
    data: int | None = None
    certain: bool = True


@record
class MemoryEffect:
    """An access of one memref by an op.

    Args:
        kind: `atomic` reads and writes in one step, and does not conflict with other atomic
            accesses.
        value: the memref; or a tensor map or a matrix descriptor, which represents the memory from
            which it was made.
        footprint: `element`: consecutive elements, as many as `moved` has, from the indices after
            the memref on (mapped by the attribute `map`, if there is one); `transfer`: as in
            `vector.transfer_read`; `matrix`: rows from these indices on, which the lanes of a warp
            access together (`fragments.warp_matrix`); `whole`: all elements; `anywhere`: unknown
            elements.
        first: the position of the first index among the operands.
        moved: the type of the value read or written, a vector or an element.
        certain: every element of the footprint is accessed (no mask).
        update: the operation of an atomic access, as a word, if the old value is not used. Equal
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
        does: its description in the table of the normal form; empty: it is not in the normal form.
        since: the compute capability that introduced the instruction, times 10; 0: every chip has
            it.
        only: no later chip has it.
        takes: the threads that must execute it together: all of them or none.
        agent: the kind of asynchronous work that it starts, or commits and waits for. Such work
            runs concurrently with its threads.
        orders: its effect on the order of other accesses; an op with such an effect must not be
            moved across other ops.
        accesses: rules, or a function of the op that gives its accesses (None: unknown); empty: it
            accesses no memory through a memref.
        shows: the way in which its result is a view of its first operand's memory, or represents
            that memory (`memory/views.VIEWS`).
        text: its CUDA C++ text, a call of a device function. Names in braces represent operands and
            integer attributes of the op, the address of its memory barrier (`barrier`), and words
            from its attributes, such as `_read`. Empty: the text depends on more than that.
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
    """Registers a record, and returns the name of its op.

    Raises:
        ValueError: the op has a record.
    """
    if row.op in INSTRUCTIONS:
        raise ValueError(f"{row.op} is registered twice")
    INSTRUCTIONS[row.op] = row
    return row.op
