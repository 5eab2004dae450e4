"""The payload's structured ops, each as the elements that its iterations read and write: elements
of arguments, and of the results of other ops.

The location of an op of a kernel identifies the payload's op, since tiling and fusing keep
locations. The elements that it reads identify the iteration, whatever loops are around it: `A[i,
k]` and `B[k, j]` determine (i, j, k).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .....dsl.records import record
from ....indices.algebra import LaunchShape
from ....indices.linear import NOTHING, TRUE, Formula, Linear, Symbol, involved
from ....indices.values import Values
from ....ir.cloning import index_dimension
from ....ir.copying import fill_value
from ....ir.mlir import ancestors, ir, made_by
from ....ir.structured import body_of, is_structured, segments, structure, yielded
from ....reductions.identities import update
from .bodies import (
    Arithmetic,
    arithmetic,
    chooses,
    chosen,
    computes,
    hands_on,
    inside,
    is_of_data,
    read_in_order,
    repeats,
    through_casts,
)
from .elements import Coordinates, Element, Elements, Key
from .hosts import HostLoops
from .initial_payload import Untouched, extents_of, fits_of, start_of

PARTS = "parts"
"""The kind of key of a buffer with parts of a result."""
BEFORE = "before"
"""The kind of key of a buffer with the sum before each part, in order."""
UNDIVIDED = "undivided"
"""The kind of key of a sum of which each term has yet to be divided by the same element."""
MERGED_BY = {"arith.subf": "arith.addf", "arith.subi": "arith.addi"}
"""The combiner of parts, where it is not that of terms."""


@record(eq=False)
class PayloadOp:
    """A structured op of the payload.

    Args:
        reductions: the dimensions that are reduced.
        dims: a symbol for each dimension of its iteration space, from 0.
        extents: sizes of the dimensions; None where no operand gives them.
        reads, writes: the elements that an iteration reads, from inputs and by loads of its body,
            and those that it writes; None for a scalar input.
        starts: for each output, the constant with which it is filled before; None where it is not
            filled with one.
        begins: for each output, the element that is its initial value.
        fills: it writes one value to all elements of its result.
        copies: it only copies its input.
        repeats: it only repeats its input: ops that read its result count as reading the input.
        computes: how often each op name occurs in the arithmetic of its body.
        arithmetic: its results as expressions of what it reads.
        chooses: its body has conditions of its own.
        indexed: its results depend on the iteration itself, too.
        combiner: the combiner of its terms; None for an update of another form, and if the first
            result is no total, or a further one is no running result.
        divisor: it divides an element by one of this tensor, and computes nothing else.
        given: the values of its body that are `reads`, each with its element, wherever the body uses it.
        order: the numbers of `reads` in the order of its arithmetic, without inputs that only have
            sizes, such as the window of a pooling.
        of_parts: it is no op of the payload: it combines the parts into which an op was split.
        fits: the condition on `dims` that subscripts such as `2*i + k` are inside of their operands,
            which is required of static sizes by the verifier, and checked of others before a run.
    """

    location: str
    name: str
    reductions: tuple[int, ...]
    dims: tuple[Symbol, ...]
    extents: tuple[Linear | None, ...]
    reads: tuple[Element | None, ...]
    writes: tuple[Element, ...]
    starts: tuple[ir.Attribute | None, ...]
    copies: bool
    computes: Counter[str]
    chooses: bool
    combiner: str | None
    divisor: Key | None = None
    order: tuple[int, ...] = ()
    of_parts: bool = False
    begins: tuple[Element | None, ...] = ()
    fits: Formula = TRUE
    indexed: bool = False
    fills: bool = False
    repeats: bool = False
    arithmetic: Arithmetic = None
    given: Mapping[ir.Value, Element | None] = field(default_factory=dict)

    @classmethod
    def unknown(cls, op: ir.Operation) -> PayloadOp:
        """A placeholder for the unknown op of the payload that an op executes."""
        return cls(str(op.location), op.name, (), (), (), (), (), (), False, Counter(), False, None)

    def is_running(self, output: int) -> bool:
        """Whether an output holds running results, an element for each iteration of the
        reduction."""
        at = self.writes[output].at if output < len(self.writes) else ()
        return output >= len(self.writes) or not {self.dims[d] for d in self.reductions}.isdisjoint(involved(*at))


@dataclass
class PayloadOps:
    """The structured ops of the payload, as coverage needs them.

    Args:
        ops: the ops read so far, by location; None if several ops have the location, or the op is
            in a loop that is not around the launch.
        around: the loops around the launch.
        elements: those of its tensors.
        of_data: the values of indices that depend on data.
    """

    values: Values
    untouched: Untouched
    ops: dict[str, PayloadOp | None] = field(default_factory=dict)
    around: HostLoops = field(init=False)
    expressions: dict[Hashable, int] = field(default_factory=dict, repr=False)
    of_data: dict[Symbol, ir.Value] = field(default_factory=dict, repr=False)
    _totals: dict[str, PayloadOp] = field(default_factory=dict, repr=False)
    _undivided: dict[str, PayloadOp] = field(default_factory=dict, repr=False)
    _of_data: dict[ir.Value, Symbol] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.elements = Elements(self.values, self.untouched)

    @classmethod
    def of(cls, untouched: Untouched, launched: ir.Operation) -> PayloadOps:
        """The ops of a session's payload, for a launch; each is read on demand."""
        made = cls(Values(LaunchShape(), lambda _: NOTHING), untouched)
        made.around = HostLoops.around(launched, untouched, made.values)
        return made

    def op(self, executed: ir.Operation) -> PayloadOp | None:
        """The op of the payload that an op of a kernel executes, by its location; None where none
        has it, or several have."""
        return self.at(str(executed.location))

    def at(self, location: str) -> PayloadOp | None:
        """The op at a location."""
        if location not in self.ops:
            found = self.untouched.places.get(location)
            loops = (
                ()
                if found is None
                else [each for each in ancestors(found) if each.name not in ("func.func", "builtin.module")]
            )
            known = found is not None and is_structured(found) and len(loops) == len(self.around.loops)
            self.ops[location] = (
                self._op(found) if found is not None and known and not self.around.inside(loops[::-1]) else None
            )
        return self.ops[location]

    def result_element(self, of: PayloadOp, number: int, at: Coordinates) -> Element:
        """An element of a result, or the one that it repeats."""
        op = self.untouched.places[of.location]
        assert op is not None
        return self.elements.of(op.results[number])(at) if len(op.results) else Element(of.writes[number].key, at)

    def is_of_pieces(self, of: PayloadOp) -> bool:
        """Whether an op reads a tensor that is put together of several."""
        return any(each is not None and self.elements.pieces_at(each.key, each.at) for each in of.given.values())

    def made_of(self, element: Element, most: int = 8) -> list[Element]:
        """The elements from which an element is computed by at most `most` successive ops without
        reductions."""
        made = self.at(element.key[1]) if element.key[0] == "result" and most else None
        if made is None or made.reductions:
            return []
        table: dict[Symbol, Linear] = {}
        for place, form in zip(made.writes[element.key[2]].at, element.at, strict=True):
            if (symbol := place.alone) is not None:
                table[symbol] = form

        def put(form: Linear) -> Linear:
            return form.put(table)

        read = [Element(e.key, tuple(map(put, e.at)), e.when.changed(put)) for e in made.reads if e is not None]
        read = [e for e in read if not any(s in made.dims and s not in table for s in involved(*e.at))]
        return [one for e in read for one in (e, *self.made_of(e, most - 1))]

    def divides(self, key: Key, at: Coordinates, by: Key, by_at: Coordinates) -> bool:
        """Whether the payload divides each term of a sum by the same given element.

        Args:
            key, at: the element of the op's result.
            by, by_at: the divisor.
        """
        of = self.at(key[1]) if key[0] == UNDIVIDED else None
        if of is None or of.combiner not in ("arith.addf", "arith.subf"):
            return False
        table = {
            place.alone: form for place, form in zip(of.writes[key[2]].at, at, strict=True) if place.alone is not None
        }
        for element in of.reads:
            made = None if element is None or element.key[0] != "result" else self.at(element.key[1])
            if made is None or element is None or made.reductions or made.divisor != by:
                continue
            divisors = [e for e in self.made_of(element) if e.key == by]
            if divisors and all(tuple(form.put(table) for form in e.at) == by_at for e in divisors):
                return True
        return False

    def _op(self, op: ir.Operation) -> PayloadOp:
        space, values = structure(op), self.values
        extents, body = extents_of(values, op, space), body_of(op)
        highs = [n.constant - 1 if n is not None and n.is_constant else None for n in extents]
        dims = tuple(values.fresh("loop", NOTHING, 0, high) for high in highs)
        forms = [Linear.of(d) for d in dims]
        maps = [tuple(values.affine_map(indexing, forms)) for indexing in space.maps]
        shaped = [isinstance(operand.type, ir.ShapedType) for operand in op.operands]
        elements = [
            self.elements.of(operand)(at) if is_shaped else None
            for operand, at, is_shaped in zip(op.operands, maps, shaped, strict=True)
        ]
        results = [Element(("result", str(op.location), n), at) for n, at in enumerate(maps[space.inputs :])]
        writes = results if len(op.results) else [e for e in elements[space.inputs :] if e is not None]
        reductions = tuple(d for d, kind in enumerate(space.iterators) if kind == "reduction")
        running = [not {dims[d] for d in reductions}.isdisjoint(involved(*at)) for at in maps[space.inputs :]]
        combined = update(op, 0) if not any(running[:1]) and all(running[1:]) else None
        for index in inside(body, "linalg.index"):
            values.bind(index.results[0], forms[index_dimension(index)])
        loads = [*inside(body, "tensor.extract"), *inside(body, "memref.load")]
        reads = [*elements[: space.inputs], *(self._loaded(load, body) for load in loads)]
        given = [*list(body.arguments)[: space.inputs], *(load.results[0] for load in loads)]
        pairs, raw = zip(reads, given, strict=True), dict(zip(given, reads, strict=True))
        reads = [e and Element(e.key, e.at, *chosen(values, v, body, e.when, e.outside)) for e, v in pairs]
        return PayloadOp(
            str(op.location), op.name, reductions, dims, tuple(extents), tuple(reads), tuple(writes),
            tuple(start_of(op, operand) for operand in list(op.operands)[space.inputs :]),
            all(hands_on(op, n) for n in range(space.outputs)), computes(op), chooses(op),
            None if combined is None else combined.combiner,
            _divisor(op, elements), tuple(given.index(v) for v in read_in_order(op) if v in given),
            begins=tuple(elements[space.inputs :]), fits=fits_of(values, op, space, maps),
            given=raw, indexed=any(True for _ in inside(body, "linalg.index")), repeats=repeats(op),
            fills=fill_value(op) is not None, arithmetic=self.arithmetic(op, given, [None if e is None else e.key for e in reads]),
        )  # fmt: skip

    def arithmetic(self, op: ir.Operation, given: Sequence[ir.Value], keys: Sequence[Key | None]) -> Arithmetic:
        """The results of an op's body as expressions of the elements that it reads."""
        outputs = {value: n for n, value in enumerate(list(body_of(op).arguments)[segments(op)[0] :])}
        leaves = {value: key[1:] for value, key in zip(given, keys, strict=True) if key is not None}
        return arithmetic(op, leaves | outputs, self.expressions)

    def _loaded(self, load: ir.Operation, body: ir.Block) -> Element:
        """The element that a body loads; a coordinate that depends on data is any number."""
        of, *at = load.operands
        return self.elements.of(of)(tuple(self.place(v, body) for v in at))

    def place(self, value: ir.Value, body: ir.Block) -> Linear:
        """An index in a body: any number, if it depends on data."""
        if not is_of_data(value, body):
            return self.values.linear(value)
        if value not in self._of_data:
            self._of_data[value] = unknown = self.values.fresh("opaque", NOTHING)
            self.of_data[unknown] = value
        return Linear.of(self._of_data[value])

    def total_of(self, of: PayloadOp) -> PayloadOp:
        """The reduction without its running results."""
        if of.location not in self._totals:
            whole = of.arithmetic and of.arithmetic[:1]
            self._totals[of.location] = replace(of, writes=of.writes[:1], starts=of.starts[:1], arithmetic=whole)
        return self._totals[of.location]

    def undivided(self, of: PayloadOp) -> PayloadOp:
        """A sum of quotients with the division postponed until after the sum."""
        if of.location not in self._undivided:
            writes = tuple(replace(each, key=(UNDIVIDED, *each.key[1:])) for each in of.writes)
            self._undivided[of.location] = replace(of, writes=writes)
        return self._undivided[of.location]

    def are_divisions(self, elements: Sequence[Element]) -> bool:
        """Whether all of the elements, at least one, are quotients of the payload."""
        made = [self.at(each.key[1]) if each.key[0] == "result" else None for each in elements]
        return bool(made) and all(of is not None and of.divisor is not None for of in made)

    def of_parts(
        self, location: str, of_result: ir.AffineMap, known: Sequence[Linear], sizes: Sequence[Linear]
    ) -> PayloadOp | None:
        """The reduction that combines the parts of an op's result from one buffer.

        Args:
            of_result: coordinates of a part in the buffer → the element of the result.
            known: the values of its symbols.
            sizes: of the buffer.
        """
        of = self.at(location)
        if of is None or of.combiner is None:
            return None
        highs = [n.constant - 1 if n.is_constant else None for n in sizes]
        cells = [self.values.fresh("loop", NOTHING, 0, high) for high in highs]
        at = self.values.affine_map(of_result, [*map(Linear.of, cells), *known])
        whole = involved(*at)
        key, combiner = (PARTS, location, 0), MERGED_BY.get(of.combiner, of.combiner)
        pairs = zip(of.writes[0].at, at, strict=True)
        table, begins = {mine.alone: its for mine, its in pairs if mine.alone is not None}, of.begins[0]
        return PayloadOp(
            location, of.name, tuple(d for d, cell in enumerate(cells) if cell not in whole), tuple(cells), tuple(sizes),
            (Element(key, tuple(map(Linear.of, cells))),), (Element(of.writes[0].key, tuple(at)),), of.starts[:1], False,
            Counter([combiner]), False, combiner, order=(0,), of_parts=True,
            begins=() if begins is None else (Element(begins.key, tuple(form.put(table) for form in begins.at)),),
        )  # fmt: skip


def _divisor(op: ir.Operation, elements: Sequence[Element | None]) -> Key | None:
    """The tensor by which an op divides another one, if it does nothing else; else None."""
    ends = yielded(op)
    division = made_by(through_casts(ends[0]), "arith.divf") if len(ends) == 1 else None
    if division is None:
        return None
    arguments = list(body_of(op).arguments)
    divided, by = (through_casts(operand) for operand in division.operands)
    found = elements[arguments.index(by)] if by in arguments[: len(elements)] and divided in arguments else None
    return None if found is None else found.key
