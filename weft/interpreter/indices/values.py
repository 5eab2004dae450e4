"""SSA values of a kernel → quasi-affine forms, formulas, and dependences.

Integers wrap if that is known to be possible (see `integers`). Wide integers of unknown range are
assumed to be unbounded: overflow of index arithmetic is a separate fault. Values are evaluated
lazily, from their defining ops; block arguments (loop variables, kernel arguments) are bound by the
caller that walks the regions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import gcd, prod

from ..ir.functions import CLUSTER_SIZE, MOST, MULTIPLES, most_of, multiples_of, segments, sizes_of
from ..ir.mlir import FUNCTIONS, ancestors, ir, made_by, maker, producer
from ..ir.reshapes import groups_of
from ..ir.sizes import Axis, size_origin
from ..memory.layouts import mixed
from .algebra import Algebra, LaunchShape, at_or_above
from .arithmetic import Bound, known
from .integers import HARDWARE, Integers, bits, compare, fitting, range_of_type
from .linear import FALSE, NOTHING, TRUE, Depends, Formula, Linear, Range, Symbol, both, either, equal

_CONVERSIONS = {
    "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "index.casts", "index.castu",
}  # fmt: skip
_LOADS = ("memref.load", "affine.load", "vector.load")
_DIMS = ("memref.dim", "tensor.dim")


class Values(Integers):
    """Evaluates the values of one kernel.

    Args:
        shape: block and grid sizes, as far as they are known.
        load_depends: dependences of a loaded value (memory that the kernel never writes is a
            function of its address).
    """

    def __init__(self, shape: LaunchShape, load_depends: Callable[[ir.Operation], Depends]) -> None:
        super().__init__(shape, load_depends)
        self._extents: dict[tuple[ir.Value, int], Linear] = {}
        self._forms: dict[ir.Value, Linear] = {}

    def bind(self, value: ir.Value, form: Linear, depends: Depends | None = None) -> None:
        self._forms[value] = form
        self._depends[value] = form.depends() if depends is None else depends

    def of_arguments(self, called: Callable[[ir.Value], str]) -> dict[str, Linear]:
        """Run-time quantities of functions' arguments, by their names for users: `A.1`, the size of
        `A` along its second axis, and `n`. A kernel's argument has the name of the host's value
        that is passed for it."""
        found = {(value, f".{axis}"): form for (value, axis), form in self._extents.items()}
        found |= {(value, ""): form for value, form in self._forms.items()}
        names: dict[Linear, str] = {}
        for (value, where), form in found.items():
            of_function = isinstance(value.owner, ir.Block) and maker(value).name in FUNCTIONS
            if of_function and [symbol.kind for symbol in form.symbols()] == ["parameter"]:
                names.setdefault(form, f"{called(value)}{where}")
        return {name: form for form, name in names.items()}

    # ---- forms -------------------------------------------------------------------------------------------------------

    def linear(self, value: ir.Value) -> Linear:
        """The form of an integer or index value."""
        form = self._forms.get(value)
        if form is None:
            form = self._forms[value] = self._evaluate(value)
        return form

    def number(self, entry: int | ir.Value) -> Linear:
        """The form of an entry that is an attribute or an operand."""
        return Linear.of(entry) if isinstance(entry, int) else self.linear(entry)

    def extremes(self, bound: ir.Value, op: str) -> list[Linear]:
        """Forms of which a bound is the largest (`affine.max`), or the smallest (`affine.min`)."""
        if (made := made_by(bound, op)) is None:
            return [self.linear(bound)]
        return self.affine_map(ir.AffineMapAttr(made.attributes["map"]).value, [self.linear(v) for v in made.operands])

    def _evaluate(self, value: ir.Value) -> Linear:
        if isinstance(value.owner, ir.Block):
            return self._unknown(value, guessed=False)
        op = value.owner.operation
        name = op.name
        if name in ("arith.constant", "index.constant"):
            attribute = op.attributes["value"]
            if isinstance(attribute, ir.IntegerAttr):
                return Linear.of(abs(int(attribute)) if is_flag(value) else int(attribute))  # `true` reads as -1
            return self.opaque(NOTHING, guessed=True)
        cast = name == "builtin.unrealized_conversion_cast" and len(op.operands) == 1
        cast = cast and isinstance(op.operands[0].type, ir.IndexType | ir.IntegerType)
        if cast or name in _CONVERSIONS:
            return self.converted(self.linear(op.operands[0]), name, op.operands[0].type, value.type)
        if is_flag(value):
            known = self._logic(op)
            return self._unknown(value) if known is None else self.choose(known, Linear.of(1), Linear.of(0))
        if name == "affine.delinearize_index":
            return self._digit(op, ir.OpResult(value).result_number)
        if name in HARDWARE:
            return self.hardware_op(op)
        if name.startswith("index."):
            known = self._arith(op, name.removeprefix("index.") + "i")  # `index.divs` is `arith.divsi`
        elif name.startswith("affine."):
            known = self._affine(op)
        elif name.startswith("arith."):
            known = self._arith(op, name.removeprefix("arith."))
        elif name == "memref.load":
            known = self.looked_up(op, self.linear)
        else:
            known = None
        if known is not None:
            return known
        return self._extent(op) if name in _DIMS else self._unknown(value, guessed=name not in _LOADS)

    def _unknown(self, value: ir.Value, *, guessed: bool = True) -> Linear:
        """An unknown number of the value's type. `guessed`: it may not take all values."""
        return self.opaque(self.depends(value), *range_of_type(value.type), guessed=guessed)

    def _extent(self, op: ir.Operation) -> Linear:
        index, depends = self.linear(op.operands[1]), self.depends(op.results[0])
        if not (index.is_constant and 0 <= index.constant < ir.ShapedType(op.operands[0].type).rank):
            return self.opaque(depends, 0, guessed=True)
        return self.extent(op.operands[0], index.constant, depends)

    def extent(self, value: ir.Value, axis: int, depends: Depends = NOTHING) -> Linear:
        """A size: the same form for every query of one value, and a multiple of the divisor stated
        of an argument."""
        if not ir.ShapedType(value.type).is_dynamic_dim(axis):
            return Linear.of(ir.ShapedType(value.type).get_dim_size(axis))
        if (value, axis) not in self._extents:
            self._extents[value, axis] = self._size(depends, value, axis)
        return self._extents[value, axis]

    def _size(self, depends: Depends, value: ir.Value, axis: int) -> Linear:
        """An unknown size: a multiple of the divisor stated of an argument's, and at most its
        stated bound."""
        multiple, most = _stated(value, axis), (*most_of(value)[axis:], -1)[0]
        return self.opaque(depends, 0, None if most < 0 else most // max(multiple, 1)) * multiple

    def share_extents(self, argument: ir.Value, operand: ir.Value) -> None:
        """`argument` of a kernel is `operand` of its launch: their dynamic sizes are equal."""
        kind = ir.ShapedType(operand.type)
        for dimension in range(kind.rank):
            if kind.is_dynamic_dim(dimension):
                self._extents[argument, dimension] = self.extent(operand, dimension)

    def state_extent(self, value: ir.Value, axis: int, size: Linear) -> None:
        """States a size that the type does not have."""
        self._extents[value, axis] = size

    def same_extent(self, *axes: Axis) -> None:
        """Equates these sizes: they become the first known one, or the first one."""
        known = (a for a in axes if a in self._extents or not ir.ShapedType(a[0].type).is_dynamic_dim(a[1]))
        self._extents |= dict.fromkeys(axes, self.extent(*next(known, axes[0])))

    def _digit(self, op: ir.Operation, number: int) -> Linear:
        """A result of `affine.delinearize_index`: a digit of a number, the most significant first."""
        digit = self.linear(op.operands[0])
        sizes = [self.number(size) for size in mixed(op, "static_basis")[0]]
        sizes = sizes[len(sizes) - len(op.results) + 1 :]  # those of all digits but the first
        for size in reversed(sizes[number:]):
            digit = self.operate("floordiv", digit, size)
        return self.operate("mod", digit, sizes[number - 1]) if number else digit

    # ---- arithmetic --------------------------------------------------------------------------------------------------

    def _arith(self, op: ir.Operation, name: str) -> Linear | None:
        if name == "select":
            return self.choose(self.condition(op.operands[0]), self.linear(op.operands[1]), self.linear(op.operands[2]))
        if len(op.operands) != 2 or len(op.results) != 1 or name.endswith("f"):
            return None
        a, b = (self.linear(operand) for operand in op.operands)
        return self.binary(name, a, b, bits(op.results[0].type))

    def _affine(self, op: ir.Operation) -> Linear | None:
        if op.name == "affine.linearize_index":  # a number from its digits, the most significant first
            digits = segments(op)[0]
            sizes = [self.number(size) for size in mixed(op, "static_basis", first=len(digits))[0]]
            out, *lower = map(self.linear, digits)
            for digit, size in zip(lower, sizes[len(sizes) - len(lower) :], strict=True):
                out = self.product(out, size) + digit
            return out
        if op.name not in ("affine.apply", "affine.min", "affine.max"):
            return None
        forms = self.affine_map(op.attributes["map"].value, [self.linear(v) for v in op.operands])
        return forms[0] if op.name == "affine.apply" else self.extreme(forms, largest=op.name == "affine.max")

    def carry(self, argument: ir.Value, entering: ir.Value, yielded: ir.Value, loop: tuple[Symbol, int | None]) -> None:
        """Binds a number carried by a loop (with this counter and trip count), if each iteration
        adds a constant to it, cycles it through a short cycle, or selects one of a few known
        numbers."""
        start = self.linear(entering)
        least, most = range_of_type(argument.type)
        for low in dict.fromkeys((least, 0)):  # some ops are modelled only for non-negative numbers
            before, depends = dict(self._forms), dict(self._depends)
            unknown = self.fresh("opaque", self.depends(argument), low, most)
            self.bind(argument, Linear.of(unknown), self.depends(argument))
            following = self.linear(yielded)
            self._forms, self._depends = before, depends
            closed = progression(self, start, following, unknown, *loop)
            if closed is not None and (low is least or at_or_above(closed, 0)):
                self.bind(argument, fitting(closed, bits(argument.type)))
                return

    # ---- conditions --------------------------------------------------------------------------------------------------

    def condition(self, value: ir.Value) -> Formula:
        """The formula of an i1. A condition that is not affine gets the formula `symbol == 1`, of a
        symbol that is uninterpreted, and 0 or 1."""
        if not isinstance(value.owner, ir.Block):
            known = self._logic(value.owner.operation)
            if known is not None:
                return known
        form = self.linear(value)
        if form.is_constant:
            return FALSE if form.constant == 0 else TRUE
        return equal(form, Linear.of(1))

    def _logic(self, op: ir.Operation) -> Formula | None:
        name = op.name
        if name == "arith.constant":
            # an i1 `true` reads as -1
            return TRUE if int(ir.IntegerAttr(op.attributes["value"])) != 0 else FALSE
        if name == "arith.cmpi" and isinstance(op.operands[0].type, ir.IndexType | ir.IntegerType):
            if isinstance(op.operands[0].type, ir.IntegerType) and op.operands[0].type.width == 1:
                return None
            return compare(ir.IntegerAttr(op.attributes["predicate"]).value, *(self.linear(v) for v in op.operands))
        if name not in ("arith.andi", "arith.ori", "arith.xori", "arith.select"):
            return None
        parts = [self.condition(v) for v in op.operands]
        if name == "arith.andi":
            return both(*parts)
        if name == "arith.ori":
            return either(*parts)
        if name == "arith.select":
            return either(both(parts[0], parts[1]), both(parts[0].negate(), parts[2]))
        return either(both(parts[0], parts[1].negate()), both(parts[0].negate(), parts[1]))


def _stated(value: ir.Value, axis: int) -> int:
    return (*multiples_of(value)[axis:], 1)[0]


def is_flag(value: ir.Value) -> bool:
    """Whether the value is an i1."""
    return isinstance(value.type, ir.IntegerType) and value.type.width == 1


MOST_TABULATED = 64
"""Values of a number that a loop carries, e.g. the index of its current buffer, up to which it is
tabulated."""


def progression(
    algebra: Algebra, start: Linear, following: Linear, before: Symbol, counter: Symbol, trips: int | None
) -> Linear | None:
    """`start`, then `following` of the previous value (`before`), …, as a form of the iteration
    counter."""
    difference = following - Linear.of(before)
    if difference.is_constant:
        return start + Linear.of(counter) * difference.constant
    if not start.is_constant or any(s is not before for s in following.symbols()):
        return None
    values = [start.constant]
    while len(values) < min(MOST_TABULATED, trips or MOST_TABULATED):
        value = following.value({before: values[-1]})
        assert value is not None
        if value == values[0]:
            return _cycle(algebra, values, counter)
        values.append(value)
    return algebra.tabulated(Linear.of(counter), 0, values) if trips == len(values) else None


def _cycle(algebra: Algebra, values: list[int], counter: Symbol) -> Linear:
    place = Linear.of(counter).modulo(len(values))
    if len(values) == 2:
        return place * (values[1] - values[0]) + values[0]
    return algebra.tabulated(place, 0, values)


class KnownIndices(Values):
    """Indices as forms of symbols with ranges: ids are below the known launch sizes of the kernel
    around `op`, counters are between the bounds of their loops, and multiples of the bounds'
    divisors."""

    def __init__(self, op: ir.Operation | None = None) -> None:
        around = () if op is None else (op, *ancestors(op))
        kernel = next((op for op in around if op.name == "gpu.func"), None)
        unknown = (None, None, None)
        block, grid = (sizes_of(kernel, f"known_{what}_size") if kernel else None for what in ("block", "grid"))
        cluster = sizes_of(kernel, CLUSTER_SIZE) if kernel else None
        super().__init__(LaunchShape(block or unknown, grid or unknown, cluster or (1, 1, 1)), lambda _: NOTHING)

    def _evaluate(self, value: ir.Value) -> Linear:
        loop = maker(value)
        if producer(value) is not None or loop.name != "scf.for" or ir.BlockArgument(value).arg_number != 0:
            return super()._evaluate(value)
        low, high, step = map(self.linear, list(loop.operands)[:3])
        factor, first, end = gcd(low.content, step.content) or 1, low.bounds()[0], high.bounds()[1]
        first, last = None if first is None else first // factor, None if end is None else (end - 1) // factor
        return Linear.of(self.fresh("loop", NOTHING, first, last)) * factor


def range_of(bound: Bound) -> Range:
    """The minimum and maximum of the index (intervals: sound, not tight)."""
    return _form(bound).bounds()


def largest(bound: Bound) -> int | None:
    """The maximum of the index; None if unknown."""
    return range_of(bound)[1]


def divisible(bound: Bound, divisor: int) -> bool:
    """Whether the index is proven to be a multiple of `divisor`."""
    return _form(bound).content % divisor == 0


WIDEST = 2**63 - 1
"""The largest number that an attribute states of a size."""


def multiples(value: ir.Value) -> list[int]:
    """By axis of a tensor or memref, a known divisor of its size; 1 if none is known."""
    found = (_multiple(size_origin(value, axis)) for axis in range(ir.ShapedType(value.type).rank))
    return [n if 0 < n <= WIDEST else gcd(n, 2**62) for n in found]  # a divisor holds, too, and 0 divides nothing


def _multiple(size: int | ir.Value | Axis) -> int:
    if not isinstance(size, tuple):
        return _form(size).content
    made = producer(size[0])
    if made is not None and made.name.endswith(".collapse_shape"):
        return prod(_multiple(size_origin(made.operands[0], axis)) for axis in groups_of(made)[size[1]])
    return _stated(*size)


def at_most(value: ir.Value) -> list[int]:
    """By axis of a tensor or memref, a known upper bound of its size; -1 if none is known."""
    found = (size_origin(value, axis) for axis in range(ir.ShapedType(value.type).rank))
    ends = ((*most_of(size[0])[size[1] :], -1)[0] if isinstance(size, tuple) else largest(size) for size in found)
    return [-1 if end is None else end for end in ends]


def stated_sizes(value: ir.Value) -> dict[str, ir.Attribute]:
    """Facts about a value's open sizes, as attributes of an argument that replaces it; empty
    without any."""
    if not isinstance(value.type, ir.ShapedType) or value.type.has_static_shape:
        return {}
    found: dict[str, ir.Attribute] = {}
    for name, numbers, nothing in ((MULTIPLES, multiples(value), 1), (MOST, at_most(value), -1)):
        if any(n != nothing for axis, n in enumerate(numbers) if value.type.is_dynamic_dim(axis)):
            found[name] = ir.DenseI64ArrayAttr.get(numbers)
    return found


def _form(bound: Bound) -> Linear:
    bound = known(bound)
    if isinstance(bound, int):
        return Linear.of(bound)
    return (_shared[-1] if _shared else KnownIndices(maker(bound))).linear(bound)


_shared: list[KnownIndices] = []


@contextmanager
def unchanged(op: ir.Operation) -> Iterator[None]:
    """A context in which the definitions of the kernel's indices around `op` do not change, so that
    results about an index are cached."""
    _shared.append(_shared[-1] if _shared else KnownIndices(op))
    try:
        yield
    finally:
        _shared.pop()
