"""Bodies of structured ops: nested ops, arithmetic, masks; beside those of loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from ....dsl.records import record
from ...indices.linear import Linear, Symbol
from ...indices.values import Values
from ...ir.mlir import attributes, ir, made_by, operations, ops_of, producer, users
from ...ir.structured import body_of, loop_outputs, segments, yielded


def conjuncts(condition: ir.Value) -> list[ir.Value]:
    """The conjuncts of a condition."""
    made = made_by(condition, "arith.andi")
    return [condition] if made is None else [part for operand in made.operands for part in conjuncts(operand)]


def inside(block: ir.Block, name: str) -> list[ir.Operation]:
    """The ops with a name in a body, in program order."""
    found: list[ir.Operation] = []
    for op in ops_of(block):
        found += [op] if op.name == name else []
        found += [inner for region in op.regions for nested in region.blocks for inner in inside(nested, name)]
    return found


def choice_of(value: ir.Value) -> tuple[ir.Operation, int, ir.Attribute | None] | None:
    """The choice (a `select` or a branch) between a value, or arithmetic of it alone, and a
    constant: the op, the value's arm, and the constant, if it is one."""
    while len(asked := users(value)) == 1:
        (user,) = asked
        if user.name == "arith.select" and value in list(user.operands)[1:]:
            arm = list(user.operands)[1:].index(value)
            other = made_by(user.operands[2 - arm], "arith.constant")
            return None if other is None else (user, arm, other.attributes["value"])
        if user.name == "scf.yield" and user.parent.operation.name == "scf.if":
            choice, number = user.parent.operation, list(user.operands).index(value)
            blocks = [region.blocks[0] for region in choice.regions if len(region.blocks)]
            arm = blocks.index(user.block)
            ends = ops_of(blocks[1 - arm])[-1] if len(blocks) == 2 else None
            other = None if ends is None else made_by(ends.operands[number], "arith.constant")
            return choice, arm, None if other is None else other.attributes["value"]
        if len(user.results) != 1 or len(user.regions):
            break
        value = user.results[0]
    return None


_OF_NUMBERS = ("addf", "addi", "subf", "subi", "mulf", "muli", "divf", "divsi", "divui", "negf", "maximumf", "minimumf", "maxnumf",
               "minnumf", "maxsi", "maxui", "minsi", "minui", "andi", "ori", "xori", "remf", "cmpf")  # fmt: skip


def is_of_data(value: ir.Value, body: ir.Block | None = None) -> bool:
    """Whether a value depends on loaded data, or on block arguments of a body."""
    made = producer(value)
    if made is None:
        return body is not None and value.owner == body
    return made.name in ("memref.load", "scf.if") or any(is_of_data(operand, body) for operand in made.operands)


def computes(op: ir.Operation) -> Counter[str]:
    """The arithmetic on data in the body of a structured op that results depend on, and choices
    between data, each once: not index arithmetic or masks."""
    found: Counter[str] = Counter()
    used, seen = live(op), dict[object, ir.Value]()
    same: dict[ir.Value, ir.Value] = {}
    for view in body_of(op).operations:
        inner = view.operation
        dialect, _, name = inner.name.partition(".")
        chooses = inner.name in ("arith.cmpi", "arith.select")
        if not chooses and dialect != "math" and (dialect != "arith" or name not in _OF_NUMBERS):
            continue
        operands = tuple(same.get(operand, operand) for operand in inner.operands)
        first = seen.setdefault((inner.name, operands, str(inner.attributes)), inner.results[0])
        if inner not in used or first != inner.results[0]:
            same[inner.results[0]] = first
            continue
        flag = chooses or str(inner.results[0].type) in ("i1", "index")
        asked = list(inner.operands)[: 1 if inner.name == "arith.select" else None]
        found[inner.name] += not flag or any(is_of_data(operand, body_of(op)) for operand in asked)
    return found


def live(op: ir.Operation) -> set[ir.Operation | ir.Value]:
    """The ops and arguments of the body of a structured op that its results depend on."""
    found = dict[ir.Operation | ir.Value, None]()
    waiting = [ops_of(body_of(op))[-1]]
    for inner in waiting:
        for part in (inner, *operations(inner)) if len(inner.regions) else (inner,):
            for operand in part.operands:
                made = producer(operand)
                found.setdefault(operand)
                if made is not None and made not in found:
                    found.setdefault(made)
                    waiting.append(made)
    return set(found)


CASTS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci")
"""Conversions: their operand is the same element."""


def through_casts(value: ir.Value) -> ir.Value:
    """The operand of conversions."""
    while (cast := made_by(value, *CASTS)) is not None:
        value = cast.operands[0]
    return value


def hands_on(op: ir.Operation, number: int) -> bool:
    """Whether an output is an input, or a value that the body loads, unchanged."""
    value = through_casts(yielded(op)[number])
    made = producer(value)
    if made is not None and made.name == "arith.select" and made_by(made.operands[2], "arith.constant") is not None:
        made = producer(made.operands[1])
    if made is None:
        return True
    while made is not None and made.name == "scf.if":
        ends = ops_of(made.regions[0].blocks[0])
        made = producer(ends[-1].operands[0])
    return made is not None and made.name in ("memref.load", "tensor.extract")


@record(eq=False)
class CarriedBody:
    """The body of a loop of the payload that carries numbers, beside that of the structured op that
    executes it.

    Args:
        nest: the loop, and those inside that it consists of.
        point: the iteration of the payload.
        same_result: whether a value of the payload is a loop's result, and one of the kernel, too.
        terms: of a `scf.reduce`, by the argument of its combiner.
    """

    nest: Sequence[ir.Operation]
    op: ir.Operation
    values: Values
    point: Mapping[Symbol, Linear]
    same_result: Callable[[ir.Value, ir.Value], bool]
    terms: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def is_same(self) -> bool:
        """Whether both yield the same of the same."""
        inputs, _ = segments(self.op)
        mine, loop = list(body_of(self.op).arguments), self.nest[-1]
        its = [op for each in self.nest for op in ops_of(body_of(each))]
        loads = {str(each.location): each.results[0] for each in its if each.name == "memref.load"}
        reduce, before = its[-1], loop_outputs(loop)
        if reduce.name == "scf.reduce":
            before = [region.blocks[0].arguments[0] for region in reduce.regions]
            merged = (region.blocks[0].arguments[1] for region in reduce.regions)
            self.terms.update(zip(merged, reduce.operands, strict=True))
        pairs = dict(zip(before, mine[inputs:], strict=True))
        for argument in mine[:inputs]:
            if str(argument.location) in loads:
                pairs[loads[str(argument.location)]] = argument
        ends = yielded(loop)
        if reduce.name == "scf.reduce":
            ends = [ops_of(region.blocks[0])[-1].operands[0] for region in reduce.regions]
        return all(self._same(one, other, pairs) for one, other in zip(ends, yielded(self.op), strict=True))

    def is_same_value(self, one: ir.Value, other: ir.Value) -> bool:
        """Whether a value outside of the loop, and one outside of the op, are computed equally."""
        return self._same(one, other, {})

    def _same(self, one: ir.Value, other: ir.Value, pairs: dict[ir.Value, ir.Value]) -> bool:
        """Whether a value of the loop, and one of the op, are computed equally."""
        one = self.terms.get(one, one)
        if one in pairs:
            return pairs[one] == other
        number = isinstance(one.type, ir.IndexType | ir.IntegerType)
        if number and self.values.linear(one).put(self.point) == self.values.linear(other):
            return True
        if self.same_result(one, other):
            return True
        mine, its = producer(one), producer(other)
        if mine is None or its is None or mine.name != its.name or len(mine.regions) != len(its.regions):
            return False
        if _properties(mine) != _properties(its):
            return False
        if mine.name == "memref.load" or len(mine.regions):  # accesses are compared on their own
            return str(mine.location) == str(its.location)
        pairs[one] = other
        return all(self._same(*each, pairs) for each in zip(mine.operands, its.operands, strict=True))


def _properties(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: value for name, value in attributes(op).items() if not name.startswith("weft.")}
