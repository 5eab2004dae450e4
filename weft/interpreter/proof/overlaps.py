"""Whether two accesses of structured ops, or two views, of one buffer share an element. Exact, by
integer sets (ISL).

Each window is composed to coordinates of its root buffer, through subviews of subviews with any
offsets (tile sizes, variables of enclosing loops, sizes known at run time). Loop variables,
including those that `tile` makes, have the range of their loops; a ragged tile has the size that
its `affine.min` gives; every access is inside the buffer, since any other is undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from ...dsl.diagnostics import WeftError
from ...dsl.records import record
from ..indices.algebra import LaunchShape
from ..indices.linear import NOTHING, Depends, Formula, Linear, Symbol, at_least, either, equal, less, settled
from ..indices.values import Values
from ..ir.affine_maps import dimension_of
from ..ir.mlir import FUNCTIONS, ancestors, ir, is_within, maker, producer
from ..ir.sizes import size_origin
from ..ir.structured import indexing_maps, is_read, segments, structure, subscripts
from ..mapping.bounds import loop_bounds
from ..memory.effects import is_memref
from ..memory.layouts import value_name
from ..memory.views import may_share
from .kernels.root_buffers import RootBuffer
from .kernels.views import View, Views

if TYPE_CHECKING:  # ISL is loaded only when it is needed
    from .solver import Naming, Solver


@record
class SharedElement:
    """Two accesses that share an element.

    Args:
        operands: the numbers of the two operands of the op; 0 and 1 for two views.
        buffer: the name of the root buffer.
        element: the subscripts of an example element; None where the analysis has none.
        iterations: the two iterations of the example, by dimension of the op.
    """

    operands: tuple[int, int]
    buffer: str
    element: tuple[int, ...] | None = None
    iterations: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @property
    def notes(self) -> tuple[str, ...]:
        """The example in words, or a note that the overlap is assumed."""
        if self.element is None:
            return (f"assumed: the elements of `{self.buffer}` that the two access are unknown",)
        one, other = (f"({', '.join(map(str, iteration))})" for iteration in self.iterations)
        subscripts = f"[{', '.join(map(str, self.element))}]"
        return (f"iteration {one} reads `{self.buffer}{subscripts}`, which iteration {other} writes",)


def overlap(op: ir.Operation) -> SharedElement | None:
    """An element that two iterations of a structured op on memrefs share, one in an output, the
    other in any operand that is read or written. None if there is none: the order of the iterations
    then makes no difference."""
    inputs, outputs = segments(op)
    operands, maps = list(op.operands), indexing_maps(op) or ()
    about: _Accesses | None = None
    for written in range(inputs, inputs + outputs):
        for other in range(written):
            one, its = operands[other], operands[written]
            touched = is_read(op, other) or other >= inputs
            if not (touched and is_memref(one) and is_memref(its) and may_share(one, its)):
                continue
            if other < inputs and maps[other] == maps[written] and maps[other].is_permutation and _same_view(one, its):
                continue  # element by element, in place
            about = about or _Accesses()
            found = about.meeting(_of_op(about, op, other), _of_op(about, op, written), apart=other < inputs)
            if found is not None:
                return SharedElement((other, written), found.buffer, found.element, found.iterations)
    return None


def apart(one: ir.Value, other: ir.Value, within: ir.Operation | None = None) -> bool:
    """Whether two memrefs certainly share no element. Arguments of a function are assumed to be
    distinct buffers.

    Args:
        within: a loop: the two memrefs may be of different iterations of it, and of loops inside
            it.
    """
    if not may_share(one, other):
        return True
    about = _Accesses()
    return about.meeting(_of_view(about, one), _of_view(about, other), within) is None


def _same_view(one: ir.Value, other: ir.Value) -> bool:
    from ..mapping.keys import structural_key

    return one == other or structural_key(one) == structural_key(other)


@record
class _Elements:
    """Elements of a memref, as index forms in symbols that belong to one access."""

    value: ir.Value
    iteration: tuple[Linear, ...]
    indices: list[Linear]
    guards: tuple[Formula, ...]
    own: frozenset[int]
    """The numbers (in `Depends.loops`) that mark symbols of this access."""


class _HostIndices(Values):
    """Host values as forms. Each form records the numbers of the loops and branches around its
    value."""

    def __init__(self) -> None:
        super().__init__(LaunchShape(), lambda _: NOTHING)
        self._places: dict[ir.Operation | int, int] = {}
        self.conditions: dict[ir.Operation, list[Formula]] = {}

    def number_of(self, what: ir.Operation | int) -> int:
        return self._places.setdefault(what, len(self._places))

    def around(self, value: ir.Value) -> list[ir.Operation]:
        """The ops around the definition of the value, innermost first, up to the function."""
        made = maker(value)
        inside = (made, *ancestors(made)) if producer(value) is None else ancestors(made)
        return list(takewhile(lambda op: op.name not in FUNCTIONS, inside))

    def depends_on_place(self, value: ir.Value) -> Depends:
        return Depends(loops=frozenset(map(self.number_of, self.around(value))))

    def _find_depends(self, value: ir.Value) -> Depends:
        return self.depends_on_place(value)

    def _evaluate(self, value: ir.Value) -> Linear:
        bounds = None if producer(value) is not None else loop_bounds(value)
        if bounds is None:
            return super()._evaluate(value)
        low, high, step = map(self.number, (bounds.lower, bounds.upper, bounds.step))
        depends, conditions = self.depends_on_place(value), self.conditions.setdefault(maker(value), [])
        if step.is_constant and step.constant > 0:
            spans = [span for end in self.at_most(high) if (span := (end - low).bounds()[1]) is not None]
            last = max(0, -(-min(spans) // step.constant) - 1) if spans else None
            form = low + Linear.of(self.fresh("loop", depends, 0, last)) * step.constant
        else:
            form = self.opaque(depends)
            conditions.append(at_least(form, low))
        conditions.append(less(form, high))
        return form

    def holds(self, block: ir.Block) -> list[Formula]:
        """The conditions that hold in a block: the enclosing loops run, the enclosing branches were
        taken."""
        out = list[Formula]()
        while (op := block.owner.operation).name not in FUNCTIONS and op.parent is not None:
            for argument in block.arguments:
                if loop_bounds(argument) is not None:
                    self.linear(argument)
            out += self.conditions.get(op, [])
            if op.name == "scf.if":
                condition = self.condition(op.operands[0])
                out.append(condition if block.region == op.regions[0] else condition.negate())
            block = op.block
        return out

    def size(self, value: ir.Value, axis: int) -> Linear:
        """The size of a memref along an axis, from whichever op defines it."""
        found = size_origin(value, axis)
        if isinstance(found, tuple):
            return self.extent(*found, depends=self.depends_on_place(found[0]))
        return self.number(found)

    def _extent(self, op: ir.Operation) -> Linear:
        index = self.linear(op.operands[1])
        if (
            index.is_constant
            and isinstance(op.operands[0].type, ir.MemRefType)
            and 0 <= index.constant < op.operands[0].type.rank
        ):
            return self.size(op.operands[0], index.constant)
        return super()._extent(op)


class _Accesses:
    """Accesses of one function as sets of elements of root buffers."""

    def __init__(self) -> None:
        self.values = _HostIndices()
        self.views = Views(self.values)
        self._own = 0

    def own(self) -> int:
        """A fresh number for the symbols of one access."""
        self._own -= 1
        return self.values.number_of(self._own)

    def counted(self, number: int, extents: Iterable[Linear | None]) -> tuple[tuple[Linear, ...], list[Formula]]:
        """A fresh index below each extent, and the conditions that bound it."""
        found, below, depends = list[Linear](), list[Formula](), Depends(loops=frozenset((number,)))
        for extent in extents:
            last = extent.constant - 1 if extent is not None and extent.is_constant else None
            found.append(Linear.of(self.values.fresh("loop", depends, 0, last)))
            if extent is not None and last is None:
                below.append(less(found[-1], extent))
            elif last is not None and last < 0:
                below.append(at_least(Linear.of(-1), 0))
        return tuple(found), below

    def meeting(
        self, one: _Elements, other: _Elements, within: ir.Operation | None = None, *, apart: bool = False
    ) -> SharedElement | None:
        """An element that two accesses share; None if there is none. `apart`: in two different
        iterations. `within`: as in the function `apart`."""
        from .solver import Solver

        inner = set(one.own | other.own)
        if within is not None:
            places = {op for access in (one, other) for op in self.values.around(access.value)}
            inner.update(self.values.number_of(op) for op in places if op == within or is_within(op, within))
        solver = Solver()
        for mine in self.views.of(one.value):
            for its in self.views.of(other.value):
                if mine.root is not its.root and not (mine.root.anything or its.root.anything):
                    continue
                found = self._shared(solver, (one, mine), (other, its), inner, apart)
                if found is not None:
                    return found
        return None

    def _shared(
        self, solver: Solver, one: tuple[_Elements, View], other: tuple[_Elements, View], inner: set[int], apart: bool
    ) -> SharedElement | None:
        from .solver import Naming, Unknown

        root = one[1].root
        assumed = SharedElement((0, 1), "any memory" if root.anything or other[1].root.anything else _root_name(root))
        shared = Naming("", None)
        # an uninterpreted value that depends on a varying iteration is a separate value for each access
        names = [
            Naming(prefix, shared, lambda symbol: symbol.depends.loops.isdisjoint(inner)) for prefix in ("x_", "y_")
        ]
        parts, places = list[Formula](), list[tuple[Linear, ...]]()
        try:
            flat = one[1].flat or other[1].flat or one[1].sizes != other[1].sizes
            for (access, view), name in zip((one, other), names, strict=True):
                at = self.views.coordinates(view, access.indices)
                facts = [*access.guards, view.when, *self._inside(view, at)]
                if flat:
                    at = self.views.coordinates(self.views.flatten(view), access.indices)
                if at is None:
                    return assumed
                parts += [name.formula(fact) for fact in facts]
                places.append(tuple(name.form(axis) for axis in at))
        except WeftError:  # an index with no form
            return assumed
        parts += [equal(a, b) for a, b in zip(*places, strict=True)]
        iterations = [
            tuple(map(name.form, access.iteration)) for (access, _), name in zip((one, other), names, strict=True)
        ]
        try:
            if not self._example(solver, names, shared, parts):
                return None
            if apart:
                parts.append(either(*(f for a, b in zip(*iterations, strict=True) for f in (less(a, b), less(b, a)))))
            point = self._example(solver, names, shared, parts)
        except Unknown:
            return assumed
        if point is None:
            return None
        if not settled(symbol for part in parts for symbol in part.symbols()):
            return assumed
        element = _numbers(places[0], point)
        where = tuple(_numbers(each, point) or () for each in iterations)
        return (
            SharedElement((0, 1), _root_name(root), element, (where[0], where[1])) if element is not None else assumed
        )

    def _inside(self, view: View, at: Sequence[Linear] | None) -> list[Formula]:
        """The conditions that the element is inside the buffer."""
        root = view.root
        if at is None or view.flat or view.sizes or len(at) != len(root.shape):
            return []
        out = [at_least(axis, 0) for axis in at]
        for number, (axis, size) in enumerate(zip(at, root.shape, strict=True)):
            known = Linear.of(size) if size is not None else self._open(root, number)
            out += [] if known is None else [less(axis, known)]
        return out

    def _open(self, root: RootBuffer, axis: int) -> Linear | None:
        return self.values.size(root.value, axis) if isinstance(root.value, ir.Value) else None

    @staticmethod
    def _example(solver: Solver, names: list[Naming], shared: Naming, parts: list[Formula]) -> dict[Symbol, int] | None:
        """A point that satisfies all conditions; None if there is none."""
        from .solver import coordinates, described

        dimensions, formulas = described([shared, *names], parts)
        missing = dict.fromkeys(symbol for formula in formulas for symbol in formula.symbols())
        dimensions = list(dict.fromkeys([*dimensions, *missing]))
        point = solver.point(dimensions, formulas, dimensions)
        return None if point is None else dict(zip(dimensions, coordinates(point), strict=True))


def _of_op(about: _Accesses, op: ir.Operation, number: int) -> _Elements:
    """The elements of an operand that a structured op touches, by its iterations."""
    space, values, own = structure(op), about.values, about.own()
    extents: list[Linear | None] = [None if n is None else Linear.of(n) for n in space.extents]
    for operand, axis, expr in subscripts(op, space.maps):
        d = dimension_of(expr)
        if d is not None and extents[d] is None and is_memref(operand):
            extents[d] = values.size(operand, axis)
    iteration, below = about.counted(own, extents)
    indices = values.affine_map(space.maps[number], list(iteration))
    return _Elements(op.operands[number], iteration, indices, (*below, *values.holds(op.block)), frozenset((own,)))


def _of_view(about: _Accesses, value: ir.Value) -> _Elements:
    """All elements of a memref."""
    kind, own = ir.MemRefType(value.type), about.own()
    indices, below = about.counted(own, (about.values.size(value, axis) for axis in range(kind.rank)))
    return _Elements(value, indices, list(indices), (*below, *about.values.holds(_block(value))), frozenset((own,)))


def _block(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block


def _root_name(root: RootBuffer) -> str:
    return value_name(root.value) if isinstance(root.value, ir.Value) else root.name


def _numbers(forms: Sequence[Linear], point: dict[Symbol, int]) -> tuple[int, ...] | None:
    found = [form.value(point) for form in forms]
    return None if None in found else tuple(n for n in found if n is not None)
