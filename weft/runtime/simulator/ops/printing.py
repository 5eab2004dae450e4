"""`gpu.printf`: the formats of C in Python. The text of each thread is collected for the report."""

from __future__ import annotations

import re
from itertools import pairwise

from ....dsl.records import record
from ....interpreter.ir.mlir import ir
from ...form.kernel_form import PRINTF, refuse
from ..translate import INT64, Translator, handles

_CONVERSION = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d*)?)(hh|h|ll|l|j|z|t|L)?([diouxXeEfFgGaAcp]))")
_BITS = {"hh": 8, "h": 16, "": 32, "L": 32}
_REAL = frozenset("eEfFgGaA")


@record
class Conversion:
    """The conversion of one value in a format: flags, width and precision; the length in bits; and
    the letter, `d`, `f`, …."""

    flags: str
    bits: int
    kind: str

    def __call__(self, value: float) -> str:
        """The text that C prints."""
        if self.kind in "aA":
            text = f"%{self.flags}s" % float(value).hex()
            return text.upper() if self.kind == "A" else text
        if self.kind in _REAL:
            return f"%{self.flags}{self.kind}" % float(value)
        if self.kind == "c":
            return f"%{self.flags}c" % (int(value) & 0xFF)
        kind = {"p": "#x", "i": "d", "u": "d"}.get(self.kind, self.kind)
        return f"%{self.flags}{kind}" % (int(value) if self.kind in "di" else int(value) & (1 << self.bits) - 1)


@record
class Format:
    """A parsed format: the conversions of its values, and the texts before, between and after
    these."""

    conversions: tuple[Conversion, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, op: ir.Operation) -> Format:
        """Raises W0750 if the format and the values do not match: undefined in C."""
        text = ir.StringAttr(op.attributes["format"]).value
        if "%" in _CONVERSION.sub("", text):
            raise refuse("W0750", f"`{op.name}` with the format {text!r}, in which a `%` shows no number", op)
        found = [one for one in _CONVERSION.finditer(text) if one[3] is not None]
        parts = (one.groups("") for one in found)
        made = tuple(Conversion(flags, 64 if kind == "p" else _BITS.get(size, 64), kind) for flags, size, kind in parts)
        if len(op.operands) != len(made):
            counted = f"{len(op.operands)} values, and the format {text!r} shows {len(made)}"
            raise refuse("W0750", f"`{op.name}` of {counted}", op)
        for conversion, value in zip(made, op.operands, strict=True):
            if isinstance(value.type, ir.IndexType | ir.IntegerType) == (conversion.kind in _REAL):
                raise refuse("W0750", f"`{op.name}` shows a value of type {value.type} as `%{conversion.kind}`", op)
        places = [0, *(place for one in found for place in one.span()), len(text)]
        return cls(made, tuple(text[a:b].replace("%%", "%") for a, b in [*pairwise(places)][::2]))

    def __call__(self, *values: float) -> str:
        """The text that C prints."""
        first, *rest = self.texts
        shown = (show(value) + after for show, value, after in zip(self.conversions, values, rest, strict=True))
        return "".join((first, *shown))


@handles(PRINTF)
def printf(t: Translator, op: ir.Operation) -> None:
    values = "".join(f"{value.text}, " for value in t.operands(op))
    t.emit(f"L.printf({t.constant(Format.of(op), INT64).text}, ({values}), {t.mask})")
