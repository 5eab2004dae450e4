"""Rewrites payload text of older MLIR versions, which the current verifier rejects, into text that
it accepts.

Older `affine.apply`, `affine.load` and `affine.store` accepted any index as a symbol, also a loop
variable (an example is the ONNX module in "How to Implement Asynchronous Concurrent Execution
Between gpu.launch Operations?" on the MLIR forum). Now a loop variable must be a dimension. The
value of a map does not depend on whether an operand is a dimension or a symbol. So symbols become
dimensions here if the map stays affine: `d0 * s0` is affine only with a symbol and is left to the
parser's message. The edits are made on the text; `Older.place` maps every place back to the user's
text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ..dsl.diagnostics import Source
from ..interpreter.ir import mlir
from .edits import Edit, Older

REJECTED = "cannot be used as a symbol"
"""A part of the current verifier's message for such an operand."""

_GAP = r"(?:\s|//[^\n]*+)*+"
_VALUE = r"%[\w$.\#-]++"
_MAP = r"affine_map\s*+<(?:->|[^<>])*+>|\#[\w$.-]++"
_FORMS = re.compile(
    rf"""//[^\n]*+
      | "affine\.(?:apply|(?:vector_)?(?:load|store))"{_GAP}\([^():=]*+\){_GAP}<?{_GAP}\{{{_GAP}map{_GAP}={_GAP}(?P<generic>{_MAP})
      | "(?:[^"\\\n]|\\.)*+"?
      | (?P<alias>\#[\w$.-]++){_GAP}={_GAP}(?P<aliased>{_MAP})
      | (?<![\w.%@])affine\.apply{_GAP}(?P<map>{_MAP}){_GAP}\((?P<dims>[^()]*+)\){_GAP}\[(?P<symbols>[^\[\]]*+)\]
      | (?<![\w.%@])affine\.(?:vector_)?(?:load|store){_GAP}(?:{_VALUE}{_GAP},{_GAP})?{_VALUE}{_GAP}\[(?P<subscripts>[^\[\]]*+)\]
    """,
    re.VERBOSE,
)
"""Comments and strings, which are skipped; named maps; ops in generic and in custom form."""

_PARTS = re.compile(r"affine_map\s*<\s*\(([^()]*)\)\s*+(?:\[([^\[\]]*)\]\s*+)?->\s*(.*)>", re.DOTALL)
_OPERAND = re.compile(rf"\bsymbol{_GAP}\({_GAP}(?P<symbol>{_VALUE}){_GAP}\)|(?P<dimension>{_VALUE})")


def rewritten(source: Source, *, symbols: bool = True) -> Older | None:
    """`source` with current names and headers and, with `symbols`, with symbols of accesses as
    dimensions; None if there is nothing to edit."""
    from .older_names import edits as names

    context = mlir.context()

    def affine(written: str) -> bool:
        """Whether the parser accepts the map `written`: it refuses the product of two dimensions."""
        try:
            mlir.ir.Attribute.parse(written, context)
        except mlir.ir.MLIRError:
            return False
        return True

    made = [*names(source.text), *(edits(source.text, affine) if symbols else ())]
    return Older(source, made) if made else None


def edits(text: str, affine: Callable[[str], bool]) -> Iterator[Edit]:
    """The edits that make symbols dimensions."""
    found = list(_FORMS.finditer(text))
    named = {form["alias"]: form["aliased"] for form in found if form["alias"] is not None}
    for form in found:
        if (written := form["map"] or form["generic"]) is not None:
            yield from _of_map(form, named.get(written, written), affine)
        elif form["subscripts"] is not None:
            yield from _of_subscripts(form, affine)


def _of_map(form: re.Match[str], written: str, affine: Callable[[str], bool]) -> Iterator[Edit]:
    parts = _PARTS.fullmatch(written)
    symbols, given = _listed(parts[2] or "") if parts is not None else [], _listed(form["symbols"] or "")
    if parts is None or (form["map"] is not None and len(given) != len(symbols)):
        return  # the parser reports the wrong number of operands

    def text(taken: set[int]) -> str:
        return f"affine_map<{_brackets(_listed(parts[1]), symbols, taken)} -> {parts[3].strip()}>"

    taken = _taken(range(len(symbols)), lambda taken: affine(text(taken)))
    if form["map"] is not None and taken:
        yield Edit(*form.span("map"), text(taken))
        yield Edit(form.start("dims") - 1, form.end("symbols") + 1, _brackets(_listed(form["dims"]), given, taken))
    elif len(taken) == len(symbols) > 0:  # the operands stay unchanged
        yield Edit(*form.span("generic"), text(taken))


def _of_subscripts(form: re.Match[str], affine: Callable[[str], bool]) -> Iterator[Edit]:
    text, start = form["subscripts"], form.start("subscripts")
    spots = {one.start(): one for one in _OPERAND.finditer(text) if one["symbol"] is not None}
    for spot in _taken(spots, lambda taken: affine(_as_map(text, spots.keys() - taken))):
        yield Edit(start + spot, start + spots[spot].end(), spots[spot]["symbol"])


def _taken(numbers: Iterable[int], affine: Callable[[set[int]], bool]) -> set[int]:
    """A maximal set of symbols that can become dimensions, chosen greedily in order."""
    taken: set[int] = set()
    for number in numbers:
        if affine(taken | {number}):
            taken.add(number)
    return taken


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _brackets(dims: Sequence[str], symbols: Sequence[str], taken: set[int]) -> str:
    """The operand lists `(d0, s1)[s0]`, where symbol 1 is taken as a dimension."""
    left = [name for number, name in enumerate(symbols) if number not in taken]
    inputs = [*dims, *(name for number, name in enumerate(symbols) if number in taken)]
    return f"({', '.join(inputs)})" + (f"[{', '.join(left)}]" if left else "")


def _as_map(subscripts: str, kept: Collection[int]) -> str:
    """The affine map of these subscripts. `symbol(%s)` becomes a symbol of the map at the offsets in
    `kept`, and a dimension elsewhere."""
    dims: dict[str, str] = {}
    symbols: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        names, letter = (symbols, "s") if found.start() in kept else (dims, "d")
        return names.setdefault(found["symbol"] or found["dimension"], f"{letter}{len(names)}")

    results = _OPERAND.sub(name, subscripts)
    return f"affine_map<({', '.join(dims.values())})[{', '.join(symbols.values())}] -> ({results})>"
