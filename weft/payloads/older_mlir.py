"""Payload text that older MLIR accepted and today's verifier does not, rewritten into text that it does.

Older `affine.apply`, `affine.load` and `affine.store` took any index as a symbol, the variable of a loop too (see "How
to Implement Asynchronous Concurrent Execution Between gpu.launch Operations?" on the MLIR forum, whose module came from
ONNX). Today a loop variable must be a dimension. A map means the same whether an operand is a dimension or a symbol, so
that symbols become dimensions here, wherever the map stays affine: `d0 * s0` is affine for a symbol alone, and is left
to the parser's message. All that happens on the text; `Older.place` leads every place back to what the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from ..dsl.diagnostics import Source
from ..interpreter.ir import mlir
from .edits import Edit, Older

REJECTED = "cannot be used as a symbol"
"""What today's verifier says of such an operand."""

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
"""Comments and texts, which hold nothing; named maps; and ops, in the general form and in people's."""

_PARTS = re.compile(r"affine_map\s*<\s*\(([^()]*)\)\s*+(?:\[([^\[\]]*)\]\s*+)?->\s*(.*)>", re.DOTALL)
_OPERAND = re.compile(rf"\bsymbol{_GAP}\({_GAP}(?P<symbol>{_VALUE}){_GAP}\)|(?P<dimension>{_VALUE})")


def rewritten(source: Source, *, symbols: bool = True) -> Older | None:
    """`source` with today's names and headers and, with `symbols`, those of accesses as dimensions; None: as it is."""
    from .older_names import edits as names

    context = mlir.context()

    def affine(written: str) -> bool:
        """Whether the parser takes `written` as a map: it refuses the product of two dimensions."""
        try:
            mlir.ir.Attribute.parse(written, context)
        except mlir.ir.MLIRError:
            return False
        return True

    made = [*names(source.text), *(edits(source.text, affine) if symbols else ())]
    return Older(source, made) if made else None


def edits(text: str, affine: Callable[[str], bool]) -> Iterator[Edit]:
    """What makes symbols dimensions."""
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
        return  # the parser counts, and says so

    def text(taken: set[int]) -> str:
        return f"affine_map<{_brackets(_listed(parts[1]), symbols, taken)} -> {parts[3].strip()}>"

    taken = _taken(range(len(symbols)), lambda taken: affine(text(taken)))
    if form["map"] is not None and taken:
        yield Edit(*form.span("map"), text(taken))
        yield Edit(form.start("dims") - 1, form.end("symbols") + 1, _brackets(_listed(form["dims"]), given, taken))
    elif len(taken) == len(symbols) > 0:  # the operands stay as they are
        yield Edit(*form.span("generic"), text(taken))


def _of_subscripts(form: re.Match[str], affine: Callable[[str], bool]) -> Iterator[Edit]:
    text, start = form["subscripts"], form.start("subscripts")
    spots = {one.start(): one for one in _OPERAND.finditer(text) if one["symbol"] is not None}
    for spot in _taken(spots, lambda taken: affine(_as_map(text, spots.keys() - taken))):
        yield Edit(start + spot, start + spots[spot].end(), spots[spot]["symbol"])


def _taken(numbers: Iterable[int], affine: Callable[[set[int]], bool]) -> set[int]:
    """As many symbols as can be dimensions, the first ones first."""
    taken: set[int] = set()
    for number in numbers:
        if affine(taken | {number}):
            taken.add(number)
    return taken


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _brackets(dims: Sequence[str], symbols: Sequence[str], taken: set[int]) -> str:
    """`(d0, s1)[s0]`, where symbol 1 is taken as a dimension."""
    left = [name for number, name in enumerate(symbols) if number not in taken]
    inputs = [*dims, *(name for number, name in enumerate(symbols) if number in taken)]
    return f"({', '.join(inputs)})" + (f"[{', '.join(left)}]" if left else "")


def _as_map(subscripts: str, kept: Collection[int]) -> str:
    """Subscripts as a map, `symbol(%s)` at the places `kept` as a symbol of it."""
    dims: dict[str, str] = {}
    symbols: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        names, letter = (symbols, "s") if found.start() in kept else (dims, "d")
        return names.setdefault(found["symbol"] or found["dimension"], f"{letter}{len(names)}")

    results = _OPERAND.sub(name, subscripts)
    return f"affine_map<({', '.join(dims.values())})[{', '.join(symbols.values())}] -> ({results})>"
