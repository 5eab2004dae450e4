"""What MLIR leaves open: which lanes have no value is followed to where it matters, a store, an address, a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dsl.records import record
from ...interpreter.ir.mlir import DYNAMIC, ir
from ..form.kernel_form import integers
from ..form.undefined_results import AT_ONCE, LEFT_OPEN, may_be_open
from .arguments import BOOL
from .translate import Translator, Val

_TESTS = {
    **dict.fromkeys(("arith.shli", "arith.shrsi", "arith.shrui"), "N.too_far({1})"),
    **dict.fromkeys(AT_ONCE - {"scf.for"}, "N.overflows({0}, {1})"),
    **dict.fromkeys(("arith.fptosi", "arith.fptoui"), "N.unfit({0}, {bits}, {signed})"),
    "math.ipowi": "np.equal({0}, 0) & np.less({1}, 0)",
}
_ELEMENTWISE = ("arith.", "math.", "affine.")
_ACCESSES = ("load", "store", "transfer_read", "transfer_write")


@record
class LeftOpen:
    """The lanes of a value, or the elements of a vector, that are left open, and the op that has done so first."""

    where: Val
    origin: ir.Operation


class FollowingTranslator(Translator):
    """Translates a kernel, and has it record the faults of results that are left open."""

    def __init__(self, function: ir.Operation, names: Mapping[str, str]) -> None:
        super().__init__(function, names)
        self.open: dict[ir.Value, LeftOpen] = {}

    def translated(self, op: ir.Operation) -> None:
        found = [self.open[value] for value in op.operands if value in self.open]
        if op.name in LEFT_OPEN and may_be_open(op):
            found.append(LeftOpen(self._own(op), op))
            if op.name in AT_ONCE:
                return self._expect(found)
        if not found:
            return
        if op.name == "arith.select":
            made = self._selected(op, found)
        elif op.name.startswith(_ELEMENTWISE):
            made = self._any(found)
        elif op.name.startswith("vector.") and not op.name.endswith(_ACCESSES):
            made = self._any(
                [LeftOpen(self.define(f"N.lanes({one.where.text})", [one.where], BOOL), one.origin) for one in found]
            )
        else:
            return self._expect(found)
        self.open.update(dict.fromkeys(op.results, made))

    def left(self, values: Sequence[ir.Value]) -> None:
        self._expect([self.open[value] for value in values if value in self.open])

    def _expect(self, found: Sequence[LeftOpen]) -> None:
        for one in found:
            what = LEFT_OPEN[one.origin.name]
            self.emit(f"L.left_open({one.where.text}, {self.mask}, {self.site(one.origin)}, {what!r})")

    def _own(self, op: ir.Operation) -> Val:
        if op.name.startswith("vector."):
            return self._outside(op)
        if op.name == "scf.for":
            step = self.value(op.operands[2])
            return self.define(f"np.less_equal({step.text}, 0)", [step], BOOL)
        values = self.operands(op)
        result = getattr(op.results[0].type, "element_type", op.results[0].type)
        bits = result.width if isinstance(result, ir.IntegerType) else 64
        test = _TESTS[op.name].format(*(v.text for v in values), bits=bits, signed=op.name.endswith("si"))
        return self.define(test, values, BOOL, values[0].shape)

    def _outside(self, op: ir.Operation) -> Val:
        """Where a position is not in the vector."""
        first = 1 if op.name == "vector.extract" else 2
        places = [n for n, at in enumerate(integers(op.attributes["static_position"])) if at == DYNAMIC]
        sizes = [ir.VectorType(op.operands[first - 1].type).shape[n] for n in places]
        positions = self.operands(op, first)
        tests = (f"(N.unsigned({at.text}) >= {size})" for at, size in zip(positions, sizes, strict=True))
        return self.define(" | ".join(tests), positions, BOOL)

    def _any(self, found: Sequence[LeftOpen]) -> LeftOpen:
        """Where one of them is."""
        if len(found) == 1:
            return found[0]
        shape = _shape(found)
        text = " | ".join(_beside(one, shape) for one in found)
        return LeftOpen(self.define(text, [one.where for one in found], BOOL, shape), found[0].origin)

    def _selected(self, op: ir.Operation, found: Sequence[LeftOpen]) -> LeftOpen:
        """An arm that is not chosen does not matter."""
        decides, yes, no = (self.open.get(value) for value in op.operands)
        arms, condition = [one for one in (yes, no) if one is not None], self.value(op.operands[0])
        if not arms:
            return self._any(found)
        shape = _shape(arms) or condition.shape
        a, b = ("np.False_" if one is None else _beside(one, shape) for one in (yes, no))
        text = f"N.select({condition.text}, {a}, {b}, {0 if condition.shape else len(shape)})"
        chosen = self.define(text, [condition, *(one.where for one in arms)], BOOL, shape)
        return self._any([*([] if decides is None else [decides]), LeftOpen(chosen, arms[0].origin)])


def _shape(found: Sequence[LeftOpen]) -> tuple[int, ...]:
    return next((one.where.shape for one in found if one.where.shape), ())


def _beside(one: LeftOpen, shape: tuple[int, ...]) -> str:
    return f"N.beside({one.where.text}, {len(shape)})" if len(shape) > one.where.rank else one.where.text
