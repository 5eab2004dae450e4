"""The host program under interpretation: its values so far, the plan so far, and the table of rules
for ops.

The rules are in `arithmetic.py`, `memory.py` and `kernels.py`: one small function per op, found by
the op's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.records import record
from ...interpreter.ir.functions import ASSUMED, argument_attributes, most_of, multiples_of, sizes_of, symbol
from ...interpreter.ir.mlir import ancestors, ir, operations
from ...interpreter.ir.refusing import describe
from ...interpreter.memory.names import numbered
from ..cuda.function import FunctionText
from ..cuda.module import KernelFunction, Unit, texts_of
from ..cuda.values.blocks import is_folded
from ..form.kernel_form import refuse, registrar
from ..plan.plan import (
    Alloc,
    AnyStep,
    Assumption,
    Buffer,
    BufferView,
    Copy,
    DimOf,
    Fill,
    Launch,
    Scalar,
    Size,
    TensorMapOf,
    Value,
    used_buffers,
)
from ..plan.resolve import fold
from .functions import launches


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes, folded if they are numbers."""
    return reduce(partial(fold, "mul"), sizes, 1)


def row_major(shape: Sequence[Size]) -> tuple[Size, ...]:
    """The strides of a contiguous buffer."""
    return tuple(product(shape[i + 1 :]) for i in range(len(shape)))


def subview(view: BufferView, offsets: Sequence[Size], sizes: Sequence[Size], strides: Sequence[Size]) -> BufferView:
    """`memref.subview`, before rank reduction."""
    offset = view.offset
    for start, stride in zip(offsets, view.strides, strict=True):
        offset = fold("add", offset, fold("mul", start, stride))
    stepped = tuple(fold("mul", step, stride) for step, stride in zip(strides, view.strides, strict=True))
    return BufferView(view.buffer, offset, tuple(sizes), stepped)


MAX_STEPS = 100_000
TOKEN_TYPE = "!gpu.async.token"
MAX_DEPTH = 32


@record
class TokenValue:
    """The value of a `!gpu.async.token`: the numbers of the steps that happen before it."""

    steps: frozenset[int] = frozenset()


@record
class Claim:
    """A comparison of a size of a result argument with another size: the value `value` states that
    `of` equals `equal`."""

    value: ir.Value
    of: DimOf
    equal: Size


HostValue = Value | BufferView | TensorMapOf | TokenValue | Claim
Env = dict[ir.Value, HostValue]


@dataclass
class Host:
    """The plan under construction, and the host program's values so far."""

    module: ir.Module
    kernels: Mapping[str, KernelFunction]
    """By symbol, `module::function`."""
    taken: Set[str] = frozenset()
    """Buffer names of other versions of the program."""
    is_version: bool = False
    """There are other versions: where an assumption about a size does not hold, a run takes another
    one."""
    buffers: dict[str, Buffer] = field(default_factory=dict)
    scalars: list[Scalar] = field(default_factory=list)
    steps: list[AnyStep] = field(default_factory=list)
    needs: list[frozenset[int]] = field(default_factory=list)
    """For each step, the numbers of the steps that must complete before it. Program order satisfies
    them."""
    issuers: list[ir.Operation] = field(default_factory=list)
    """For each step, the op that issues it."""
    launched: set[str] = field(default_factory=set)
    shapeless: set[str] = field(default_factory=set)
    """Results with a shape that only the copy to them will determine."""
    constants: dict[str, str] = field(default_factory=dict)
    """Symbol → buffer."""
    values: Env = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)

    written: dict[str, list[FunctionText]] = field(default_factory=dict)
    """Texts that were requested with `texts`."""

    depth: int = 0
    waited: frozenset[int] = frozenset()
    """The steps that the host waited for last, which happen before all later steps."""
    epoch: int = 0
    """Number of waits of the host; `epochs` has it for each step at its issue."""
    epochs: list[int] = field(default_factory=list)
    allocated: dict[str, int] = field(default_factory=dict)
    ordered: set[int] = field(default_factory=set)
    """Steps with a token."""

    def fresh(self, base: str | None) -> str:
        """A free buffer name: `base`, `base_2`, …; `temp0`, `temp1`, … without a base."""
        return next(name for name in numbered(base) if name not in self.buffers and name not in self.taken)

    def texts(self, symbol: str) -> list[FunctionText]:
        """The parameters and conditions of a kernel's texts: none without dynamic sizes, and none
        if the text cannot be emitted, since the simulator may support its ops nevertheless."""
        if symbol not in self.written:
            kernel = self.kernels[symbol]
            self.written[symbol] = [FunctionText(kernel.name, "", (), (), is_folded(kernel.op))]
            if kernel.has_open_sizes or sizes_of(kernel.op, "known_grid_size") is None:
                with suppress(WeftError):
                    self.written[symbol] = texts_of(kernel, Unit(), [])
        return self.written[symbol]

    def run_function(
        self, function: ir.Operation, arguments: Sequence[HostValue], caller: ir.Operation
    ) -> list[HostValue]:
        """Interprets a function on `arguments`; returns its results."""
        if self.depth >= MAX_DEPTH:
            raise refuse("W0731", f"@{symbol(function)} calls itself, or calls are nested {MAX_DEPTH} deep", caller)
        self.depth += 1
        body = function.regions[0].blocks[0]
        for value, argument in zip(body.arguments, arguments, strict=True):
            self.assume(value, argument, function)
        self.values.update(zip(body.arguments, arguments, strict=True))
        returned = self.run_block(body)
        self.depth -= 1
        return returned

    def assume(self, argument: ir.Value, given: HostValue, user: ir.Operation) -> None:
        """Records the assumptions stated about the sizes of an argument, to be checked now or
        before each run."""
        if not isinstance(given, BufferView) or given.buffer in self.shapeless:
            return
        rank = len(given.shape)
        texts = [ir.StringAttr(text).value for text in argument_attributes(argument).get(ASSUMED, ())] or [""] * rank
        multiples, most = multiples_of(argument) or [1] * rank, most_of(argument) or [-1] * rank
        for size, multiple, largest, by in zip(given.shape, multiples, most, texts, strict=True):
            self.expect(Assumption(size, multiple, by), user)
            if largest >= 0:
                self.expect(Assumption(size, 1, by, largest), user)

    def expect(self, wanted: Assumption, user: ir.Operation) -> None:
        """Checks an assumption now if its size is known, else records it for a check before each
        run. Raises W0739."""
        if isinstance(wanted.size, int):
            if wanted.holds(wanted.size):
                return
            if not self.is_version:
                raise refuse("W0739", f"a size is {wanted.size}, and the kernels are made for {wanted.made_for}", user)
        if not wanted.holds_always and not any(known.implies(wanted) for known in self.assumptions):
            self.assumptions.append(wanted)

    def run_block(self, block: ir.Block) -> list[HostValue]:
        """Interprets the ops of a block; returns the operands of its terminator."""
        for op_view in block.operations:
            op = op_view.operation
            if op.name in TERMINATORS:
                return [self.value(v, op) for v in op.operands]
            rule = RULES.get(op.name)
            if rule is None:
                raise self.unmapped(op)
            results = rule(self, op)
            self.values.update(zip(op.results, results, strict=True))
        return []

    def value(self, value: ir.Value, user: ir.Operation) -> HostValue:
        if value not in self.values:
            raise refuse("W0734", f"operand {value} of {user.name} is not known on the host", user)
        return self.values[value]

    def size(self, value: ir.Value, user: ir.Operation) -> Size:
        """The integer (or expression) of an operand. Raises W0734."""
        found = self.value(value, user)
        if isinstance(found, BufferView | TensorMapOf | TokenValue | Claim | float):
            raise refuse("W0734", f"{user.name} needs an integer", user)
        return found

    def number(self, value: ir.Value, user: ir.Operation, what: str) -> int:
        """An integer that must be known at planning time. Raises W0734."""
        found = self.size(value, user)
        if not isinstance(found, int):
            hint = "make it an `arith.constant`, or move the op into a kernel"
            raise refuse("W0734", f"{what} of {user.name} depends on an input's shape or on a scalar", user, hint)
        return found

    def view(self, value: ir.Value, user: ir.Operation) -> BufferView:
        found = self.value(value, user)
        if not isinstance(found, BufferView):
            raise refuse("W0731", f"{user.name} needs a memref", user)
        if found.buffer in self.shapeless:
            message = f"the shape of the result `{found.buffer}` is not known when {user.name} uses it"
            raise refuse("W0735", message, user, "give the result a static shape, such as `memref<64x128xf32>`")
        return found

    def give_size(self, claim: Claim) -> None:
        """Sets a result's size along one axis to the stated value."""
        size, (buffer, view) = claim.of, (self.buffers[claim.of.buffer], self.values[claim.value])
        shape = tuple(claim.equal if own == size else own for own in buffer.shape)
        self.buffers[buffer.name] = replace(buffer, shape=shape)
        self.values.update({value: claim.equal for value, found in self.values.items() if found == size})
        if isinstance(view, BufferView):
            self.values[claim.value] = BufferView(buffer.name, 0, shape, row_major(shape))
        if not any(isinstance(own, DimOf) and own.buffer == buffer.name for own in shape):
            self.shapeless.discard(buffer.name)

    def issue(self, step: AnyStep, op: ir.Operation) -> list[HostValue]:
        """Appends a step for `op`. Returns the op's token; without one, the host waits for a
        launch, copy or fill."""
        if len(self.steps) >= MAX_STEPS:
            raise refuse("W0736", f"the host program has more than {MAX_STEPS} steps", op)
        tokens = [value for v in op.operands if isinstance(value := self.values.get(v), TokenValue)]
        own = any(str(r.type) == TOKEN_TYPE for r in op.results)
        number = len(self.steps)
        self.steps.append(step)
        self.needs.append(self._ordering(tokens) | self._allocations(step))
        self.epochs.append(self.epoch)
        self.issuers.append(op)
        if isinstance(step, Alloc):
            self.allocated[step.buffer] = number
        if own:
            self.ordered.add(number)
            return [TokenValue(frozenset({number}))]
        if isinstance(step, Launch | Copy | Fill):
            self.wait(TokenValue(frozenset({number})))
        return []

    def _ordering(self, tokens: Sequence[TokenValue]) -> frozenset[int]:
        """The steps that happen before, by these tokens and the host's last wait; tokens of this
        epoch imply the latter."""
        steps = frozenset().union(*(t.steps for t in tokens))
        return steps if any(self.epochs[s] == self.epoch for s in steps) else steps | self.waited

    def _allocations(self, step: AnyStep) -> frozenset[int]:
        used = set() if isinstance(step, Alloc) else used_buffers(step)
        return frozenset(self.allocated[name] for name in used & self.allocated.keys())

    def wait(self, token: TokenValue) -> None:
        """Makes the host wait for the token's steps."""
        self.waited = self._ordering([token])
        self.epoch += 1

    def unmapped(self, op: ir.Operation) -> WeftError:
        """The error for an op that the host cannot run: computations belong in kernels."""
        if op.name == "gpu.launch":
            hint = '`run-pass "gpu-kernel-outlining"` makes a kernel of it'
            return refuse("W0731", "this gpu.launch is not outlined", op, hint)
        if PADDED_COPY in op.attributes:
            return self._padded_copy(op)
        if not launches(self.module.operation) or op.name.startswith("linalg.") or op.name in PARALLEL:
            hint = "`map` it, or the loop around it, and `launch` it"
            others = [describe(other) for other in _others_left(op)]
            if others:
                hint = "`map` each, or the loop around it, and `launch` it; `weft:rest` schedules all that are left"
            more = [f"and {len(others) - LISTED} more"] if len(others) > LISTED else []
            notes = [f"neither is {other}" for other in others[:LISTED]]
            return refuse("W0730", f"{describe(op)} is in no launch", op, hint, *notes, *more)
        message = f"{describe(op)} is in no launch, and a run does nothing on the host between launches"
        hint = "move it into a kernel by `map` and `launch`; or return the buffer, and continue outside of it"
        if op.name in ("affine.for", "affine.if"):
            message = f"{describe(op)} is in no launch, and the host runs the control flow of scf"
            hint = f'`run-pass "func.func(lower-affine)"`, after the launches, makes {op.name.replace("affine", "scf")} of it'
        return refuse("W0730", message, op, hint)

    def _padded_copy(self, op: ir.Operation) -> WeftError:
        """The error for an unmapped copy that upstream made of a `tensor.pad`."""
        pad = f"tensor.pad{describe(op).removeprefix(op.name)}"
        reason, hint = (ir.StringAttr(text).value for text in ir.ArrayAttr(op.attributes[PADDED_COPY]))
        message = f"{pad} is a copy, and what fills it is in no launch"
        return WeftError(Diagnostic("W0730", message, notes=(f"not read through: {reason}",), hint=hint, payload=pad))


def _is_left(op: ir.Operation) -> bool:
    """Whether the host cannot run an op that a schedule can map and launch."""
    return (op.name.startswith("linalg.") or op.name in PARALLEL) and op.name not in RULES


def _others_left(first: ir.Operation) -> list[ir.Operation]:
    """The other such ops of the function, without those inside one another."""
    function = next(one for one in ancestors(first) if one.name == "func.func")
    found = [op for op in operations(function) if _is_left(op) and op != first]
    return [op for op in found if not any(map(_is_left, ancestors(op)))]


LISTED = 10
"""The number of other ops that a diagnostic names."""
PADDED_COPY = "weft.padded_copy"
"""Attribute of a `linalg.map` that fills a padded copy: the reason why the `tensor.pad` is a copy,
and the way out."""

PARALLEL = {"scf.forall", "scf.parallel", "affine.parallel"}
"""Loops that a schedule can map and launch."""
TERMINATORS = {"func.return", "scf.yield", "affine.yield", "memref.alloca_scope.return"}
Rule = Callable[[Host, ir.Operation], Sequence[HostValue]]
RULES: dict[str, Rule] = {}
rule = registrar(RULES)
