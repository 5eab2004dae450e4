"""`async-fork`: the tokens of a host function, rebuilt from the effects of its operations on memory.

The result has a canonical form: a root is `gpu.wait async`; a join is `gpu.wait async [%a, %b]`; no
operation has more than one dependency; each further use of a token goes through a `gpu.wait async
[%t]`, an explicit fork; and one blocking `gpu.wait` ends the function. A loop or branch in which
the host needs no result of the device carries one token (`tokens.py`). Before any other loop or
branch, and at its end, the host waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from ...dsl.records import record
from ..ir import mlir
from ..ir.mlir import ancestors, ir, ops_of
from ..ir.refusing import describe, refuse
from ..memory.effects import goes_through_pointers
from ..proof.hosts.effects import DEVICE, Effects
from ..proof.hosts.events import is_token, takes_a_stream
from ..proof.hosts.windows import Aliasing, HostBuffer, state, stated
from .access_comparison import Compared
from .dependences import Dependences
from .tokens import carrying, made_async, may_be_async, may_carry, strip, token_type, yielding

IN_ORDER = {"scf.for", "scf.while", "scf.if", "affine.for", "affine.if", "memref.alloca_scope"}
"""Host ops whose blocks are executed one after the other."""
HAND_ON = {"scf.for", "scf.if", "scf.yield"}
"""Ops whose tokens come only from operations of this function, so that they can be rebuilt."""

FREES = "memref.dealloc"


@dataclass
class Forked:
    """Result of forking a module: the last blocking wait, and counts."""

    wait: ir.Operation | None = None
    operations: int = 0
    roots: int = 0
    joins: int = 0
    forks: int = 0
    waits: int = 0
    carried: int = 0
    """Loops and branches that carry a token."""
    moved: list[ir.Value] = field(default_factory=list)
    """Buffers whose deallocation was moved after the final wait."""
    assumed: Counter[frozenset[HostBuffer]] = field(default_factory=Counter)
    """The number of orderings due only to two arguments that may overlap, by these."""
    distinct: list[str] = field(default_factory=list)
    """Arguments that were stated to overlap no other."""
    uncompared: int = 0
    """Pairs of operations on one buffer that were ordered without a comparison of their accesses:
    beyond the limit."""


def async_fork(module: ir.Module, noalias: Sequence[str] | None = None) -> Forked:
    """Rebuilds the tokens of every host function with launches.

    Args:
        noalias: the names of arguments that overlap no other memory; empty: all arguments. They get
            `llvm.noalias`. None: any two arguments of a function may overlap, unless their
            attributes exclude it.

    Raises:
        WeftError: W0430 … W0435; the module is then unchanged.
    """
    found = [f for f in mlir.operations(module.operation, "func.func") if _device_ops(f)]
    old = [op for f in found for op in mlir.operations(f) if may_be_async(op) or op.name == "gpu.wait"]
    if all(op.name == "gpu.wait" for op in old) and not any(
        op.name == "gpu.launch" for f in found for op in _device_ops(f)
    ):
        raise refuse(
            "W0430", "the module has no launch, and nothing else that a device does", None, hint="`launch` comes first"
        )
    effects = Effects(module)
    for function in found:
        _expect_readable(function, effects)
    distinct = {} if noalias is None else stated(found, noalias)
    blocks = _read(module, found, effects, set(distinct))
    roots = [root for f in found if (root := strip(f)) is not None]
    if roots:
        blocks = _read(module, found, Effects(module), set(distinct))
    forked = Forked(distinct=list(distinct.values()), uncompared=blocks[0].compared.left_out if blocks else 0)
    for argument in distinct:
        state(argument)
    for block in blocks:  # all are read before the first is rebuilt
        block.rebuild(forked)
    for op in (*reversed(old), *roots):  # tokens go to later ops only: users first
        op.erase()
    return forked


def _read(
    module: ir.Module, functions: Sequence[ir.Operation], effects: Effects, distinct: set[ir.Value]
) -> list[_Block]:
    aliasing, compared = Aliasing(module, distinct), Compared(module, effects)
    return [_Block(function.regions[0].blocks[0], effects, aliasing, compared) for function in functions]


def _device_ops(root: ir.Operation) -> list[ir.Operation]:
    return [op for op in mlir.operations(root) if op.name in DEVICE or op.name == "gpu.wait"]


def _expect_readable(function: ir.Operation, effects: Effects) -> None:
    """Refuses ops without a defined order, or with unknown effects."""
    for op in _device_ops(function):
        for parent in takewhile(lambda around: around != function, ancestors(op)):
            if parent.name not in IN_ORDER:
                raise refuse("W0433", f"{op.name} is in {describe(parent)}, whose order is not known", op,
                               hint="launch from straight code, or from `scf.for`, `scf.while` or"
                                    " `scf.if`")  # fmt: skip
        if op.name == "gpu.launch":
            raise refuse("W0433", "this gpu.launch is not outlined", op,
                           hint='`run-pass "gpu-kernel-outlining"` before `async-fork` makes a kernel of it')  # fmt: skip
        if takes_a_stream(op):
            raise refuse("W0431", "this launch runs on a stream of the caller's", op, hint="launch without `<%stream>`")
    for op in mlir.operations(function):
        if any(len(region.blocks) > 1 for region in op.regions):
            raise refuse(
                "W0433", f"{describe(op)} has several blocks", op, hint="write branches as `scf.if` and `scf.for`"
            )
        if op.name in HAND_ON:
            continue
        if any(is_token(v) for r in op.regions for b in r.blocks for v in b.arguments):
            raise refuse(
                "W0431", f"{op.name} takes a token", op, hint="wait for it where it comes from: `gpu.wait [%t]`"
            )
        if op.name not in DEVICE and op.name != "gpu.wait" and any(is_token(v) for v in (*op.operands, *op.results)):
            raise refuse("W0431", f"{op.name} passes a token on", op, hint="wait for it here: `gpu.wait [%t]`")
    unseen = effects.unseen(function)
    if unseen is not None:
        through = effects.launches_on_pointers(unseen) or goes_through_pointers(unseen)
        raise refuse("W0432", f"the effects of {describe(unseen)} on memory{' through pointers' * through} are"
                              f" not known", unseen,
                       hint="use memrefs instead of `!llvm.ptr`: which memory a pointer means is not known" if through
                       else "give the function a body, or put the kernel's `gpu.module` into this module")  # fmt: skip


@record(eq=False)
class _Item:
    """An op that keeps its place. `number`: that of the operation, if a device executes it;
    `waits`: the operations for which the host waits before it.

    `inner`: its blocks, if it is a loop or a branch.
    """

    op: ir.Operation
    number: int | None = None
    waits: tuple[int, ...] = ()
    inner: tuple[_Block, ...] = ()


class _Block:
    """One block: read as a whole first, rebuilt afterwards. `carries`: it takes a token and yields
    one."""

    def __init__(
        self, block: ir.Block, effects: Effects, aliasing: Aliasing, compared: Compared, *, carries: bool = False
    ) -> None:
        self.block = block
        self.carries = carries
        self.effects, self.aliasing, self.compared = effects, aliasing, compared
        self.dependences = Dependences(aliasing.may_alias, apart=compared.apart)
        if carries:
            self.dependences.start()
        self.done = 0
        self.items: list[_Item] = []
        self.late_frees: list[ir.Operation] = []
        self.final: tuple[int, ...] = ()
        self._freed: dict[HostBuffer, ir.Operation] = {}
        operations = ops_of(block)
        self.terminator = operations[-1]
        for op in operations:
            self._read(op)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def _read(self, op: ir.Operation) -> None:
        if op.name == "gpu.wait":
            return
        found = self.effects.of(op)
        for effect in found:
            if effect.buffer in self._freed:
                raise refuse("W0434", f"{op.name} uses `{effect.buffer.name}`, which is freed before", op,
                               f"move the `{self._freed[effect.buffer].name}` after this"
                               f" `{op.name}`", f"freed by {describe(self._freed[effect.buffer])}")  # fmt: skip
            if effect.kind == "free":
                self._freed[effect.buffer] = op
        if may_be_async(op):
            self.items.append(_Item(op, self.dependences.add(found, self.done, op)))
        elif len(op.regions) and may_carry(op, self.effects):
            inner = tuple(self._inner(region, carries=True) for region in op.regions if len(region.blocks))
            self.items.append(_Item(op, self.dependences.add(found, self.done), inner=inner))
        elif op.name == FREES:
            if self.dependences.needed(found, self.done):
                self.late_frees.append(op)
        elif op == self.terminator:
            everything = (1 << len(self.dependences.direct)) - 1
            self.final = self.dependences.reduced(everything & ~self.done)
        else:
            needed = self.dependences.needed(found, self.done) if found else ()
            inner = (
                tuple(self._inner(r, carries=False) for r in op.regions if len(r.blocks)) if op.name in IN_ORDER else ()
            )
            self.done |= self.dependences.closure(needed)
            if needed or inner:
                self.items.append(_Item(op, waits=needed, inner=inner))

    def _inner(self, region: ir.Region, carries: bool) -> _Block:
        return _Block(region.blocks[0], self.effects, self.aliasing, self.compared, carries=carries)

    # ---- rebuilding --------------------------------------------------------------------------------------------------

    def rebuild(self, forked: Forked, entry: ir.Value | None = None) -> None:
        """Rebuilds the block. `entry`: the token that the block takes, if it carries one."""
        forked.assumed.update(self.dependences.assumed)
        tokens = _Tokens(forked)
        if entry is not None:
            tokens.values[0] = entry
        for item in self.items:
            if item.number is not None:
                tokens.values[item.number] = self._operation(item, item.number, tokens)
                continue
            if item.waits:
                with ir.InsertionPoint(item.op):
                    forked.wait = tokens.blocking(item.waits)
            for block in item.inner:
                block.rebuild(forked)
        if self.final:
            with ir.InsertionPoint(self.terminator):
                if self.carries:
                    yielding(self.terminator, tokens.one(self.final))
                    return
                forked.wait = tokens.blocking(self.final)
        for free in self.late_frees:
            forked.moved.append(free.operands[0])
            free.move_before(self.terminator)

    def _operation(self, item: _Item, number: int, tokens: _Tokens) -> ir.Value:
        """Rebuilds the item's op; returns its token."""
        with ir.InsertionPoint(item.op):
            dependency = tokens.one(self.dependences.direct[number])
            if not item.inner:
                tokens.forked.operations += 1
                made = made_async(item.op, dependency)
                return made.results[len(made.results) - 1]
            made = carrying(item.op, dependency)
        tokens.forked.carried += 1
        arguments = [block.arguments for region in made.regions for block in region.blocks]
        for block, taken in zip(item.inner, arguments, strict=False):
            block.rebuild(tokens.forked, taken[len(taken) - 1] if made.name == "scf.for" else dependency)
        if made.name == "scf.if" and len(item.inner) == 1:
            last = made.regions[1].blocks[0].operations[0].operation
            yielding(last, dependency)
        item.op.erase()
        return made.results[len(made.results) - 1]


@dataclass
class _Tokens:
    """The tokens of the operations so far, and the waits between them."""

    forked: Forked
    values: dict[int, ir.Value] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)

    def one(self, needed: Sequence[int]) -> ir.Value:
        """A single token for all of `needed`."""
        if not needed:
            self.forked.roots += 1
            return self._wait([])
        if len(needed) == 1:
            return self._direct(needed[0])
        self.forked.joins += 1
        return self._wait([self.values[op] for op in needed])

    def blocking(self, needed: Sequence[int]) -> ir.Operation:
        """Makes the host wait for all of them."""
        self.forked.waits += 1
        return ir.Operation.create("gpu.wait", operands=[self._direct(op) for op in needed])

    def _direct(self, op: int) -> ir.Value:
        """A token for a user of the operation: for the first one the operation's token, for any
        other a fork of it."""
        if op not in self.taken:
            self.taken.add(op)
            return self.values[op]
        self.forked.forks += 1
        return self._wait([self.values[op]])

    @staticmethod
    def _wait(operands: list[ir.Value]) -> ir.Value:
        return ir.Operation.create("gpu.wait", results=[token_type()], operands=operands).results[0]
