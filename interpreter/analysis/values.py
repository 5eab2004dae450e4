"""SSA values of a kernel → quasi-affine forms, formulas, and what they depend on.

Integers are taken as unbounded: index arithmetic that overflows is a fault of its own. Values are evaluated lazily, from
their defining ops; block arguments (loop variables, kernel arguments) are bound by whoever walks the regions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from ..mlir import ir
from .linear import (
    FALSE,
    NOTHING,
    THREAD,
    TRUE,
    Depends,
    Formula,
    Linear,
    Link,
    Symbol,
    SymbolKind,
    at_least,
    both,
    either,
    equal,
    less,
)
from .shape import LaunchShape

AXES = ("x", "y", "z")
WARP = 32
DYNAMIC = -(2**63)  # how MLIR spells a dynamic size, offset or stride in a static array

_PASS_THROUGH = {
    "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "builtin.unrealized_conversion_cast",
}  # fmt: skip
_HARDWARE = {
    "gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.lane_id", "gpu.subgroup_id",
    "gpu.global_id", "gpu.subgroup_size", "gpu.num_subgroups",
}  # fmt: skip


class Values:
    """Evaluates the values of one kernel.

    Args:
        shape: block and grid sizes, as far as they are known.
        load_depends: what a loaded value depends on (memory the kernel never writes is a function of its address).
    """

    def __init__(self, shape: LaunchShape, load_depends: Callable[[ir.Operation], Depends]) -> None:
        self.shape = shape
        self._load_depends = load_depends
        self._forms: dict[ir.Value, Linear] = {}
        self._depends: dict[ir.Value, Depends] = {}
        self._hardware: dict[tuple[str, str], Symbol] = {}
        self._products: dict[tuple[Linear, Linear], Linear] = {}
        self._numbers = itertools.count()

    # ---- symbols ------------------------------------------------------------------------------------------------------

    def fresh(
        self,
        kind: SymbolKind,
        depends: Depends = NOTHING,
        low: int | None = None,
        high: int | None = None,
        link: Link | None = None,
    ) -> Symbol:
        letter = {"loop": "c", "parameter": "p", "opaque": "o", "defined": "d", "lane": "l"}[kind]
        return Symbol(f"{letter}{next(self._numbers)}", kind, depends, low, high, None, link)

    def defined(self, depends: Depends, formula: Callable[[Linear], Formula]) -> Linear:
        """A value that is what `formula` of it says."""
        symbol = self.fresh("defined", depends)
        form = Linear.of(symbol)
        symbol.define(formula(form))
        return form

    def opaque(
        self, depends: Depends, low: int | None = None, high: int | None = None, link: Link | None = None
    ) -> Linear:
        kind: SymbolKind = "parameter" if depends == NOTHING else "opaque"
        return Linear.of(self.fresh(kind, depends, low, high, link))

    def bind(self, value: ir.Value, form: Linear, depends: Depends | None = None) -> None:
        self._forms[value] = form
        self._depends[value] = form.depends() if depends is None else depends

    def hardware(self, what: str, axis: str) -> Linear:
        """`thread_id x` and its kin; sizes that are known are constants."""
        size = self.shape.size(what, axis)
        if what in ("block_dim", "grid_dim") and size is not None:
            return Linear.of(size)
        if what in ("thread_id", "block_id") and size == 1:
            return Linear.of(0)
        key = (what, axis)
        if key not in self._hardware:
            if what == "thread_id":
                symbol = Symbol(f"t{axis}", "thread", THREAD, 0, None if size is None else size - 1)
            elif what == "block_id":
                symbol = Symbol(f"b{axis}", "block", Depends(block=True), 0, None if size is None else size - 1)
            else:
                symbol = Symbol(f"{'B' if what == 'block_dim' else 'G'}{axis}", "parameter", NOTHING, 1)
            self._hardware[key] = symbol
        return Linear.of(self._hardware[key])

    def thread_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("thread_id", axis) for axis in AXES)

    def block_ids(self) -> tuple[Linear, ...]:
        return tuple(self.hardware("block_id", axis) for axis in AXES)

    def size_facts(self) -> list[Formula]:
        """Ids are below their symbolic sizes."""
        out: list[Formula] = []
        for what, size in (("thread_id", "block_dim"), ("block_id", "grid_dim")):
            for axis in AXES:
                if (what, axis) in self._hardware and self.shape.size(size, axis) is None:
                    out.append(less(self.hardware(what, axis), self.hardware(size, axis)))
        return out

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
        if name == "arith.constant":
            attribute = op.attributes["value"]
            if isinstance(attribute, ir.IntegerAttr):
                return Linear.of(int(attribute))
            return self.opaque(NOTHING)
        if name in _PASS_THROUGH:
            return self.linear(op.operands[0])
        if name in _HARDWARE:
            return self._hardware_op(op)
        if name.startswith("affine."):
            known = self._affine(op)
        elif name.startswith("arith."):
            known = self._arith(op, name.removeprefix("arith."))
        else:
            known = None
        if known is not None:
            return known
        low = 0 if name == "memref.dim" else None
        if name == "memref.dim":
            static = self._static_dim(op)
            if static is not None:
                return Linear.of(static)
        return self.opaque(self.depends(value), low)

    def _static_dim(self, op: ir.Operation) -> int | None:
        index = self.linear(op.operands[1])
        source = ir.ShapedType(op.operands[0].type)
        if index.is_constant and 0 <= index.constant < source.rank and not source.is_dynamic_dim(index.constant):
            return source.get_dim_size(index.constant)
        return None

    def _hardware_op(self, op: ir.Operation) -> Linear:
        what = op.name.removeprefix("gpu.")
        if what in ("thread_id", "block_id", "block_dim", "grid_dim"):
            return self.hardware(what, _axis(op))
        if what == "subgroup_size":
            return Linear.of(WARP)
        threads = self.shape.threads
        if what == "global_id":
            axis = _axis(op)
            size = self.hardware("block_dim", axis)
            return self.product(self.hardware("block_id", axis), size) + self.hardware("thread_id", axis)
        if threads is None:
            return self.opaque(NOTHING if what == "num_subgroups" else THREAD, 0)
        if what == "num_subgroups":
            return Linear.of(-(-threads // WARP))
        linear = self.shape.linear_id(self.thread_ids())
        return linear.modulo(WARP) if what == "lane_id" else linear.floordiv(WARP)

    # ---- arithmetic ---------------------------------------------------------------------------------------------------

    @staticmethod
    def times(a: Linear, b: Linear) -> Linear | None:
        """The product, if one factor is constant."""
        if a.is_constant:
            return b * a.constant
        return a * b.constant if b.is_constant else None

    def product(self, a: Linear, b: Linear) -> Linear:
        """The product. That of an id and a number that the whole grid agrees on is a multiple (see `Link`)."""
        exact = self.times(a, b)
        if exact is not None:
            return exact
        if (a, b) not in self._products:
            link = None
            for identifier, chunk in ((a, b), (b, a)):
                processor = id_symbol(identifier)
                if processor is not None and chunk.depends() == NOTHING and at_or_above(chunk, 0):
                    link = Link("multiple", processor, chunk)
            low = 0 if at_or_above(a, 0) and at_or_above(b, 0) else None
            self._products[a, b] = self._products[b, a] = self.opaque(a.depends() | b.depends(), low, None, link)
        return self._products[a, b]

    def truncated(self, a: Linear, divisor: int) -> Linear:
        """`a / divisor` rounded towards zero."""
        low, high = a.bounds()
        if low is not None and low >= 0:
            return a.floordiv(divisor)
        if high is not None and high <= 0:
            return (a * -1).floordiv(divisor) * -1
        up, down = a.floordiv(divisor), (a * -1).floordiv(divisor) * -1
        return self.choose(at_least(a, 0), up, down)

    def choose(self, condition: Formula, a: Linear, b: Linear) -> Linear:
        """`condition ? a : b`."""
        if condition == TRUE or a == b:
            return a
        if condition == FALSE:
            return b
        depends = condition.depends() | a.depends() | b.depends()
        return self.defined(
            depends, lambda v: either(both(condition, equal(v, a)), both(condition.negate(), equal(v, b)))
        )

    def extreme(self, forms: list[Linear], *, largest: bool) -> Linear:
        """The largest or smallest of the forms."""
        forms = list(dict.fromkeys(forms))
        if len(forms) == 1:
            return forms[0]
        if all(f.is_constant for f in forms):
            return Linear.of((max if largest else min)(f.constant for f in forms))
        depends = NOTHING
        for f in forms:
            depends = depends | f.depends()

        def formula(v: Linear) -> Formula:
            beyond = [at_least(v, f) if largest else at_least(f, v) for f in forms]
            return both(*beyond, either(*(equal(v, f) for f in forms)))

        return self.defined(depends, formula)

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
            return self._by_constant(name, a, b.constant)
        if "div" in name and at_or_above(a, 0) and at_or_above(b, 1):
            return self.opaque(a.depends() | b.depends(), 0)
        return None

    def _by_constant(self, name: str, a: Linear, b: int) -> Linear | None:
        if name == "shli" and 0 <= b < 63:
            return a * (1 << b)
        if name in ("shrui", "divui", "remui") and not at_or_above(a, 0):
            return None
        if name in ("shrsi", "shrui") and 0 <= b < 63:
            return a.floordiv(1 << b)
        if name == "andi" and b >= 0 and (b + 1) & b == 0:
            return a.modulo(b + 1)
        if b <= 0:
            return None
        match name:
            case "floordivsi":
                return a.floordiv(b)
            case "ceildivsi" | "ceildivui":
                return (a + (b - 1)).floordiv(b)
            case "divsi":
                return self.truncated(a, b)
            case "remsi":
                return a - self.truncated(a, b) * b
            case "divui":
                return a.floordiv(b)
            case "remui":
                return a.modulo(b)
        return None

    # ---- affine maps --------------------------------------------------------------------------------------------------

    def _affine(self, op: ir.Operation) -> Linear | None:
        if op.name not in ("affine.apply", "affine.min", "affine.max"):
            return None
        forms = self.affine_map(op.attributes["map"].value, [self.linear(v) for v in op.operands])
        return forms[0] if op.name == "affine.apply" else self.extreme(forms, largest=op.name == "affine.max")

    def affine_map(self, affine_map: ir.AffineMap, operands: list[Linear]) -> list[Linear]:
        """The results of the map: dimensions first among the operands, then symbols."""
        dims = operands[: affine_map.n_dims]
        symbols = operands[affine_map.n_dims :]
        return [self.affine_expression(e, dims, symbols) for e in affine_map.results]

    def affine_expression(self, e: ir.AffineExpr, dims: list[Linear], symbols: list[Linear]) -> Linear:
        if isinstance(e, ir.AffineDimExpr):
            return dims[e.position]
        if isinstance(e, ir.AffineSymbolExpr):
            return symbols[e.position]
        if isinstance(e, ir.AffineConstantExpr):
            return Linear.of(e.value)
        binary = ir.AffineBinaryExpr(e)
        a = self.affine_expression(binary.lhs, dims, symbols)
        b = self.affine_expression(binary.rhs, dims, symbols)
        if isinstance(e, ir.AffineAddExpr):
            return a + b
        if isinstance(e, ir.AffineMulExpr):
            return self.product(a, b)
        elif not b.is_constant or b.constant <= 0:
            known = None
        elif isinstance(e, ir.AffineModExpr):
            known = a.modulo(b.constant)
        elif isinstance(e, ir.AffineFloorDivExpr):
            known = a.floordiv(b.constant)
        else:
            known = (a + (b.constant - 1)).floordiv(b.constant)
        return known if known is not None else self.opaque(a.depends() | b.depends())

    def integer_set(self, attribute: ir.Attribute, operands: list[Linear]) -> Formula:
        """`affine.if`'s set. The bindings give no access to an integer set attribute's content, so its text becomes a map."""
        text = str(attribute).removeprefix("affine_set<").removesuffix(">")
        head, _, constraints = text.partition(":")
        inner = constraints.strip()[1:-1]
        pieces = [p.strip() for p in inner.split(",") if p.strip()]
        forms = [re.sub(r"\s*(>=|==)\s*0$", "", p) for p in pieces]
        made = ir.AffineMapAttr.parse(f"affine_map<{head.strip()} -> ({', '.join(forms)})>", attribute.context)
        results = self.affine_map(made.value, operands)
        return both(*(Formula("eq" if "==" in p else "ge", f) for p, f in zip(pieces, results, strict=True)))

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
            return _compare(ir.IntegerAttr(op.attributes["predicate"]).value, *(self.linear(v) for v in op.operands))
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

    # ---- dependence ---------------------------------------------------------------------------------------------------

    def depends(self, value: ir.Value) -> Depends:
        """On what the value depends. Block arguments nobody bound (carried values) may differ from thread to thread."""
        known = self._depends.get(value)
        if known is None:
            known = self._depends[value] = self._find_depends(value)
        return known

    def settle(
        self, arguments: Sequence[ir.Value], entering: Sequence[ir.Value], yields: Sequence[ir.Value], loop: int
    ) -> None:
        """Bind what the carried values of a loop depend on: on all that what enters and what is yielded depends on.

        First they are taken to depend on what enters alone; if what is yielded then depends on more, they do too, and one
        round is enough because a union only grows by what the first round found.
        """
        out = Depends(loops=frozenset({loop}))
        for value in entering:
            out = out | self.depends(value)
        before = dict(self._depends)
        for argument in arguments:
            self._depends[argument] = out
        for value in yields:
            out = out | self.depends(value)
        self._depends = before
        for argument in arguments:
            self._depends[argument] = out

    def _find_depends(self, value: ir.Value) -> Depends:
        if isinstance(value.owner, ir.Block):
            return THREAD
        op = value.owner.operation
        if op.name in _HARDWARE:
            return self._hardware_op(op).depends()
        if op.name in ("memref.load", "affine.load", "vector.load"):
            return self._load_depends(op)
        if op.name == "gpu.shuffle" or op.name.startswith("gpu.subgroup") or "atomic" in op.name:
            return THREAD
        out = NOTHING
        for operand in op.operands:
            out = out | self.depends(operand)
        if len(op.regions) and op.name != "scf.if":
            return out | THREAD
        for region in op.regions:
            for block in region.blocks:
                for operand in block.operations[len(block.operations) - 1].operands:
                    out = out | self.depends(operand)
        return out


def at_or_above(form: Linear, bound: int) -> bool:
    """Whether the form's bounds say so."""
    low, _ = form.bounds()
    return low is not None and low >= bound


def id_symbol(form: Linear) -> Symbol | None:
    """The symbol, if the form is just a thread's or a block's id."""
    if len(form.terms) == 1 and form.constant == 0:
        ((term, coefficient),) = form.terms.items()
        if coefficient == 1 and isinstance(term, Symbol) and term.kind in ("thread", "block"):
            return term
    return None


def _axis(op: ir.Operation) -> str:
    return str(op.attributes["dimension"])[-2]


def _compare(predicate: int, a: Linear, b: Linear) -> Formula:
    """`arith.cmpi`'s predicates: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge."""
    if predicate >= 6:
        return _compare_unsigned(predicate - 4, a, b)
    match predicate:
        case 0:
            return _fold(equal(a, b))
        case 1:
            return _fold(equal(a, b)).negate()
        case 2:
            return _fold(less(a, b))
        case 3:
            return _fold(at_least(b, a))
        case 4:
            return _fold(less(b, a))
    return _fold(at_least(a, b))


def _compare_unsigned(signed: int, a: Linear, b: Linear) -> Formula:
    """A negative number is larger than all others when it is read as unsigned."""
    if signed in (4, 5):
        return _compare_unsigned(signed - 2, b, a)
    a_up, b_up = _fold(at_least(a, 0)), _fold(at_least(b, 0))
    same = either(both(a_up, b_up), both(a_up.negate(), b_up.negate()))
    return either(both(same, _compare(signed, a, b)), both(a_up, b_up.negate()))


def _fold(formula: Formula) -> Formula:
    """Decide a comparison that bounds alone decide."""
    if formula.form is None or formula.kind == "eq":
        if formula.form is not None and formula.form.is_constant:
            return TRUE if formula.form.constant == 0 else FALSE
        return formula
    low, high = formula.form.bounds()
    if low is not None and low >= 0:
        return TRUE
    return FALSE if high is not None and high < 0 else formula
