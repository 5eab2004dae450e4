"""Payload text that older MLIR accepted and today's verifier does not, rewritten into text that it does.

Older `affine.apply`, `affine.load` and `affine.store` took any index as a symbol, the variable of a loop too (see "How to
Implement Asynchronous Concurrent Execution Between gpu.launch Operations?" on the MLIR forum, whose module came from
ONNX). Today a loop variable must be a dimension. A map means the same whether an operand is a dimension or a symbol, so
that symbols become dimensions here, wherever the map stays affine: `d0 * s0` is affine for a symbol alone, and is left to
the parser's message. All that happens on the text; `Older.place` leads every place back to what the user wrote.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

REJECTED = "cannot be used as a symbol"
"""What today's verifier says of such an operand."""

_ACCESSES = ("affine.load", "affine.store", "affine.vector_load", "affine.vector_store")
_TAKERS = ("affine.apply", *_ACCESSES)

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*)
      | (?P<string>"(?:[^"\\\n]|\\.)*+"?)
      | (?P<map>affine_map\s*+<(?:->|[^<>])*+>)
      | (?P<name>[%\#@^!](?:\d+|[A-Za-z$._-][\w$.-]*)(?:\#\d+)?|[A-Za-z_][\w$.]*|\d[\w.]*)
      | (?P<mark>->|.)""",
    re.VERBOSE,
)
_MAP = re.compile(r"affine_map\s*<\s*\(([^()]*)\)\s*+(?:\[([^\[\]]*)\]\s*+)?->\s*(.*)>", re.DOTALL)


@dataclass(frozen=True)
class Token:
    """A word of MLIR text; `start` and `end` are offsets."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """`text` in place of what stood from `start` to `end`."""

    start: int
    end: int
    text: str


class Older:
    """A text with edits, and the way back from its places to those of the original."""

    def __init__(self, original: str, edits: Sequence[Edit]) -> None:
        self._original_lines, self._edits = _line_starts(original), sorted(edits, key=lambda e: e.start)
        parts: list[str] = []
        at = shift = 0
        self._starts: list[int] = []
        """Where each edit begins in `text`."""
        for edit in self._edits:
            parts += [original[at : edit.start], edit.text]
            at = edit.end
            self._starts.append(edit.start + shift)
            shift += len(edit.text) - (edit.end - edit.start)
        self.text = "".join([*parts, original[at:]])
        self._lines = _line_starts(self.text)

    def place(self, line: int, column: int) -> tuple[int, int]:
        """The 1-based line and column of the original that stand at those of `text`; of an edit, its start."""
        at = self._lines[min(line, len(self._lines)) - 1] + column - 1
        if last := bisect_right(self._starts, at):
            edit, start = self._edits[last - 1], self._starts[last - 1]
            at = edit.start if at < start + len(edit.text) else at - start - len(edit.text) + edit.end
        found = bisect_right(self._original_lines, at)
        return found, at - self._original_lines[found - 1] + 1


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def rewritten(text: str) -> Older | None:
    """`text` with the symbols of affine accesses made dimensions; None where there is none to make."""
    from ..interpreter.ir import mlir

    context = mlir.context()

    def affine(written: str) -> bool:
        """Whether the parser takes `written` as a map: it refuses the product of two dimensions."""
        try:
            mlir.ir.Attribute.parse(written, context)
        except mlir.ir.MLIRError:
            return False
        return True

    edits = list(_Rewriting(text, affine).edits())
    return Older(text, edits) if edits else None


class _Rewriting:
    """One pass over the tokens of a text."""

    def __init__(self, text: str, affine: Callable[[str], bool]) -> None:
        self.tokens = list(_tokens(text))
        self.affine = affine
        self.aliases = {
            name.text: value.text
            for name, equals, value in zip(self.tokens, self.tokens[1:], self.tokens[2:], strict=False)
            if name.text.startswith("#") and equals.text == "=" and value.kind == "map"
        }

    def edits(self) -> Iterator[Edit]:
        for number, token in enumerate(self.tokens):
            if token.kind == "string" and token.text[1:-1] in _TAKERS:
                yield from self._generic(number + 1)
            elif token.text == "affine.apply":
                yield from self._apply(number + 1)
            elif token.text in _ACCESSES:
                yield from self._access(number + 1)

    def _apply(self, at: int) -> Iterator[Edit]:
        """`affine.apply #map(%d)[%s]`."""
        written = self._map(at)
        dims = self._group(at + 1, "(")
        symbols = self._group(at + 2 + len(dims) + 1, "[")
        if written is None or not symbols:
            return
        moved = self._moved(written)
        if moved is None:
            return
        mapping, taken = moved
        operands = [t.text for t in dims if t.kind == "name"]
        given = [t.text for t in symbols if t.kind == "name"]
        if len(given) != len(_names(written)[1]):
            return  # the parser counts, and says so
        operands += [name for number, name in enumerate(given) if number in taken]
        left = [name for number, name in enumerate(given) if number not in taken]
        brackets = f"[{', '.join(left)}]" if left else ""
        yield Edit(self.tokens[at].start, self.tokens[at].end, mapping)
        closing = self.tokens[at + 4 + len(dims) + len(symbols)]
        yield Edit(self.tokens[at + 1].start, closing.end, f"({', '.join(operands)}){brackets}")

    def _generic(self, at: int) -> Iterator[Edit]:
        """`"affine.load"(%m, %d, %s) <{map = #map}>`: the operands stay as they are, if all symbols can be moved."""
        if at >= len(self.tokens) or self.tokens[at].text != "(":
            return  # a text that is spelled like an op
        while at + 2 < len(self.tokens) and self.tokens[at].text not in (":", "="):
            at += 1
        if self.tokens[at].text != "=" or self.tokens[at - 1].text != "map":
            return
        written = self._map(at + 1)
        moved = self._moved(written) if written is not None else None
        if written is not None and moved is not None and len(moved[1]) == len(_names(written)[1]):
            yield Edit(self.tokens[at + 1].start, self.tokens[at + 1].end, moved[0])

    def _access(self, at: int) -> Iterator[Edit]:
        """`affine.load %m[%d + symbol(%s)]`."""
        while at < len(self.tokens) and self.tokens[at].text not in ("[", ":"):
            at += 1
        inside = self._group(at, "[") if at < len(self.tokens) else []
        spots = [
            n for n, t in enumerate(inside) if t.text == "symbol" and _texts(inside[n + 1 : n + 4 : 2]) == ["(", ")"]
        ]
        if not spots:
            return
        kept = set(spots)
        for spot in spots:
            if self.affine(_as_map(inside, kept - {spot})):
                kept.discard(spot)
        for spot in spots:
            if spot not in kept:
                yield Edit(inside[spot].start, inside[spot + 3].end, inside[spot + 2].text)

    def _map(self, at: int) -> str | None:
        """The map that is written, or named, at a token."""
        token = self.tokens[at] if at < len(self.tokens) else None
        return None if token is None else token.text if token.kind == "map" else self.aliases.get(token.text)

    def _group(self, at: int, bracket: str) -> list[Token]:
        """The tokens between an opening bracket and the one that closes it; none where there is no such bracket."""
        if at >= len(self.tokens) or self.tokens[at].text != bracket:
            return []
        depth, end = 1, at + 1
        while end < len(self.tokens) and depth:
            depth += (self.tokens[end].text in ("(", "[")) - (self.tokens[end].text in (")", "]"))
            end += 1
        return self.tokens[at + 1 : end - 1]

    def _moved(self, written: str) -> tuple[str, set[int]] | None:
        """A map with as many of its symbols among the dimensions as it can have, and which; None if there is none."""
        found = _MAP.fullmatch(written)
        if found is None:
            return None
        dims, symbols = _names(written)
        taken: set[int] = set()
        for number in range(len(symbols)):
            if self.affine(_spelled(dims, symbols, taken | {number}, found[3])):
                taken.add(number)
        return (_spelled(dims, symbols, taken, found[3]), taken) if taken else None


def _tokens(text: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "skip":
            yield Token(found.lastgroup or "", found.group(), found.start(), found.end())


def _texts(tokens: Sequence[Token]) -> list[str]:
    return [token.text for token in tokens]


def _names(written: str) -> tuple[list[str], list[str]]:
    """The names of a map's dimensions, and of its symbols."""
    found = _MAP.fullmatch(written)
    groups = (found[1], found[2] or "") if found else ("", "")
    dims, symbols = ([n.strip() for n in group.split(",") if n.strip()] for group in groups)
    return dims, symbols


def _spelled(dims: Sequence[str], symbols: Sequence[str], taken: set[int], results: str) -> str:
    inputs = [*dims, *(s for number, s in enumerate(symbols) if number in taken)]
    left = [s for number, s in enumerate(symbols) if number not in taken]
    brackets = f"[{', '.join(left)}]" if left else ""
    return f"affine_map<({', '.join(inputs)}){brackets} -> {results.strip()}>"


def _as_map(subscripts: Sequence[Token], kept: set[int]) -> str:
    """Subscripts as a map, `symbol(%s)` at the tokens `kept` as a symbol of it."""
    dims: dict[str, str] = {}
    symbols: dict[str, str] = {}
    words: list[str] = []
    number = 0
    while number < len(subscripts):
        token = subscripts[number]
        if token.text == "symbol" and number + 3 < len(subscripts):
            names, letter = (symbols, "s") if number in kept else (dims, "d")
            words.append(names.setdefault(subscripts[number + 2].text, f"{letter}{len(names)}"))
            number += 4
            continue
        named = token.text.startswith("%")
        words.append(dims.setdefault(token.text, f"d{len(dims)}") if named else token.text)
        number += 1
    return f"affine_map<({', '.join(dims.values())})[{', '.join(symbols.values())}] -> ({' '.join(words)})>"
