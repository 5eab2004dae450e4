"""Machine integers: fixed width, wrapping, read as signed or unsigned.

The form of a value is its bits read as signed (of an i1: 0 or 1). A result that may leave the range
of its type is wrapped into it if the range of the result is known, or if the type has less than 32
bits. `Dependence` computes what a value depends on: the thread, the block, the iterations of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..hardware.limits import WARP
from ..ir.constants import table_of
from ..ir.mlir import ancestors, ir, maker
from ..memory.effects import only_computes
from ..memory.table import ALLOCATIONS, STORED
from ..memory.views import terminator
from .algebra import Algebra, LaunchShape, MadeUp, at_or_above
from .linear import FALSE, NOTHING, THREAD, TRUE, Depends, Formula, Linear, at_least, both, either, equal, less

_KERNELS = ("gpu.func", "gpu.launch")
HARDWARE = {
    "gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.lane_id", "gpu.subgroup_id",
    "gpu.global_id", "gpu.subgroup_size", "gpu.num_subgroups", "gpu.cluster_block_id", "gpu.cluster_dim_blocks",
}  # fmt: skip
_UNIFORM = {"gpu.cluster_dim"}
_OF_BLOCKS = {"gpu.cluster_id"}
_OPEN = {"ub.poison", "tensor.empty", "memref.extract_aligned_pointer_as_index"}
"""The result may differ between threads: contents are undefined; private memory has an address for
each thread."""


class Dependence(Algebra):
    """Traces values to their operands, without evaluating them.

    Args:
        shape: block and grid sizes, as far as they are known.
        load_depends: dependences of a loaded value (memory that the kernel never writes is a
            function of its address).
    """

    def __init__(self, shape: LaunchShape, load_depends: Callable[[ir.Operation], Depends]) -> None:
        super().__init__(shape)
        self._load_depends = load_depends
        self._depends: dict[ir.Value, Depends] = {}

    def depends(self, value: ir.Value) -> Depends:
        """The dependences of the value. Unbound block arguments (carried values) may differ between
        threads."""
        known = self._depends.get(value)
        if known is None:
            known = self._depends[value] = self._find_depends(value)
        return known

    def depends_on(self, values: Iterable[ir.Value]) -> Depends:
        """The union of the values' dependences."""
        out = NOTHING
        for value in values:
            out = out | self.depends(value)
        return out

    def settle(
        self, arguments: Sequence[ir.Value], entering: Sequence[ir.Value], yields: Sequence[ir.Value], loop: int
    ) -> None:
        """Binds the dependences of the carried values of a loop: the union over the initial and the
        yielded values.

        First they are bound to the dependences of the initial values. If the yielded values then
        have further ones, these are added. One round suffices, because further rounds would add
        nothing.
        """
        out = Depends(loops=frozenset({loop})) | self.depends_on(entering)
        before = dict(self._depends)
        self._depends.update(dict.fromkeys(arguments, out))
        out = out | self.depends_on(yields)
        self._depends = before | dict.fromkeys(arguments, out)

    def _find_depends(self, value: ir.Value) -> Depends:
        owner = maker(value)
        if owner.name not in _KERNELS and not in_kernel(owner):
            return NOTHING  # the host computes it once for all threads
        if isinstance(value.owner, ir.Block):
            entry = owner.name == "gpu.func" and value.owner == owner.regions[0].blocks[0]
            return NOTHING if entry else THREAD  # all threads get the same arguments, and so the same sizes of buffers
        op = value.owner.operation
        if op.name in HARDWARE:
            return self.hardware_op(op).depends()
        if op.name in ("memref.load", "affine.load", "vector.load"):
            return self._load_depends(op)
        if op.name in _UNIFORM:
            return NOTHING
        if op.name in _OF_BLOCKS:
            return Depends(block=True)
        if op.name in _OPEN:
            return THREAD
        plain = op.name in ALLOCATIONS or op.name in STORED or op.name == "scf.if"
        if not plain and (op.name.startswith("gpu.") or not only_computes(op)):
            return THREAD  # of another thread, of memory, or unknown
        out = self.depends_on(op.operands)
        if len(op.regions) and op.name != "scf.if":
            return out | THREAD
        return out | self.depends_on(
            v for region in op.regions for block in region.blocks for v in terminator(block).operands
        )

    def hardware_op(self, op: ir.Operation) -> Linear:
        what = op.name.removeprefix("gpu.")
        if what in ("thread_id", "block_id", "block_dim", "grid_dim", "cluster_block_id", "cluster_dim_blocks"):
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


def _axis(op: ir.Operation) -> str:
    return str(op.attributes["dimension"])[-2]


def in_kernel(op: ir.Operation) -> bool:
    """Whether the op is in the body of a kernel, not on the host."""
    return any(around.name in _KERNELS for around in ancestors(op))


INDEX_BITS = 64
NARROW = 32
"""Integers of fewer bits are always wrapped: they are rarely meant as indices alone."""
_ULE, _UGE = 7, 9
_COMMUTATIVE = ("andi", "ori", "xori")
_PARTS = {
    "divsi": "truncated", "remsi": "truncated", "divui": "unsigned", "remui": "unsigned", "floordivsi": "floor",
}  # fmt: skip
"""Rounding of quotients and remainders, by op."""
_MOST_RUNS = 2
"""Runs of ones in a mask up to which a bitwise operation is evaluated: each needs two divisions."""


def bits(kind: ir.Type) -> int:
    """The width of an integer type; of index, that of a 64-bit machine."""
    return ir.IntegerType(kind).width if isinstance(kind, ir.IntegerType) else INDEX_BITS


def wrapped(form: Linear, width: int) -> Linear:
    """The number between -2^(width-1) and 2^(width-1)-1 with the form's last `width` bits; of i1, 0
    or 1."""
    half = 1 << (width - 1)
    return form.modulo(2) if width == 1 else (form + half).modulo(2 * half) - half


def fitting(form: Linear, width: int) -> Linear:
    """An exact result in `width` bits. A wide one without a known range is assumed to fit."""
    low, high = form.bounds()
    return wrapped(form, width) if width < NARROW or (low is not None and high is not None) else form


def range_of_type(kind: ir.Type) -> tuple[int | None, int | None]:
    """The smallest and the largest number of a narrow type."""
    width = bits(kind)
    if width >= NARROW:
        return None, None
    return (0, 1) if width == 1 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def compare(predicate: int, a: Linear, b: Linear) -> Formula:
    """`arith.cmpi`'s predicates: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge."""
    match predicate:
        case 0 | 1:
            same = _fold(equal(a, b))
            return same if predicate == 0 else same.negate()
        case 2 | 3:
            return _fold(less(a, b) if predicate == 2 else at_least(b, a))
        case 4 | 5 | 8 | 9:
            return compare(predicate - 2, b, a)
    # a negative number, read as unsigned, is larger than all others
    a_up, b_up = _fold(at_least(a, 0)), _fold(at_least(b, 0))
    same = either(both(a_up, b_up), both(a_up.negate(), b_up.negate()))
    return either(both(same, compare(predicate - 4, a, b)), both(a_up, b_up.negate()))


def _fold(formula: Formula) -> Formula:
    """Decides a comparison that bounds alone decide."""
    if formula.form is None or formula.kind == "eq":
        if formula.form is not None and formula.form.is_constant:
            return TRUE if formula.form.constant == 0 else FALSE
        return formula
    low, high = formula.form.bounds()
    if low is not None and low >= 0:
        return TRUE
    return FALSE if high is not None and high < 0 else formula


class Integers(Dependence):
    """Integer operations on forms."""

    def looked_up(self, load: ir.Operation, form: Callable[[ir.Value], Linear]) -> Linear | None:
        """A number of a constant table: within its minimum and maximum; if all are distinct, it
        determines its place. None for other loads."""
        table = table_of(load)
        if table is None:
            return None
        place = form(load.operands[1])
        found = self.unread(f"table {table.name}", (place,), table.low, table.high)
        if table.distinct:
            self.made_up.setdefault((table.name, place), MadeUp(place, [(found,)]))
        return found

    def converted(self, form: Linear, name: str, source: ir.Type, target: ir.Type) -> Linear:
        """Converts a number to another type: truncates it to its last bits, or extends it by zeros
        or its sign."""
        before, after = bits(source), bits(target)
        if after > before:
            if name.endswith(("ui", "u")):
                unsigned = self.unsigned(form, before)
                form = self.unread(f"{name} {before}", (form,), 0) if unsigned is None else unsigned
            elif before == 1:
                form = form * -1
        return fitting(form, after)

    def unsigned(self, form: Linear, width: int) -> Linear | None:
        """The bits read as unsigned; None if unknown."""
        if width == 1 or at_or_above(form, 0):
            return form
        return form.modulo(1 << width) if width < NARROW else None

    def binary(self, name: str, a: Linear, b: Linear, width: int) -> Linear:
        """The operation of `arith` with that name, on numbers of `width` bits."""
        made = self._exact(name, a, b, width)
        return self.unread(f"{name} {width}", (a, b)) if made is None else fitting(made, width)

    def _exact(self, name: str, a: Linear, b: Linear, width: int) -> Linear | None:
        """The exact result, before wrapping."""
        if name in _COMMUTATIVE and a.is_constant:
            a, b = b, a
        match name:
            case "addi":
                return a + b
            case "subi":
                return a - b
            case "muli":
                return self.product(a, b)
            case "maxsi" | "minsi":
                return self.extreme([a, b], largest=name == "maxsi")
            case "maxui" | "minui":
                if at_or_above(a, 0) and at_or_above(b, 0):
                    return self.extreme([a, b], largest=name == "maxui")
                return self.choose(compare(_UGE if name == "maxui" else _ULE, a, b), a, b)
        if b.is_constant:
            return self._by_constant(name, a, b.constant, width)
        if name in ("shli", "shrui", "shrsi") and a.is_constant and a.constant >= 0:  # by one of a few numbers
            low, high = b.bounds()
            if low is None or high is None or low < 0 or high >= INDEX_BITS:
                return None
            shifted = [a * (1 << n) if name == "shli" else a.floordiv(1 << n) for n in range(low, high + 1)]
            return self.tabulated(b, low, [wrapped(form, width).constant for form in shifted])
        if name in _PARTS:
            part = "quotient" if "div" in name else "remainder"
            return self.part(part, f"{_PARTS[name]} {width}", a, b)
        if "div" in name and at_or_above(a, 0) and at_or_above(b, 1):
            return self.unread(f"{name} {width}", (a, b), 0)
        return None

    def truncated(self, a: Linear, divisor: int) -> Linear:
        """`a / divisor` rounded towards zero."""
        low, high = a.bounds()
        if low is not None and low >= 0:
            return a.floordiv(divisor)
        if high is not None and high <= 0:
            return (a * -1).floordiv(divisor) * -1
        up, down = a.floordiv(divisor), (a * -1).floordiv(divisor) * -1
        return self.choose(at_least(a, 0), up, down)

    def _by_constant(self, name: str, a: Linear, b: int, width: int) -> Linear | None:
        if name in _COMMUTATIVE:
            common = _masked(a, b)
            if common is None:
                return None
            return common if name == "andi" else a + b - common * (1 if name == "ori" else 2)
        if name in ("shli", "shrui", "shrsi") and not 0 <= b < width:
            return None
        if name in ("shrui", "divui", "remui", "ceildivui"):
            b %= 1 << width
            as_unsigned = self.unsigned(a, width)
            if as_unsigned is None:
                return None
            a = as_unsigned
        if name == "shli":
            return a * (1 << b)
        if name in ("shrsi", "shrui"):
            return a.floordiv(1 << b)
        if b < 0:
            a, b = (a if name == "remsi" else a * -1), -b
        return self._divided(name, a, b) if b > 0 else None

    def _divided(self, name: str, a: Linear, b: int) -> Linear | None:
        match name:
            case "floordivsi" | "divui":
                return a.floordiv(b)
            case "ceildivsi" | "ceildivui":
                return (a + (b - 1)).floordiv(b)
            case "divsi":
                return self.truncated(a, b)
            case "remsi":
                return a - self.truncated(a, b) * b
            case "remui":
                return a.modulo(b)
        return None


def _masked(a: Linear, mask: int) -> Linear | None:
    """The bits of `a` where `mask` has ones: for each run of them, the part below its end minus the
    part below its start."""
    if mask < 0:
        rest = _masked(a, ~mask)
        return None if rest is None else a - rest
    out, place, runs = Linear.of(0), 0, 0
    while mask >> place:
        first = place + ((mask >> place) & -(mask >> place)).bit_length() - 1
        end = first + ((~(mask >> first)) & ((mask >> first) + 1)).bit_length() - 1
        out = out + a.modulo(1 << end) - a.modulo(1 << first)
        place, runs = end, runs + 1
    return out if runs <= _MOST_RUNS or a.is_constant else None
