"""Undefined results: the lanes in which a value is undefined are tracked until a store, an address
or a branch uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...dsl.records import record
from ...interpreter.ir.mlir import DYNAMIC, ir
from ..form.kernel_form import ARRANGING, arranged, integers
from ..form.undefined_results import AT_ONCE, LEFT_OPEN, may_be_open
from .arguments import BOOL, INT64
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
    """The lanes in which a value, or the elements of a vector, are undefined, and the op from which
    this comes."""

    where: Val
    origin: ir.Operation


class FollowingTranslator(Translator):
    """Translates a kernel into code that also records faults of undefined results."""

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
            made = [self._selected(op, found)]
        elif op.name.startswith((*_ELEMENTWISE, "vector.fma")):
            made = [self._any(found)]
        elif op.name.startswith("vector.") and not op.name.endswith(_ACCESSES):
            made = [LeftOpen(part, found[0].origin) for part in self._of_elements(op, found)]
        else:
            return self._expect(self._stored(op, found))
        self.open.update(zip(op.results, made, strict=True))

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
        """The condition that a position is outside the vector."""
        first = 1 if op.name == "vector.extract" else 2
        places = [n for n, at in enumerate(integers(op.attributes["static_position"])) if at == DYNAMIC]
        sizes = [ir.VectorType(op.operands[first - 1].type).shape[n] for n in places]
        positions = self.operands(op, first)
        tests = (f"(N.unsigned({at.text}) >= {size})" for at, size in zip(positions, sizes, strict=True))
        return self.define(" | ".join(tests), positions, BOOL)

    def _of_elements(self, op: ir.Operation, found: Sequence[LeftOpen]) -> list[Val]:
        """For each result of an op on vectors, its elements that come from undefined elements; all
        elements, if an undefined position or limit determines them."""
        numbers = arranged(op) if op.name in ARRANGING else None
        if numbers is not None:
            parts = [self._elements(value) for value in op.operands]
            listed = "".join(f"{part.text}, " for part in parts)
            return [self._moved(op, f"V.arrange(({listed}), {self.constant(numbers, INT64).text})", parts)]
        if op.name == "vector.to_elements":
            where = self._elements(op.operands[0])
            places = (f"{where.text}[:, :, {', '.join(map(str, at))}]" for at in np.ndindex(*where.shape))
            return [self.define(place, [where], BOOL) for place in places]
        if op.name == "vector.bitcast":
            where, result = self._elements(op.operands[0]), ir.VectorType(op.results[0].type)
            return [self._moved(op, f"V.bitcast_elements({where.text}, {result.shape[-1]})", [where])]
        if op.name in ("vector.multi_reduction", "vector.outerproduct"):
            parts = [self._elements(value) for value in op.operands]
            first, second, *others = (part.text for part in parts)
            if op.name == "vector.multi_reduction":
                axes = tuple(axis + 2 for axis in integers(op.attributes["reduction_dims"]))
                made = f"{first}.any(axis={axes!r}) | {second}"
            else:
                made = (
                    f"{first}[..., :, None] | {second}[..., None, :]"
                    if parts[1].shape
                    else f"{first} | {second}[..., None]"
                )
            return [self._moved(op, " | ".join([made, *others]), parts)]
        moving = 1 if op.name == "vector.extract" else 2 if op.name == "vector.insert" else 0
        whole = [one for one in found if one not in [self.open.get(value) for value in list(op.operands)[:moving]]]
        if len(whole) < len(found):  # at a position that is known at run time
            parts = [self._elements(value) for value in list(op.operands)[:moving]]
            positions = self.operands(op, moving)
            dynamic = iter(positions)
            at = "".join(
                f"{next(dynamic).text if n == DYNAMIC else n}, " for n in integers(op.attributes["static_position"])
            )
            ranks = f", {parts[0].rank}" if moving == 2 else ""
            text = (
                f"V.{op.name[7:]}({parts[0].text}{ranks}, {''.join(f'{part.text}, ' for part in parts[1:])}({at}), L)"
            )
            moved = self._moved(op, text, [*parts, *positions])
            return [self._any([LeftOpen(moved, found[0].origin), *self._in_lanes(whole)]).where]
        return [self._any(self._in_lanes(found)).where] * len(op.results)

    def _moved(self, op: ir.Operation, text: str, operands: Sequence[Val]) -> Val:
        result = op.results[0].type
        shape = tuple(result.shape) if isinstance(result, ir.VectorType) else ()
        return self.define(text, operands, BOOL, shape, uniform=False)

    def _elements(self, value: ir.Value) -> Val:
        """The undefined elements of a value: booleans in its shape; for a scalar, a single
        condition."""
        shape = tuple(value.type.shape) if isinstance(value.type, ir.VectorType) else ()
        if value not in self.open:
            return self.constant(np.zeros((1, 1, *shape), bool), BOOL, shape)
        where = self.open[value].where
        if where.shape == shape:
            return where
        kind = self.constant(np.dtype(bool), INT64).text
        return self.define(f"V.broadcast({where.text}, 0, {shape!r}, {kind})", [where], BOOL, shape)

    def _in_lanes(self, found: Sequence[LeftOpen]) -> list[LeftOpen]:
        """The lanes in which an element is undefined."""
        texts = ((one, f"N.lanes({one.where.text})") for one in found)
        return [LeftOpen(self.define(text, [one.where], BOOL), one.origin) for one, text in texts]

    def _stored(self, op: ir.Operation, found: Sequence[LeftOpen]) -> list[LeftOpen]:
        """The undefined values that an op needs. Of a masked store, these are only the stored
        elements."""
        value = op.operands[-1] if op.name == "vector.maskedstore" else None
        if value not in self.open or op.operands[-2] in self.open:
            return list(found)
        where, mask = self._elements(value), self.value(op.operands[-2])
        others = [one for one in found if one is not self.open[value]]
        stored = self.define(f"{where.text} & {mask.text}", [where, mask], BOOL, where.shape)
        return [*others, LeftOpen(stored, self.open[value].origin)]

    def _any(self, found: Sequence[LeftOpen]) -> LeftOpen:
        """The lanes or elements in which one of these values is undefined."""
        if len(found) == 1:
            return found[0]
        shape = _shape(found)
        text = " | ".join(_beside(one, shape) for one in found)
        return LeftOpen(self.define(text, [one.where for one in found], BOOL, shape), found[0].origin)

    def _selected(self, op: ir.Operation, found: Sequence[LeftOpen]) -> LeftOpen:
        """The undefined lanes of a `select`; an arm that is not chosen does not count."""
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
