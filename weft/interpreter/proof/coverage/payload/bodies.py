"""Bodies of structured ops: nested ops, arithmetic, masks; and their comparison with bodies of
loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field

from .....dsl.records import record
from ....indices.linear import TRUE, Formula, Linear, Symbol, both
from ....indices.values import Values
from ....ir.affine_maps import dimensions_of
from ....ir.mlir import attributes, ir, made_by, operations, ops_of, producer, users
from ....ir.structured import body_of, is_structured, loop_outputs, segments, structure, yielded
from ....reductions.identities import COMMUTATIVE


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
    """The choice (a `select` or a branch) between a value, or a function of this value alone, and
    another one: the op, the number of the value's arm, and the other value if that is constant."""
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


def value_of(attribute: ir.Attribute | None) -> float | None:
    """The value of a constant, with its sign: true is -1."""
    if attribute is None or not isinstance(attribute, ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr):
        return None
    return -int(attribute.value) if isinstance(attribute, ir.BoolAttr) else attribute.value


def chosen(
    values: Values, value: ir.Value, body: ir.Block, when: Formula, outside: ir.Attribute | None
) -> tuple[Formula, ir.Attribute | None]:
    """The condition under which a body uses an element that is read where `when` holds, and the
    constant that it takes elsewhere: `select(%inside, %value, 0)`. The constant is None if there
    are several, or none. Conditions on data are no masks: they belong to the arithmetic."""
    for condition, other in choices(values, value, body):
        several = when != TRUE and other is not None and value_of(outside) != value_of(other)
        outside = None if several else outside if other is None else other
        when = both(condition, when)
    return when, outside


def choices(values: Values, value: ir.Value, body: ir.Block) -> Iterator[tuple[Formula, ir.Attribute | None]]:
    """The conditions on indices under which a body uses a value, innermost first. Each comes with
    the constant that is used where the condition fails; None if that is no constant."""
    while (choice := choice_of(value)) is not None and not is_of_data(choice[0].operands[0], body):
        taken, arm, other = choice
        condition = values.condition(taken.operands[0])
        yield condition if arm == 0 else condition.negate(), other
        value = taken.results[0]


def masks_of(values: Values, op: ir.Operation) -> list[Formula]:
    """The iterations that count of a masked update: in others the results are unchanged. Iterations
    that the payload's own conditions on data leave unchanged do count."""
    out: list[Formula] = []
    for value, before in zip(yielded(op), list(body_of(op).arguments)[segments(op)[0] :], strict=True):
        if (made := producer(value)) is None:
            continue
        kept = made.operands[2:3] if made.name == "arith.select" else []
        if made.name == "scf.if" and len(made.regions) == 2:
            kept = [ops_of(made.regions[1].blocks[0])[-1].operands[list(made.results).index(value)]]
        if before in kept:
            out += (values.condition(part) for part in conjuncts(made.operands[0]) if not is_of_data(part, body_of(op)))
    return out


_OF_NUMBERS = ("addf", "addi", "subf", "subi", "mulf", "muli", "divf", "divsi", "divui", "negf", "maximumf", "minimumf", "maxnumf",
               "minnumf", "maxsi", "maxui", "minsi", "minui", "andi", "ori", "xori", "remf", "cmpf")  # fmt: skip


def is_of_data(value: ir.Value, body: ir.Block | None = None) -> bool:
    """Whether a value depends on loaded data, or on block arguments of a body."""
    made = producer(value)
    if made is None:
        return body is not None and value.owner == body
    return made.name in ("memref.load", "tensor.extract", "scf.if") or any(
        is_of_data(operand, body) for operand in made.operands
    )


def computes(op: ir.Operation) -> Counter[str]:
    """How often each op name occurs among the ops of a structured op's body that compute with data,
    or choose between data, and on which results depend. Equal ops count once; index arithmetic and
    masks do not count."""
    found: Counter[str] = Counter()
    used, seen = live(op), dict[object, ir.Value]()
    same: dict[ir.Value, ir.Value] = {}
    for inner in operations(op):
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


def arithmetic(op: ir.Operation, leaves: Mapping[ir.Value, Hashable], known: dict[Hashable, int]) -> Arithmetic:
    """The results of the body of a structured op as expressions of the elements that it reads.
    Conversions, masks and the order of the operands of commutative ops are left out. An expression
    is represented by a number: equal numbers are equal expressions. None if the body computes with
    any other value.

    Args:
        leaves: the values that are read, each with its element's tensor.
        known: the numbers of expressions.
    """
    body, found = body_of(op), dict[ir.Value, int | None]()
    sums = list(body.arguments)[segments(op)[0] :]
    kept = sums if "reduction" in structure(op).iterators else []  # where an update is masked

    def number(expression: Hashable) -> int:
        return known.setdefault(expression, len(known))

    def choice(made: ir.Operation, value: ir.Value) -> int | None:
        if made.name == "arith.select":
            arms = list(made.operands)[1:]
        else:
            which = list(made.results).index(value)
            arms = [ops_of(region.blocks[0])[-1].operands[which] for region in made.regions]
        of_data = is_of_data(made.operands[0], body)
        own = [arm for arm in arms if of_data or (made_by(arm, "arith.constant") is None and arm not in kept)]
        parts = [of(made.operands[0])] if of_data else []
        parts += [of(arm) for arm in own or arms]
        return None if None in parts else parts[0] if len(parts) == 1 else number(("choice", *parts))

    def of(value: ir.Value) -> int | None:
        if value not in found:
            found[value] = inner(value)
        return found[value]

    def inner(value: ir.Value) -> int | None:
        made = producer(value)
        if value in leaves:
            return number(("read", leaves[value]))
        if made is None:
            return None
        if made.name in CASTS:
            return of(made.operands[0])
        if made.name == "arith.constant":
            constant = value_of(made.attributes["value"])
            return number(("constant", str(made.attributes["value"]) if constant is None else float(constant)))
        if not is_of_data(value, body):
            return number("index")
        if made.name in ("arith.select", "scf.if"):
            return choice(made, value)
        parts = [of(operand) for operand in made.operands]
        if None in parts or len(made.regions):
            return None
        predicate = str(made.attributes["predicate"]) if "predicate" in made.attributes else ""
        ordered = parts if made.name not in COMMUTATIVE else sorted(part for part in parts if part is not None)
        return number((made.name, predicate, *ordered))

    results = [of(value) for value in yielded(op)]
    return None if None in results else tuple(results)


Arithmetic = tuple[int | None, ...] | None


def chooses(op: ir.Operation) -> bool:
    """Whether the body of a structured op has conditions."""
    return any(view.operation.name in ("arith.select", "scf.if") for view in body_of(op).operations)


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


def read_in_order(op: ir.Operation) -> list[ir.Value]:
    """The inputs and loads from which the results of a structured op are computed, each once, in
    the order in which its arithmetic reads them. Masks do not change this order."""
    found, seen = list[ir.Value](), set[ir.Value]()
    given = list(body_of(op).arguments)
    waiting = list(reversed(yielded(op)))
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        made = producer(value)
        if value in given or (made is not None and made.name in ("memref.load", "tensor.extract")):
            found.append(value)
        if made is not None:
            number = list(made.results).index(value)
            ends = [ops_of(block)[-1].operands[number] for region in made.regions for block in region.blocks]
            waiting += reversed([*made.operands, *ends])
    return [value for value in found if value not in given[segments(op)[0] :]]


CASTS = ("arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci")
"""Conversions: their operand is the same element."""


def through_casts(value: ir.Value) -> ir.Value:
    """The operand of conversions."""
    while (cast := made_by(value, *CASTS)) is not None:
        value = cast.operands[0]
    return value


def repeats(op: ir.Operation) -> bool:
    """Whether an op only repeats its input along further dimensions, and no function returns its
    result."""
    if not is_structured(op) or len(op.results) != 1 or len(op.operands) != 2:
        return False
    space, given = structure(op), op.operands[0]
    known = {d for form in space.maps[0].results for d in dimensions_of(form)}
    return (
        isinstance(given.type, ir.RankedTensorType) and "reduction" not in space.iterators and len(known) < space.rank
        and space.maps[1] == ir.AffineMap.get_identity(space.rank, op.context)
        and through_casts(yielded(op)[0]) == body_of(op).arguments[0]
        and all(user.name != "func.return" for user in users(op.results[0]))
    )  # fmt: skip


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
    """A comparison of two bodies: that of a loop of the payload that carries numbers from iteration
    to iteration, and that of the structured op that executes it.

    Args:
        nest: the loop, and those inside that it consists of.
        point: the iteration of the payload.
        same_result: a test of two values: the first, of the payload, is the result of a loop, and
            the second, of the kernel, is the same result.
        terms: the terms of a `scf.reduce`, by the argument of its combiner.
    """

    nest: Sequence[ir.Operation]
    op: ir.Operation
    values: Values
    point: Mapping[Symbol, Linear]
    same_result: Callable[[ir.Value, ir.Value], bool]
    terms: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def is_same(self) -> bool:
        """Whether both bodies yield the same expressions of the same values."""
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
        """Whether a value from outside the loop and a value from outside the op are computed in the
        same way."""
        return self._same(one, other, {})

    def _same(self, one: ir.Value, other: ir.Value, pairs: dict[ir.Value, ir.Value]) -> bool:
        """Whether a value of the loop and a value of the op are computed in the same way."""
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
