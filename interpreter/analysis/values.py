"""SSA values of a kernel → quasi-affine forms, formulas, and what they depend on.

Integers are taken as unbounded: index arithmetic that overflows is a fault of its own. Values are evaluated lazily, from
their defining ops; block arguments (loop variables, kernel arguments) are bound by whoever walks the regions.
"""

from __future__ import annotations

from collections.abc import Callable

from ..mlir import DYNAMIC, ir
from .algebra import at_or_above
from .carried import progression
from .comparisons import compare
from .dependence import HARDWARE, Dependence
from .linear import FALSE, NOTHING, TRUE, Depends, Formula, Linear, Symbol, both, either, equal
from .shape import LaunchShape

_PASS_THROUGH = {
    "arith.index_cast", "arith.extsi", "builtin.unrealized_conversion_cast", "index.casts",
}  # fmt: skip
_UNSIGNED_CASTS = {"arith.index_castui", "arith.extui", "index.castu"}
_INDEX_OPS = {
    "index.add": "addi", "index.sub": "subi", "index.mul": "muli", "index.divs": "divsi", "index.divu": "divui",
    "index.rems": "remsi", "index.remu": "remui", "index.floordivs": "floordivsi", "index.ceildivs": "ceildivsi",
    "index.ceildivu": "ceildivui", "index.maxs": "maxsi", "index.mins": "minsi", "index.maxu": "maxui",
    "index.minu": "minui", "index.shl": "shli", "index.shrs": "shrsi", "index.shru": "shrui", "index.and": "andi",
}  # fmt: skip


class Values(Dependence):
    """Evaluates the values of one kernel.

    Args:
        shape: block and grid sizes, as far as they are known.
        load_depends: what a loaded value depends on (memory the kernel never writes is a function of its address).
    """

    def __init__(self, shape: LaunchShape, load_depends: Callable[[ir.Operation], Depends]) -> None:
        super().__init__(shape, load_depends)
        self._extents: dict[tuple[ir.Value, int], Linear] = {}
        self._forms: dict[ir.Value, Linear] = {}

    def bind(self, value: ir.Value, form: Linear, depends: Depends | None = None) -> None:
        self._forms[value] = form
        self._depends[value] = form.depends() if depends is None else depends

    # ---- forms --------------------------------------------------------------------------------------------------------

    def linear(self, value: ir.Value) -> Linear:
        """The form of an integer or index value."""
        form = self._forms.get(value)
        if form is None:
            form = self._forms[value] = self._evaluate(value)
        return form

    def _evaluate(self, value: ir.Value) -> Linear:
        if isinstance(value.owner, ir.Block):
            return self.opaque(self.depends(value))
        op = value.owner.operation
        name = op.name
        if name in ("arith.constant", "index.constant"):
            attribute = op.attributes["value"]
            if isinstance(attribute, ir.IntegerAttr):
                return Linear.of(abs(int(attribute)) if is_flag(value) else int(attribute))  # `true` reads as -1
            return self.opaque(NOTHING)
        if name in _PASS_THROUGH:
            return self.linear(op.operands[0])
        if name == "arith.trunci":
            return self._truncated_bits(op)
        if name == "affine.delinearize_index":
            return self._digit(op, ir.OpResult(value).result_number)
        if name in _UNSIGNED_CASTS and (is_flag(op.operands[0]) or at_or_above(self.linear(op.operands[0]), 0)):
            return self.linear(op.operands[0])
        if name in HARDWARE:
            return self.hardware_op(op)
        if name.startswith("index."):
            known = self._arith(op, _INDEX_OPS[name]) if name in _INDEX_OPS else None
        elif name.startswith("affine."):
            known = self._affine(op)
        elif name.startswith("arith."):
            known = self._arith(op, name.removeprefix("arith."))
        else:
            known = None
        if known is not None:
            return known
        return self._extent(op) if name == "memref.dim" else self.opaque(self.depends(value))

    def _extent(self, op: ir.Operation) -> Linear:
        """`memref.dim`: the same number whenever it is asked of one value."""
        index = self.linear(op.operands[1])
        source = ir.ShapedType(op.operands[0].type)
        if not (index.is_constant and 0 <= index.constant < source.rank):
            return self.opaque(self.depends(op.results[0]), 0)
        if not source.is_dynamic_dim(index.constant):
            return Linear.of(source.get_dim_size(index.constant))
        key = (op.operands[0], index.constant)
        if key not in self._extents:
            self._extents[key] = self.opaque(self.depends(op.results[0]), 0)
        return self._extents[key]

    def share_extents(self, argument: ir.Value, operand: ir.Value) -> None:
        """`argument` of a kernel is `operand` of its launch: their dynamic sizes are the same."""
        kind = ir.ShapedType(operand.type)
        for dimension in range(kind.rank):
            if kind.is_dynamic_dim(dimension):
                known = self._extents.setdefault((operand, dimension), self.opaque(NOTHING, 0))
                self._extents[argument, dimension] = known

    def _truncated_bits(self, op: ir.Operation) -> Linear:
        """A number that fits in the fewer bits stays what it is; 32 bits and more are taken as enough for any."""
        form = self.linear(op.operands[0])
        low, high = form.bounds()
        width = ir.IntegerType(op.results[0].type).width
        fits = low is not None and high is not None and -(2 ** (width - 1)) <= low and high < 2 ** (width - 1)
        return form if width >= 32 or fits else self.opaque(self.depends(op.results[0]))

    def _digit(self, op: ir.Operation, number: int) -> Linear:
        """A result of `affine.delinearize_index`: the digits of a number, the most significant first."""
        digit = self.linear(op.operands[0])
        basis = list(ir.DenseI64ArrayAttr(op.attributes["static_basis"]))
        dynamic = list(op.operands)[1:]
        sizes = [self.linear(dynamic.pop(0)) if size == DYNAMIC else Linear.of(size) for size in basis]
        lower = sizes[len(sizes) - (len(op.results) - 1 - number) :] if number < len(op.results) - 1 else []
        for size in reversed(lower):
            if not size.is_constant or size.constant <= 0:
                return self.opaque(self.depends(op.results[number]))
            digit = digit.floordiv(size.constant)
        if number == 0:
            return digit
        own = sizes[len(sizes) - (len(op.results) - number)]
        constant = own.is_constant and own.constant > 0
        return digit.modulo(own.constant) if constant else self.opaque(self.depends(op.results[number]))

    # ---- arithmetic -----------------------------------------------------------------------------------------------------

    def _arith(self, op: ir.Operation, name: str) -> Linear | None:
        if name == "select":
            return self.choose(self.condition(op.operands[0]), self.linear(op.operands[1]), self.linear(op.operands[2]))
        if name == "cmpi":
            return self.choose(self.condition(op.results[0]), Linear.of(1), Linear.of(0))
        if len(op.operands) != 2 or name.endswith("f"):
            return None
        a, b = self.linear(op.operands[0]), self.linear(op.operands[1])
        if name == "addi":
            return a + b
        if name == "subi":
            return a - b
        if name == "muli":
            return self.product(a, b)
        if name in ("maxsi", "maxui", "minsi", "minui"):
            return self.extreme([a, b], largest=name.startswith("max"))
        if b.is_constant:
            return self.by_constant(name, a, b.constant)
        if name in ("shli", "shrui", "shrsi") and a.is_constant and a.constant >= 0:
            return self._shifted(name, a.constant, b)
        if "div" in name and at_or_above(a, 0) and at_or_above(b, 1):
            return self.opaque(a.depends() | b.depends(), 0)
        return None

    def _affine(self, op: ir.Operation) -> Linear | None:
        if op.name not in ("affine.apply", "affine.min", "affine.max"):
            return None
        forms = self.affine_map(op.attributes["map"].value, [self.linear(v) for v in op.operands])
        return forms[0] if op.name == "affine.apply" else self.extreme(forms, largest=op.name == "affine.max")

    def _shifted(self, name: str, number: int, by: Linear) -> Linear | None:
        """A constant shifted by one of a few numbers."""
        low, high = by.bounds()
        if low is None or high is None or low < 0 or high > 62:
            return None
        return self.tabulated(by, low, [number << n if name == "shli" else number >> n for n in range(low, high + 1)])

    def carry(self, argument: ir.Value, entering: ir.Value, yielded: ir.Value, loop: tuple[Symbol, int | None]) -> None:
        """Bind a number that a loop (its counter and trip count) carries, where each iteration adds a constant to it, takes it
        round in a short cycle, or makes one of a few known numbers of it."""
        start = self.linear(entering)
        for low in (None, 0):  # some ops are only understood of numbers that are not negative
            before, depends = dict(self._forms), dict(self._depends)
            unknown = self.fresh("opaque", self.depends(argument), low)
            self.bind(argument, Linear.of(unknown), self.depends(argument))
            following = self.linear(yielded)
            self._forms, self._depends = before, depends
            closed = progression(self, start, following, unknown, *loop)
            if closed is not None and (low is None or at_or_above(closed, low)):
                self.bind(argument, closed)
                return

    # ---- conditions ---------------------------------------------------------------------------------------------------

    def condition(self, value: ir.Value) -> Formula:
        """The formula of an i1. One that is not affine is `symbol == 1`, of an uninterpreted 0 or 1."""
        if value not in self._forms and not isinstance(value.owner, ir.Block):
            known = self._logic(value.owner.operation)
            if known is not None:
                return known
        if value not in self._forms:
            self._forms[value] = self.opaque(self.depends(value), 0, 1)
        form = self._forms[value]
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


def is_flag(value: ir.Value) -> bool:
    """Whether the value is an i1."""
    return isinstance(value.type, ir.IntegerType) and value.type.width == 1
