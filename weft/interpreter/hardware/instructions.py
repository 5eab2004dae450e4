"""An instruction is a record: what it accesses, which threads execute it together, what it orders, since which chip
there is one.

Each module of `lanes`, `ampere/` and `hopper/` registers its records, and `queries` has the sets that readers ask for.
An op of a GPU's dialect without a record is unknown: it may do anything, and is refused.
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
    """An access by the position of its memref among the operands (of an allocation: among the results), and of what is
    stored there, if the op stores."""

    kind: Kind
    operand: int
    footprint: Footprint = "whole"
    data: int | None = None
    certain: bool = True


@record
class MemoryEffect:
    """One thing that an op does to one memref.

    Args:
        kind: `atomic` reads and writes at once, and does not conflict with its like.
        value: the memref, or the tensor map or the descriptor of a matrix, which stands for the memory that it was made
            of.
        footprint: `element`: at the indices behind the memref (mapped by the attribute `map`, if there is one), and as
            many elements from there on as `moved` has; `transfer`: as `vector.transfer_read` says; `matrix`: rows from
            there on, by the lanes of a warp together (`fragments.warp_matrix`); `whole`: all of it; `anywhere`: some
            elements of it.
        first: the position of the first index among the operands.
        moved: the type of what is read or written, a vector or an element.
        certain: every element of the footprint is accessed (no mask).
        update: of an atomic access whose old value is unused: what it does, in a word. In which order equal ones are
            made is open to none.
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
        """How many elements are moved at once, of a footprint that has indices."""
        return prod(ir.VectorType(self.moved).shape) if isinstance(self.moved, ir.VectorType) else 1

    @property
    def changes(self) -> bool:
        return self.kind != "read"


Accesses = Callable[["ir.Operation"], tuple[MemoryEffect, ...] | None]


@record
class Instruction:
    """What an op of a GPU is.

    Args:
        op: its name.
        does: what it does, for the table of the normal form; empty: it is not of the normal form.
        since: the compute capability from which on there is the instruction, times 10; 0: every chip has it.
        only: no later chip has it.
        takes: the threads that execute it together, or none of them.
        agent: the asynchronous work that it starts, or commits and waits for: it continues while its threads do.
        orders: how it orders accesses of others; an op with an order has a place among other ops.
        accesses: by position, or a function of the op (None: not known); empty: it touches no memory that a memref
            shows.
        shows: its result is the memory of its first operand, or stands for it, and how (`memory/views.VIEWS`).
        text: what it is in CUDA C++, the call of a device function: of operands and numbers that the op has, in braces
            by their names, of `barrier`, the address of the memory barrier that it is about, and of words that it says,
            as `_read`. Empty: that depends on more than the op's operands.
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
        """Whether it starts asynchronous work."""
        return self.agent is not None and self.orders is None


INSTRUCTIONS: dict[str, Instruction] = {}
"""All records, by the op's name; `queries` has read every module that registers some."""


def known(row: Instruction) -> str:
    """Registers a record, and gives its op's name.

    Raises:
        ValueError: the op has a record.
    """
    if row.op in INSTRUCTIONS:
        raise ValueError(f"{row.op} is registered twice")
    INSTRUCTIONS[row.op] = row
    return row.op
